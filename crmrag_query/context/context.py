"""The context as a record, within a budget, and how it is written: numbered blocks of escaped data between tags that data
cannot close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from crmrag_query.documents.documents import Line
from crmrag_query.text import as_data, tokens


@dataclass(slots=True)
class Budget:
    """Characters and tokens that are left; neither is ever below 0. What is paid for is counted as written, that is
    escaped, with the line end after each line."""

    characters: int
    tokens: int

    def part(self, characters: float, share: float = 1.0) -> Budget:
        """A budget of so many characters and this share of the tokens, neither more than what is left here."""
        return Budget(
            max(0, min(self.characters, int(characters))), max(0, min(self.tokens, int(self.tokens * share)))
        )


def pay(
    texts: Iterable[str], budgets: Sequence[Budget], *, frame: Sequence[str] = (), instead: str | None = None
) -> bool:
    """Take what these lines of data cost from every budget, or nothing where one is too small; tells which.

    ``frame``: lines that are written as they are; ``instead``: a line of data that was paid for and is given back.
    """
    written = [*map(as_data, texts), *frame]
    before = [] if instead is None else [as_data(instead)]
    characters = _characters(written) - _characters(before)
    if any(characters > budget.characters for budget in budgets):
        return False
    counted = _tokens(written) - _tokens(before)
    if any(counted > budget.tokens for budget in budgets):
        return False
    for budget in budgets:
        budget.characters -= characters
        budget.tokens -= counted
    return True


def _characters(written: Sequence[str]) -> int:
    return sum(map(len, written)) + len(written)


def _tokens(written: Sequence[str]) -> int:
    return sum(map(tokens, written)) + len(written)


class Kind(Enum):
    """What a line of the context is."""

    HEADER = "header"
    DOCUMENT = "document"
    TRIPLE = "triple"
    COUNT = "count"
    WIKIDATA = "wikidata"


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One line: plain ``text`` without a line end, not yet escaped.

    ``n``: number of its source, 0 for counts; ``entities``: whom it is about, first, then the nodes that it names, each once;
    ``line``: the document's line that it gives, of which it may name fewer or more targets; ``triples``: numbers of the
    triples that it states where it is no document's line. ``trace.trace`` leads on to the triples.
    """

    text: str
    kind: Kind
    n: int = 0
    entities: tuple[int, ...] = ()
    line: Line | None = None
    triples: tuple[int, ...] = ()

    @property
    def shown(self) -> tuple[int, ...]:
        """The nodes that the line names besides the one it is about."""
        return self.entities[1:]


@dataclass(frozen=True, slots=True)
class ContextSource:
    """A numbered source: a candidate's document, as far as it is in the context.

    ``n`` counts from 1 in the order of the candidates; ``entity``: the document's own; ``entities``: it, and those of the
    document's members that have a line of their own here or are named on one of its satellite lines.
    """

    n: int
    document: int
    entity: int
    lines: tuple[ContextLine, ...]
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """All that is put before a language model; ``characters`` and ``tokens`` (estimated) are those of ``render()``."""

    sources: tuple[ContextSource, ...] = ()
    wikidata: tuple[ContextLine, ...] = ()
    counts: tuple[ContextLine, ...] = ()
    characters: int = 0
    tokens: int = 0

    def lines(self) -> Iterator[ContextLine]:
        """Every line in the order of the text."""
        for source in self.sources:
            yield from source.lines
        yield from self.wikidata
        yield from self.counts

    def source(self, n: int) -> ContextSource | None:
        """The source with this number, None where there is none, as for a citation of a number that does not exist."""
        return next((source for source in self.sources if source.n == n), None)

    def render(self) -> str:
        """The text: sources in order, then what Wikidata says of some of them, then counts over the whole data set."""
        blocks = [_block("source", source.n, source.lines) for source in self.sources]
        for n in dict.fromkeys(line.n for line in self.wikidata):
            blocks.append(_block("wikidata", n, [line for line in self.wikidata if line.n == n]))
        if self.counts:
            blocks.append(_block("counts", 0, self.counts))
        return "\n".join(blocks)


OPEN: Final = {
    "source": '<source n="{n}">',
    "wikidata": '<wikidata source="{n}">',
    "counts": "<counts>",
}


def frame(tag: str, n: int) -> tuple[str, str]:
    """The lines before and after a block."""
    return OPEN[tag].format(n=n), f"</{tag}>"


def _block(tag: str, n: int, lines: Sequence[ContextLine]) -> str:
    before, after = frame(tag, n)
    return "\n".join([before, *(as_data(line.text) for line in lines), after])
