"""The lines of a candidate's document as the context gives them, long ones cut and short ones extended; and which triples a
line states, so that nothing is said twice. And by which triples a walk came from where it landed to what it found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.context.context import Finding, path
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.ontology.categories import Category
from crmrag_query.relationships.engine import Catalogue, Move, Step, moves_of
from crmrag_query.retrieval.release_channels import Query
from crmrag_query.retrieval.walker import Walker
from crmrag_query.text import ELLIPSIS, plain, shorten

Fact = int | tuple[int | str, ...]
"""The number of a triple; or, of what no single triple says, a line's key with whom it is about and what it leads to."""
Row = tuple[int, int, int, int]
"""A triple: number, subject, property, object."""
Array = npt.NDArray[Any]
RELATIONAL = (Line.FR, Line.OUTGOING, Line.INCOMING)


TRIPLES_LOOKED_AT = 2000
"""Triples of an entity, each way, that are considered; of those between two hubs none may be."""


@dataclass
class Facts:
    """What lines state, over one release; keeps what it has looked up, so make one for each question."""

    release: Release
    _near: dict[int, dict[int, list[tuple[Move, int]]]] = field(default_factory=dict)
    _moves: dict[str, frozenset[Move]] = field(default_factory=dict)

    def of(self, line: Line, shown: Iterable[int]) -> frozenset[Fact]:
        """The facts that a line states which names these of its targets; never empty."""
        if line.kind == Line.PASSAGE:  # one of several sentences of a literal
            return frozenset([(line.kind, line.key, line.entity, line.start)])
        found: set[Fact] = set()
        for target in shown:
            between = self._between(line.entity, target)
            numbers = [number for move, number in between if self._says(line, move)]
            found.update(numbers or [(line.key, line.entity, target)])
        if not found or line.kind not in RELATIONAL:
            found.add((line.kind, line.key, line.label, line.entity))
        return frozenset(found)

    def _says(self, line: Line, move: Move) -> bool:
        """Whether a line states a triple between its entity and one of its targets."""
        if line.kind == Line.FR:
            return move in self._single(line.key)
        if line.kind in (Line.OUTGOING, Line.INCOMING):
            graph, (prop, forward) = self.release[Graph], move
            return line.label == graph.property_label(prop, not forward) or (
                line.key in (graph.property_code(prop), graph.property_iri(prop))
            )
        return True

    def _single(self, key: str) -> frozenset[Move]:
        """The moves by which a relationship is stated in one step: others of the path are walked zero times."""
        if key not in self._moves:
            release = self.release
            paths = release[Catalogue][release[Catalogue].number(key)].paths
            steps: list[Step] = []
            for path in paths:
                needed = [step for step in path.steps if not step.recursive]
                steps += path.steps if not needed else needed if len(needed) == 1 else []
            adjacency, ontology = release[Graph].adjacency, release.ontology
            self._moves[key] = frozenset(
                move for step in steps for move in moves_of(adjacency, ontology, step)
            )
        return self._moves[key]

    def _between(self, entity: int, other: int) -> Sequence[tuple[Move, int]]:
        """Triples between two nodes, as moves from ``entity``; looked for at the end that has fewer."""
        if entity in self._near or self._degree(entity) <= max(TRIPLES_LOOKED_AT, self._degree(other)):
            return self._of(entity).get(other, ())
        turned = self._of(other).get(entity, ())
        return [((prop, not forward), number) for (prop, forward), number in turned]

    def _degree(self, node: int) -> int:
        out, _, into, _ = self._index
        return int(out[node + 1] - out[node] + into[node + 1] - into[node])

    def _of(self, node: int) -> dict[int, list[tuple[Move, int]]]:
        """Triples of a node by the node at their other end."""
        if node not in self._near:
            found: dict[int, list[tuple[Move, int]]] = {}
            for number, s, p, o in self.triples_of(node):
                found.setdefault(o if s == node else s, []).append(((p, s == node), number))
            self._near[node] = found
        return self._near[node]

    def triples_of(self, node: int) -> list[Row]:
        """A node's triples as (number, subject, property, object), ascending, at most ``TRIPLES_LOOKED_AT`` each way."""
        out_ptr, out_tri, in_ptr, in_tri = self._index
        numbers: list[int] = []
        for ptr, tri in ((out_ptr, out_tri), (in_ptr, in_tri)):
            start = int(ptr[node])
            numbers += tri[start : min(start + TRIPLES_LOOKED_AT, int(ptr[node + 1]))].tolist()
        numbers = sorted(set(numbers))
        s, p, o = (column[numbers].tolist() for column in self._columns)
        return list(zip(numbers, s, p, o, strict=True))

    @cached_property
    def _index(self) -> tuple[Array, Array, Array, Array]:
        """The triples index as plain arrays: indexing a mapped one costs several times as much."""
        index = self.release[TriplesIndex]
        out_ptr, out_tri = index.out_ptr.view(np.ndarray), index.out_tri.view(np.ndarray)
        return out_ptr, out_tri, index.in_ptr.view(np.ndarray), index.in_tri.view(np.ndarray)

    @cached_property
    def _columns(self) -> tuple[Array, Array, Array]:
        index, objects = self.release[TriplesIndex], self.release[Graph].adjacency.forward.val
        return index.tri_s.view(np.ndarray), index.tri_p.view(np.ndarray), objects.view(np.ndarray)


