"""What is not understood is told, by its words; what is told for certain holds all that was asked."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import Parsed, parse
from tests.conftest import ROOT
from tests.support.parse_world import Museum


def told(parsed: Parsed) -> str:
    """The words that are told as not understood, and the names that nothing has."""
    return " ".join((*parsed.unknown, *parsed.unnamed)).lower()


LACKING = [
    # names
    ("Which works were made by Otto Kranz?", "otto kranz"),
    ("Which works were made in Portugal?", "portugal"),
    ("Which artists were born in Vienna?", "vienna"),
    ("Which paintings does the Louvre own?", "louvre"),
    ("Which artists are represented at the Spring Salon?", "spring"),
    # kinds and materials
    ("Which paintings show a unicorn?", "unicorn"),
    ("Which works are made of porcelain?", "porcelain"),
    ("Which prints are etched on vellum?", "vellum"),
    # words
    ("Which zorgles were made by Henri Maubert?", "zorgles"),
    ("Which frumious paintings are there?", "frumious"),
    ("Which paintings by Henri Maubert are insured?", "insured"),
    ("Which paintings are beautiful?", "beautiful"),
    ("Which purple paintings depict Florence?", "purple"),
    # relations
    ("Who taught Pietro Salvemini?", "taught"),
    ("Who was the wife of Jan Verhoeck?", "wife"),
    ("Which works were stolen in 1911?", "stolen"),
    ("Which works were restored in 1950?", "restored"),
    ("Which paintings were influenced by Rembrandt?", "influenced"),
    ("Which works cost more than 1000?", "cost"),
]


@pytest.mark.parametrize(("question", "word"), LACKING)
def test_what_the_data_lacks_is_told_by_its_words(gallery: Museum, question: str, word: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain
    assert word in told(parsed)


UNANSWERABLE = [
    "How many tapestries are there?", "Which drawings are there?", "Which tapestries are there?",
    "What is the weather today?", "Where was Nikos Vafeas born?",
    "When did Rosa Castelli die?", "When was Unfinished Study painted?", "Who painted Market Day?",
    "How many visitors came to the Winter Salon?", "How old was Marta Lindqvist when she painted Harvest?",
    "Why did Pietro Salvemini move to Siena?", "What did Pietro Salvemini think of Aldo Ferrante?",
    "Which paintings were painted on a Tuesday?", "Who gave Harvest?", "What is Two Horses worth?",
    "What is the price of Nocturne?", "Give me the titles of all prints owned by the Weavers Guild.",
]  # fmt: skip


@pytest.mark.parametrize("question", UNANSWERABLE)
def test_what_the_data_does_not_tell_is_never_certain(gallery: Museum, question: str) -> None:
    assert not gallery.parse(question).certain


@pytest.mark.parametrize(("question", "relation"), [
    ("Who taught Pietro Salvemini?", "teacher"), ("Who was the wife of Jan Verhoeck?", "spouse"),
    ("Who visited the Winter Salon?", "attendance"), ("What is the price of Nocturne?", "price"),
])  # fmt: skip
def test_a_relation_that_nothing_states_is_told_by_its_id(
    gallery: Museum, question: str, relation: str
) -> None:
    assert relation in gallery.parse(question).absent


def test_a_relation_that_is_stated_of_others_is_not_told_to_be_stated_of_nothing(gallery: Museum) -> None:
    assert "died_on" not in gallery.parse("When did Rosa Castelli die?").absent


def test_none_of_known_things_is_an_empty_set(gallery: Museum) -> None:
    assert gallery.read("Which works of Pietro Salvemini depict a lion?") == set()


# no word is lost

CERTAIN = [
    "Which paintings depict Florence?", "What paintings did Pietro Salvemini make?", "Which sculptures are made of bronze?",
    "How many works does the Weavers Guild own?", "Which works were shown at the Winter Salon?",
    "Which artists were born in Italy?", "Which prints were made between 1800 and 1840?", "How many works per artist?",
    "Which works were given by Ida Holm?", "What is the oldest painting?", "Which artist made the most works?",
]  # fmt: skip
STRANGE = ["frumious", "gimble", "insured", "beautiful", "stolen", "left-handed"]


def test_plain_questions_are_told_as_exact(gallery: Museum) -> None:
    assert gallery.share_sure(CERTAIN) >= 0.8


@pytest.mark.parametrize("question", CERTAIN)
@pytest.mark.parametrize("word", STRANGE)
def test_a_strange_word_before_a_noun_is_never_lost(gallery: Museum, question: str, word: str) -> None:
    """The same question with a further adjective is not what the plan without it answers for certain."""
    noun = next(
        noun
        for noun in ("paintings", "painting", "sculptures", "works", "artists", "prints")
        if noun in question
    )
    asked = gallery.parse(question.replace(noun, f"{word} {noun}", 1))
    assert not asked.certain, asked.plan


@pytest.mark.parametrize("question", CERTAIN)
def test_a_further_condition_is_never_lost(gallery: Museum, question: str) -> None:
    """Another known thing in the question changes what is asked, or makes it less than certain."""
    plain = gallery.parse(question)
    for more in (" by Rosa Castelli", " made of bronze", " in Ostia", " before 1300"):
        asked = gallery.parse(question.removesuffix("?") + more + "?")
        assert not asked.certain or asked.plan != plain.plan, more


@pytest.mark.parametrize("question", CERTAIN)
def test_a_negation_is_never_lost(gallery: Museum, question: str) -> None:
    for positive, negative in (
        (" are ", " are not "),
        (" were ", " were not "),
        (" depict ", " do not depict "),
    ):
        if positive in question:
            asked = gallery.parse(question.replace(positive, negative, 1))
            assert not asked.certain or asked.plan != gallery.parse(question).plan


@pytest.mark.parametrize("question", [
    "Who made more works than Henri Maubert?", "Which material is used for more works than bronze?",
    "Which place has the oldest works?", "How many works were made where?", "How many works are there per type and century?",
    "Which works were given by more than one donor?", "How often was Nocturne exhibited with prints?",
])  # fmt: skip
def test_what_no_plan_counts_or_compares_is_never_answered_for_certain(
    gallery: Museum, question: str
) -> None:
    assert not gallery.parse(question).certain


@pytest.mark.parametrize("question", [
    "Which paintings depict Florence and where is the toilet?", "Who painted Nocturne, and who owns Harvest?",
    "Who painted Nocturne and when was Harvest made?",
])  # fmt: skip
def test_of_two_questions_at_once_neither_is_answered_for_certain(gallery: Museum, question: str) -> None:
    assert not gallery.parse(question).certain


@pytest.mark.parametrize("question", [
    "Which paintings were painted or exhibited in Florence?", "Which works were given or made by Rosa Castelli?",
])  # fmt: skip
def test_what_or_joins_is_neither_read_as_both_nor_as_one_of_them_for_certain(
    gallery: Museum, question: str
) -> None:
    assert not gallery.parse(question).certain


# the whole of what is told


@pytest.mark.parametrize("question", [question for question, _ in LACKING] + CERTAIN + UNANSWERABLE)
def test_what_is_told_fits_together(gallery: Museum, question: str) -> None:
    parsed = gallery.parse(question)
    if parsed.certain:
        assert parsed.plan is not None and not parsed.unknown
    for part in (parsed.unknown, parsed.unnamed, parsed.absent, parsed.notes, parsed.others):
        assert len(set(part)) == len(part)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_the_plan_does_not_depend_on_the_order_of_hashes(gallery: Museum, every: int) -> None:
    """The same plans in a process with another seed for the hashes of texts as in this one."""
    release = gallery.release
    code = (
        "import sys; from pathlib import Path; from crmrag_query.artifacts.release import open_release; "
        "from tests.query.reading.test_parse_honesty import printed; "
        "printed(open_release(sys.argv[1], Path(sys.argv[2])), *sys.argv[3:])"
    )
    asked = [*CERTAIN[::every], *UNANSWERABLE[::every], "Which works are by Verhoeck?"]
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    other = subprocess.run(
        [sys.executable, "-c", code, release.manifest.dataset, str(_data(gallery)), *asked],
        env=os.environ | {"PYTHONHASHSEED": seed}, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    with redirect_stdout(StringIO()) as here:
        printed(release, *asked)
    assert here.getvalue() == other and len(other.splitlines()) == len(asked)


def printed(release: Release, *questions: str) -> None:
    for question in questions:
        found = parse(release, analysed(release, question))
        print(found.plan, found.runner_up, found.score, found.unknown, found.unnamed, found.notes)


def _data(gallery: Museum) -> Path:
    """The data folder that the release is in."""
    return next(parent for parent in gallery.release.folder.parents if parent.name == "data")


@pytest.mark.parametrize(("of_all", "of_some"), [
    ("Welche Maler gibt es?", "Welche Malerinnen gibt es?"),
    ("Welche Künstler wurden in Paris geboren?", "Welche Künstlerinnen wurden in Paris geboren?"),
    ("Are there sculptures or paintings?", "Are there more sculptures or paintings?"),
])  # fmt: skip
def test_what_asks_for_less_is_not_read_as_what_asks_for_all(
    gallery: Museum, of_all: str, of_some: str
) -> None:
    assert gallery.parse(of_all).certain and not gallery.parse(of_some).certain


def test_who_wrote_about_a_thing_need_not_have_made_it(gallery: Museum) -> None:
    assert gallery.parse("Who made The Old Bridge?").certain
    assert not gallery.parse("Who wrote about The Old Bridge?").certain


@pytest.mark.parametrize("question", ["Is The Old Bridge a painting?", "Is Morning at the Arno a painting?"])
def test_whether_something_is_of_a_kind_is_a_question(gallery: Museum, question: str) -> None:
    parsed = gallery.parse(question)
    assert parsed.certain and gallery.outcome(parsed).size == 1
