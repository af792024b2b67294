"""The context as a record, within a budget, and how it is written: the exact set if one answers, then numbered blocks, all
escaped data between tags that data cannot close."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal, get_args

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.retrieval.communities import Communities, Summaries
from crmrag_query.text import as_data, plain, tokens


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


FindingKind = Literal["community", "row", "path", "tool"]
FINDING_KINDS: Final[tuple[FindingKind, ...]] = get_args(FindingKind)


@dataclass(frozen=True, slots=True)
class Finding:
    """What an answer may rest on that is no entity with its document: a community, a row of a table, a path through the
    graph, the result of a tool that a model called.

    ``id``: a URN, the same for the same finding; ``label`` and ``texts``: what it is called and what it says, each in one
    line; ``entities``: nodes that it rests on, the most important first; ``triples``: numbers of the triples that it states;
    ``origin``: where else it comes from: the query of a row, what wrote of a community (a model, "" where it was composed).
    """

    kind: FindingKind
    id: str
    label: str
    texts: tuple[str, ...]
    entities: tuple[int, ...] = ()
    triples: tuple[int, ...] = ()
    origin: str = ""


class Kind(Enum):
    """What a line of the context is."""

    SET = "set"
    HEADER = "header"
    DOCUMENT = "document"
    TRIPLE = "triple"
    COUNT = "count"
    WIKIDATA = "wikidata"
    FINDING = "finding"


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
    """A numbered source: a candidate's document, as far as it is in the context; or a finding.

    ``n`` counts from 1 in the order of the candidates; ``about``: the document's own entity, or the finding; ``entities``:
    it, and those of the document's members that have a line of their own here or are named on one of its satellite lines;
    of a finding those that it rests on.
    """

    n: int
    document: int
    about: int | Finding
    lines: tuple[ContextLine, ...]
    entities: tuple[int, ...]

    @property
    def entity(self) -> int:
        """The document's own entity, NO_ENTITY of a finding."""
        return NO_ENTITY if isinstance(self.about, Finding) else self.about


def source_of(n: int, finding: Finding, texts: Sequence[str]) -> ContextSource:
    """A finding as a source: its label, then lines of it."""
    lines = (
        ContextLine(text, Kind.FINDING, n, finding.entities, None, finding.triples if at else ())
        for at, text in enumerate(texts)
    )
    return ContextSource(n, NO_DOCUMENT, finding, tuple(lines), finding.entities)


@dataclass(frozen=True, slots=True)
class KnownSet:
    """A set as a language model is told it: ``head``, lines about the whole; ``lines``, one for each member, rank, group or
    row, in the set's order; ``left``: how many more there are; ``answers``: it is all that was asked for.

    A line about a member has the number by which it is cited, the same for all lines about it; others have 0.
    """

    head: tuple[ContextLine, ...]
    lines: tuple[ContextLine, ...] = ()
    left: int = 0
    answers: bool = True

    @property
    def numbers(self) -> dict[int, int]:
        """Node -> number, of the members that are told, in their order."""
        return {line.entities[0]: line.n for line in self.lines if line.n}

    def written(self) -> Iterator[str]:
        """The lines as they are written, tags included."""
        before, after = frame("set", 0)
        yield before
        yield from (as_data(line.text) for line in self.head)
        yield from (f"{f'[{line.n}]' if line.n else '-'} {as_data(line.text)}" for line in self.lines)
        if self.left:
            yield f"and {self.left} more"
        yield after


@dataclass(frozen=True, slots=True)
class Context:
    """All that is put before a language model; ``characters`` and ``tokens`` (estimated) are those of ``render()``.

    ``known``: the set that answers the question, or the nearest one. Its members are the first sources by number; they are
    among ``sources`` where more than their line is told.
    """

    sources: tuple[ContextSource, ...] = ()
    wikidata: tuple[ContextLine, ...] = ()
    counts: tuple[ContextLine, ...] = ()
    characters: int = 0
    tokens: int = 0
    known: KnownSet | None = None

    def lines(self) -> Iterator[ContextLine]:
        """Every line in the order of the text."""
        if self.known is not None:
            yield from (*self.known.head, *self.known.lines)
        for source in self.sources:
            yield from source.lines
        yield from self.wikidata
        yield from self.counts

    def source(self, n: int) -> ContextSource | None:
        """The source with this number, its lines in the set before those of its document; None where there is none, as for a
        citation of a number that does not exist."""
        found = next((source for source in self.sources if source.n == n), None)
        own = tuple(line for line in self.known.lines if line.n == n) if self.known is not None and n else ()
        if not own:
            return found
        if found is None:
            node = own[0].entities[0]
            return ContextSource(n, NO_DOCUMENT, node, own, (node,))
        return replace(found, lines=(*own, *found.lines))

    def render(self) -> str:
        """The text: the set, sources in order, what Wikidata says of some of them, counts over the whole data set."""
        blocks = [] if self.known is None else ["\n".join(self.known.written())]
        blocks += [_block(tag_of(source.about), source.n, source.lines) for source in self.sources]
        for n in dict.fromkeys(line.n for line in self.wikidata):
            blocks.append(_block("wikidata", n, [line for line in self.wikidata if line.n == n]))
        if self.counts:
            blocks.append(_block("counts", 0, self.counts))
        return "\n".join(blocks)


