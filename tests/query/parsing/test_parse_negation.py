"""Questions for what is not so, what is lacking, and what is left out: known to the data, nothing more."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

MAKER = "?x ^crm:P108_has_produced/crm:P14_carried_out_by"
PAINTING, PRINT, SCULPTURE = (f"?x crm:P2_has_type :{name} . " for name in ("painting", "print", "sculpture"))
WORK = "?x a crm:E22_Human-Made_Object . "


def lacks(pattern: str) -> str:
    return f"FILTER NOT EXISTS {{ {pattern} }}"


SURE = [
    ("Which works were not made in Italy?", WORK + lacks("?x ^crm:P108_has_produced/crm:P7_took_place_at/crm:P89_falls_within* :italy")),
    ("Which works made in Italy are not paintings?", WORK + "?x ^crm:P108_has_produced/crm:P7_took_place_at/crm:P89_falls_within* :italy " + lacks("?x crm:P2_has_type :painting")),
    ("Which works by Aldo Ferrante are not sculptures?", f"{MAKER} :ferrante " + lacks("?x crm:P2_has_type :sculpture")),
    ("Which works have no known owner?", WORK + lacks("?x crm:P52_has_current_owner ?o")),
    ("Which works have no depiction?", WORK + lacks("?x crm:P62_depicts ?o")),
    ("Which works have no date?", WORK + lacks("?x ^crm:P108_has_produced/crm:P4_has_time-span ?o")),
    ("Which works have no place of creation?", WORK + lacks("?x ^crm:P108_has_produced/crm:P7_took_place_at ?o")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), SURE)
def test_what_is_not_so_is_understood_for_certain_and_right(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.sure(question) == gold


RIGHT = [
    ("Which paintings do not depict a horse?", PAINTING + lacks("?x crm:P62_depicts :horse")),
    ("Which sculptures are not made of bronze?", SCULPTURE + lacks("?x crm:P45_consists_of :bronze")),
    ("Which paintings have no maker?", PAINTING + lacks(f"{MAKER} ?o")),
    ("Which prints are not owned by the Harbour Trust?", PRINT + lacks("?x crm:P52_has_current_owner :trust")),
    ("Which paintings were never exhibited?", PAINTING + lacks("?o crm:P16_used_specific_object ?x")),
    ("Which paintings without a date are there?", PAINTING + lacks("?x ^crm:P108_has_produced/crm:P4_has_time-span ?o")),
    ("Which paintings except those by Pietro Salvemini are there?", PAINTING + lacks(f"{MAKER} :salvemini")),
    ("List all paintings besides those in the Winter Salon.", PAINTING + lacks(":salon crm:P16_used_specific_object ?x")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), RIGHT)
def test_the_best_understanding_of_what_is_not_so_is_right(gallery: Museum, question: str, pattern: str) -> None:
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
    ("Which paintings do not show Florence?", PAINTING + lacks("?x crm:P62_depicts :florence")),
    ("Which works were not given by anyone?", WORK + lacks("?x ^crm:P24_transferred_title_of ?o")),
    ("Which sculptures do not have a height?", SCULPTURE + lacks("?x crm:P43_has_dimension ?o")),
    ("Which paintings were not made in the 18th century?",
     PAINTING + lacks('?x ^crm:P108_has_produced/crm:P4_has_time-span/crm:P82a_begin_of_the_begin ?d FILTER(YEAR(?d) > 1700 && YEAR(?d) < 1801)')),
    ("Which prints have neither a maker nor an owner?", PRINT + lacks(f"{MAKER} ?o") + lacks("?x crm:P52_has_current_owner ?w")),
    ("Which works were not exhibited and not given?", WORK + lacks("?o crm:P16_used_specific_object ?x") + lacks("?x ^crm:P24_transferred_title_of ?g")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), HARD)
def test_what_is_not_so_is_right_or_not_certain(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.members(parsed) == gallery.gold(pattern)
