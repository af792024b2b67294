"""The optional pickle of the triples index: everything of an entity, readable without us."""

from __future__ import annotations

import pickle
from pathlib import Path

from crmrag_assets.graph.build import PICKLE, write_triples_index
from crmrag_query.artifacts.manifest import sha256_file
from tests.support.graphs import graph_from_turtle

TURTLE = """:a rdfs:label "Icon" ; crm:P46_is_composed_of :b . :b rdfs:label "Frame" ."""


def test_the_pickle_holds_each_entitys_triples_and_literals_and_is_written_where_wanted(
    tmp_path: Path,
) -> None:
    graph = graph_from_turtle(TURTLE, tmp_path)
    for name, wanted in (("index", True), ("again", True), ("plain", False)):
        assert write_triples_index(graph.folder, tmp_path / name, with_pickle=wanted) == 1
    exported = pickle.loads((tmp_path / "index" / PICKLE).read_bytes())
    link = {
        "s": "http://example.org/a", "s_label": "Icon",
        "p": "http://www.cidoc-crm.org/cidoc-crm/P46_is_composed_of", "p_label": "is composed of",
        "o": "http://example.org/b", "o_label": "Frame",
    }  # fmt: skip
    assert list(exported) == ["http://example.org/a", "http://example.org/b"]
    assert exported["http://example.org/a"][0] == exported["http://example.org/b"][0] == link
    assert [entry["o"] for entry in exported["http://example.org/b"]] == ["http://example.org/b", "Frame"]
    assert sha256_file(tmp_path / "index" / PICKLE) == sha256_file(tmp_path / "again" / PICKLE)
    assert not (tmp_path / "plain" / PICKLE).exists()
