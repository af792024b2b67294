"""Questions for how many of each, for several things side by side, and for pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from crmrag_query.dates import describe, parse_date
from crmrag_query.sets.build import answer_set
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
]  # fmt: skip


@pytest.mark.parametrize(("question", "query"), GROUPS)
def test_groups_are_counted_right(gallery: Museum, question: str, query: str) -> None:
    parsed = gallery.parse(question)
    assert parsed.certain
    assert gallery.groups(parsed) == gallery.counts(query)


UNSURE_GROUPS = [
    ("How many works did each artist make?", per("?who", f"{MAKER} ?who")),
    ("How many works were exhibited at each exhibition?", per("?e", "?e @showed ?x")),
    ("How many works were given by each donor?", per("?d", "?x @giver ?d")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "query"), UNSURE_GROUPS)
def test_the_best_understanding_of_each_is_right(gallery: Museum, question: str, query: str) -> None:
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
    rounded = UNITS[unit]
    gold: dict[str, int] = {}
    for _, year in gallery.select(f"SELECT ?x (YEAR(?day) AS ?n) WHERE {{ {pattern} {DAY} }}"):
        key = str(rounded(int(year)))
        gold[key] = gold.get(key, 0) + 1
    parsed = gallery.parse(question)
    assert parsed.certain
    assert gallery.groups(parsed) == gold


# tables


def shows(rows: Rows, gold: Rows) -> bool:
    """Whether some columns of the rows, in some order, are these: further columns may stand beside them."""
    width, wanted = len(next(iter(rows), ())), len(next(iter(gold)))
    return any(
        {tuple(row[i] for i in order) for row in rows} == gold for order in permutations(range(width), wanted)
    )


TABLES = [
    ("Show each painting with its maker.", PAINTING + f"{MAKER} ?a", "?x ?a"),
    ("List all works with their owner.", "?x @owner ?a", "?x ?a"),
    ("Show every print together with its date.", PRINT + DAY, "?x ?day"),
    ("List the paintings with their makers and the birth places of their makers.",
     PAINTING + f"{MAKER} ?a . ?a @born_at ?b", "?x ?a ?b"),
    ("List artists with their birth dates.",
     "?x @born_on/@begins ?day", "?x ?day"),
    ("List all sculptures with their material and date.",
     f"?x @type :sculpture ; @of ?a . {DAY}", "?x ?a ?day"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern", "columns"), TABLES)
def test_a_table_tells_what_belongs_to_each_thing(
    gallery: Museum, question: str, pattern: str, columns: str
) -> None:
    gold = gallery.select(f"SELECT DISTINCT {columns} WHERE {{ {pattern} }}")
    parsed = gallery.parse(question)
    assert parsed.certain
    assert shows(gallery.rows(parsed), gold)


@pytest.mark.parametrize(("question", "pattern"), [
    ("When was A Quiet Canal painted?", ":p6 @made_on ?span . ?span @begins ?first ; @ends ?last"),
    ("When was Marta Lindqvist born?", ":lindqvist @born_on ?span . ?span @begins ?first ; @ends ?last"),
    ("When did Claire Duvernay die?", ":duvernay @died_on ?span . ?span @begins ?first ; @ends ?last"),
])  # fmt: skip
def test_when_is_answered_by_the_whole_span(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert parsed.certain and parsed.plan is not None
    [(first, last)] = gallery.select(f"SELECT ?first ?last WHERE {{ {pattern} }}")
    begin, end = parse_date(first), parse_date(last)
    assert begin is not None and end is not None
    [row] = answer_set(gallery.release, parsed.plan).value
    assert row[-1].label == describe(begin.hull(end))


# pairs


@pytest.mark.parametrize(("question", "pattern"), [
    ("List all pairs of artists born in the same place.",
     "?a @born_at ?c . ?b @born_at ?c"),
    ("Pairs of prints by the same artist",
     "?a @type :print ; @maker ?c . "
     "?b @type :print ; @maker ?c"),
])  # fmt: skip
def test_pairs_share_what_is_asked_for(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert parsed.certain
    gold = gallery.select(f"SELECT DISTINCT ?a ?b ?c WHERE {{ {pattern} FILTER(?a != ?b) }}")
    assert gallery.rows(parsed) == gold
