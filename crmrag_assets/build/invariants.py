"""What must hold of finished artifacts, whatever the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow.parquet as pq

from crmrag_assets.build.harvest import harvest_of
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import documents_of, graph_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.harvest.account import verdict
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.sparse import SparseIndex

COLUMNS = ["s", "p", "o", "kind", "datatype", "lang"]


@dataclass(frozen=True)
class Finding:
    """Whether an invariant holds, the counts compared, and a sentence."""

    holds: bool
    says: str
    counts: Mapping[str, int | str] = field(default_factory=dict)


def no_triple_lost(context: BuildContext) -> Finding:
    """Distinct triples of all chunks, leaving named graphs aside, equal those of the graph with its types."""
    fetched = sum(_distinct(context, chunk) for chunk in chunks_of(context))
    graph = graph_of(context)
    _, types = graph.type_rows
    held = graph.triples + len(graph.literal_table) + len(types)
    return Finding(
        fetched == held, "Prefetched triples equal the graph's.", {"prefetched": fetched, "graph": held}
    )


def _distinct(context: BuildContext, chunk: str) -> int:
    """A chunk's triples are sorted by graph last, so repetitions in several graphs follow each other."""
    table = pq.read_table(context.folder("prefetch", chunk) / "triples.parquet", columns=COLUMNS)
    return int(table.group_by(COLUMNS).aggregate([]).num_rows)


def harvest_is_whole(context: BuildContext) -> Finding:
    """Nothing is missing of what the source holds, and it did not change while it was read, as far as is known."""
    found = harvest_of(context)
    counts = {name: found[name] for name in ("entities", "triples")} | {"missing": len(found["missing"])}
    return Finding(bool(found["whole"]), " ".join([verdict(found), *found["concerns"]]), counts)


def dense_covers_documents(context: BuildContext) -> Finding:
    index, documents = (
        DenseIndex.open(context.folder("faiss_index"), context.method.dense),
        documents_of(context).count,
    )
    return Finding(
        index.documents == documents,
        "Every document has a row in the dense index.",
        {"documents": documents, "indexed": index.documents, "rows": len(index.window_document)},
    )


def sparse_covers_documents(context: BuildContext) -> Finding:
    index, documents = SparseIndex.open(context.folder("bm25_index")), documents_of(context).count
    return Finding(
        index.documents == documents,
        "The sparse index has every document.",
        {"documents": documents, "indexed": index.documents},
    )


def manifest_verifies(context: BuildContext) -> Finding:
    try:
        release = open_release(context.name, context.data)
        release.verify()
    except ReleaseError as error:
        return Finding(False, str(error))
    return Finding(
        True, "Every file is what was built.", {"release": release.id, "files": len(release.manifest.files)}
    )
