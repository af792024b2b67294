"""Server-sent events: read as the standard says, whatever the pieces they come in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query import Token, errors
from crmrag_query.client.wire import Message, Parser, read_event, write_event, write_message
from crmrag_query.codec import Malformed

texts = st.text(st.characters(codec="utf-8"))
names = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1).filter(
    lambda name: not name.startswith(" ")
)


def parse(*pieces: bytes, limit: int = 10_000) -> list[Message]:
    parser = Parser(limit)
    return [message for piece in pieces for message in parser.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        # the examples of the standard, 9.2.6
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [("message", "YHOO\n+2\n10")]),
        (": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
         [("message", "first event"), ("message", "second event"), ("message", " third event")]),
        ("data\n\ndata\ndata\n\ndata:", [("message", ""), ("message", "\n")]),
        ("data:test\n\ndata: test\n\n", [("message", "test"), ("message", "test")]),
        ("event: add\ndata: 1\n\nevent: remove\ndata: 2\n\n", [("add", "1"), ("remove", "2")]),
        ("event: lost\n\ndata: kept\n\n", [("message", "kept")]),
        ("\ufeffdata: 1\n\n", [("message", "1")]),
        ("data: 1\r\rdata: 2\r\n\r\ndata: 3\n\n", [("message", "1"), ("message", "2"), ("message", "3")]),
        ("retry: 5\nunknown: 5\ndata: a:b\n\n", [("message", "a:b")]),
        ("data: never ended", []),
    ],
)  # fmt: skip
def test_streams_are_read_as_the_standard_says(stream: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.event, one.data) for one in parse(stream.encode())] == expected


@given(st.lists(st.tuples(names, texts), max_size=5), st.lists(st.integers(0, 200), max_size=8))
def test_events_survive_any_cut_of_the_stream(events: list[tuple[str, str]], cuts: list[int]) -> None:
    body = "".join(write_message(name, data) for name, data in events).encode()
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[a:b] for a, b in pairwise(places)]
    expected = [Message(n, d.replace("\r\n", "\n").replace("\r", "\n")) for n, d in events]
    assert parse(*pieces) == expected
    assert parse(*(bytes([byte]) for byte in body)) == expected


@given(st.binary(), st.integers(0, 50))
def test_any_bytes_are_events_or_malformed_and_cuts_do_not_matter(body: bytes, cut: int) -> None:
    def outcome(*pieces: bytes) -> list[Message] | None:
        try:
            return parse(*pieces)
        except Malformed:
            return None

    assert outcome(body) == outcome(body[:cut], body[cut:])


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 200, b"x" * 200, b"data: xxxxx\n" * 40])
def test_an_event_beyond_the_limit_is_refused(stream: bytes) -> None:
    with pytest.raises(Malformed, match="more than 100"):
        parse(stream, limit=100)
    assert parse(b"data: 1\n\n" * 100, limit=100), "the limit is of one event"


def test_events_are_told_by_name_and_those_of_a_newer_service_passed_over() -> None:
    [message] = parse(write_event(Token("a\nb")).encode())
    assert message.event == "token" and read_event(message) == Token("a\nb")
    assert read_event(Message("weather", "{}")) is None
    with pytest.raises(Malformed, match="token"):
        read_event(Message("token", "{}"))


def test_an_error_event_is_raised_as_the_error_that_it_tells() -> None:
    [message] = parse(write_event(errors.ModelError("Silent.", "Wait.")).encode())
    with pytest.raises(errors.ModelError, match="Silent"):
        read_event(message)
