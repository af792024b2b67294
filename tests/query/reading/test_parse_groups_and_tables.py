"""Questions for how many of each, for several things side by side, and for pairs: right, or not told as exact."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from tests.support.parse_world import Museum

Rows = set[tuple[str, ...]]
MAKER = "?x @maker"
DAY = "?x @made_on/@begins ?day"
PAINTING, PRINT = (f"?x @type :{name} . " for name in ("painting", "print"))
WORK = "?x a crm:E22_Human-Made_Object . "


def per(group: str, pattern: str) -> str:
    return f"SELECT {group} (COUNT(DISTINCT ?x) AS ?n) WHERE {{ {pattern} }} GROUP BY {group}"


GROUPS = [
    ("How many works per artist?", per("?who", f"{MAKER} ?who")),
    ("How many paintings by each artist?", per("?who", PAINTING + f"{MAKER} ?who")),
    ("How many works of each material are there?", per("?m", "?x @of ?m")),
    ("How many paintings does each owner have?", per("?o", PAINTING + "?x @owner ?o")),
    ("How many works per type?", per("?t", WORK + "?x @type ?t")),
    ("Which kinds of works are there, and how many of each?", per("?t", WORK + "?x @type ?t")),
    ("What types of works does the Harbour Trust own?", per("?t", WORK + "?x @type ?t ; @owner :trust")),
    ("Combien d'œuvres par matériau ?", per("?m", "?x @of ?m")),
    ("How many works did each artist make?", per("?who", f"{MAKER} ?who")),
    ("How many works were exhibited at each exhibition?", per("?e", "?e @showed ?x")),
    ("How many works per place of birth of their artists?", per("?b", f"{MAKER}/@born_at ?b")),
    ("How many works were given by each donor?", per("?d", "?x @giver ?d")),
    ("Wie viele Werke bestehen aus welchem Material?", per("?m", "?x @of ?m")),
    ("Which materials are there, and how many works are made of each?", per("?m", "?x @of ?m")),
    ("How many paintings did each artist born in Paris make?",
     per("?who", PAINTING + f"{MAKER} ?who . ?who @born_at :paris")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "query"), GROUPS)
def test_groups_are_counted_right(gallery: Museum, question: str, query: str) -> None:
    assert gallery.groups(gallery.parse(question)) == gallery.counts(query)


def decade(year: int) -> int:
    return year // 10 * 10


def century(year: int) -> int:
    """The first century is 1, the first before Christ -1; the data's year -0450 is 451 BC, which is -451."""
    return (year - 1) // 100 + 1 if year > 0 else -((-year) // 100 + 1)


UNITS: dict[str, Callable[[int], int]] = {"year": int, "decade": decade, "century": century}


@pytest.mark.parametrize(("question", "pattern", "unit"), [
    ("How many prints per year are there?", PRINT, "year"),
    ("List the number of paintings per decade.", PAINTING, "decade"),
    ("How many works were made per century?", WORK, "century"),
])  # fmt: skip
def test_groups_of_time_are_counted_right(gallery: Museum, question: str, pattern: str, unit: str) -> None:
    gold: dict[str, int] = {}
    for _, year in gallery.select(f"SELECT ?x (YEAR(?day) AS ?n) WHERE {{ {pattern} {DAY} }}"):
        key = str(UNITS[unit](int(year)))
        gold[key] = gold.get(key, 0) + 1
    assert gallery.groups(gallery.parse(question)) == gold


# tables and pairs


def shows(rows: Rows, gold: Rows) -> bool:
    """Whether some columns of the rows, in some order, are these: further columns may stand beside them."""
    width, wanted = len(next(iter(rows), ())), len(next(iter(gold)))
    return any(
        {tuple(row[i] for i in order) for row in rows} == gold for order in permutations(range(width), wanted)
    )


