"""The graph holds what was harvested, and what stands in it is known."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.graph import (
    circles_of,
    has_entities,
    hierarchies_have_no_circles,
    no_triple_lost,
    not_much_is_gone,
    nothing_dangles,
    terms_are_known,
)
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from tests.support.builds import make_project, turtle
from tests.support.quality import build_up_to, lose_a_literal, rewriting, with_checks

NAMED = """
<http://example.org/g1> { ex:a a crm:E53_Place ; rdfs:label "A" . }
<http://example.org/g2> { ex:a a crm:E53_Place ; rdfs:label "A", "B" . }
"""
PREFIXES = (
    "@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix ex: <http://example.org/> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix o: <http://other.example.net/terms/> .\n"
)


def graph_of(root: Path, source: str, name: str = "churches.ttl") -> BuildContext:
    """A data set built as far as its graph."""
    project = make_project(root / "project", source, rdf=[name])
    (project.root / "churches.ttl").rename(project.root / name)
    return build_up_to(project.context(), "graph")


def test_no_triple_is_lost_between_harvest_and_graph(sound: BuildContext) -> None:
    found = no_triple_lost(sound)
    assert found.holds and found.counts["lost"] == 0 and found.counts["prefetched"] == found.counts["graph"]


def test_a_triple_of_several_graphs_counts_once(tmp_path: Path) -> None:
    found = no_triple_lost(graph_of(tmp_path, PREFIXES + NAMED, "a.trig"))
    assert found.holds and found.counts["prefetched"] == 3


def test_a_lost_triple_is_found_and_what_to_remove_is_said(copied: BuildContext) -> None:
    lose_a_literal(copied)
    found = no_triple_lost(copied)
    assert not found.holds and found.counts["lost"] == 1 and "1 were lost" in found.says
    assert f"remove {copied.folder('graph')}" in found.remedy


def test_a_graph_without_entities_is_refused(copied: BuildContext, sound: BuildContext) -> None:
    assert has_entities(sound).holds
    with rewriting(copied, "graph") as folder:
        np.save(folder / "category.npy", np.zeros_like(np.load(folder / "category.npy")))
    assert "None of the 53 entities" in has_entities(copied).says
    with rewriting(copied, "graph") as folder:
        np.save(folder / "flags.npy", np.load(folder / "flags.npy") & 254)
    assert has_entities(copied).says == "The graph holds no entity."


def test_terms_of_no_ontology_are_counted_with_their_uses(tmp_path: Path, sound: BuildContext) -> None:
    assert terms_are_known(sound).holds and terms_are_known(sound).counts["unmapped_properties"] == 0
    odd = "ex:a a crm:E53_Place ; rdfs:label 'A' ; o:height 1 , 2 ; o:width 3 . ex:b a o:Thing ; rdfs:label 'B' ."
    context = graph_of(tmp_path, PREFIXES + odd)
    found = terms_are_known(context)
    assert not found.holds
    assert found.counts["unmapped_properties"] == 2 and found.counts["unmapped_properties_share"] == 0.6
    assert found.tables["most_used_unmapped_properties"][0] == {
        "iri": "http://other.example.net/terms/height",
        "count": 2,
    }
    assert found.tables["most_used_unmapped_classes"][0]["iri"] == "http://other.example.net/terms/Thing"
    assert terms_are_known(with_checks(context, unmapped_share=0.7)).holds


def test_own_iris_that_are_never_described_dangle_and_others_are_links(
    tmp_path: Path, sound: BuildContext
) -> None:
    assert nothing_dangles(sound).holds and nothing_dangles(sound).counts["dangling"] == 0
    lost = "ex:church0 crm:P46_is_composed_of ex:lost . ex:church1 crm:P46_is_composed_of ex:lost . "
    linked = "ex:church0 crm:P2_has_type <http://vocab.example.net/church> ."
    found = nothing_dangles(graph_of(tmp_path, f"{turtle(4)}\n{lost}{linked}"))
    assert not found.holds and found.counts["dangling"] == 1 and found.counts["elsewhere"] == 1
    assert found.tables["most_referenced"][0]["iri"] == "http://example.org/lost"
    assert found.tables["most_referenced"][0]["references"] == 2


def test_a_source_that_broke_off_stops_the_build_unless_it_is_meant_so(copied: BuildContext) -> None:
    assert not_much_is_gone(copied).holds and not_much_is_gone(copied).counts["fall"] == 0
    first = pointer(dataset_folder(copied.data, "churches"))
    source = copied.config.root / "churches.ttl"
    source.write_text(turtle(9), encoding="utf-8")
    build_up_to(copied, "graph")
    assert not_much_is_gone(copied).holds
    source.write_text(turtle(6), encoding="utf-8")
    build_up_to(copied, "graph")
    found = not_much_is_gone(copied)
    assert not found.holds and f"the current release {first} has {found.counts['before']:,}." in found.says
    assert found.counts["fall"] == pytest.approx(
        1 - int(found.counts["entities"]) / int(found.counts["before"])
    )
    assert not_much_is_gone(with_checks(copied, entities_fall=1.0)).holds
    assert not_much_is_gone(replace(copied, sample=5)).holds
    shutil.rmtree(dataset_folder(copied.data, "churches"))
    assert "no current release" in not_much_is_gone(copied).says and not_much_is_gone(copied).holds


def reached(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The transitive closure, by brute force."""
    known = set(edges)
    while new := {(a, d) for a, b in known for c, d in known if b == c} - known:
        known |= new
    return known


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=24))
def test_circles_are_the_nodes_that_reach_each_other(edges: set[tuple[int, int]]) -> None:
    both = {(a, b) for a, b in reached(edges) if (b, a) in reached(edges)}
    wanted = {frozenset(b for a, b in both if a == node) for node, _ in both}
    below, above = np.array(sorted(edges), np.int32).reshape(-1, 2).T
    found = circles_of(below, above)
    assert {frozenset(one) for one in found} == wanted and len(found) == len(wanted)


CIRCLE = """
ex:a a crm:E55_Type ; rdfs:label "Icon" ; crm:P127_has_broader_term ex:b .
ex:b a crm:E55_Type ; rdfs:label "Painting" ; crm:P127_has_broader_term ex:c .
ex:b crm:P127i_has_narrower_term ex:c .
ex:d a crm:E53_Place ; rdfs:label "Nave" ; crm:P89_falls_within ex:e . ex:e a crm:E53_Place ; rdfs:label "Church" .
"""


def test_a_circle_of_terms_is_found_whichever_way_it_is_stated(tmp_path: Path) -> None:
    found = hierarchies_have_no_circles(graph_of(tmp_path, PREFIXES + CIRCLE))
    assert not found.holds and found.counts["broader_terms"] == 1 and found.counts["places"] == 0
    ((row),) = found.tables["circles"]
    assert (row["entities"], row["one"]) == (2, "Painting")


def test_a_sound_hierarchy_has_none(sound: BuildContext) -> None:
    assert hierarchies_have_no_circles(sound).holds
