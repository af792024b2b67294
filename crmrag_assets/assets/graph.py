"""Group ``graph``: the graph as arrays, the archive of its edges, and the index of its triples."""

from typing import Any

import dagster as dg

from crmrag_assets.assets.common import dataset_asset, made_from
from crmrag_assets.build.graph import EDGES, GRAPH, TRIPLES_INDEX
from crmrag_assets.materialise import build_artifact
from crmrag_assets.resources import BuildResource


@dataset_asset(group_name="graph", kinds={"arrow", "numpy"}, deps=made_from(GRAPH))
def graph(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """The graph as memory-mapped arrays: compressed sparse rows both ways, types, labels, literals, dates, links.

    Serves the walking of Fundamental Relationships, exact answers, sources and explanations alike: nearly every asset
    behind it reads it, and so does each question.
    """
    return build_artifact(context, build, GRAPH)


@dataset_asset(group_name="graph", kinds={"parquet"}, deps=made_from(EDGES))
def edges(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Every triple once with its labels (s, s_label, p, p_label, o, o_label), as one Parquet file.

    `edges.parquet` is for people and other tools (DuckDB, pandas, polars); nothing that answers questions reads it.
    """
    return build_artifact(context, build, EDGES)


@dataset_asset(group_name="indexes", kinds={"numpy"}, deps=made_from(TRIPLES_INDEX))
def triples_index(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Entity to triples, memory-mapped; with `write_triples_pickle` also `triples_index.pkl` for other tools.

    Read at question time for the sources of an answer, down to the triple.
    """
    return build_artifact(context, build, TRIPLES_INDEX)
