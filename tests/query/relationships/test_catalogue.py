"""The catalogues hold every path of the tables, each step a property of the ontology; dead paths are found."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.config.parts import RelationshipSet
from crmrag_query.errors import ConfigError
from crmrag_query.ontology import Category, categories_of, category_of, load_ontology
from crmrag_query.relationships.catalogue import Catalogue, Step, from_set, parse_step
from crmrag_query.relationships.dead import dead_paths
from crmrag_query.relationships.steps import directed, resolve

METHOD, ONTOLOGY = load_method(), load_ontology()
CATALOGUES = {name: Catalogue.load(METHOD, name) for name in METHOD.relationship_sets}
PATHS = [(name, path) for name, catalogue in CATALOGUES.items() for fr in catalogue for path in fr.paths]
CORRECTED = {("aa_f_02", "P143i_joined"), ("aa_g_02", "P143_was_joined_by"), ("tt_f_03", "L54_is_same-as")}


@pytest.mark.parametrize(("name", "relationships", "paths"), [("fr76", 76, 237), ("fr109", 109, 224)])
def test_sizes(name: str, relationships: int, paths: int) -> None:
    assert len(CATALOGUES[name]) == relationships
    assert sum(path[0] == name for path in PATHS) == paths


def test_the_default_is_the_methods() -> None:
    assert Catalogue.load(METHOD).name == METHOD.relationships == "fr109"


@pytest.mark.parametrize("name", ["fr76", "fr109"])
def test_every_path_is_that_of_the_table(name: str, shared_data: Path) -> None:
    text = (shared_data.parent / "facts" / f"fr_table_{name[2:]}.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    held = [
        (fr.id, fr.label, fr.domain.name, fr.range.name, fr.specialises, path.id, len(path.steps))
        for fr in CATALOGUES[name] for path in fr.paths
    ]  # fmt: skip
    assert held == [
        (row["fr_id"], row["label"], row["domain_fc"], row["range_fc"], row["specialization_of"], row["path_id"],
         row["steps"].count("|") + 1)
        for row in rows
    ]  # fmt: skip
    written = {
        path: text
        for entry in METHOD.relationship_sets[name].relationships.values()
        for path, text in entry.paths.items()
    }
    for row in rows:
        for given_step, step in zip(
            row["steps"].split("|"), written[row["path_id"]].split(" | "), strict=True
        ):
            assert given_step == step or (row["path_id"], given_step) in CORRECTED


@pytest.mark.parametrize(("name", "path"), PATHS, ids=lambda value: getattr(value, "id", value))
def test_every_step_is_a_property_by_its_present_name(name: str, path: object) -> None:
    entries = METHOD.relationship_sets[name].relationships.values()
    steps = next(
        text for entry in entries for id, text in entry.paths.items() if id == getattr(path, "id", "")
    )
    for text in steps.split(" | "):
        step = parse_step(text)
        assert step is not None
        assert ONTOLOGY.property_(step.code).name == text.removesuffix("*")
        assert step.inverse == step.code.endswith("i")


def test_relationships_are_found_by_domain_and_id() -> None:
    catalogue = CATALOGUES["fr76"]
    assert sum(len(catalogue.for_domain(category)) for category in Category) == 76
    assert {fr.domain for fr in catalogue.for_domain(Category.Actor)} == {Category.Actor}
    assert all(catalogue[catalogue.number(fr.id)] is fr for fr in catalogue)


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"no such set of relationships \(found 'fr67'\)\. There are: fr109, fr76"
    ):
        Catalogue.load(METHOD, "fr67")


def test_a_step_is_read_from_its_text() -> None:
    assert parse_step("P9i_forms_part_of*") == Step("P9i", True, True, "forms part of")
    assert parse_step("P62_depicts") == Step("P62", False, False, "depicts")
    assert parse_step("depicts") is None


def test_a_step_follows_its_property_those_below_and_their_inverses() -> None:
    ways = set(directed("P12i", ONTOLOGY))
    assert {
        ("P12i", True),
        ("P12", False),
        ("P108i", True),
        ("P108", False),
        ("P14i", True),
        ("P14", False),
    } <= ways
    assert ("P12", True) not in ways
    assert directed("P122", ONTOLOGY) == (("P122", False), ("P122", True))
    assert resolve(Step("P45", False, False, ""), ONTOLOGY) == (("P45", True), ("P45i", False))


@given(st.sampled_from(sorted(ONTOLOGY.properties)))
def test_walking_the_inverse_is_walking_backwards(code: str) -> None:
    inverse = ONTOLOGY.inverse(code)
    ways = directed(code, ONTOLOGY)
    assert list(ways) == sorted(set(ways))
    assert (code, True) in ways
    if inverse and inverse != code:
        assert {(name, not forward) for name, forward in ways} == set(directed(inverse, ONTOLOGY))


@given(st.sampled_from(sorted(ONTOLOGY.properties)))
def test_a_step_follows_all_that_its_sub_properties_follow(code: str) -> None:
    for below in ONTOLOGY.subproperties(code):
        assert set(directed(below, ONTOLOGY)) <= set(directed(code, ONTOLOGY))


def test_dead_paths_are_listed_with_the_reason() -> None:
    dead = {path.path_id: path.reason for path in dead_paths(CATALOGUES["fr76"], ONTOLOGY)}
    assert dead["thing_place_from__p11"] == "step 1, P98i was born, starts from E21 Person; no Thing is one"
    assert dead["concept_place_is_type_of__p02"] == "it ends in E55 Type, of another category than Place"
    assert "the step before leads to none" in dead["thing_actor_created_by__p06"]
    assert "thing_event_created_in__p05" not in dead
    assert "thing_place_refers_to__p05" not in dead  # a site is a place too (CRMsci: E27 below S20 below E53)


def test_a_path_is_dead_exactly_when_no_chain_of_typed_entities_matches() -> None:
    """Against all chains of single-class entities, for every path of fr76 with one or two plain steps."""
    dead = {path.path_id for path in dead_paths(CATALOGUES["fr76"], ONTOLOGY)}
    for fr in CATALOGUES["fr76"]:
        for path in fr.paths:
            if len(path.steps) <= 2 and not any(step.recursive for step in path.steps):
                ends = {code for code in ONTOLOGY.classes if category_of([code]) == fr.domain}
                for step in path.steps:
                    ends = {b for a, b in pairs(step) if a in ends}
                alive = any(not categories_of([code]) or categories_of([code]) & fr.range for code in ends)
                assert alive != (path.id in dead), path.id


def pairs(step: Step) -> list[tuple[str, str]]:
    """Classes of two entities that a triple may join which counts for the step."""
    found: list[tuple[str, str]] = []
    for code, forward in directed(step.code, ONTOLOGY):
        term = ONTOLOGY.property_(code)
        start, end = (term.domain, term.range) if forward else (term.range, term.domain)
        within = [[c for c in ONTOLOGY.classes if not top or ONTOLOGY.is_a(c, top)] for top in (start, end)]
        found.extend(itertools.product(within[0], within[1]))
    return found


def test_recursion_may_take_no_step_at_all() -> None:
    paths = {"p1": "P46_is_composed_of* | P53_has_former_or_current_location", "p2": "P107_x*"}
    entry = {"label": "x", "domain": "Thing", "range": "Place", "paths": paths}
    catalogue = from_set("t", RelationshipSet.model_validate({"title": "t", "relationships": {"r": entry}}))
    assert [path.path_id for path in dead_paths(catalogue, ONTOLOGY)] == ["p2"]
