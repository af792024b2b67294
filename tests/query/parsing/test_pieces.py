"""Cutting a question into pieces by the weight of what its words may be."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.questions import Weights
from crmrag_query.dates import Interval
from crmrag_query.linking import How, LinkedEntity, Mention
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.lexicon import PhraseSpan
from crmrag_query.parsing.pieces import Piece, Readings, Stretch, pieces_of
from crmrag_query.parsing.words import Roles
from crmrag_query.questions.words import Phrases, chunks_of

WEIGHTS = Weights()


def mention(first: int, last: int, how: How = "label") -> Mention:
    return Mention(first, last, "", (LinkedEntity(7, 1.0, "a name", how),))


def kind(first: int, last: int) -> KindMatch:
    return KindMatch(first, last, "painting", "type")


def phrase(first: int, last: int, role: str = "forward", *ids: str) -> PhraseSpan:
    return PhraseSpan(first, last, role, ids or ("created_by",))  # type: ignore[arg-type]


def texts(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in pieces]


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_words_without_a_reading_are_pieces_of_their_own() -> None:
    pieces = pieces_of(Readings(words("one two three")))
    assert texts(pieces) == ["one", "two", "three"]
    assert all(piece.unknown for piece in pieces)


def test_nothing_is_cut_into_nothing() -> None:
    assert pieces_of(Readings(())) == ()


def test_a_long_name_wins_over_the_words_within_it() -> None:
    read = Readings(words("the girl with a horse"), [mention(1, 5)], [kind(4, 5)], [phrase(2, 3)])
    assert texts(pieces_of(read)) == ["the", "girl with a horse"]


def test_a_part_of_a_name_loses_against_the_words_that_it_holds() -> None:
    read = Readings(
        words("paintings made of bronze"),
        [mention(0, 4, "partial")],
        [kind(0, 1), kind(3, 4)],
        [phrase(1, 3)],
    )
    assert texts(pieces_of(read)) == ["paintings", "made of", "bronze"]


def test_what_is_quoted_is_one_name() -> None:
    read = Readings(
        words("made in paris"), [mention(0, 3, "partial")], [kind(0, 1)], [phrase(0, 2)], quoted={0, 1, 2}
    )
    assert texts(pieces_of(read)) == ["made in paris"]


def test_a_period_wins_over_the_phrase_in_it() -> None:
    read = Readings(
        words("made before 1700"), phrases=[phrase(0, 2)], periods=[Stretch(1, 3, Interval(1, 2))]
    )
    pieces = pieces_of(read)
    assert texts(pieces) == ["made", "before 1700"]
    assert pieces[1].period == Interval(1, 2)


def test_readings_of_one_stretch_stay_together() -> None:
    read = Readings(
        words("works by her"),
        [mention(0, 1)],
        [kind(0, 1)],
        [phrase(0, 1, "starts"), phrase(1, 2, "loose", "a", "b")],
    )
    pieces = pieces_of(read)
    assert (
        pieces[0].mention is not None and pieces[0].kinds and pieces[0].relations("starts") == ("created_by",)
    )
    assert pieces[1].relations("loose") == ("a", "b")
    assert pieces[1].relations("forward") == ()


def test_relations_of_several_phrases_are_told_once_in_order() -> None:
    read = Readings(
        words("shown"), phrases=[phrase(0, 1, "forward", "b", "a"), phrase(0, 1, "backward", "a", "c")]
    )
    assert pieces_of(read)[0].relations("forward", "backward") == ("b", "a", "c")


def test_a_word_that_may_say_nothing_is_a_loose_phrase() -> None:
    read = Readings(
        words("have"),
        phrases=[phrase(0, 1, "forward", "owned_by")],
        roles=Roles({"filler": Phrases(["have"])}),
    )
    piece = pieces_of(read)[0]
    assert piece.relations("forward") == ()
    assert piece.relations("loose") == ("owned_by",)


def test_names_written_side_by_side_are_one_unknown_name() -> None:
    """None of the parts of "Otto Kranz" is a whole name, so that "Otto" alone is not meant."""
    read = Readings(
        words("by otto kranz"), [mention(1, 2, "partial")], capitals={1, 2}, chunks=chunks_of("by Otto Kranz")
    )
    pieces = pieces_of(read)
    assert texts(pieces) == ["by", "otto kranz"]
    assert pieces[1].mention is None and pieces[1].raw == "Otto Kranz"


def test_whole_names_side_by_side_stay_apart() -> None:
    read = Readings(words("lyon paris"), [mention(0, 1), mention(1, 2)], capitals={0, 1})
    assert texts(pieces_of(read)) == ["lyon", "paris"]


@pytest.mark.parametrize(
    ("text", "raw"),
    [("of Nocturne?", "Nocturne"), ("of Rembrandt’s", "Rembrandt"), ('of "Harvest",', "Harvest")],
)
def test_a_piece_keeps_how_it_was_written(text: str, raw: str) -> None:
    chunks = chunks_of(text)
    assert pieces_of(Readings(("of", raw.lower()), chunks=chunks))[1].raw == raw


# against all ways to cut


def weight(read: Readings, cut: tuple[int, ...]) -> float:
    """Of the pieces that end at these positions, by the weights of the module."""
    total, first = 0.0, 0
    for last in cut:
        length, each = last - first, 0.0
        for values, value in ((read.periods, WEIGHTS.period), (read.kinds, WEIGHTS.kind)):
            if any((one.first, one.last) == (first, last) for one in values):
                each = max(each, value)
        for span in read.phrases:
            if (span.first, span.last) == (first, last):
                each = max(each, WEIGHTS.grammar if span.role == "loose" else WEIGHTS.relation)
        if length > 1 and not each:
            return -1.0  # no reading of this stretch
        total += max(each * length + WEIGHTS.longer * (length - 1), WEIGHTS.unknown if length == 1 else 0.0)
        first = last
    return total


stretches = st.tuples(st.integers(0, 5), st.integers(1, 3)).map(
    lambda pair: (pair[0], min(pair[0] + pair[1], 6))
)


@given(
    kinds=st.lists(stretches, max_size=5), loose=st.lists(stretches, max_size=3), verbs=st.lists(stretches, max_size=4),
    periods=st.lists(stretches, max_size=2),
)  # fmt: skip
def test_no_cut_weighs_more(
    kinds: list[tuple[int, int]], loose: list[tuple[int, int]], verbs: list[tuple[int, int]], periods: list[tuple[int, int]]
) -> None:  # fmt: skip
    read = Readings(
        words("a b c d e f"),
        kinds=[kind(*one) for one in kinds],
        phrases=[*(phrase(*one, "loose") for one in loose), *(phrase(*one) for one in verbs)],
        periods=[Stretch(*one, Interval(1, 2)) for one in periods],
    )
    pieces = pieces_of(read)
    cuts = [
        (*(i + 1 for i, ends in enumerate(choice) if ends), 6) for choice in product((False, True), repeat=5)
    ]
    assert [piece.first for piece in pieces] == [0, *(piece.last for piece in pieces[:-1])]
    assert weight(read, tuple(piece.last for piece in pieces)) == pytest.approx(
        max(weight(read, cut) for cut in cuts)
    )