BORN = "?x @born_at ?a . ?w @maker ?x"
SAME = "FILTER(?x != ?a)"
TABLES = [
    ("Show each painting with its maker.", PAINTING + f"{MAKER} ?a", "?x ?a"),
    ("List all works with their owner.", "?x @owner ?a", "?x ?a"),
    ("Show every print together with its date.", PRINT + DAY, "?x ?day"),
    ("List the paintings with their makers and the birth places of their makers.",
     PAINTING + f"{MAKER} ?a . ?a @born_at ?b", "?x ?a ?b"),
    ("List artists with their birth dates.", "?x @born_on/@begins ?day", "?x ?day"),
    ("List all sculptures with their material and date.", f"?x @type :sculpture ; @of ?a . {DAY}", "?x ?a ?day"),
    ("sculptures and who made them", f"?x @type :sculpture . {MAKER} ?a", "?x ?a"),
    ("List all prints and where they were made", PRINT + "?x @made_at ?a", "?x ?a"),
    ("Artists born in Leiden with their years of birth",
     "?x @born_at :leiden ; @born_on/@begins ?day", "?x ?day"),
    ("Give me the birthplace of every artist", BORN, "?x ?a"),
    ("For each artist, the place of birth", BORN, "?x ?a"),
    ("Quel est le lieu de naissance de chaque artiste ?", BORN, "?x ?a"),
    ("Was ist der Geburtsort jedes Künstlers?", BORN, "?x ?a"),
    ("Liste die Künstler mit ihren Geburtsorten", BORN, "?x ?a"),
    ("Ποιος είναι ο τόπος γέννησης κάθε καλλιτέχνη;", BORN, "?x ?a"),
    ("the birthplace of each artist who died in Siena", "?x @born_at ?a ; @died_at :siena", "?x ?a"),
    ("When was each artist born?", "?x @born_on/@begins ?day", "?x ?day"),
    ("List all pairs of artists born in the same place.", f"?x @born_at ?c . ?a @born_at ?c {SAME}", "?x ?a ?c"),
    ("Pairs of prints by the same artist",
     f"?x @type :print ; @maker ?c . ?a @type :print ; @maker ?c {SAME}", "?x ?a ?c"),
    ("Alle Paare von Künstlern, die im selben Ort geboren sind", f"?x @born_at ?c . ?a @born_at ?c {SAME}", "?x ?a ?c"),
    ("Toutes les paires d'artistes nés au même endroit", f"?x @born_at ?c . ?a @born_at ?c {SAME}", "?x ?a ?c"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern", "columns"), TABLES)
def test_what_belongs_to_each_thing_is_told_or_nothing_as_exact(
    gallery: Museum, question: str, pattern: str, columns: str
) -> None:
    """Members alone, without what was asked of each, are no exact answer."""
    gold = gallery.select(f"SELECT DISTINCT {columns} WHERE {{ {pattern} }}")
    assert gold
    parsed = gallery.parse(question)
    assert not parsed.certain or shows(gallery.rows(parsed), gold)


@pytest.mark.parametrize("question", [
    "Which artists have no known birth place?", "Which artists' birth place is not recorded?",
    "Artists whose date of birth is unknown", "Pour quels artistes le lieu de naissance n'est pas connu ?",
    "Bei welchen Künstlern ist der Geburtsort nicht bekannt?",
])  # fmt: skip
def test_of_whom_nothing_is_told_is_right_or_not_told_as_exact(gallery: Museum, question: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.listed(parsed) == {"vafeas"}


@pytest.mark.parametrize(
    "question", ["Which works by unknown artists are here?", "Works whose artist is not known"]
)
def test_works_by_unknown_artists_are_those_without_one(gallery: Museum, question: str) -> None:
    assert gallery.listed(gallery.parse(question)) == gallery.gold(
        WORK + f"FILTER NOT EXISTS {{ {MAKER} ?who }}"
    )


def test_a_denial_that_is_not_understood_makes_no_exact_answer(gallery: Museum) -> None:
    assert not gallery.parse("Which works that no artist ever signed for are here?").certain
