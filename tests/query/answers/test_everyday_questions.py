"""Questions as visitors put them: surnames, "anything by", kinds of persons, places told apart by commas, what is not
recorded, and phrases that change nothing.

A museum with drawings of two persons of one surname and one of another, a poem that is called after a painter, and painters
born in towns whose names tell the state, and the country, behind commas. It has botanical plates, a class of its own, and
type specimens.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.answers.understand import individuals
from crmrag_query.artifacts.release import Release
from crmrag_query.reading import items
from crmrag_query.reading.items import analysed
from tests.support.builds import build_all, make_project
from tests.support.parse_world import PREFIXES
from tests.support.shared import labels_of, shared_release

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
COINED = ((1300, 1450), (1500, 1510), (1350, 1380))
"""When each coin was made, and when it was bought."""
TECHNIQUES = ("etching", "woodcut")
"""Of the drawings in turn."""
SPECIMENS = 2
"""Type specimens, all of them prepared by Hal Rune; a voucher specimen is nobody's."""
PLATES = 3


def _year(year: int) -> str:
    begin, end = f'"{year}-01-01"^^xsd:date', f'"{year}-12-31"^^xsd:date'
    return f"[ crm:P82a_begin_of_the_begin {begin} ; crm:P82b_end_of_the_end {end} ]"


