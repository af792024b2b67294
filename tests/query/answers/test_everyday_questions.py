"""Questions as visitors put them: surnames, "anything by", kinds of persons, places told apart by commas.

A museum with drawings of two persons of one surname and one of another, a poem that is called after a painter, and painters
born in towns whose names tell the state, and the country, behind commas.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release
from tests.support.builds import build_all, make_project
from tests.support.parse_world import PREFIXES
from tests.support.shared import shared_release

BORN = {
    "Ada Berg": "Boston, Massachusetts, United States",
    "Bo Lind": "Salem, Massachusetts, United States",
    "Cara Lind": "New York, New York, United States",
    "Dan Holm": "Buffalo, New York, United States",
    "Eva Strand": "Washington, District of Columbia, United States",
    "Finn Dahl": "Seattle, Washington, United States",
    "Gro Moen": "Massachusetts, United States",
}
"""Painters by where they were born; each made a drawing that is called after nobody."""
HELD = {"coin": 3, "inscription": 2}


def _world() -> str:
    places = {name: f":place{at}" for at, name in enumerate(sorted({*BORN.values()}))}
    rows = [f'{node} a crm:E53_Place ; rdfs:label "{name}" .' for name, node in places.items()]
    for at, (name, place) in enumerate(BORN.items()):
        gender = ":female" if name in ("Ada Berg", "Cara Lind", "Eva Strand", "Gro Moen") else ":male"
        rows.append(f"""
:person{at} a crm:E21_Person ; rdfs:label "{name}" ; crm:P2_has_type {gender} .
:birth{at} a crm:E67_Birth ; crm:P98_brought_into_life :person{at} ; crm:P7_took_place_at {places[place]} .
:work{at} a crm:E22_Human-Made_Object ; rdfs:label "Leaf {at}" ; crm:P2_has_type :drawing .
:making{at} a crm:E12_Production ; crm:P108_has_produced :work{at} ; crm:P14_carried_out_by :person{at} .""")
    for kind, count in HELD.items():
        rows.append(f':{kind} a crm:E55_Type ; rdfs:label "{kind}"@en .')
        rows += (
            f':{kind}{at} a crm:E22_Human-Made_Object ; rdfs:label "{at} of {kind}s" ; crm:P2_has_type :{kind} .'
            for at in range(count)
        )
    return f"""{PREFIXES}
:drawing a crm:E55_Type ; rdfs:label "drawing"@en .
:female a crm:E55_Type ; rdfs:label "female"@en . :male a crm:E55_Type ; rdfs:label "male"@en .
:visitor a crm:E21_Person ; rdfs:label "Jon Voss" .
:poem a crm:E33_Linguistic_Object ; rdfs:label "To Strand"@en .
:ballad a crm:E94_Symbolic_Object ; crm:P2_has_type :drawing ; rdfs:label "Watering Horses at Noon" .
:book a crm:E31_Document ; rdfs:label "Coins of the Ptolemies" .
{"".join(rows)}
"""


def _build(folder: Path) -> None:
    build_all(make_project(folder, _world(), write_markdown=False).context())


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "leaves", _build)


def labels(answer: Answer) -> set[str]:
    return {one.label for one in answer.set.members} if answer.set is not None else set()


@pytest.mark.parametrize("question", [
    "Is there anything by Ada Berg?", "Do you have anything by Ada Berg?", "Gibt es etwas von Ada Berg?",
])  # fmt: skip
def test_anything_by_somebody_is_what_they_made(leaves: Release, question: str) -> None:
    answer = ask(leaves, question)
    assert answer.exhaustive and labels(answer) == {"Leaf 0"}


def test_somebody_who_made_nothing_is_nothing_by_them(leaves: Release) -> None:
    """That there is a person of the name is no yes."""
    answer = ask(leaves, "Is there anything by Jon Voss?")
    assert not labels(answer) and not answer.text.startswith("Yes")


@pytest.mark.parametrize("question", ["Where was Holm born?", "Where was Strand born?"])
def test_a_surname_is_the_one_person_who_has_it(leaves: Release, question: str) -> None:
    """Also where a poem is called by it."""
    place = BORN["Dan Holm" if "Holm" in question else "Eva Strand"]
    assert place in ask(leaves, question).text


def test_a_surname_of_two_persons_is_not_told_as_one(leaves: Release) -> None:
    assert not ask(leaves, "Where was Lind born?").exhaustive


def test_works_of_a_person_are_meant_though_a_poem_is_called_so(leaves: Release) -> None:
    assert labels(ask(leaves, "Which drawings are by Strand?")) == {"Leaf 4"}


@pytest.mark.parametrize(("place", "painters"), [
    ("Boston", {"Ada Berg"}),
    ("Massachusetts", {"Ada Berg", "Bo Lind", "Gro Moen"}),
    ("New York", {"Cara Lind", "Dan Holm"}),
    ("the United States", set(BORN)),
])  # fmt: skip
def test_what_is_told_behind_commas_is_where_a_place_lies(
    leaves: Release, place: str, painters: set[str]
) -> None:
    answer = ask(leaves, f"Which artists were born in {place}?")
    assert answer.exhaustive and labels(answer) == painters


def test_a_town_and_a_state_of_one_name_are_not_taken_for_one(leaves: Release) -> None:
    answer = ask(leaves, "Which artists were born in Washington?")
    assert not answer.exhaustive and labels(answer) in ({"Eva Strand"}, {"Finn Dahl"})


def test_the_noun_for_those_who_make_things_asks_for_all_of_them(leaves: Release) -> None:
    answer = ask(leaves, "How many artists are in the collection?")
    assert answer.exhaustive and answer.set is not None and answer.set.size == len(BORN)


@pytest.mark.parametrize("kind", HELD)
def test_which_are_there_points_to_nothing(leaves: Release, kind: str) -> None:
    answer = ask(leaves, f"Which {kind}s are there?")
    assert answer.exhaustive and len(labels(answer)) == HELD[kind]


def test_a_word_for_a_kind_names_no_book_that_has_it(leaves: Release) -> None:
    assert "Ptolemies" not in ask(leaves, "Where were the coins found?").text


def test_of_persons_may_be_by_or_of_them(leaves: Release) -> None:
    assert not ask(leaves, "Which drawings are of women?").exhaustive
    by = ask(leaves, "Which drawings are by women?")
    assert by.exhaustive and labels(by) == {"Leaf 0", "Leaf 2", "Leaf 4", "Leaf 6"}


def test_a_word_that_is_but_part_of_names_is_looked_for_in_all_of_them(leaves: Release) -> None:
    answer = ask(leaves, "drawings of horses")
    assert "Watering Horses at Noon" in answer.text and not answer.exhaustive


def test_how_many_that_is_asks_of_what_went_before(leaves: Release) -> None:
    _, talk = Conversation().ask(leaves, "Which artists were born in Massachusetts?")
    answer, _ = talk.ask(leaves, "How many different artists is that?")
    assert answer.set is None or not answer.exhaustive or answer.set.size == 3
