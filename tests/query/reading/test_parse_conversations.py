"""Questions that go on from others: what "them", "there" and "she" are, and how a set is narrowed, changed and counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crmrag_query.reading.records import Antecedent
from tests.support.parse_world import Museum

MAKER = "?x @maker"
YEAR = "?x @made_on/@begins ?d"
PLACE = "?x @made_at"
SALON = "?x @type :painting . :salon @showed ?x . "
BY_MAUBERT, AT_SALON = (
    "Which works did Henri Maubert make?",
    "Which paintings were exhibited at the Winter Salon?",
)
IN_FLORENCE, BEFORE = "Which works were made in Florence?", "Which works were made before 1700?"

SETS = [
    # a part of the set
    ((BY_MAUBERT, "Which of them depict a lion?"), f"{MAKER} :maubert . ?x @depicts :lion"),
    ((BY_MAUBERT, "Which of these does the Harbour Trust own?"), f"{MAKER} :maubert . ?x @owner :trust"),
    ((BY_MAUBERT, "Which of them were made in 1815?"), f"{MAKER} :maubert . {YEAR} FILTER(YEAR(?d) = 1815)"),
    ((AT_SALON, "Which of them were not made by Pietro Salvemini?"), SALON + f"FILTER NOT EXISTS {{ {MAKER} :salvemini }}"),
    ((BY_MAUBERT, "Which of them does the Harbour Trust own?", "Which of them depict a lion?"),
     f"{MAKER} :maubert . ?x @owner :trust ; @depicts :lion"),
    (("Which artists were born in Leiden?", "Which of them died in Paris?"),
     "?x @born_at :leiden ; @died_at :paris"),
    # what belongs to it
    ((AT_SALON, "Who made them?"), "?m @by ?x ; @made ?w . ?w @type :painting . :salon @showed ?w"),
    (("Which paintings depict a bridge?", "Which of them were made by Jan Verhoeck?"),
     f'?x @type :painting ; @depicts :bridge . {MAKER}/rdfs:label "Jan Verhoeck"'),
    (("Which artists were born in Leiden?", "What did they make?"), f"{MAKER}/@born_at :leiden"),
    ((BY_MAUBERT, "Which is the oldest of them?"), "VALUES ?x { :e5 }"),
    ((IN_FLORENCE, "Which sculptures were made there?"), f"?x @type :sculpture . {PLACE} :florence"),
    ((BY_MAUBERT, "Which of them depict a lion?", "and the others?"),
     f"{MAKER} :maubert FILTER NOT EXISTS {{ ?x @depicts :lion }}"),
    (("Welche Werke schuf Henri Maubert?", "Welche davon sind Druckgrafiken?"), f"{MAKER} :maubert . ?x @type :print"),
    (("Ποια έργα έφτιαξε ο Henri Maubert;", "Ποια από αυτά είναι χαρακτικά;"), f"{MAKER} :maubert . ?x @type :print"),
    # narrowed
    ((BY_MAUBERT, "Only the prints, please."), f"{MAKER} :maubert . ?x @type :print"),
    # another period
    ((BEFORE, "And before 1750?"), f"{YEAR} FILTER(YEAR(?d) < 1750)"),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "pattern"), SETS)
def test_a_question_goes_on_from_a_set(gallery: Museum, turns: tuple[str, ...], pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.read(turns[-1], gallery.after(*turns[:-1])) == gold


def test_most_questions_that_go_on_are_told_as_exact(gallery: Museum) -> None:
    sure = [gallery.parse(turns[-1], gallery.after(*turns[:-1])).certain for turns, _ in SETS]
    assert sum(sure) / len(sure) >= 0.7


HARD = [
    ((AT_SALON, "Except those by Pietro Salvemini?"), SALON + f"FILTER NOT EXISTS {{ {MAKER} :salvemini }}"),
    (("Quelles œuvres Henri Maubert a-t-il peintes ?", "Lesquelles d'entre elles sont des estampes ?"),
     f"{MAKER} :maubert . ?x @type :print"),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "pattern"), HARD)
def test_a_question_that_goes_on_is_right_or_not_told_as_exact(
    gallery: Museum, turns: tuple[str, ...], pattern: str
) -> None:
    parsed = gallery.parse(turns[-1], gallery.after(*turns[:-1]))
    assert not parsed.certain or gallery.listed(parsed) == gallery.gold(pattern)


@pytest.mark.parametrize(("turns", "pattern"), [
    ((BY_MAUBERT, "And how many are there?"), f"{MAKER} :maubert"),
    ((BY_MAUBERT, "How many of them were made before 1820?"), f"{MAKER} :maubert . {YEAR} FILTER(YEAR(?d) < 1820)"),
])  # fmt: skip
def test_a_set_is_counted(gallery: Museum, turns: tuple[str, ...], pattern: str) -> None:
    assert gallery.value(turns[-1], gallery.after(*turns[:-1])) == len(gallery.gold(pattern)) > 0


@pytest.mark.parametrize(("asked", "gold"), [("Claire Duvernay", False), ("Henri Maubert", True)])
def test_yes_or_no_is_asked_of_a_set(gallery: Museum, asked: str, gold: bool) -> None:
    parsed = gallery.parse(f"Are any of them by {asked}?", gallery.after(AT_SALON))
    assert not parsed.certain or gallery.outcome(parsed).value is gold


def test_a_set_is_grouped(gallery: Museum) -> None:
    parsed = gallery.parse("How many of them per artist?", gallery.after(AT_SALON))
    query = f"SELECT ?who (COUNT(?x) AS ?n) WHERE {{ {SALON} {MAKER} ?who }} GROUP BY ?who"
    assert gallery.groups(parsed) == gallery.counts(query)


@pytest.mark.parametrize(
    ("asked", "order"), [("Sort them alphabetically", "label"), ("sort them by date", "date")]
)
def test_a_set_is_sorted_and_stays_what_it_is(gallery: Museum, asked: str, order: str) -> None:
    parsed = gallery.parse(asked, gallery.after(BY_MAUBERT))
    assert parsed.sort == order
    assert not parsed.certain or gallery.listed(parsed) == gallery.gold(f"{MAKER} :maubert")


@pytest.mark.parametrize(("asked", "pattern"), [
    ("What did she make?", f"{MAKER} :castelli"),
    ("Which sculptures did she make?", f"?x @type :sculpture . {MAKER} :castelli"),
])  # fmt: skip
def test_she_is_who_was_spoken_of(gallery: Museum, asked: str, pattern: str) -> None:
    earlier = gallery.after("Who painted Nocturne?", focus="castelli")
    assert gallery.read(asked, earlier) == gallery.gold(pattern)


# honesty


@pytest.mark.parametrize(
    "asked", ["How many of them are there?", "and the others?", "only those", "Sort them by date"]
)
def test_a_reference_to_nothing_is_never_certain(gallery: Museum, asked: str) -> None:
    assert not gallery.parse(asked, None).certain
    assert not gallery.parse(asked, Antecedent(None)).certain


def test_what_follows_an_unsure_set_is_not_sure(gallery: Museum) -> None:
    asked, earlier = "Which of them depict a lion?", gallery.after(BY_MAUBERT)
    assert earlier is not None
    assert gallery.parse(asked, earlier).certain
    assert not gallery.parse(asked, replace(earlier, sure=False)).certain


def test_a_whole_question_does_not_depend_on_what_went_before(gallery: Museum) -> None:
    alone = gallery.parse("Which sculptures are made of marble?")
    assert gallery.parse("Which sculptures are made of marble?", gallery.after(BY_MAUBERT)).plan == alone.plan


def test_what_the_data_lacks_is_told_in_a_further_question_too(gallery: Museum) -> None:
    parsed = gallery.parse(
        "Which of them are made of porcelain?", gallery.after("Which works are made of marble?")
    )
    assert not parsed.certain
    assert "porcelain" in " ".join((*parsed.unnamed, *parsed.unknown))