# Characters of a line, of one of the best lines, and of a name in a triple or a line that was cut.
LINE_CHARACTERS, LONG_LINE_CHARACTERS, NAME_CHARACTERS = 600, 2000, 120
LOOKED_AT = 200  # targets of a line whose names are read; a hub has more than a context can show
PROSE = 0.4  # least share of letters in a text that people read
_MORE = re.compile(r" and (\d+) more$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a candidate's document: its source's number, its plain text and the nodes that this names.

    A header's text holds the classes and types of its entity, whose lines are no entries of their own.
    """

    n: int
    line: Line
    text: str
    shown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """A candidate's document as entries in its own order; ``headers``: that of each entity, its own first."""

    n: int
    document: int
    entity: int
    headers: dict[int, Entry]
    entries: tuple[Entry, ...]


@dataclass
class Names:
    """Names of nodes, cut at ``NAME_CHARACTERS``; what was looked up is kept for one question."""

    release: Release
    _whole: dict[int, str] = field(default_factory=dict)

    def of(self, node: int) -> str:
        """The name on one line; never empty."""
        name = self.whole(node) or plain(self.release[Graph].iri(node)) or "?"
        return shorten(name, NAME_CHARACTERS)

    def whole(self, node: int) -> str:
        """The name on one line, not cut; "" for none that can be seen."""
        if node not in self._whole:
            self._whole[node] = plain(self.release[Graph].label(node))
        return self._whole[node]


def read_document(release: Release, n: int, document: int, passages: Iterable[tuple[Line, str]] = ()) -> Read:
    """Read a document once, with sentences of ``passages`` that lead to it."""
    text = release[Documents].text(document)
    headers: dict[int, Entry] = {}
    typed: set[int] = set()
    entries: list[Entry] = []
    for line in release[Documents].lines(document):
        said = plain(text[line.start : line.end])
        header = headers.get(line.entity)
        if line.kind == Line.HEADER:
            headers.setdefault(line.entity, Entry(n, line, said, line.targets))
        elif line.kind == Line.TYPE and header is not None:
            body = said.removeprefix(f"{plain(line.label)}: ")
            joint = "; " if line.entity in typed else " — "
            typed.add(line.entity)
            shown = (*header.shown, *line.targets)
            headers[line.entity] = Entry(n, header.line, f"{header.text}{joint}{body}", shown)
        else:
            entries.append(Entry(n, line, said, line.targets))
    entries += [Entry(n, line, plain(said), line.targets) for line, said in passages]
    return Read(n, document, release[Documents].entity(document), headers, tuple(entries))


@dataclass(frozen=True)
class Writer:
    """Texts of entries within a length. ``first``: nodes that matter most; ``retrieved``: those that matter next; ``most``:
    names of one line, None for as many as the length holds."""

    release: Release
    names: Names
    first: frozenset[int]
    retrieved: frozenset[int]
    language: str
    most: int | None = None

    def short(self, entry: Entry) -> Entry:
        """The entry as its document has it, with those of the nodes that matter most that the document leaves out; at most
        ``LINE_CHARACTERS``, and no hub's more than ``most`` names."""
        line = entry.line
        if self.most is not None and line.kind in RELATIONAL and len(line.targets) > self.most:
            return self._named(entry, f"{plain(line.label)}: ", (), line.total, LINE_CHARACTERS, None)
        return self._fit(entry, LINE_CHARACTERS, self.first)

    def long(self, entry: Entry) -> Entry:
        """The entry with as many targets, or as much of its literals, as ``LONG_LINE_CHARACTERS`` hold; as ``short`` where
        names are counted."""
        if self.most is not None:
            return self.short(entry)
        if entry.line.kind == Line.LITERAL and ELLIPSIS in entry.text and _is_prose(entry.text):
            entry = self._literals(entry)
        return self._fit(entry, LONG_LINE_CHARACTERS, None)

    def is_cut(self, entry: Entry) -> bool:
        """Whether the text leaves something out."""
        return (
            entry.text.endswith(" more")
            or ELLIPSIS in entry.text
            or not set(entry.line.targets) <= set(entry.shown)
        )

    def _fit(self, entry: Entry, limit: int, added: frozenset[int] | None) -> Entry:
        line, text = entry.line, entry.text
        if line.kind == Line.LITERAL and not _is_prose(text):
            limit = min(limit, NAME_CHARACTERS)
        names_all = line.kind in RELATIONAL and line.total == len(line.targets) > 0
        more = _MORE.search(text) if text.endswith(" more") else None
        if not more and len(text) <= limit:
            return entry
        if names_all and len(text) > limit:
            return self._named(entry, f"{plain(line.label)}: ", (), len(line.targets), limit, None)
        if len(text) > limit:
            return Entry(entry.n, line, shorten(text, limit), self._told(entry, shorten(text, limit)))
        told = self._told(entry, text)
        if not more or not names_all:
            return Entry(entry.n, line, text, told)
        return self._named(entry, text[: more.start()], told, int(more[1]), limit, added)

    def _told(self, entry: Entry, text: str) -> tuple[int, ...]:
        """Those targets of a line that was cut whose names stand in its text."""
        return tuple(node for node in entry.line.targets[:LOOKED_AT] if self.names.whole(node) in text)

    def _named(
        self,
        entry: Entry,
        text: str,
        told: tuple[int, ...],
        rest: int,
        limit: int,
        added: frozenset[int] | None,
    ) -> Entry:
        """``text`` with further targets, those that matter first, within ``limit``; it says how many are left out."""
        known = set(told)
        targets = entry.line.targets[:LOOKED_AT]
        open_ = [node for node in targets if node not in known and (added is None or node in added)]
        order = sorted(open_, key=lambda node: (node not in self.first, node not in self.retrieved, node))
        groups: dict[str, list[int]] = {}
        for node in order:
            groups.setdefault(self.names.of(node), []).append(node)
        shown = list(told)
        for at, (name, nodes) in enumerate(groups.items()):
            if self.most is not None and at == self.most:
                break
            joint = "; " if shown else ""
            piece = f"{joint}{name}" + (f" ×{len(nodes)}" if len(nodes) > 1 else "")
            if len(nodes) > rest or len(text) + len(piece) + len(f" and {rest} more") > limit:
                continue
            text, rest = text + piece, rest - len(nodes)
            shown += nodes
        left = (f" and {rest} more" if shown else f"{rest}") if rest else ""
        return Entry(entry.n, entry.line, text + left, tuple(shown))

    def _literals(self, entry: Entry) -> Entry:
        """A line of literals with its values whole, those in the question's language first."""
        graph, line = self.release[Graph], entry.line
        values = [
            literal
            for literal in graph.literals(line.entity)
            if line.key in (graph.property_code(literal.property), graph.property_iri(literal.property))
        ]
        values.sort(key=lambda literal: literal.lang.partition("-")[0] != self.language)
        texts = list(dict.fromkeys(filter(None, (plain(literal.value) for literal in values))))
        text, limit = f"{plain(entry.line.label)}:", LONG_LINE_CHARACTERS
        told = 0
        for value in texts:
            left = len(texts) - told - 1
            room = limit - len(text) - 2 - (len(f" and {left} more") if left else 0)
            if room < min(len(value), NAME_CHARACTERS):
                break
            text += f"{';' if told else ''} {shorten(value, room)}"
            told += 1
        left = len(texts) - told
        if not told:
            return entry
        return Entry(entry.n, entry.line, text + (f" and {left} more" if left else ""), ())


def best_header(header: Entry, limit: int) -> Entry:
    """A header of at most ``limit`` characters."""
    return Entry(header.n, header.line, shorten(header.text, limit), header.shown)


def members_of(reads: Iterable[Read]) -> frozenset[int]:
    """The entities that the documents are about: their own, and those that were chained to them."""
    return frozenset(entity for read in reads for entity in read.headers)


def _is_prose(text: str) -> bool:
    """Whether a text has letters rather than digits and signs, as coordinates have."""
    return sum(map(str.isalpha, text)) >= PROSE * len(text)


PATHS: Final = 5  # that are told
NODES_LOOKED_AT: Final = 200  # nodes from either end whose triples are followed
ASIDE: Final = int(Category.Concept | Category.Time)
"""Categories that no way leads through: whatever is of one type or century is joined by it."""


def paths_of(release: Release, query: Query, documents: Sequence[int], language: str) -> list[Finding]:
    """The paths of a question's walk to the first of ``documents`` that it did not land at, triple by triple; none to one
    where documents hang together by what their chained entities say alone."""
    walked, held, facts = release[Walker].walk(query), release[Documents], Facts(release)
    found: list[Finding] = []
    for document in documents:
        way: list[int] = []
        nodes = [held.entity(one) for one in walked.path(document)]
        for start, end in pairwise(nodes):
            step = triples_between(facts, start, end)
            if not step:
                break
            way += step
        else:
            if way:
                told = f"{walked.scored} documents compared"
                found.append(replace(path(release, way, language, nodes[0]), origin=told))
        if len(found) == PATHS:
            break
    return found


def triples_between(facts: Facts, start: int, end: int) -> list[int]:
    """The numbers of the triples of a short way from one node to another, in its order; [] where none is near.

    It is looked for from both ends in turn, from the one with fewer nodes to go on from.
    """
    categories = facts.release[Graph].adjacency.categories
    reached: tuple[dict[int, tuple[int, int]], ...] = ({start: (-1, -1)}, {end: (-1, -1)})
    waiting, looked = ([start], [end]), 0
    while waiting[0] and waiting[1] and looked < NODES_LOOKED_AT:
        side = int(len(waiting[1]) < len(waiting[0]))
        own, other = reached[side], reached[1 - side]
        new: list[int] = []
        for node in waiting[side]:
            looked += 1
            for number, s, _, o in facts.triples_of(node):
                far = o if s == node else s
                if far in own or (categories[far] & ASIDE and far not in (start, end)):
                    continue
                own[far] = (node, number)
                if far in other:
                    return [*reversed(_back(reached[0], far)), *_back(reached[1], far)]
                new.append(far)
        waiting[side][:] = new
    return []


def _back(reached: dict[int, tuple[int, int]], node: int) -> list[int]:
    """The triples from a node back to where it was reached from."""
    found: list[int] = []
    while reached[node][1] >= 0:
        node, number = reached[node]
        found.append(number)
    return found
