"""Answers as text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from crmrag_query.answers.records import Answer, Unsupported

SHOWN_TRIPLES = 3
SHOWN_SOURCES = 25
SHOWN_OTHERS = 5  # retrieved besides, by label only


def answer_text(answer: Answer, triples: int = SHOWN_TRIPLES, sources: int = SHOWN_SOURCES) -> str:
    """The answer, its notes and its first ``sources`` cited sources with up to ``triples`` triples each."""
    return "\n".join(_lines(answer, triples, sources))


def after_text(answer: Answer, triples: int = SHOWN_TRIPLES, sources: int = SHOWN_SOURCES) -> str:
    """What follows an answer whose text was shown as it came: what is not supported in it, its notes and sources."""
    doubtful = [f"{answer.text[one.start : one.end].strip()} {_mark(one)}" for one in answer.unsupported]
    return "\n".join([*map(printable, doubtful), *_besides(answer, triples, sources)])


def _lines(answer: Answer, triples: int, sources: int) -> Iterator[str]:
    yield printable(marked_text(answer))
    yield from _besides(answer, triples, sources)


def _besides(answer: Answer, triples: int, sources: int) -> Iterator[str]:
    for note in answer.notes:
        yield f"Note: {printable(note)}"
    cited = [source for source in answer.sources if source.cited]
    others = [source for source in answer.sources if not source.cited]
    if cited:
        yield "\nSources"
    for source in cited[:sources]:
        yield printable(f"[{source.n}] {source.label} ({source.category})  <{source.iri}>")
        for triple in source.triples[:triples]:
            yield printable(f"      {triple}")
        if len(source.triples) > triples:
            yield f"      … {len(source.triples) - triples} more (--json shows all)"
    if len(cited) > sources:
        yield f"… {len(cited) - sources} more sources (--json shows all)"
    if others:
        named = "; ".join(f"{source.label} [{source.n}]" for source in others[:SHOWN_OTHERS])
        rest = f"; and {len(others) - SHOWN_OTHERS} more" if len(others) > SHOWN_OTHERS else ""
        yield printable(f"\nRetrieved besides, not cited: {named}{rest}")


MARKS = {
    "uncited": "cites no source",
    "missing": "not in what it cites",
    "unrelated": "nothing of it is in what it cites",
    "planted": "said by text in the data that speaks to a language model",
}


def marked_text(answer: Answer) -> str:
    """The answer's text with a mark after what is not supported, as "(unsupported: not in what it cites: 1250)"."""
    text = answer.text
    for one in sorted(answer.unsupported, key=lambda one: one.end, reverse=True):
        text = f"{text[: one.end]} {_mark(one)}{text[one.end :]}"
    return text


def _mark(one: Unsupported) -> str:
    missing = f": {', '.join(one.missing)}" if one.missing else ""
    return f"(unsupported: {MARKS.get(one.reason, one.reason)}{missing})"


def printable(text: str) -> str:
    """``text`` without control characters, any kind of space as a space: data can't steer the terminal."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char == "\n" or char.isprintable():
        return char
    return " " if unicodedata.category(char) == "Zs" else ""
