"""Tables, pairs, comparisons and what is not told, asked of a small museum whose answers are known by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.graph.graph import Graph
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.parse import Parsed, parse
from crmrag_query.plans.compute import cell
from crmrag_query.plans.execute import execute
from crmrag_query.plans.world import World
from tests.support.builds import build_all, make_project

# Artist: place and year of birth, place of death; "" where the data says nothing.
ARTISTS = {
    "Ada Berg": ("Lund", "1801", "Ystad"),
    "Bo Lind": ("Lund", "1790", "Lund"),
    "Cy Holm": ("Ystad", "1850", "Ystad"),
    "Di Falk": ("", "", ""),
    "Eva Strand": ("Lund", "1812", "Ystad"),
}
WORKS = {
    "Harbour": "Ada Berg",
    "Storm": "Bo Lind",
    "Evening Storm": "Ada Berg",
    "Calm Sea": "Cy Holm",
    "Untitled Field": "Di Falk",
}
PREFIXES = """@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Lund a crm:E53_Place ; rdfs:label "Lund" . :Ystad a crm:E53_Place ; rdfs:label "Ystad" .
"""


def museum() -> str:
    lines = [PREFIXES]
    for name, (born, year, died) in ARTISTS.items():
        key = name.replace(" ", "")
        lines.append(f':{key} a crm:E21_Person ; rdfs:label "{name}" .')
        if born:
            day = f'"{year}-03-01"^^xsd:date'
            span = (
                f"[ a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin {day} ; crm:P82b_end_of_the_end {day} ]"
            )
            lines.append(
                f":{key}-birth a crm:E67_Birth ; crm:P98_brought_into_life :{key} ; crm:P7_took_place_at :{born} ;"
            )
            lines.append(f"  crm:P4_has_time-span {span} .")
            lines.append(
                f":{key}-death a crm:E69_Death ; crm:P100_was_death_of :{key} ; crm:P7_took_place_at :{died} ."
            )
    for title, maker in WORKS.items():
        key = title.replace(" ", "")
        lines.append(f':{key} a crm:E22_Human-Made_Object ; rdfs:label "{title}" .')
        lines.append(
            f":{key}-making a crm:E12_Production ; crm:P108_has_produced :{key} ; "
            f"crm:P14_carried_out_by :{maker.replace(' ', '')} ."
        )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    root = tmp_path_factory.mktemp("forms")
    project = make_project(root, rdf=["museum.ttl"], write_markdown=False)
    Path(root / "museum.ttl").write_text(museum(), encoding="utf-8")
    build_all(project.context())
    return open_release(project.dataset, project.data)


def parsed(release: Release, question: str) -> Parsed:
    return parse(release, analysed(release, question))


def rows(release: Release, question: str) -> set[tuple[str, ...]]:
    """The rows of the answer as labels and texts."""
    plan = parsed(release, question).plan
    assert plan is not None, question
    outcome = execute(plan, release[World])
    found = [row for block in outcome.blocks(1000) for row in block.tolist()]
    return {tuple(named(release, one) for one in row) for row in found}


def named(release: Release, one: int) -> str:
    if one < release[World].size:
        return release[Graph].label(one, ())
    return getattr(cell(release[World], one), "text", "")


BORN = {(name, born) for name, (born, _, _) in ARTISTS.items() if born}
MADE = set(WORKS.items())


@pytest.mark.parametrize(
    "question",
    [
        "Which is the birth place of an artist?",
        "Give me the birthplace of every artist",
        "For each artist, the place of birth",
        "Ποιος είναι ο τόπος γέννησης κάθε καλλιτέχνη;",
        "Quel est le lieu de naissance de chaque artiste ?",
        "Was ist der Geburtsort jedes Künstlers?",
        "List the artists with their birth places",
        "Liste die Künstler mit ihren Geburtsorten",
    ],
)
def test_a_fact_of_any_thing_of_a_kind_is_a_table(release: Release, question: str) -> None:
    assert rows(release, question) == BORN


@pytest.mark.parametrize(
    "question",
    [
        "Who is the creator of an artwork?",
        "Ποιος είναι ο δημιουργός κάθε έργου τέχνης;",
        "Wer ist der Schöpfer eines Kunstwerks?",
    ],
)
def test_a_chain_of_one_step(release: Release, question: str) -> None:
    assert rows(release, question) == MADE


def test_a_chain_of_two_steps_has_a_column_for_each(release: Release) -> None:
    expected = {(work, maker, ARTISTS[maker][0]) for work, maker in WORKS.items() if ARTISTS[maker][0]}
    assert rows(release, "What is the birth place of the creator of an artwork?") == expected
    assert rows(release, "Ποια είναι η γενέτειρα του δημιουργού ενός έργου τέχνης;") == expected


def test_what_is_said_of_each_thing_restricts_the_rows(release: Release) -> None:
    expected = {(name, born) for name, (born, _, died) in ARTISTS.items() if died == "Lund"}
    assert rows(release, "the birthplace of each artist who died in Lund") == expected


def test_words_of_a_place_restrict_its_cells(release: Release) -> None:
    expected = {(name, born) for name, born in BORN if born == "Ystad"}
    assert rows(release, 'the birth place of an artist including the word "ystad"') == expected


@pytest.mark.parametrize(
    "question",
    [
        "When was each artist born?",
        "Πότε γεννήθηκε κάθε καλλιτέχνης;",
    ],
)
def test_when_of_any_thing_gives_all_dates(release: Release, question: str) -> None:
    expected = {(name, f"1 March {year}") for name, (_, year, _) in ARTISTS.items() if year}
    assert {(row[0], row[-1]) for row in rows(release, question)} == expected


@pytest.mark.parametrize(
    "question",
    [
        "all pairs of artists born in the same place",
        "Όλα τα ζεύγη καλλιτεχνών που γεννήθηκαν στον ίδιο τόπο",
        "Alle Paare von Künstlern, die im selben Ort geboren sind",
        "Toutes les paires d'artistes nés au même endroit",
    ],
)
def test_pairs_of_things_that_have_the_same(release: Release, question: str) -> None:
    expected = {(a, b, here) for a, here in BORN for b, there in BORN if a != b and here == there}
    assert rows(release, question) == expected


def test_pairs_may_share_several_things(release: Release) -> None:
    told = {name: (born, died) for name, (born, _, died) in ARTISTS.items() if born}
    expected = {(a, b, *told[a]) for a in told for b in told if a != b and told[a] == told[b]}
    assert rows(release, "all pairs of artists with the same birth and death place") == expected


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who was born first, Ada Berg or Bo Lind?", "Bo Lind"),
        ("Which is older, Cy Holm or Ada Berg?", "Ada Berg"),
        ("Who is younger, Cy Holm or Ada Berg?", "Cy Holm"),
        ("Who has more works, Bo Lind or Ada Berg?", "Ada Berg"),
        ("Ποιος γεννήθηκε πρώτος, η Ada Berg ή ο Bo Lind;", "Bo Lind"),
        ("Wer wurde zuerst geboren, Ada Berg oder Bo Lind?", "Bo Lind"),
        ("Qui est né en premier, Ada Berg ou Bo Lind ?", "Bo Lind"),
    ],
)
def test_one_of_two(release: Release, question: str, first: str) -> None:
    plan = parsed(release, question).plan
    assert plan is not None
    members = execute(plan, release[World]).members
    assert [release[Graph].label(int(one), ()) for one in members] == [first]


def test_one_of_two_is_not_sure_where_nothing_is_told_of_one(release: Release) -> None:
    assert parsed(release, "Who was born first, Ada Berg or Bo Lind?").certain
    assert not parsed(release, "Who was born first, Ada Berg or Di Falk?").certain


@pytest.mark.parametrize(
    "question",
    [
        "Which artists have no known birth place?",
        "Which artists' birth place is not recorded?",
        "Artists whose date of birth is unknown",
        "Pour quels artistes le lieu de naissance n'est pas connu ?",
        "Bei welchen Künstlern ist der Geburtsort nicht bekannt?",
    ],
)
def test_what_is_not_told(release: Release, question: str) -> None:
    assert rows(release, question) == {("Di Falk",)}


def test_no_information_about_a_happening_is_neither_place_nor_date(release: Release) -> None:
    question = "Which artworks have a creator where no information about their birth is given?"
    assert rows(release, question) == {("Untitled Field",)}


def test_a_denial_that_is_not_understood_makes_no_sure_answer(release: Release) -> None:
    assert not parsed(release, "Which works by unknown artists are here?").certain
