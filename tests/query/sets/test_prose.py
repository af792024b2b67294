"""A set in sentences: its own numbers and no other, in every language, whatever the data's names hold."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.config import load_method
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Column,
    Measure,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Way,
)
from crmrag_query.plans.within import read_within
from crmrag_query.sets.build import Told, answer_set
from crmrag_query.sets.describe import Wording, misstated, prose
from crmrag_query.sets.records import AnswerSet, Cell, Chip, Identity
from crmrag_query.sets.records import Member as Entry
from tests.support.set_world import (
    ALL,
    BEFORE_1855,
    BY_ADA,
    MADE,
    MAKERS,
    MATERIAL,
    SPAN,
    computed,
    iri,
    naming,
)

METHOD = load_method()
LANGUAGES = ("en", "fr", "de", "el", "nl", "it", "es")
PLANS = [
    ALL,
    BEFORE_1855,
    computed(BY_ADA, kind="ask"),
    computed(BY_ADA, kind="count"),
    computed(ALL, kind="rank", measure=Measure(kind="earliest", way=SPAN), ascending=True),
    computed(ALL, kind="group", way=MATERIAL),
    computed(ALL, kind="group", way=SPAN, by="century"),
    computed(ALL, kind="table", columns=(Column(way=MADE),)),
    computed(ALL, kind="pairs", ways=(Way(paths=(("P55",),)),)),
    computed(ALL, kind="compare", others=(BY_ADA,)),
    Plan(where=(Among(iris=(iri("nobody"),)),)),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_words_for_every_kind_of_set(museum: Release, language: str) -> None:
    for plan in PLANS:
        found = answer_set(museum, plan, language=language, told=Told(False, ("sublime",)))
        assert found.text and not re.search(r"\{\w+\}", found.text)
        assert "sublime" in found.text and "\n" not in found.text


def test_a_list_says_its_size_and_the_first_few_with_citations(museum: Release) -> None:
    found = answer_set(naming(museum, 5), ALL)
    assert found.text.startswith("Painting – 7 known to this data set. Among them: Harbour 2; Harbour 10; ")
    assert "Calm sea" not in found.text and "Calm sea" in answer_set(museum, ALL).text
    cited = prose(found, METHOD.sets, lambda iri: f" [{iri[-1]}]")
    assert "Harbour 2 [1]; Harbour 10 [2]; =SUM(A1:A9) [3]" in cited
    assert answer_set(museum, BY_ADA).text.endswith(" Harbour 2; Harbour 10; =SUM(A1:A9).")


def test_nothing_found_is_said_of_the_data_and_not_of_the_world(museum: Release) -> None:
    nobody = ALL.model_copy(update={"where": (Related(way=MADE, to=Anchor(iris=(iri("nobody"),))),)})
    assert "none known to this data set" in answer_set(museum, nobody).text
    asked = answer_set(museum, computed(nobody, kind="ask"))
    assert asked.text.startswith("None is known to this data set: ")


def test_a_ranking_tells_ties(museum: Release) -> None:
    works = Measure(kind="count", way=Way(paths=(("P14i", "P108"),)))
    makers = Plan(where=(Among(iris=tuple(map(iri, MAKERS))),))
    text = answer_set(museum, computed(makers, kind="rank", measure=works)).text
    assert "Ada Berg (3); Bo Lind (2); Cy Holm (1, tied); Cy Holm (painter) (1, tied)." in text
    third = answer_set(museum, computed(makers, kind="rank", measure=works, first=3)).text
    assert (
        ", with the most: " in third and ", the first 3 – 4 with those that are tied. Ada Berg (3); " in third
    )


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", " – one known to this data set: Harbour 2."),
        ("fr", " – un seul connu dans ce jeu de données : Harbour 2."),
        ("de", " – ein Eintrag in diesem Datensatz bekannt: Harbour 2."),
        ("el", " – ένα γνωστό σε αυτό το σύνολο δεδομένων: Harbour 2."),
        ("it", " – uno solo noto in questo insieme di dati: Harbour 2."),
        ("es", " – uno solo conocido en este conjunto de datos: Harbour 2."),
    ],
)
def test_a_list_of_one_is_a_sentence_with_its_name(museum: Release, language: str, told: str) -> None:
    only = ALL.model_copy(update={"where": (Texted(texts=("Harbour 2",)),)})
    assert answer_set(museum, only, language=language).text.endswith(told)


PARTS = {
    "en": "Looked for only among: {}.",
    "fr": "Recherche limitée à : {}.",
    "de": "Gesucht wurde nur unter: {}.",
    "el": "Αναζητήθηκε μόνο μεταξύ: {}.",
    "it": "Cercato solo tra: {}.",
    "es": "Se buscó solo entre: {}.",
}


@pytest.mark.parametrize("language", PARTS)
def test_a_set_within_a_part_is_told_as_without_it_and_then_the_part(museum: Release, language: str) -> None:
    """Each part holds all paintings or more, so that the set itself is the same with and without it."""
    words = METHOD.sets.words(language)
    painting = Wording(museum, language).node(iri("painting"))
    for asked, part in (
        ({"iris": [iri("p1"), iri("p2"), iri("p3")]}, "Harbour 2 # Harbour 10 # =SUM(A1:A9)"),
        ({"categories": ["Thing"]}, words.categories["Thing"]),
        ({"types": [iri("painting")]}, painting),
    ):
        within = read_within(asked)
        assert within is not None
        for plan in (BY_ADA, *(computed(BY_ADA, kind=kind) for kind in ("ask", "count"))):
            narrowed = plan.model_copy(update={"where": (*plan.where, Member(plan=within))})
            part_told = PARTS[language].format(part.replace(" # ", words.or_))
            alone = answer_set(museum, plan, language=language).text
            assert answer_set(museum, narrowed, language=language).text == f"{alone} {part_told}"


def test_a_comparison_within_a_part_tells_it_once(museum: Release) -> None:
    within = Member(plan=Plan(target=Target(categories=("Thing",))))
    plan, other = (one.model_copy(update={"where": (*one.where, within)}) for one in (ALL, BY_ADA))
    assert answer_set(museum, computed(plan, kind="compare", others=(other,))).text == (
        "Painting – 7. Painting, was produced by › carried out by: Ada Berg – 3. In common: 3. "
        "Looked for only among: things."
    )


@pytest.mark.parametrize(
    ("plan", "begins"),
    [
        (computed(ALL, kind="group", way=MATERIAL), "Painting, grouped by: consists of – 2 groups known"),
        (computed(ALL, kind="table", columns=(Column(way=MATERIAL),)), "Painting, with: consists of – 7 rows"),
        (computed(ALL, kind="pairs", ways=(MATERIAL,)), "Painting, in pairs that share: consists of – "),
        (computed(ALL, kind="compare", others=(BY_ADA,)), "Painting – 7. Painting, was produced by › carried"),
        (ALL.model_copy(update={"where": (Member(plan=BY_ADA, negated=True),)}), "Painting, not: painting, was"),
        (Plan(where=(Member(plan=BY_ADA),)), "Painting, was produced by › carried out by: Ada Berg – 3 known"),
    ],
)  # fmt: skip
def test_uncommon_sets_begin_with_what_they_are(museum: Release, plan: Plan, begins: str) -> None:
    assert answer_set(museum, plan).text.startswith(begins)


names = st.text(st.characters(codec="utf-8"), max_size=120)


def made_of(labels: list[str], size: int, title: str = "paintings", language: str = "en") -> AnswerSet:
    """A list of entities with these labels."""
    members = tuple(Entry(iri(str(at)), label) for at, label in enumerate(labels))
    chips = (Chip(title, "target.types", "target"),)
    return AnswerSet(
        {}, "list", "", size, None, (), members, size, 0, None, (), Identity("iri", size), (), title, chips, "",
        (size,), language, "r",
    )  # fmt: skip


@given(st.lists(names, max_size=8), st.integers(0, 10**6), names)
def test_names_cannot_change_what_the_prose_says(labels: list[str], more: int, title: str) -> None:
    size = len(labels) + more
    text = prose(made_of(labels, size, title), METHOD.sets)
    assert "\n" not in text and (f"{'one' if size == 1 else size} known" in text or size == 0)


# what a language model wrote


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("There are 462 paintings.", "en"),
        ("The data set has 462 works by Ada [1][2].", "en"),
        ("Here are three examples: A, B and C.", "en"),
        ("The first 5 of the 462 paintings are A to E.", "en"),
        ("In 1850 Ada painted A; another is dated 1861.", "en"),
        ("“There are 12 paintings” is the title of one.", "en"),
        ("Portrait of 12 men is one of 462.", "en"),
        ("A (1840–1860) is kept in Lund [12].", "en"),
        ("The data set knows 462 paintings, 31 of which have no date.", "en"),
        ("Il y a 462 tableaux.", "fr"),
        ("Es gibt 462 Gemälde, zum Beispiel drei Häfen.", "de"),
        ("Υπάρχουν 462 πίνακες.", "el"),
        ("Er zijn 462 schilderijen.", "nl"),
        ("462 works are known, of which I list 16.", "en"),
        ("Two of them are works on paper.", "en"),
        ("Zwei davon sind Gemälde.", "de"),
    ],
)
def test_a_text_with_the_sets_own_numbers_may_stand(text: str, language: str) -> None:
    made = replace(made_of(["Portrait of 12 men"], 462, language=language), numbers=(31, 462))
    assert misstated(text, made, METHOD) == ()


@pytest.mark.parametrize(
    ("text", "language", "number"),
    [
        ("There are 20 paintings.", "en", 20),
        ("I found twelve works by Ada.", "en", 12),
        ("In total, 1,462 are known.", "en", 1462),
        ("The data set contains exactly 460 paintings [1].", "en", 460),
        ("All 20 paintings depict Geneva.", "en", 20),
        ("Ada made 20 oil paintings.", "en", 20),
        ("There are no paintings of Geneva.", "en", 0),
        ("Il y a 20 tableaux.", "fr", 20),
        ("Au total, douze œuvres sont connues.", "fr", 12),
        ("Es gibt zwölf Gemälde.", "de", 12),
        ("Insgesamt sind 20 Gemälde bekannt.", "de", 20),
        ("Υπάρχουν 20 έργα.", "el", 20),
        ("Υπάρχουν δώδεκα πίνακες.", "el", 12),
        ("Er zijn 20 schilderijen.", "nl", 20),
    ],
)
def test_another_size_is_found_where_it_stands(text: str, language: str, number: int) -> None:
    made = made_of([], 462, language=language)
    (wrong,) = misstated(text, made, METHOD)
    assert wrong.number == number
    if number:
        assert misstated(f"{text[: wrong.start]}462{text[wrong.end :]}", made, METHOD) == ()


def test_each_other_size_is_found() -> None:
    text = "There are 20 paintings. In total, 30 paintings are known."
    assert [one.number for one in misstated(text, made_of([], 462), METHOD)] == [20, 30]


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_own_prose_never_misstates(museum: Release, language: str) -> None:
    for plan in PLANS:
        found = answer_set(museum, plan, language=language)
        assert misstated(found.text, found, METHOD) == (), found.text


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for one in misstated(text, made_of(["A"], 3), METHOD):
        assert 0 <= one.start < one.end <= len(text) and one.number != 3


def test_cells_of_a_table_are_numbers_of_the_set(museum: Release) -> None:
    groups = answer_set(museum, computed(ALL, kind="group", way=MATERIAL))
    assert misstated("There are 5 paintings in oil and 2 paintings in ivory.", groups, METHOD) == ()
    assert misstated("There are 6 paintings in oil.", groups, METHOD)[0].number == 6
    assert isinstance(groups.value, tuple) and groups.value[0][1] == Cell(
        "5", datatype="http://www.w3.org/2001/XMLSchema#integer", number=5
    )
