"""Answers as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.answers.records import Answer, Unsupported
from crmrag_query.cli.printable import printable
from crmrag_query.cli.set_text import set_lines
from crmrag_query.sets.records import AnswerSet

SHOWN_TRIPLES = 3
SHOWN_SOURCES = 25
SHOWN_OTHERS = 5  # retrieved besides, by label only


def answer_text(answer: Answer, triples: int = SHOWN_TRIPLES, sources: int = SHOWN_SOURCES) -> str:
    """The answer, its set, its notes and its first ``sources`` cited sources with up to ``triples`` triples each."""
    return "\n".join(_lines(answer, triples, sources))


def after_text(answer: Answer, triples: int = SHOWN_TRIPLES, sources: int = SHOWN_SOURCES) -> str:
    """What follows an answer whose plan and text were shown as they came: what is not supported, its set, notes, sources."""
    doubtful = [f"{answer.text[one.start : one.end].strip()} {_mark(one)}" for one in answer.unsupported]
    told = answer.set.title if answer.set is not None else ""
    return "\n".join([*map(printable, doubtful), *_besides(answer, told, triples, sources)])


def plan_text(made: AnswerSet) -> str:
    """The plan in words, to be shown while its answer is written; "" for one that is not all that was asked."""
    return printable(f"Plan: {made.title}\n") if made.exhaustive else ""


def _lines(answer: Answer, triples: int, sources: int) -> Iterator[str]:
    yield printable(marked_text(answer))
    yield from _besides(answer, answer.text, triples, sources)


def _besides(answer: Answer, said: str, triples: int, sources: int) -> Iterator[str]:
    if answer.set is not None:
        yield from map(printable, set_lines(answer.set, said))
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
