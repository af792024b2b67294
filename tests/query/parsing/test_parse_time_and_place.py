"""Questions for when and where: years, centuries, before and after, places with all that lies in them."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

PAINTING, PRINT, SCULPTURE = (f"?x @type :{name} . " for name in ("painting", "print", "sculpture"))
PRODUCED = "?x @made_on ?t . "
BORN = "?x @born_on ?t . "
DIED = "?x @died_on ?t . "


def within(first: int | None, last: int | None) -> str:
    """The whole of the span ?t lies in these years, None: open. Years of the data are astronomical: 0 is 1 BC."""
    tests = [f"YEAR(?from) >= {first}"] if first is not None else []
    tests += [f"YEAR(?to) <= {last}"] if last is not None else []
    return f"?t @begins ?from ; @ends ?to FILTER({' && '.join(tests)})"


TIMES = [
    ("Which works are dated 1700?", PRODUCED + within(1700, 1700)),
    ("Which works date from the first half of the 19th century?", PRODUCED + within(1801, 1850)),
    ("Which works from the 18th century does the Harbour Trust own?", PRODUCED + within(1701, 1800) + " ?x @owner :trust"),
    ("Which works were made before 1700?", PRODUCED + within(None, 1699)),
    ("Which works were made after 1870?", PRODUCED + within(1871, None)),
    ("Which prints were made between 1800 and 1840?", PRINT + PRODUCED + within(1800, 1840)),
    ("sculptures made between 1700 and 1710", SCULPTURE + PRODUCED + within(1700, 1710)),
    ("Which paintings were made in the 19th century?", PAINTING + PRODUCED + within(1801, 1900)),
    ("Which works were made in the 1870s?", PRODUCED + within(1870, 1879)),
    ("Which paintings date from 1811?", PAINTING + PRODUCED + within(1811, 1811)),
    ("Which works were made since 1880?", PRODUCED + within(1880, None)),
    ("Which prints were made by 1810?", PRINT + PRODUCED + within(None, 1810)),
    ("Which works were created in the 5th century BC?", PRODUCED + within(-499, -400)),
    ("Which works were made during the 2nd century BC?", PRODUCED + within(-199, -100)),
    ("Who was born in 1655?", BORN + within(1655, 1655)),
    ("Who was born between 1780 and 1815?", BORN + within(1780, 1815)),
    ("Who died before 1720?", DIED + within(None, 1719)),
    ("Which artists were born in the 17th century?", BORN + within(1601, 1700)),
    ("Which works were exhibited in 1936?", "?e @showed ?x ; @on ?t . " + within(1936, 1936)),
    ("Who died in Siena in 1710?", "?x ^crm:P100_was_death_of ?d . ?d @at :siena ; @on ?t . " + within(1710, 1710)),
    ("Which works were exhibited in Paris in 1905?", "?e @showed ?x ; @at :paris ; @on ?t . " + within(1905, 1905)),
    ("Which paintings were made in France in the 19th century?",
     PAINTING + PRODUCED + within(1801, 1900) + " ?x @made_at/@within :france"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), TIMES)
def test_a_period_is_understood_for_certain_and_right(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.sure(question) == gold


def test_works_without_a_date_are_left_out_and_told(gallery: Museum) -> None:
    outcome = gallery.outcome(gallery.parse("Which paintings were made before 1700?"))
    left = {gallery.key(node) for nodes in outcome.excluded.values() for node in nodes}
    assert left == gallery.gold(PAINTING + "FILTER NOT EXISTS { ?x @made_on ?t }")


def test_before_and_after_a_year_and_the_year_itself_are_all_that_is_dated(gallery: Museum) -> None:
    parts = [gallery.sure(f"Which prints were made {when} 1810?") for when in ("before", "in", "after")]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert set.union(*parts) == gallery.gold(PRINT + PRODUCED)


PLACES = [
    ("Which works were made in Italy?", "?x @made_at/@within :italy"),
    ("Which works were made in Tuscany?", "?x @made_at/@within :tuscany"),
    ("Which works were made in Ostia?", "?x @made_at :ostia"),
    ("Which paintings were made in Delft?", PAINTING + "?x @made_at :delft"),
    ("Which sculptures were made in Lyon?", SCULPTURE + "?x @made_at :lyon"),
    ("Which works were exhibited in Paris?", "?x @show/@at :paris"),
    ("Who was born in Florence?", "?x @born_at :florence"),
    ("Who died in the Netherlands?", "?x @died_at/@within :netherlands"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), PLACES)
def test_a_place_holds_all_that_lies_in_it(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.sure(question) == gold


HARD = [
    ("Which sculptures were made before Christ?", SCULPTURE + PRODUCED + within(None, 0)),
    ("Which works depict a bridge and were made before 1700?", "?x @depicts :bridge . " + PRODUCED + within(None, 1699)),
    ("Which works were made in the place where their maker was born?",
     "?m @made ?x ; @at ?p ; @by/@born_at ?p"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), HARD)
def test_time_and_place_are_right_or_not_certain(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.members(parsed) == gallery.gold(pattern)
