"""What looks like an exact set and is none: nations among people, dates that are told another way, materials that texts tell
of more often, one person recorded several times, owners with the names of several, pictures that are called by a noun.
"""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import Conversation, ask
from tests.support.parse_world import PREFIXES, Museum, build_museum

PAINTERS = {"adam": "dutch", "bert": "dutch", "cora": "danish", "dirk": ""}
"""Painters with their nation."""
WORKS = {
    "w0": ("painting", "adam", 1670, 1680, "ivory", "watercolor on ivory"),
    "w1": ("painting", "adam", 1700, 1700, "", "oil on ivory"),
    "w2": ("painting", "cora", 1710, 1710, "silver", "silver, cast"),
    "w3": ("print", "adam", 1720, 1720, "paper", "etching on paper"),
    "w4": ("print", "bert", 1730, 1730, "paper", "woodcut on paper"),
    "w5": ("drawing", "dirk", None, None, "", ""),
}
"""Works with their type, maker, years, material by a link, and in words."""
GIVEN = ("w3", "w4")
MADE_IN = {"w0": "hafen", "w1": "hafen", "w3": "hafen", "w4": "stadt"}
COPIES = 8
"""Records of one person."""
ATLASES = {"a0": ("made", 1590), "a1": ("made", 1610), "a2": ("published", 1580), "a3": ("published", 1620)}


def _dated(subject: str, path: str, span: str, first: int, last: int) -> str:
    return (
        f'{subject} {path} {span} . {span} a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{first}-01-01"^^xsd:date ; '
        f'crm:P82b_end_of_the_end "{last}-12-31"^^xsd:date .'
    )


def _graph() -> str:
    rows = [
        PREFIXES,
        ':dutch a crm:E74_Group ; rdfs:label "Dutch"@en . :danish a crm:E74_Group ; rdfs:label "Danish"@en .',
        ':note a crm:E55_Type ; rdfs:label "material statement"@en .',
        ':portrait0 a crm:E22_Human-Made_Object ; rdfs:label "Portrait"@en ; crm:P2_has_type :drawing .',
        ':saint a crm:E21_Person ; rdfs:label "Erik Sand"@en . :w0 crm:P62_depicts :saint .',
        ':giver a crm:E21_Person ; rdfs:label "Ida Holm"@en . :copyist a crm:E55_Type ; rdfs:label "copyist"@en .',
        *(f':gallery rdfs:label "{name} Gallery"@en .' for name in ("North", "South", "East", "West")),
        ":gallery a crm:E74_Group .",
        *(f':{name} a crm:E53_Place ; rdfs:label "{name.title()}"@en .' for name in ("hafen", "stadt")),
    ]
    for name in ("painting", "print", "drawing", "atlas"):
        rows.append(f':{name} a crm:E55_Type ; rdfs:label "{name}"@en .')
    for name in ("ivory", "silver", "paper"):
        rows.append(f':{name} a crm:E57_Material ; rdfs:label "{name}"@en .')
    for name, nation in PAINTERS.items():
        member = f" ; crm:P107i_is_current_or_former_member_of :{nation}" if nation else ""
        rows.append(f':{name} a crm:E21_Person ; rdfs:label "{name.title()} Maler"@en{member} .')
    for name, (kind, maker, first, last, material, text) in WORKS.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Work {name}"@en ; crm:P2_has_type :{kind} ; '
            f"crm:P52_has_current_owner :gallery . :making-{name} a crm:E12_Production ; crm:P108_has_produced :{name} ; "
            f"crm:P14_carried_out_by :{maker} ."
        )
        if name in MADE_IN:
            rows.append(f":making-{name} crm:P7_took_place_at :{MADE_IN[name]} .")
        if first is not None and last is not None:
            rows.append(_dated(f":making-{name}", "crm:P4_has_time-span", f":span-{name}", first, last))
        if material:
            rows.append(f":{name} crm:P45_consists_of :{material} .")
        if text:
            rows.append(
                f":text-{name} a crm:E33_Linguistic_Object ; crm:P2_has_type :note ; crm:P67_refers_to :{name} ; "
                f'crm:P190_has_symbolic_content "{text}" .'
            )
    for name in GIVEN:
        rows.append(
            f":gift-{name} a crm:E8_Acquisition ; crm:P24_transferred_title_of :{name} ; "
            "crm:P23_transferred_title_from :giver ."
        )
    for at in range(COPIES):
        rows.append(f':twin{at} a crm:E21_Person ; rdfs:label "Olga Dahl"@en ; crm:P2_has_type :copyist .')
    for name, (how, year) in ATLASES.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Atlas {name}"@en ; crm:P2_has_type :atlas .'
        )
        if how == "made":
            rows.append(f":making-{name} a crm:E12_Production ; crm:P108_has_produced :{name} .")
            rows.append(_dated(f":making-{name}", "crm:P4_has_time-span", f":span-{name}", year, year))
        else:
            rows.append(_dated(f":{name}", "crm:P160_has_temporal_projection", f":span-{name}", year, year))
    return "\n".join(rows)


