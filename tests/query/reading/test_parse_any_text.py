"""Any text at all, and the words of the lexicons in any order: parsing never fails, is the same each time, and a plan that is
certain asks for less than everything."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.language import language
from crmrag_query.plans.records import Among, Plan
from crmrag_query.reading.items import analysed, question_of
from crmrag_query.reading.lexicon import words_table
from crmrag_query.reading.read import Parsed, parse
from crmrag_query.timing import within
from tests.support.parse_world import MAKERS, MATERIALS, PEOPLE, PLACES, SHOWS, TYPES, WORKS, Museum

FEW = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)


@cache
def lexicon(code: str) -> list[str]:
    """Words of a language by which questions are understood, and names of the data."""
    position = ("en", "fr", "de", "el").index(code)
    found = [
        phrase for role, phrases in language(code).roles.items() for phrase in sorted(phrases)[:12] if role
    ]
    for entry in words_table(code)["relations"].values():
        found += [one for role in ("says", "ends", "starts", "forward") for one in entry.get(role, ())[:3]]
    found += [texts[position] for texts in (*TYPES.values(), *MATERIALS.values())]
    found += [texts[position] for texts, _ in PLACES.values()]
    found += [
        *(maker[0] for maker in MAKERS.values()),
        *PEOPLE.values(),
        *(show[0] for show in SHOWS.values()),
    ]
    found += [work.title for work in WORKS.values()]
    return sorted({*found} - {""})


OPENINGS = {
    "en": ["which", "who", "what", "where", "when", "how many", "list", "are there", "did", "and"],
    "fr": ["quels", "qui", "combien de", "où", "quand", "liste", "y a-t-il", "et"],
    "de": ["welche", "wer", "wie viele", "wo", "wann", "liste", "gibt es", "und"],
    "el": ["ποια", "ποιος", "πόσα", "πού", "πότε", "υπάρχουν", "και"],
}
MARKS = [
    "1700", "19th century", "3", "two", "?", ",", "(", ")", '"', ".", "'s", "not", "of", "the", "XXe",
    "v. Chr.", "π.Χ.",
]  # fmt: skip


@st.composite
def shuffled(draw: st.DrawFn, language: str) -> str:
    words = st.sampled_from(lexicon(language) + MARKS)
    start = draw(st.sampled_from([*OPENINGS[language], ""]))
    return " ".join([start, *draw(st.lists(words, min_size=1, max_size=9))]).strip() + draw(
        st.sampled_from(["?", "", ";"])
    )


def restricts(plan: Plan) -> bool:
    """Whether it asks for a kind of thing, or for what something is tied to, and for more than what is named."""
    target = plan.target
    met = [one for one in plan.where if not one.negated]
    named_alone = bool(met) and all(isinstance(one, Among) for one in met)
    return bool(target.types or target.classes or met) and not (named_alone and not plan.target.types)


def check(gallery: Museum, question: str) -> Parsed:
    first, again = (parse(gallery.release, analysed(gallery.release, question)) for _ in range(2))
    assert first == again
    if first.certain:
        assert first.plan is not None and restricts(first.plan)
        assert not first.unknown and not first.unnamed
    for plan in (first.plan, *first.others):
        if plan is not None:
            gallery.outcome(Parsed(plan))
    return first


@FEW
@given(text=st.text(max_size=80))
def test_any_text_is_parsed(gallery: Museum, text: str) -> None:
    check(gallery, text)


@pytest.mark.parametrize("language", ["en", "fr", "de", "el"])
@FEW
@given(data=st.data())
def test_the_words_of_a_lexicon_in_any_order_are_parsed(
    gallery: Museum, language: str, data: st.DataObject
) -> None:
    check(gallery, data.draw(shuffled(language)))


@settings(FEW, max_examples=60)
@given(
    words=st.lists(
        st.sampled_from(["frumious", "zorgle", "gimble", "wabe", "slithy", "mimsy", "outgrabe"]),
        min_size=1,
        max_size=6,
    )
)
def test_a_text_of_unknown_words_is_never_certain(gallery: Museum, words: list[str]) -> None:
    assert not check(gallery, "Which " + " ".join(words) + "?").certain


@settings(FEW, max_examples=60)
@given(place=st.integers(1, 6), word=st.sampled_from(["frumious", "zorgle", "gimbling", "mimsy"]))
def test_an_unknown_word_anywhere_takes_the_certainty(gallery: Museum, place: int, word: str) -> None:
    words = ["Which", "paintings", "were", "made", "by", "Pietro", "Salvemini"]
    place = min(place, 5)  # within a name it makes another name, which is tried below
    assert not check(gallery, " ".join([*words[:place], word, *words[place:]]) + "?").certain


@pytest.mark.parametrize("question", ["", " ", "?", "...", "()", "a", "the", "and", "1700", "не", "🖼️", "\x00", "\n\n", "''",
                                      "Which", "How many?", "?" * 500,
                                      "of " * 100, "(" * 300, "which paintings " * 8])  # fmt: skip
def test_odd_texts_are_parsed(gallery: Museum, question: str) -> None:
    check(gallery, question)


def test_a_lone_question_word_asks_for_nothing(gallery: Museum) -> None:
    for question in ("Which?", "What?", "How many?", "When?", "the", "of them", "", "?"):
        assert not gallery.parse(question).certain, question


@settings(FEW, max_examples=200)
@given(text=st.text(max_size=200))
def test_the_question_of_a_text_is_a_part_of_it(text: str) -> None:
    """Nothing is added: its words are words of the text, in their order."""
    found, words = question_of(text).split(), iter(text.split())
    assert len(found) <= len(text.split())
    if "(" not in text:
        assert all(any(word == one for one in words) for word in found)


def test_a_question_of_very_many_parts_is_soon_read(gallery: Museum) -> None:
    """What is joined by "or" is one item; the rest of a beam is bounded whatever is asked."""
    assert gallery.parse("Which works mention lions or " + "wolves or " * 5).plan is not None
    with within(20, "Reading", ""):
        gallery.parse("Which works mention lions or " + "wolves or " * 390)
        gallery.parse("Which works by Henri Maubert " + "or in Paris of bronze by Rosa Castelli " * 30)
