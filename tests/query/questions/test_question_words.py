"""The words of a question, where clauses begin, and which belong to names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.questions.lexicon import Phrases, asked, chunks_of
from crmrag_query.text import tokenize


@given(st.text(max_size=120))
def test_chunks_hold_the_tokens_of_the_whole_text(text: str) -> None:
    chunks = chunks_of(text)
    assert [token for chunk in chunks for token in tokenize(chunk.text)] == tokenize(text)
    assert [chunk.first for chunk in chunks[1:]] == [chunk.last for chunk in chunks[:-1]]


def test_clauses_begin_after_punctuation() -> None:
    words = asked("Apart from Curtis, which artists? And when: ever", True)
    assert [words.words[i] for i in sorted(words.starts)] == ["apart", "which", "and", "ever"]


def test_quoted_and_capitalised_words_are_names() -> None:
    words = asked('Who made "the most", and Nothing Else?', True)
    assert [words.words[i] for i in sorted(words.named)] == ["the", "most", "nothing", "else"]


def test_where_nouns_have_capitals_they_name_nothing() -> None:
    assert not asked("Welche Kirchen hat Zypern?", False).named


def test_a_text_all_in_capitals_names_nothing() -> None:
    assert not asked("HOW MANY COINS ARE THERE", True).named


def test_an_odd_quotation_mark_hides_nothing() -> None:
    assert not asked('the 5" coin of many', True).named


def test_phrases_are_found_whole_the_longest_first() -> None:
    phrases = Phrases(["how many", "how many of each", "alt*", "*ed"])
    assert list(phrases.spans(["and", "how", "many", "of", "each"])) == [(1, 5)]
    assert list(phrases.spans(["alteste", "painted", "ed", "alt"])) == [(0, 1), (1, 2), (3, 4)]
    assert not phrases.within(["how", "often"])


@given(
    st.lists(st.text(alphabet="ab ", min_size=1, max_size=5), max_size=5),
    st.text(alphabet="ab ", max_size=20),
)
def test_a_phrase_is_found_where_its_words_stand(phrases: list[str], text: str) -> None:
    words = text.split()
    found = Phrases(phrases)
    for i in range(len(words)):
        lengths = [
            len(p.split()) for p in phrases if p.split() and words[i : i + len(p.split())] == p.split()
        ]
        assert found.at(words, i) == max(lengths, default=0)
