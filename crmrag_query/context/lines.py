"""The lines of a candidate's document as the context gives them: headers with types, long lines cut, short ones extended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import ContextConfig
from crmrag_query.context.stated import RELATIONAL
from crmrag_query.context.text import ELLIPSIS, plain, shorten
from crmrag_query.documents.documents import Line

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
    """Names of nodes, cut at ``characters``; what was looked up is kept for one question."""

    release: Release
    characters: int
    _whole: dict[int, str] = field(default_factory=dict)

    def of(self, node: int) -> str:
        """The name on one line; never empty."""
        name = self.whole(node) or plain(self.release.graph.iri(node)) or "?"
        return shorten(name, self.characters)

    def whole(self, node: int) -> str:
        """The name on one line, not cut; "" for none that can be seen."""
        if node not in self._whole:
            self._whole[node] = plain(self.release.graph.label(node))
        return self._whole[node]


def read_document(release: Release, n: int, document: int) -> Read:
    """Read a document once."""
    text = release.documents.text(document)
    headers: dict[int, Entry] = {}
    typed: set[int] = set()
    entries: list[Entry] = []
    for line in release.documents.lines(document):
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
    return Read(n, document, release.documents.entity(document), headers, tuple(entries))


@dataclass(frozen=True)
class Writer:
    """Texts of entries within a length. ``first``: nodes that matter most; ``retrieved``: those that matter next."""

    release: Release
    names: Names
    config: ContextConfig
    first: frozenset[int]
    retrieved: frozenset[int]
    language: str

    def short(self, entry: Entry) -> Entry:
        """The entry as its document has it, with those of the nodes that matter most that the document leaves out; at most
        ``line_characters``."""
        return self._fit(entry, self.config.line_characters, self.first)

    def long(self, entry: Entry) -> Entry:
        """The entry with as many targets, or as much of its literals, as ``long_line_characters`` hold."""
        if entry.line.kind == Line.LITERAL and ELLIPSIS in entry.text and _is_prose(entry.text):
            entry = self._literals(entry)
        return self._fit(entry, self.config.long_line_characters, None)

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
            limit = min(limit, self.config.name_characters)
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
        for name, nodes in groups.items():
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
        graph, line = self.release.graph, entry.line
        values = [
            literal
            for literal in graph.literals(line.entity)
            if line.key in (graph.property_code(literal.property), graph.property_iri(literal.property))
        ]
        values.sort(key=lambda literal: literal.lang.partition("-")[0] != self.language)
        texts = list(dict.fromkeys(filter(None, (plain(literal.value) for literal in values))))
        return self._values(entry, texts) if texts else entry

    def _values(self, entry: Entry, texts: Sequence[str]) -> Entry:
        text, limit = f"{plain(entry.line.label)}:", self.config.long_line_characters
        told = 0
        for value in texts:
            left = len(texts) - told - 1
            room = limit - len(text) - 2 - (len(f" and {left} more") if left else 0)
            if room < min(len(value), self.config.name_characters):
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
