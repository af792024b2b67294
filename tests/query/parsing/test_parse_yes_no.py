"""Questions for yes or no."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

MAKER = "?x ^crm:P108_has_produced/crm:P14_carried_out_by"
YEAR = "?x ^crm:P108_has_produced/crm:P4_has_time-span/crm:P82a_begin_of_the_begin ?d"

SURE = [
    ("Did Rosa Castelli paint Nocturne?", f"{MAKER} :castelli FILTER(?x = :p15)"),
    ("Did Pietro Salvemini paint Nocturne?", f"{MAKER} :salvemini FILTER(?x = :p15)"),
    ("Did Jan Verhoeck make sculptures?", f'?x crm:P2_has_type :sculpture . {MAKER}/rdfs:label "Jan Verhoeck"'),
    ("Did Nikos Vafeas paint any paintings?", f"?x crm:P2_has_type :painting . {MAKER} :vafeas"),
    ("Was Aldo Ferrante born in Siena?", ":birth-ferrante crm:P7_took_place_at ?x FILTER(?x = :siena)"),
    ("Did Claire Duvernay die in Paris?", ":death-duvernay crm:P7_took_place_at ?x FILTER(?x = :paris)"),
    ("Is Frozen River a print?", "?x crm:P2_has_type :print FILTER(?x = :p8)"),
    ("Is Frozen River a painting?", "?x crm:P2_has_type :painting FILTER(?x = :p8)"),
    ("Is Rearing Horse made of bronze?", "?x crm:P45_consists_of :bronze FILTER(?x = :s2)"),
    ("Is Rearing Horse made of marble?", "?x crm:P45_consists_of :marble FILTER(?x = :s2)"),
    ("Are there any sculptures made of oil?", "?x crm:P2_has_type :sculpture ; crm:P45_consists_of :oil"),
    ("Is there a painting of Siena?", "?x crm:P2_has_type :painting ; crm:P62_depicts :siena"),
    ("Were any works made in Ostia?", "?x ^crm:P108_has_produced/crm:P7_took_place_at :ostia"),
    ("Has Nocturne been exhibited?", "?x crm:P16_used_specific_object :p15"),
    ("Was Nocturne exhibited at the Winter Salon?", "?x crm:P16_used_specific_object :p15 FILTER(?x = :salon)"),
    ("Was Nocturne exhibited at the Masters of Light?", "?x crm:P16_used_specific_object :p15 FILTER(?x = :light)"),
    ("Does the Harbour Trust own Nocturne?", ":p15 crm:P52_has_current_owner ?x FILTER(?x = :trust)"),
    ("Does the Weavers Guild own Nocturne?", ":p15 crm:P52_has_current_owner ?x FILTER(?x = :guild)"),
    ("Have any paintings been given by Karl Brandt?",
     "?x crm:P2_has_type :painting ; ^crm:P24_transferred_title_of/crm:P23_transferred_title_from :brandt"),
    ("Do you have prints from before 1700?", f"?x crm:P2_has_type :print . {YEAR} FILTER(YEAR(?d) < 1700)"),
    ("Was Windmills made before 1750?", f"{YEAR} FILTER(YEAR(?d) < 1750 && ?x = :e2)"),
    ("Was Windmills made after 1750?", f"{YEAR} FILTER(YEAR(?d) > 1750 && ?x = :e2)"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), SURE)
def test_yes_or_no_is_understood_for_certain_and_right(gallery: Museum, question: str, pattern: str) -> None:
    assert gallery.value(question) is bool(gallery.gold(pattern))


def test_these_questions_have_both_answers(gallery: Museum) -> None:
    answers = [bool(gallery.gold(pattern)) for _, pattern in SURE]
    assert min(answers.count(True), answers.count(False)) >= 8


HARD = [
    ("Was Marta Lindqvist born in Paris?", False),  # she died there
    ("Are there sculptures without a maker?", True),
    ("Is there a print of a dragon?", False),
    ("Is Nocturne older than Harvest?", False),
    ("Did Pietro Salvemini ever visit Delft?", False),
]


@pytest.mark.parametrize(("question", "gold"), HARD)
def test_yes_or_no_is_right_or_not_certain(gallery: Museum, question: str, gold: bool) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.outcome(parsed).value is gold


def test_a_no_about_something_that_the_data_lacks_is_told_by_its_name(gallery: Museum) -> None:
    """The data knows no Otto Kranz: "no" would say that it does."""
    parsed = gallery.parse("Did Otto Kranz paint Nocturne?")
    assert not parsed.certain
    told = " ".join((*parsed.unknown, *parsed.missing)).lower()
    assert "otto kranz" in told
