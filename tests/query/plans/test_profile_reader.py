"""Reading a profile: looked up by code or IRI, and refused when damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crmrag_query.errors import ReleaseError
from crmrag_query.plans.profile import PROFILE, SCHEMA_VERSION, ClassProfile, Profile

CRM = "http://www.cidoc-crm.org/cidoc-crm/"
OWN = "http://example.org/"


def a_class(iri: str, code: str, entities: int) -> dict[str, Any]:
    return {
        "iri": iri, "code": code, "label": iri, "mask": 1, "categories": ["Thing"], "entities": entities,
        "instances": entities, "known": {"date": 1}, "examples": [{"iri": OWN + "a", "label": "A"}],
    }  # fmt: skip


def a_property(iri: str, code: str) -> dict[str, Any]:
    literals = {
        "count": 3, "subjects": 2, "datatypes": [["", 3]], "languages": [["en", 2], ["", 1]], "length": 4.5,
        "numbers": None, "dates": {"count": 1, "lowest": "1900-01", "highest": "1900-01"}, "examples": ["one"],
    }  # fmt: skip
    return {
        "iri": iri, "code": code, "label": code, "triples": 2, "subjects": 2, "objects": 1,
        "classes": [["E22", "E21", 2]], "examples": [], "literals": literals,
    }  # fmt: skip


def stored() -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION,
        "totals": {"entities": 3},
        "coverage": [
            {"category": "all", "entities": 3, "label": 1, "type": 0, "date": 0, "place": 0, "maker": 0, "image": 0}
        ],
        "modelling": {"depiction": [{"of": "Thing", "by": "P62", "count": 1, "whole": 4}]},
        "classes": [
            a_class(CRM + "E22_Human-Made_Object", "E22", 2),
            a_class("http://erlangen-crm.org/current/E22_Man-Made_Object", "E22", 1),
            a_class(OWN + "Own", "", 1),
        ],
        "types": [],
        "relationships": [],
        "properties": [a_property(CRM + "P62_depicts", "P62")],
    }  # fmt: skip


def write(folder: Path, value: Any) -> Path:
    (folder / PROFILE).write_text(json.dumps(value), encoding="utf-8")
    return folder


def test_entries_are_found_by_code_and_by_iri(tmp_path: Path) -> None:
    profile = Profile.open(write(tmp_path, stored()))
    found = profile.classes["E22"]
    assert isinstance(found, ClassProfile) and found.entities == 2
    assert profile.classes[CRM + "E22_Human-Made_Object"] is found
    assert profile.classes["http://erlangen-crm.org/current/E22_Man-Made_Object"].entities == 1
    assert profile.classes[OWN + "Own"].code == ""
    assert "E22" in profile.classes and "E21" not in profile.classes
    assert profile.properties["P62"].literals is not None
    with pytest.raises(KeyError):
        profile.classes["E21"]


def test_each_entry_is_listed_once_and_in_order(tmp_path: Path) -> None:
    classes = Profile.open(write(tmp_path, stored())).classes
    erlangen = "http://erlangen-crm.org/current/E22_Man-Made_Object"
    assert list(classes) == ["E22", erlangen, OWN + "Own"] and len(classes) == 3


def test_facts_and_coverage_are_read(tmp_path: Path) -> None:
    profile = Profile.open(write(tmp_path, stored()))
    assert profile.modelling["depiction"][0].share == 0.25
    assert profile.coverage["all"].entities == profile.totals["entities"] == 3
    assert profile.types == () and profile.relationships == {}


def test_a_missing_profile_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No profile in"):
        Profile.open(tmp_path)


def test_another_version_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="version 99"):
        Profile.open(write(tmp_path, stored() | {"schema": 99}))


@pytest.mark.parametrize("value", [[], "text", None, {"schema": SCHEMA_VERSION}])
def test_what_is_no_profile_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ReleaseError):
        Profile.open(write(tmp_path, value))


def test_damaged_bytes_and_values_are_refused(tmp_path: Path) -> None:
    (tmp_path / PROFILE).write_bytes(b"\xff\xfe{")
    with pytest.raises(ReleaseError, match="No profile in"):
        Profile.open(tmp_path)
    with pytest.raises(ReleaseError, match="totals"):
        Profile.open(write(tmp_path, stored() | {"totals": {"entities": "many"}}))