def measured(context: Context) -> Context:
    """The context with the characters and tokens of its text."""
    text = context.render()
    return replace(context, characters=len(text), tokens=tokens(text))


NO_DOCUMENT = NO_ENTITY = -1
"""The document of a member that is told in the set alone; document and entity of a finding."""
OPEN: Final[dict[str, str]] = {
    "set": "<set>",
    "source": '<source n="{n}">',
    **{kind: f'<source n="{{n}}" kind="{kind}">' for kind in FINDING_KINDS},
    "wikidata": '<wikidata source="{n}">',
    "counts": "<counts>",
}


def tag_of(about: int | Finding) -> str:
    """The block of a source in ``OPEN``."""
    return about.kind if isinstance(about, Finding) else "source"


def frame(tag: str, n: int) -> tuple[str, str]:
    """The lines before and after a block."""
    return OPEN[tag].format(n=n), f"</{'source' if tag in FINDING_KINDS else tag}>"


# A source of few and short lines is written as one line: its tags would take more than it says.
THIN_LINES, THIN_CHARACTERS = 3, 200


def _block(tag: str, n: int, lines: Sequence[ContextLine]) -> str:
    before, after = frame(tag, n)
    written = [as_data(line.text) for line in lines]
    # no longer than with a line each, as which it is paid for: two ends of lines make room for two joints
    if len(written) <= THIN_LINES and sum(map(len, written)) <= THIN_CHARACTERS:
        return f"{before}{'; '.join(written)}{after}"
    return "\n".join([before, *written, after])


CENTRAL = 10  # members of a community that it rests on, the most central


def community(release: Release, number: int, language: str) -> Finding:
    """A community as its theme is told, with its most central members by name; it rests on these."""
    told = release[Summaries].tell(number, language)
    communities, documents = release[Communities], release[Documents]
    members = [documents.entity(one) for one in communities.members(number, CENTRAL).tolist()]
    central = [documents.entity(one) for one in release[Summaries].central(number).tolist()]
    names = (plain(release[Graph].label(node, (language,))) for node in members)
    return Finding(
        "community",
        f"urn:crmrag:community:{communities.name(number)}",
        plain(told.title),
        (plain(told.text), "; ".join(names)),
        tuple(dict.fromkeys((*central, *members))),
        origin=told.model,
    )


def row(
    release: Release,
    columns: Sequence[str],
    cells: Sequence[tuple[str, str] | None],
    query: str,
    language: str,
) -> Finding:
    """A row of what a query gave; it rests on the entities in it, which are told by name.

    ``cells``: the IRI ("" for a literal) and the text of each, None where it is unbound.
    """
    graph = release[Graph]
    nodes: list[int] = []
    told: list[str] = []
    for column, cell in zip(columns, cells, strict=True):
        if cell is None:
            continue
        node = graph.node(cell[0]) if cell[0] else None
        if node is not None:
            nodes.append(node)
        name = cell[1] if node is None else graph.label(node, (language,))
        told.append(f"{plain(column)}: {plain(name)}")
    keys = [" ".join(cell) if cell is not None else "" for cell in cells]
    label = told[0].partition(": ")[2] if told else ""
    return Finding(
        "row",
        _urn("row", query, *keys),
        label,
        ("; ".join(told),),
        tuple(dict.fromkeys(nodes)),
        origin=query,
    )


def path(release: Release, triples: Sequence[int], language: str, start: int) -> Finding:
    """A path through the graph: triples by number, each of which shares a node with the one before, the first with
    ``start``. It rests on its nodes, in their order, and states its triples."""
    graph, index = release[Graph], release[TriplesIndex]
    steps, nodes = [index.triple(number) for number in triples], [start]
    for step in steps:
        nodes.append(step.o if step.s == nodes[-1] else step.s)
    names = {node: plain(graph.label(node, (language,))) for node in nodes}
    told = (
        f"{names[one.s]} — {plain(graph.property_label(one.p, lang=language))} — {names[one.o]}"
        for one in steps
    )
    keys = (graph.iri(node) for one in steps for node in (one.s, one.o))
    return Finding(
        "path",
        _urn("path", *keys, *(graph.property_iri(one.p) for one in steps)),
        f"{names[nodes[0]]} → {names[nodes[-1]]}",
        tuple(told),
        tuple(dict.fromkeys(nodes)),
        tuple(triples),
    )


def tool(
    n: int, call: str, lines: Sequence[str], entities: Sequence[int] = (), triples: Sequence[int] = ()
) -> Finding:
    """The ``n``-th call of a tool, its name and arguments, and the lines of its result, which name entities and state
    triples (by number)."""
    texts = tuple(plain(line) for line in lines)
    return Finding(
        "tool", _urn("tool", str(n), call, *texts), plain(call), texts, tuple(entities), tuple(triples), call
    )


def _urn(kind: FindingKind, *keys: str) -> str:
    digest = hashlib.sha256("\n".join(keys).encode("utf-8", "replace")).hexdigest()
    return f"urn:crmrag:{kind}:{digest[:16]}"
