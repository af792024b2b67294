"""Any text at all, and the words of the lexicons in any order: parsing never fails, is the same each time, and a plan that is
certain asks for less than everything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.config.questions import PlanWords
from crmrag_query.parsing.bind import Binder
from crmrag_query.parsing.heard import question_of
from crmrag_query.parsing.parse import Parsed
from crmrag_query.plans.records import Plan
from tests.support.parse_world import MAKERS, MATERIALS, PEOPLE, PLACES, SHOWS, TYPES, WORKS, Museum

METHOD = load_method()
FEW = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)


def lexicon(language: str) -> list[str]:
    """Words of a language by which questions are understood, and names of the data."""
    position = ("en", "fr", "de", "el").index(language)
    roles = METHOD.parsing.languages[language]
    found = [phrase for role in PlanWords.model_fields for phrase in getattr(roles, role)]
    for relation in METHOD.relations.values():
        phrases = relation.phrases.get(language)
        if phrases is not None:
            found += [one for name in type(phrases).model_fields for one in getattr(phrases, name)[:6]]
    found += [texts[position] for texts in (*TYPES.values(), *MATERIALS.values())]
    found += [texts[position] for texts, _ in PLACES.values()]
    found += (
        [maker[0] for maker in MAKERS.values()] + [*PEOPLE.values()] + [show[0] for show in SHOWS.values()]
    )
    found += [work.title for work in WORKS.values()]
    return sorted({" ".join(word.split("/")[0].strip("*?") for word in one.split()) for one in found} - {""})


OPENINGS = {
    "en": ["which", "who", "what", "where", "when", "how many", "list", "are there", "did", "and"],
    "fr": ["quels", "qui", "combien de", "où", "quand", "liste", "y a-t-il", "et"],
    "de": ["welche", "wer", "wie viele", "wo", "wann", "liste", "gibt es", "und"],
    "el": ["ποια", "ποιος", "πόσα", "πού", "πότε", "υπάρχουν", "και"],
}
MARKS = [
    "1700",
    "19th century",
    "3",
    "two",
    "?",
    ",",
    "(",
    ")",
    '"',
    ".",
    "'s",
    "not",
    "of",
    "the",
    "XXe",
    "v. Chr.",
    "π.Χ.",
]


@st.composite
def shuffled(draw: st.DrawFn, language: str) -> str:
    words = st.sampled_from(lexicon(language) + MARKS)
    start = draw(st.sampled_from([*OPENINGS[language], ""]))
    return " ".join([start, *draw(st.lists(words, min_size=1, max_size=9))]).strip() + draw(
        st.sampled_from(["?", "", ";"])
    )


def restricts(plan: Plan) -> bool:
    """Whether it asks for a kind of thing, or for what something is tied to."""
    target = plan.target
    return bool(
        target.types
        or target.classes
        or len(target.categories) == 1
        or any(not one.negated for one in plan.where)
    )


def check(gallery: Museum, question: str) -> Parsed:
    parsed = gallery.parse(question)
    again = gallery.parse(question)
    assert (parsed.plan, parsed.score, parsed.certain, parsed.unknown, parsed.missing, parsed.notes, parsed.runner_up) == (
        again.plan, again.score, again.certain, again.unknown, again.missing, again.notes, again.runner_up
    )  # fmt: skip
    assert 0 <= parsed.score <= 1
    if parsed.certain:
        assert parsed.plan is not None and restricts(parsed.plan)
        assert not parsed.unknown and parsed.score >= METHOD.parsing.scores.sure
    if parsed.plan is not None:
        gallery.outcome(parsed)
    return parsed


@FEW
@given(text=st.text(max_size=80))
def test_any_text_is_parsed(gallery: Museum, text: str) -> None:
    check(gallery, text)


@pytest.mark.parametrize("language", ["en", "fr", "de", "el"])
def test_the_words_of_a_lexicon_in_any_order_are_parsed(gallery: Museum, language: str) -> None:
    @FEW
    @given(question=shuffled(language))
    def parsed(question: str) -> None:
        check(gallery, question)

    parsed()


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


def test_a_question_of_very_many_parts_is_not_bound(gallery: Museum, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part would be tried by every relation that it may be of, over all of the data."""
    tied, tie = list[object](), Binder._tie

    def counted(*given: Any) -> Any:
        tied.append(given)
        return tie(*given)

    monkeypatch.setattr(Binder, "_tie", counted)
    assert gallery.parse("Which works mention lions or " + "wolves or " * 5).plan is not None and tied
    tied.clear()
    assert gallery.parse("Which works mention lions or " + "wolves or " * 390).plan is None and not tied
