"""Answers as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.answers.records import Answer, Unsupported

SHOWN_TRIPLES = 3
SHOWN_SOURCES = 25


def answer_text(answer: Answer, triples: int = SHOWN_TRIPLES, sources: int = SHOWN_SOURCES) -> str:
    """The answer, its notes and its first ``sources`` numbered sources with up to ``triples`` triples each."""
    return "\n".join(_lines(answer, triples, sources))


def _lines(answer: Answer, triples: int, sources: int) -> Iterator[str]:
    yield printable(marked_text(answer))
    for note in answer.notes:
        yield f"Note: {printable(note)}"
    if not answer.sources:
        return
    yield ""
    yield "Sources"
    for source in answer.sources[:sources]:
        yield printable(f"[{source.n}] {source.label} ({source.category})  <{source.iri}>")
        for triple in source.triples[:triples]:
            yield printable(f"      {triple}")
        if len(source.triples) > triples:
            yield f"      … {len(source.triples) - triples} more (--json shows all)"
    if len(answer.sources) > sources:
        yield f"… {len(answer.sources) - sources} more sources (--json shows all)"


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
    """``text`` without control characters: data can't steer the terminal."""
    return "".join(char for char in text if char == "\n" or char.isprintable())
