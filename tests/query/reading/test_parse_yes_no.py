"""Questions for yes or no."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

MAKER = "?x @maker"
YEAR = "?x @made_on/@begins ?d"

RIGHT = [
    ("Did Rosa Castelli paint Nocturne?", f"{MAKER} :castelli FILTER(?x = :p15)"),
    ("Did Jan Verhoeck make sculptures?", f'?x @type :sculpture . {MAKER}/rdfs:label "Jan Verhoeck"'),
    ("Was Aldo Ferrante born in Siena?", ":birth-ferrante @at ?x FILTER(?x = :siena)"),
    ("Did Claire Duvernay die in Paris?", ":death-duvernay @at ?x FILTER(?x = :paris)"),
    ("Is Frozen River a print?", "?x @type :print FILTER(?x = :p8)"),
    ("Is Frozen River a painting?", "?x @type :painting FILTER(?x = :p8)"),
    ("Is Rearing Horse made of bronze?", "?x @of :bronze FILTER(?x = :s2)"),
    ("Is Rearing Horse made of marble?", "?x @of :marble FILTER(?x = :s2)"),
    ("Is there a painting of Siena?", "?x @type :painting ; @depicts :siena"),
    ("Were any works made in Ostia?", "?x @made_at :ostia"),
    ("Was Nocturne exhibited at the Winter Salon?", "?x @showed :p15 FILTER(?x = :salon)"),
    ("Was Nocturne exhibited at the Masters of Light?", "?x @showed :p15 FILTER(?x = :light)"),
    ("Does the Harbour Trust own Nocturne?", ":p15 @owner ?x FILTER(?x = :trust)"),
    ("Does the Weavers Guild own Nocturne?", ":p15 @owner ?x FILTER(?x = :guild)"),
    ("Have any paintings been given by Karl Brandt?",
     "?x @type :painting ; @giver :brandt"),
    ("Do you have prints from before 1700?", f"?x @type :print . {YEAR} FILTER(YEAR(?d) < 1700)"),
    ("Was Windmills made before 1750?", f"{YEAR} FILTER(YEAR(?d) < 1750 && ?x = :e2)"),
    ("Was Windmills made after 1750?", f"{YEAR} FILTER(YEAR(?d) > 1750 && ?x = :e2)"),
    ("Are there sculptures without a maker?", "?x @type :sculpture FILTER NOT EXISTS { ?x @maker ?who }"),
    ("¿Se hicieron obras en Ostia?", "?x @made_at :ostia"),
    ("Ζωγραφίστηκαν έργα στη Σιένα;", "?x @made_at :siena"),
]  # fmt: skip


HARD = [
    ("Did Pietro Salvemini paint Nocturne?", f"{MAKER} :salvemini FILTER(?x = :p15)"),
    ("Did Nikos Vafeas paint any paintings?", f"?x @type :painting . {MAKER} :vafeas"),
    ("Are there any sculptures made of oil?", "?x @type :sculpture ; @of :oil"),
    ("Was Marta Lindqvist born in Paris?", ":birth-lindqvist @at ?x FILTER(?x = :paris)"),
    ("Is Nocturne older than Harvest?", "FILTER(false)"),
    ("Did Pietro Salvemini ever visit Delft?", "FILTER(false)"),
    ("Is there a print of a dragon?", "FILTER(false)"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), RIGHT)
def test_yes_or_no_is_what_sparql_finds(gallery: Museum, question: str, pattern: str) -> None:
    assert gallery.value(question) is bool(gallery.gold(pattern))


@pytest.mark.parametrize(("question", "pattern"), HARD)
def test_yes_or_no_is_right_or_not_told_as_exact(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.outcome(parsed).value is bool(gallery.gold(pattern))


def test_these_questions_have_both_answers_and_most_are_told_as_exact(gallery: Museum) -> None:
    answers = [bool(gallery.gold(pattern)) for _, pattern in RIGHT]
    assert min(answers.count(True), answers.count(False)) >= 5
    assert gallery.share_sure([question for question, _ in RIGHT]) >= 0.6


def test_a_no_about_something_that_the_data_lacks_is_told_by_its_name(gallery: Museum) -> None:
    """The data knows no Otto Kranz: "no" would say that it does."""
    parsed = gallery.parse("Did Otto Kranz paint Nocturne?")
    assert not parsed.certain
    assert "otto kranz" in " ".join((*parsed.unknown, *parsed.unnamed)).lower()