def _world() -> str:
    places = {name: f":place{at}" for at, name in enumerate(sorted({*BORN.values()}))}
    rows = [f'{node} a crm:E53_Place ; rdfs:label "{name}" .' for name, node in places.items()]
    for at, (name, place) in enumerate(BORN.items()):
        gender = ":female" if name in ("Ada Berg", "Cara Lind", "Eva Strand", "Gro Moen") else ":male"
        rows.append(f"""
:person{at} a crm:E21_Person ; rdfs:label "{name}" ; crm:P2_has_type {gender} .
:birth{at} a crm:E67_Birth ; crm:P98_brought_into_life :person{at} ; crm:P7_took_place_at {places[place]} .
:work{at} a crm:E22_Human-Made_Object ; rdfs:label "Leaf {at}" ; crm:P2_has_type :drawing .
:making{at} a crm:E12_Production ; crm:P108_has_produced :work{at} ; crm:P14_carried_out_by :person{at} ;
  crm:P32_used_general_technique :{TECHNIQUES[at % 2]} .""")
    rows += [f':{one} a crm:E55_Type ; rdfs:label "{one}"@en .' for one in TECHNIQUES]
    for at in range(SPECIMENS):
        rows.append(f"""
:specimen{at} a crm:E22_Human-Made_Object ; rdfs:label "Sheet {at}" ; crm:P2_has_type :typespec .
:preparing{at} a crm:E12_Production ; crm:P108_has_produced :specimen{at} ; crm:P14_carried_out_by :preparer .""")
    rows += [f':plate{at} a :BotanicalPlate ; rdfs:label "Flora, {at}" .' for at in range(PLATES)]
    for kind, count in HELD.items():
        rows.append(f':{kind} a crm:E55_Type ; rdfs:label "{kind}"@en .')
        rows += (
            f':{kind}{at} a crm:E22_Human-Made_Object ; rdfs:label "{at} of {kind}s" ; crm:P2_has_type :{kind} .'
            for at in range(count)
        )
    for at, (made, bought) in enumerate(COINED):
        rows.append(f"""
:minting{at} a crm:E12_Production ; crm:P108_has_produced :coin{at} ; crm:P4_has_time-span {_year(made)} .
:buying{at} a crm:E8_Acquisition ; crm:P24_transferred_title_of :coin{at} ; crm:P4_has_time-span {_year(bought)} .""")
    return f"""{PREFIXES}
:drawing a crm:E55_Type ; rdfs:label "drawing"@en .
:female a crm:E55_Type ; rdfs:label "female"@en . :male a crm:E55_Type ; rdfs:label "male"@en .
:preparer a crm:E21_Person ; rdfs:label "Hal Rune" .
:visitor a crm:E21_Person ; rdfs:label "Jon Voss" ; crm:P98i_was_born :birth_of_voss ; crm:P100i_died_in :death_of_voss .
:birth_of_voss a crm:E67_Birth ; crm:P4_has_time-span {_year(1850)} .
:death_of_voss a crm:E69_Death ; crm:P7_took_place_at {places["Boston, Massachusetts, United States"]} .
:typespec a crm:E55_Type ; rdfs:label "type specimen"@en . :voucher a crm:E55_Type ; rdfs:label "voucher specimen"@en .
:sheet a crm:E22_Human-Made_Object ; rdfs:label "Sheet V" ; crm:P2_has_type :voucher .
:BotanicalPlate rdfs:subClassOf crm:E22_Human-Made_Object ; rdfs:label "botanical plate"@en .
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


@pytest.mark.parametrize("question", [
    "Is there anything by Ada Berg?", "Do you have anything by Ada Berg?", "Gibt es etwas von Ada Berg?",
])  # fmt: skip
def test_anything_by_somebody_is_what_they_made(leaves: Release, question: str) -> None:
    answer = ask(leaves, question)
    assert answer.exhaustive and labels_of(answer) == {"Leaf 0"}


def test_somebody_who_made_nothing_is_nothing_by_them(leaves: Release) -> None:
    """That there is a person of the name is no yes."""
    answer = ask(leaves, "Is there anything by Jon Voss?")
    assert not labels_of(answer) and not answer.text.startswith("Yes")


@pytest.mark.parametrize("name", ["Dan Holm", "Eva Strand"])
def test_a_surname_is_the_one_person_who_has_it(leaves: Release, name: str) -> None:
    """Also where a poem is called by it."""
    assert ask(leaves, f"Where was {name.split()[1]} born?").text == f"{name} was born in {BORN[name]}. [1]"


def test_a_surname_of_two_persons_is_not_told_as_one(leaves: Release) -> None:
    answer = ask(leaves, "Where was Lind born?")
    assert not answer.exhaustive
    assert ("Bo Lind" in answer.text) == ("Cara Lind" in answer.text)


def test_works_of_a_person_are_meant_though_a_poem_is_called_so(leaves: Release) -> None:
    assert labels_of(ask(leaves, "Which drawings are by Strand?")) == {"Leaf 4"}


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
    assert answer.exhaustive and labels_of(answer) == painters


def test_a_town_and_a_state_of_one_name_are_not_taken_for_one(leaves: Release) -> None:
    answer = ask(leaves, "Which artists were born in Washington?")
    assert not answer.exhaustive and labels_of(answer) in ({"Eva Strand"}, {"Finn Dahl"})


def test_places_that_are_too_many_to_look_at_are_not_told_as_all(
    leaves: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "MOST_PLACES", 3)
    answer = ask(leaves, "Which artists were born in Massachusetts?")
    assert not answer.exhaustive


def test_the_noun_for_those_who_make_things_asks_for_all_of_them(leaves: Release) -> None:
    answer = ask(leaves, "How many artists are in the collection?")
    assert answer.exhaustive and answer.set is not None and answer.set.size == len(BORN) + 1


@pytest.mark.parametrize("kind", HELD)
def test_which_are_there_points_to_nothing(leaves: Release, kind: str) -> None:
    answer = ask(leaves, f"Which {kind}s are there?")
    assert answer.exhaustive and len(labels_of(answer)) == HELD[kind]


def test_a_word_for_a_kind_names_no_book_that_has_it(leaves: Release) -> None:
    asked = individuals(leaves, analysed(leaves, "Where were the coins found?"))
    assert not asked, "not of the book on coins"
    (book,) = individuals(leaves, analysed(leaves, "Where was Coins of the Ptolemies printed?"))
    assert book.entities[0].name == "Coins of the Ptolemies"


def test_of_persons_may_be_by_or_of_them(leaves: Release) -> None:
    assert not ask(leaves, "Which drawings are of women?").exhaustive
    by = ask(leaves, "Which drawings are by women?")
    assert by.exhaustive and labels_of(by) == {"Leaf 0", "Leaf 2", "Leaf 4", "Leaf 6"}


def test_a_word_that_is_but_part_of_names_is_looked_for_in_all_of_them(leaves: Release) -> None:
    answer = ask(leaves, "drawings of horses")
    assert "Watering Horses at Noon" in answer.text and not answer.exhaustive


@pytest.mark.parametrize(("question", "sure"), [
    ("How many different artists is that?", True), ("How many is that?", True), ("Wie viele Künstler sind das?", False),
])  # fmt: skip
def test_how_many_that_is_asks_of_what_went_before(leaves: Release, question: str, sure: bool) -> None:
    _, talk = Conversation().ask(leaves, "Which artists were born in Massachusetts?")
    answer, _ = talk.ask(leaves, question)
    assert answer.set is not None and answer.set.size == 3 and answer.exhaustive == sure


def test_an_exact_name_of_a_kind_is_not_read_as_two(leaves: Release) -> None:
    """Not "type" and "specimen"."""
    answer = ask(leaves, "Which type specimens did Hal Rune make?")
    assert answer.exhaustive and labels_of(answer) == {"Sheet 0", "Sheet 1"}


def test_the_noun_of_a_class_of_the_data_means_its_things(leaves: Release) -> None:
    """Though it need not be all plates that there are."""
    answer = ask(leaves, "How many plates are there?")
    assert answer.set is not None and answer.set.size == PLATES and not answer.exhaustive
    assert f"{PLATES} known" in answer.text.replace("Three", "3").replace("three", "3")


def test_what_is_grouped_by_the_noun_of_a_relation_leaves_nothing_open(leaves: Release) -> None:
    answer = ask(leaves, "How many drawings are there of each technique?")
    assert answer.exhaustive and answer.set is not None and isinstance(answer.set.value, tuple)
    assert sorted(int(row[-1].label) for row in answer.set.value) == [3, 4]


@pytest.mark.parametrize(("question", "said"), [
    ("Who was the thief that made off with Leaf 0?", "thief"),  # who made it was not the thief
    ("What did Jon Voss die of?", "die"),  # neither where nor when
    ("In which town was Jon Voss born?", "place of birth"),  # not when
    ("What did Leaf 0 cost to make?", "price"),
])  # fmt: skip
def test_what_is_told_is_of_the_kind_that_is_asked_for(leaves: Release, question: str, said: str) -> None:
    answer = ask(leaves, question)
    assert answer.refused and f"“{said}”" in answer.text.split("What is recorded")[0]


def test_a_negation_that_no_reading_has_is_said_not_to_be_understood(leaves: Release) -> None:
    assert ask(leaves, "Which coins are not on show?").text == "Not understood: “not”."


@pytest.mark.parametrize("question", [
    "How many coins are there, inscriptions included?", "How many coins are there, including inscriptions?",
    "Counting inscriptions too, how many coins are there?",
])  # fmt: skip
def test_what_is_included_widens_and_does_not_restrict(leaves: Release, question: str) -> None:
    answer = ask(leaves, question)
    assert answer.set is not None and answer.set.size == HELD["coin"] and not answer.exhaustive


@pytest.mark.parametrize("question", [
    "How many coins are there, at all?", "How many coins of any kind are there?", "List the coins for me.",
])  # fmt: skip
def test_phrases_that_change_nothing_leave_nothing_open(leaves: Release, question: str) -> None:
    answer = ask(leaves, question)
    assert answer.exhaustive and answer.set is not None and answer.set.size == HELD["coin"]


def test_objects_need_not_be_told_apart_from_people_by_a_condition(leaves: Release) -> None:
    plan = ask(leaves, "How many objects are there?").set
    assert plan is not None and "where" not in plan.plan


@pytest.mark.parametrize(
    "question", ["Which coins are older than 1400?", "Welche coins sind älter als 1400?"]
)
def test_what_is_older_was_made_earlier(leaves: Release, question: str) -> None:
    answer = ask(leaves, question)
    assert answer.exhaustive and labels_of(answer) == {
        f"{at} of coins" for at, (made, _) in enumerate(COINED) if made < 1400
    }
