"""Columns of a set: what there is to choose from, what is chosen by itself, and the same in records and files."""

from __future__ import annotations

import csv
import io
import json

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.exports import columns, export, with_columns
from crmrag_query.sets.records import TELLING
from tests.support.set_world import ALL, BEFORE_1855, BY_ADA, MAKERS, PAINTINGS


def test_the_columns_of_a_set_are_those_that_its_members_have_values_of(museum: Release) -> None:
    found = columns(museum, ALL)
    told = {one.key: (one.label, one.members, one.values) for one in found.columns}
    assert told["created_by"] == ("created by", 7, 4) and told["made_of"] == ("made of", 7, 2)
    assert told["located_in"] == ("located in", 5, 2)
    assert found.size == 7 and "weight" not in told and "name" not in told


def test_those_that_tell_members_apart_are_chosen_by_themselves(museum: Release) -> None:
    assert [one.key for one in columns(museum, ALL).columns if one.telling] == [
        "created_by",
        "made_of",
        "located_in",
    ]
    of_one = [one.key for one in columns(museum, BY_ADA).columns if one.telling]
    assert "created_by" not in of_one and "made_of" in of_one


def test_members_have_the_columns_that_were_asked_for(museum: Release) -> None:
    made = with_columns(museum, answer_set(museum, ALL, language="fr"), ("made_of", "created_by"))
    assert made.chosen == ("fait de", "créé par")
    expected = [
        ({"oil": "huile", "ivory": "ivoire"}[material], MAKERS[maker])
        for _, maker, _, material, *_ in PAINTINGS.values()
    ]
    assert [one.columns for one in made.members] == expected


def test_a_file_has_them_after_those_that_every_set_has(museum: Release) -> None:
    rows = list(
        csv.DictReader(io.StringIO("".join(export(museum, BEFORE_1855, "csv", columns=("created_by",)))))
    )
    assert [row["created by"] for row in rows] == ["Ada Berg", "Cy Holm (painter)", "", ""]
    told = json.loads("".join(export(museum, ALL, "json")))
    assert told["members"][0]["columns"] == {"created by": "Ada Berg", "made of": "oil", "located in": "Lund"}
    assert "columns" not in json.loads("".join(export(museum, ALL, "json", columns=())))["members"][0]


def test_a_column_that_there_is_not_is_refused_by_name(museum: Release) -> None:
    with pytest.raises(QuestionError, match="'colour'"):
        export(museum, ALL, "csv", columns=("colour", TELLING))
