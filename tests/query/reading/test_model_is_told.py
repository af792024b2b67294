"""What a model is told of a question's words: names that the data has, homonyms together, and what nothing is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.llm.model import CannedModel
from crmrag_query.plans.records import Anchor, Plan, Related, Target, Way
from crmrag_query.plans.world import World
from crmrag_query.reading.catalogue import catalogue
from crmrag_query.reading.ties import Ties
from crmrag_query.reading.with_model import plan_with_model
from tests.support.builds import build_all, make_project
from tests.support.plan_server import reply_with
from tests.support.shared import shared_release
from tests.support.small_world import PREFIXES, iri

SPRINGFIELDS = tuple(iri(f"springfield{n}") for n in range(6))
TITLES = (
    "Look Here", "The Most Beautiful", "Each to Each", "Painted by the Sea", "Acquired in 1880",
    "Born to Run",
)  # fmt: skip
PEOPLE = {"brown": "David Paul Brown", "rinehart": "William Rinehart"}
PLACES = {"sweden": "Sweden", "ireland": "Ireland"}


def _world() -> str:
    rows = [
        PREFIXES,
        ':statue a crm:E55_Type ; rdfs:label "statue"@en, "Statue"@de .',
        ':painting a crm:E55_Type ; rdfs:label "painting"@en .',
        ':marble a crm:E57_Material ; rdfs:label "marble"@en .',
    ]
    rows += [f':{key} a crm:E53_Place ; rdfs:label "{label}" .' for key, label in PLACES.items()]
    rows += [f'<{one}> a crm:E53_Place ; rdfs:label "Springfield" .' for one in SPRINGFIELDS]
    for number, (key, name) in enumerate(PEOPLE.items()):
        rows.append(f':{key} a crm:E21_Person ; rdfs:label "{name}" .')
        rows.append(
            f":birth{number} a crm:E67_Birth ; crm:P98_brought_into_life :{key} ; crm:P7_took_place_at :ireland ."
        )
    for number, title in enumerate(TITLES):
        rows += [
            f':work{number} a crm:E22_Human-Made_Object ; rdfs:label "{title}" ; crm:P2_has_type :painting ;',
            f"  crm:P55_has_current_location <{SPRINGFIELDS[number]}> .",
            f":made{number} a crm:E12_Production ; crm:P108_has_produced :work{number} ; crm:P14_carried_out_by :brown .",
        ]
    rows += [
        f':sheet{n} a crm:E73_Information_Object ; rdfs:label "Sheet (Harrow, MS {n:03})" .'
        for n in range(30)
    ]
    rows.append(
        ':bust a crm:E22_Human-Made_Object ; rdfs:label "Bust" ; crm:P2_has_type :statue ; crm:P45_consists_of :marble .'
    )
    return "\n".join(rows)


def _build(root: Path) -> None:
    build_all(make_project(root, _world(), write_markdown=False).context())


@pytest.fixture(scope="module")
def told_of(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "told_of", _build)


def told(release: Release, question: str) -> dict[str, Any]:
    return catalogue(release, question).message


def names(release: Release, question: str) -> dict[str, list[str]]:
    """The IRIs told of each name in a question."""
    found = told(release, question).get("named", ())
    return {one["words"]: [iri for choice in one["may be"] for iri in choice["iris"]] for one in found}


@pytest.mark.parametrize("question", [
    "Which paintings did most artists here paint in 1880?",
    "How many paintings did each artist paint, and were any of them acquired before 1880?",
    "Who was born first, and what was made there?",
    "Welche Bilder wurden hier gemalt?",
])  # fmt: skip
def test_small_words_numbers_and_verbs_are_no_names(told_of: Release, question: str) -> None:
    found = told(told_of, question)
    assert "named" not in found and "no match" not in found


def test_what_is_written_as_a_name_is_one_whatever_its_words(told_of: Release) -> None:
    assert names(told_of, "Who painted Look Here?") == {"look here": [iri("work0")]}
    assert names(told_of, 'Who painted "Each to Each"?') == {"each to each": [iri("work2")]}
    assert names(told_of, "works by rinehart") == {"rinehart": [iri("rinehart")]}


def test_homonyms_are_one_choice_with_a_name_for_all_of_them(told_of: Release) -> None:
    found = catalogue(told_of, "Which paintings are in Springfield?")
    [mention] = found.message["named"]
    [choice] = mention["may be"]
    assert choice["iris"] == [*SPRINGFIELDS[:4], "… 2 more"] and choice["category"] == "Place"
    assert found.groups == {choice["all"]: SPRINGFIELDS}


def test_a_plan_that_names_all_homonyms_is_run_with_all_of_them(told_of: Release) -> None:
    condition = {"kind": "related", "way": {"paths": [["P55"]]}, "to": {"iris": ["@1"]}}
    reply = reply_with({"target": {"types": [iri("painting")]}, "where": [condition]})
    found = plan_with_model(told_of, "Which paintings are in Springfield?", CannedModel(reply))
    meant = Related(way=Way(paths=(("P55",),)), to=Anchor(iris=SPRINGFIELDS))
    assert found.plan == Plan(target=Target(types=(iri("painting"),)), where=(meant,))
    assert found.outcome is not None and found.outcome.size == len(TITLES)


@pytest.mark.parametrize(("question", "meant"), [
    ("Which painters are Irish-born?", "ireland"),
    ("Welche Marmorstatuen gibt es?", "marble"),
    ("Quelles œuvres viennent de Suède ?", "sweden"),
    ("Wer wurde in Schweden geboren?", "sweden"),
])  # fmt: skip
def test_adjectives_compounds_and_foreign_names_are_linked(
    told_of: Release, question: str, meant: str
) -> None:
    assert list(names(told_of, question).values()) == [[iri(meant)]]


@pytest.mark.parametrize(("question", "unmatched"), [
    ("Did Paul Klee paint any of these?", ["Paul Klee"]),
    ("Which paintings by Paul Klee's pupils are in Springfield?", ["Paul Klee"]),
    ("Wer malte die Bilder von Klee?", ["Klee"]),
    ("Is there a painting called “The Starry Night”?", ["The Starry Night"]),
    ("Which paintings came from Ravenna or Perugia?", ["Ravenna", "Perugia"]),
])  # fmt: skip
def test_names_that_nothing_has_are_told_as_such(
    told_of: Release, question: str, unmatched: list[str]
) -> None:
    found = told(told_of, question)
    assert found["no match"] == unmatched
    assert iri("brown") not in written_of(found.get("named", []))


def test_a_word_of_many_names_is_told_with_how_many(told_of: Release) -> None:
    found = told(told_of, "Which paintings are from Harrow?")
    assert {"words": "Harrow", "in names": 30} in found["named"] and "no match" not in found


def written_of(value: object) -> str:
    return json.dumps(value)


@pytest.mark.parametrize(
    "question",
    ["Sort the paintings by date.", "What did David Paul Brown paint?", "Welche Gemälde sind aus Marmor?"],
)
def test_nothing_is_unmatched_that_is_no_name_or_has_one(told_of: Release, question: str) -> None:
    assert "no match" not in told(told_of, question)


def test_nouns_come_with_their_kinds_and_how_many_there_are(told_of: Release) -> None:
    found = told(told_of, "How many paintings and statues are there?")["kinds"]
    assert [(one["words"], one["may be"][0]["types"], one["may be"][0]["entities"]) for one in found] == [
        ("paintings", [iri("painting")], len(TITLES)),
        ("statues", [iri("statue")], 1),
    ]


def test_relations_come_with_their_counts_and_none_is_empty(told_of: Release) -> None:
    rows = {row.split(":")[0]: row for row in told(told_of, "Who painted what?")["relations"]}
    assert rows["created_by"].endswith(f"| {len(TITLES)} > 1")
    assert rows["born_in"].endswith("| 2 > 1")
    assert "died_in" not in rows and "depicts" not in rows
    known = told_of[World].relations
    assert {id for id in known if told_of[Ties].counts(id)[0]} >= {*rows} - {"… more"}


def test_what_is_cut_says_how_much_more_there_is(told_of: Release) -> None:
    planner = told_of.method.planner
    small = told_of.method.model_copy(update={"planner": planner.model_copy(update={"tokens": 300})})
    whole = told(told_of, "Who painted what?")
    try:
        told_of.__dict__["method"] = small
        cut = told(told_of, "Who painted what?")
    finally:
        del told_of.__dict__["method"]
    for key in ("relations", "classes"):
        assert (
            cut[key][-1] == f"… {len(whole[key]) - len(cut[key]) + 1} more" and cut[key][0] == whole[key][0]
        )
