"""The archive of triples: every triple once, labelled, in batches, the same from any chunks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from crmrag_assets.graph.build import EDGES, write_edges
from crmrag_query.artifacts.manifest import sha256_file
from tests.support.graphs import Row, graph_from_rows, graph_from_turtle, quad_rows, read_quads
from tests.support.random_graphs import random_rows


@settings(max_examples=12, deadline=None)
@given(rows=random_rows)
def test_every_triple_stands_once_by_subject(
    rows: list[Row], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("edges")
    graph = graph_from_rows(rows, folder, chunks=2)
    count = write_edges(graph.folder, folder, batch_rows=7)
    table = pl.read_parquet(folder / EDGES)
    triples = {(s, p, o, kind, datatype, lang) for s, p, o, kind, datatype, lang, _ in rows}
    assert Counter(table.select("s", "p", "o").cast(pl.String).rows()) == Counter(
        triple[:3] for triple in triples
    )
    assert count == table.height == len(triples)
    subjects = table["s"].cast(pl.String).to_list()
    assert subjects == sorted(subjects, key=str.encode)


def test_a_row_reads_for_itself(tmp_path: Path) -> None:
    graph = graph_from_turtle(
        """:a a crm:E22_Human-Made_Object ; rdfs:label "Icon" ; crm:P46_is_composed_of :b . :b rdfs:label "Frame" .""",
        tmp_path,
    )
    write_edges(graph.folder, tmp_path, batch_rows=10)
    rows = pl.read_parquet(tmp_path / EDGES).cast(pl.String).rows()
    crm, rdf, rdfs = (
        "http://www.cidoc-crm.org/cidoc-crm/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "http://www.w3.org/2000/01/rdf-schema#",
    )  # fmt: skip
    a, b = "http://example.org/a", "http://example.org/b"
    assert rows == [
        (a, "Icon", rdf + "type", "type", crm + "E22_Human-Made_Object", "Human-Made Object"),
        (a, "Icon", crm + "P46_is_composed_of", "is composed of", b, "Frame"),
        (a, "Icon", rdfs + "label", "label", "Icon", "Icon"),
        (b, "Frame", rdfs + "label", "label", "Frame", "Frame"),
    ]


def test_columns_are_dictionaries_and_row_groups_are_bounded(tmp_path: Path) -> None:
    triples = [(f"s{number}", "rdfs:label", f'"{number}"') for number in range(25)]
    graph = graph_from_turtle(triples, tmp_path)
    write_edges(graph.folder, tmp_path, batch_rows=10)
    file = pq.ParquetFile(tmp_path / EDGES)
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [10, 10, 5]
    assert all(pa.types.is_dictionary(field.type) for field in file.schema_arrow)


def test_the_archive_does_not_show_how_many_chunks_there_were(shared_data: Path, tmp_path: Path) -> None:
    rows = quad_rows(read_quads(shared_data / "asinou.ttl"))
    hashes = set()
    for chunks in (1, 16):
        graph = graph_from_rows(rows, tmp_path, chunks=chunks, name=f"in{chunks}")
        assert write_edges(graph.folder, tmp_path / str(chunks), batch_rows=1000) == len(rows) == 2339
        hashes.add(sha256_file(tmp_path / str(chunks) / EDGES))
    assert len(hashes) == 1


def test_a_graph_without_triples_gives_an_empty_archive(tmp_path: Path) -> None:
    assert write_edges(graph_from_rows([], tmp_path).folder, tmp_path, batch_rows=10) == 0
    assert pl.read_parquet(tmp_path / EDGES).columns == ["s", "s_label", "p", "p_label", "o", "o_label"]
