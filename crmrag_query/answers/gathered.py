"""Evidence that a language model gathered itself, in place of documents that were retrieved: results of tools that it called,
rows of a query that it wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import ContextConfig
from crmrag_query.context.context import (
    NO_DOCUMENT,
    Budget,
    Context,
    ContextLine,
    ContextSource,
    Finding,
    Kind,
    frame,
    measured,
    pay,
)
from crmrag_query.context.findings import row
from crmrag_query.sparql.written import WrittenQuery


@dataclass(frozen=True)
class Gathered:
    """``findings`` in the order of their numbers, from 1. ``query``: the SPARQL that gave them; ``heads``: what is known of
    all of them together; ``text``: the answer where it is written already, citing them; ``notes``: for the reader."""

    findings: tuple[Finding, ...] = ()
    query: str = ""
    heads: tuple[str, ...] = ()
    text: str = ""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.findings)


NOTHING = Gathered()


def rows_of(release: Release, written: WrittenQuery, language: str) -> Gathered:
    """The rows of a query that a model wrote, entities by their labels."""
    result = written.result
    if result is None:
        return Gathered(notes=written.notes)
    if result.form == "ask":
        said = "yes" if result.truth else "no"
        heads = (f"The query asks whether something is so, and the data says: {said}",)
        findings = [row(release, ["so"], [("", said)], written.query, language)]
    else:
        heads = (f"Rows that the query gives: {len(result.rows)}{', the first of more' * result.truncated}",)
        cells = (
            [(cell.iri, cell.label) if cell is not None else None for cell in one] for one in result.rows
        )
        findings = [row(release, result.variables, one, written.query, language) for one in cells]
    return Gathered(tuple(dict.fromkeys(findings)), written.query, heads, notes=written.notes)


def context_of(gathered: Gathered, config: ContextConfig) -> Context:
    """What was gathered as a context, numbered in its order: all of it where an answer is written already, else as much as
    the budget holds."""
    budget = Budget(config.characters, config.tokens)
    sources: list[ContextSource] = []
    for n, one in enumerate(gathered.findings, 1):
        texts = [one.label, *one.texts]
        if not gathered.text and not pay(texts, [budget], frame=frame(one.kind, n)):
            break
        lines = (
            ContextLine(text, Kind.FINDING, n, one.entities, None, one.triples if at else ())
            for at, text in enumerate(texts)
        )
        sources.append(ContextSource(n, NO_DOCUMENT, one, tuple(lines), one.entities))
    counts = tuple(ContextLine(head, Kind.COUNT) for head in gathered.heads)
    return measured(Context(tuple(sources), counts=counts))
