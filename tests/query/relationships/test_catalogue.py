"""The catalogues hold every path of the tables, each step a property of the ontology; dead paths are found."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.config.loading import RelationshipSet
from crmrag_query.errors import ConfigError
from crmrag_query.ontology.load import load_categories, load_ontology
from crmrag_query.relationships.engine import (
    Catalogue,
    Step,
    dead_paths,
    from_set,
    read_step,
    resolve,
)

METHOD, ONTOLOGY, CATEGORIES = load_method(), load_ontology(), load_categories()
CATALOGUES = {name: Catalogue.load(METHOD, name) for name in METHOD.relationship_sets}
PATHS = [(name, path) for name, catalogue in CATALOGUES.items() for fr in catalogue for path in fr.paths]
WRITTEN = {
    (name, path): steps
    for name, part in METHOD.relationship_sets.items()
    for entry in part.relationships.values()
    for path, steps in entry.paths.items()
}
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
    for row in rows:
        for given_step, step in zip(row["steps"].split("|"), WRITTEN[name, row["path_id"]], strict=True):
            assert given_step == step or (row["path_id"], given_step) in CORRECTED


def test_every_step_is_a_property_by_its_present_name() -> None:
    for text in {step for steps in WRITTEN.values() for step in steps}:
        assert ONTOLOGY.property_(read_step(text).code).name == text.removesuffix("*")


def test_relationships_are_found_by_id() -> None:
    catalogue = CATALOGUES["fr76"]
    assert all(catalogue[catalogue.number(fr.id)] is fr for fr in catalogue)


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"no such set of relationships \(found 'fr67'\)\. There are: fr109, fr76"
    ):
        Catalogue.load(METHOD, "fr67")


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("P9i_forms_part_of*", Step("P9i", recursive=True, label="forms part of")),
        ("P62_depicts", Step("P62", label="depicts")),
        ("^P108!*", Step("P108", recursive=True, forward=False, alone=True)),
        ("^https://a.b/c*", Step("https://a.b/c", recursive=True, forward=False, alone=True)),
        ("depicts", Step("depicts", label="depicts")),
    ],
)
def test_a_step_is_read_from_its_text(text: str, step: Step) -> None:
    assert read_step(text) == step


def test_a_relationship_names_each_step_by_its_code() -> None:
    with pytest.raises(
        ConfigError, match=r"r.paths.p1: a step names a property by its code \(found 'depicts'\)"
    ):
        relationship_set(p1="P62 depicts")


def test_a_path_may_be_written_with_bars_as_releases_of_before_have_it() -> None:
    assert relationship_set(p1="P46* | P53") == relationship_set(p1="P46* P53")
    assert relationship_set(p1="^P46! P53")[0].paths[0].steps == (read_step("^P46!"), read_step("P53"))


def test_a_step_follows_its_property_those_below_and_their_inverses() -> None:
    ways = set(resolve(Step("P12i"), ONTOLOGY))
    assert {
        ("P12i", True),
        ("P12", False),
        ("P108i", True),
        ("P108", False),
        ("P14i", True),
        ("P14", False),
    } <= ways
    assert ("P12", True) not in ways
    assert resolve(Step("P122"), ONTOLOGY) == (("P122", False), ("P122", True))
    assert resolve(Step("P45"), ONTOLOGY) == (("P45", True), ("P45i", False))
    assert resolve(Step("P45", forward=False), ONTOLOGY) == (("P45", False), ("P45i", True))
    assert resolve(Step("P12i", alone=True), ONTOLOGY) == (("P12", False), ("P12i", True))


@given(st.sampled_from(sorted(ONTOLOGY.properties)))
def test_walking_the_inverse_is_walking_backwards(code: str) -> None:
    inverse = ONTOLOGY.inverse(code)
    ways = resolve(Step(code), ONTOLOGY)
    assert list(ways) == sorted(set(ways))
    assert (code, True) in ways
    if inverse and inverse != code:
        assert {(name, not forward) for name, forward in ways} == set(resolve(Step(inverse), ONTOLOGY))


@given(st.sampled_from(sorted(ONTOLOGY.properties)))
def test_a_step_follows_all_that_its_sub_properties_follow(code: str) -> None:
    for below in ONTOLOGY.subproperties(code):
        assert set(resolve(Step(below), ONTOLOGY)) <= set(resolve(Step(code), ONTOLOGY))


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
                ends = {code for code in ONTOLOGY.classes if CATEGORIES.of([code]) == fr.domain}
                for step in path.steps:
                    ends = {b for starts, to in ways(step) if ends & starts for b in to}
                alive = any(
                    not CATEGORIES.all_of([code]) or CATEGORIES.all_of([code]) & fr.range for code in ends
                )
                assert alive != (path.id in dead), path.id


def ways(step: Step) -> list[tuple[set[str], set[str]]]:
    """Of each property that counts for the step, the classes of an entity at its start and of one at its end."""
    found = []
    for code, forward in resolve(step, ONTOLOGY):
        term = ONTOLOGY.property_(code)
        start, end = (term.domain, term.range) if forward else (term.range, term.domain)
        found.append((within(start), within(end)))
    return found


@cache
def within(top: str) -> set[str]:
    """The classes below one, itself included; all of them where there is none."""
    return {code for code in ONTOLOGY.classes if not top or ONTOLOGY.is_a(code, top)}


def test_recursion_may_take_no_step_at_all() -> None:
    catalogue = relationship_set(p1="P46_is_composed_of* P53_has_former_or_current_location", p2="P107_x*")
    assert [path.path_id for path in dead_paths(catalogue, ONTOLOGY)] == ["p2"]


def relationship_set(**paths: str) -> Catalogue:
    entry = {"label": "x", "domain": "Thing", "range": "Place", "paths": paths}
    return from_set("t", RelationshipSet.model_validate({"title": "t", "relationships": {"r": entry}}))