@pytest.fixture(scope="module")
def cabinet(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("cabinet") / "project", _graph())


NEVER_WRONG = [
    ("Which artists are not Dutch?", {"cora", "dirk"}),
    ("Is there a portrait of Erik Sand?", {"w0"}),
    ("Prints by Ida Holm", set()),
]


@pytest.mark.parametrize(("question", "right"), NEVER_WRONG)
def test_what_is_told_as_exact_is_right(cabinet: Museum, question: str, right: set[str]) -> None:
    parsed = cabinet.parse(question)
    assert not parsed.certain or cabinet.listed(parsed) == right


UNSURE = [
    "Which works are made of ivory?",  # texts tell of one more
    "Which atlases were made before 1600?",  # of two it is told when they were published
    "How many people are copyists?",  # one person, recorded again and again
    "Works in the West Gallery",  # which has the names of four
]


@pytest.mark.parametrize("question", UNSURE)
def test_what_the_data_leave_open_is_not_sure(cabinet: Museum, question: str) -> None:
    assert not cabinet.parse(question).certain


def test_a_nation_is_denied_of_people_and_not_left_out_of_them(cabinet: Museum) -> None:
    assert cabinet.listed(cabinet.parse("Which artists are not Dutch?")) == {"cora", "dirk"}


def test_what_texts_tell_no_more_of_is_exact(cabinet: Museum) -> None:
    parsed = cabinet.parse("Which works are made of silver?")
    assert parsed.certain and cabinet.listed(parsed) == {"w2"}


def test_the_most_prolific_made_most(cabinet: Museum) -> None:
    assert cabinet.listed(cabinet.parse("Who is the most prolific artist?")) == {"adam"}


def test_the_year_of_a_date_makes_no_groups(cabinet: Museum) -> None:
    assert cabinet.listed(cabinet.parse("Prints made after the year 1725")) == {"w4"}


def test_where_most_were_made_is_a_place(cabinet: Museum) -> None:
    parsed = cabinet.parse("Where were the most works made?")
    assert parsed.certain and cabinet.listed(parsed) == {"hafen"}


KINDS = [
    (("How many paintings did Adam Maler make?", "and prints?"), {"w3"}),
    (("Are there paintings by Adam Maler?", "and how many prints by him?"), {"w3"}),
    (("works by Bert Maler", "and drawings?"), set()),
]


@pytest.mark.parametrize(("turns", "right"), KINDS)
def test_another_kind_keeps_what_held_of_the_one_before(
    cabinet: Museum, turns: tuple[str, str], right: set[str]
) -> None:
    _, talk = Conversation().ask(cabinet.release, turns[0])
    answer, _ = talk.ask(cabinet.release, turns[1])
    assert answer.set is not None and answer.set.size == len(right)


def test_somebody_who_was_not_spoken_of_leaves_a_question_unsure(cabinet: Museum) -> None:
    assert not cabinet.parse("How many prints by him?").certain


def test_a_ranking_tells_a_date_as_it_is_recorded(cabinet: Museum) -> None:
    assert "1670–1680" in ask(cabinet.release, "What is the oldest painting?").text
