"""Questions for what is not so, what is lacking, and what is left out: known to the data, nothing more."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

MAKER = "?x @maker"
PAINTING, PRINT, SCULPTURE = (f"?x @type :{name} . " for name in ("painting", "print", "sculpture"))
WORK = "?x a crm:E22_Human-Made_Object . "


def lacks(pattern: str) -> str:
    return f"FILTER NOT EXISTS {{ {pattern} }}"


SURE = [
    ("Which works were not made in Italy?", WORK + lacks("?x @made_at/@within :italy")),
    ("Which works by Aldo Ferrante are not sculptures?", f"{MAKER} :ferrante " + lacks("?x @type :sculpture")),
    ("Which works have no known owner?", WORK + lacks("?x @owner ?o")),
    ("Which works have no depiction?", WORK + lacks("?x @depicts ?o")),
    ("Which works have no date?", WORK + lacks("?x @made_on ?o")),
    ("Which works have no place of creation?", WORK + lacks("?x @made_at ?o")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), SURE)
def test_what_is_not_so_is_understood_for_certain_and_right(
    gallery: Museum, question: str, pattern: str
) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.sure(question) == gold


RIGHT = [
    ("Which works made in Italy are not paintings?", WORK + "?x @made_at/@within :italy " + lacks("?x @type :painting")),
    ("Which paintings do not depict a horse?", PAINTING + lacks("?x @depicts :horse")),
    ("Which sculptures are not made of bronze?", SCULPTURE + lacks("?x @of :bronze")),
    ("Which paintings have no maker?", PAINTING + lacks(f"{MAKER} ?o")),
    ("Which prints are not owned by the Harbour Trust?", PRINT + lacks("?x @owner :trust")),
    ("Which paintings were never exhibited?", PAINTING + lacks("?o @showed ?x")),
    ("Which paintings without a date are there?", PAINTING + lacks("?x @made_on ?o")),
    ("Which paintings except those by Pietro Salvemini are there?", PAINTING + lacks(f"{MAKER} :salvemini")),
    ("List all paintings besides those in the Winter Salon.", PAINTING + lacks(":salon @showed ?x")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), RIGHT)
def test_the_best_understanding_of_what_is_not_so_is_right(
    gallery: Museum, question: str, pattern: str
) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.read(question) == gold


def test_what_is_so_and_what_is_not_are_the_whole(gallery: Museum) -> None:
    """Open world or not: of one kind everything is in one of the two sets, nothing in both."""
    for is_so, is_not in (
        ("Which works were made in Italy?", "Which works were not made in Italy?"),
        ("Which sculptures are made of bronze?", "Which sculptures are not made of bronze?"),
        ("Which paintings depict Florence?", "Which paintings do not depict Florence?"),
    ):
        kind = SCULPTURE if "sculptures" in is_so else PAINTING if "paintings" in is_so else WORK
        yes, no = gallery.read(is_so), gallery.read(is_not)
        assert not yes & no
        assert yes | no == gallery.gold(kind), is_not


HARD = [
    ("Which works are neither paintings nor prints?", WORK + lacks("?x @type :painting") + lacks("?x @type :print")),
    ("Which paintings do not show Florence?", PAINTING + lacks("?x @depicts :florence")),
    ("Which works were not given by anyone?", WORK + lacks("?x @gift ?o")),
    ("Which sculptures do not have a height?", SCULPTURE + lacks("?x @dimension ?o")),
    ("Which paintings were not made in the 18th century?",
     PAINTING + lacks('?x @made_on/@begins ?d FILTER(YEAR(?d) > 1700 && YEAR(?d) < 1801)')),
    ("Which prints have neither a maker nor an owner?", PRINT + lacks(f"{MAKER} ?o") + lacks("?x @owner ?w")),
    ("Which works were not exhibited and not given?", WORK + lacks("?o @showed ?x") + lacks("?x @gift ?g")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), HARD)
def test_what_is_not_so_is_right_or_not_certain(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.members(parsed) == gallery.gold(pattern)
