"""Putting a context together: headers of all sources, lines as they bear on the question, triples, and what then has room."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import ContextConfig
from crmrag_query.context.budget import Budget, pay
from crmrag_query.context.counts import counts_lines
from crmrag_query.context.lines import Entry, Names, Read, Writer, best_header, members_of, read_document
from crmrag_query.context.records import Context, ContextLine, ContextSource, Kind, frame
from crmrag_query.context.stated import RELATIONAL, Fact, Facts
from crmrag_query.context.triples import Enrichment
from crmrag_query.context.wikidata import WikidataTexts, wikidata_lines
from crmrag_query.documents.documents import Line
from crmrag_query.questions.analysis import Analysis
from crmrag_query.retrieval.pool import Candidate

SHORTEST_HEADER = 40  # characters; a name below it says little


class RankedLine(Protocol):
    """A document's line and how well it bears on the question, such as answers.evidence.Evidence."""

    @property
    def line(self) -> Line: ...

    @property
    def score(self) -> float: ...


def assemble(
    release: Release,
    analysis: Analysis,
    candidates: Sequence[Candidate],
    ranked: Sequence[RankedLine] = (),
    wikidata: WikidataTexts | None = None,
) -> Context:
    """The context for a question: ``candidates`` become sources 1, 2, … in their order, as far as the budget holds them.

    Within ``context.characters`` and ``context.tokens``: counts (for questions that list or count) and Wikidata's texts;
    the header of every source; then the lines of ``ranked``, best first, each line of a document being worth ``decay`` times
    the one before; triples that none of them states; then what lines are left, document by document, where there is room.
    What one line states no other line states again.
    """
    config = release.method.context
    whole = Budget(config.characters, config.tokens)
    beside = whole.part(config.characters * config.beside, config.beside)
    counts = counts_lines(release, analysis, _share(beside, config.aggregation.characters, config), [whole])
    work = _Work(release, analysis, _read(release, candidates), whole)
    reserved = _share(beside, config.triples.characters, config)
    documents = Budget(whole.characters - reserved.characters, whole.tokens - reserved.tokens)
    work.headers(documents)
    texts = wikidata_lines(release, analysis, work.reads, wikidata, [reserved, whole])
    work.ranked(ranked, documents)
    work.lengthen(ranked, documents)
    triples = work.enrich(whole.part(config.triples.characters))
    work.rest()
    return Context(
        tuple(_source(release, source, triples.get(source.read.n, [])) for source in work.sources.values()),
        texts,
        counts,
        max(0, config.characters - whole.characters - 1),
        max(0, config.tokens - whole.tokens - 1),
    )


def _share(beside: Budget, characters: int, config: ContextConfig) -> Budget:
    """The part of a block beside the documents: its characters, scaled down where the blocks do not all fit."""
    scale = min(
        1.0, config.beside * config.characters / (config.triples.characters + config.aggregation.characters)
    )
    share = characters / (config.triples.characters + config.aggregation.characters)
    return beside.part(characters * scale, share)


def _read(release: Release, candidates: Sequence[Candidate]) -> list[Read]:
    """The documents, each once, numbered by their candidate's place."""
    places = {candidate.document: n for n, candidate in reversed(list(enumerate(candidates, 1)))}
    return [
        read_document(release, n, document)
        for document, n in sorted(places.items(), key=lambda item: item[1])
    ]


@dataclass
class _Source:
    """What was chosen of a document: entries by where they begin; its own budget; how many lines it has."""

    read: Read
    budget: Budget
    chosen: dict[int, Entry] = field(default_factory=dict)
    taken: int = 0


class _Work:
    """The state of putting one context together."""

    def __init__(self, release: Release, analysis: Analysis, reads: Sequence[Read], whole: Budget) -> None:
        self.release, self.config, self.whole = release, release.method.context, whole
        self.language = analysis.reading.language
        self.facts = Facts(release, self.config.triples.looked_at)
        self.names = Names(release, self.config.name_characters)
        first = frozenset(one.entity for mention in analysis.mentions for one in mention.entities[:1])
        self.writer = Writer(release, self.names, self.config, first, members_of(reads), self.language)
        self.sources = {
            read.document: _Source(read, Budget(self.config.document_characters, whole.tokens))
            for read in reads
        }
        self.given: set[Fact] = set()
        self.entry_at = {(read.document, entry.line.start): entry for read in reads for entry in read.entries}

    @property
    def reads(self) -> list[Read]:
        """The documents of the sources."""
        return [source.read for source in self.sources.values()]

    def headers(self, documents: Budget) -> None:
        """The header of every source, with an equal share of half the room at most; those after one that does not fit are
        no sources, so that numbers have no gap."""
        room = documents.characters // (2 * max(1, len(self.sources)))
        sources, self.sources = self.sources, {}
        for document, source in sources.items():
            around = frame("source", source.read.n)
            limit = max(SHORTEST_HEADER, room - sum(map(len, around)) - 3)
            header = best_header(
                source.read.headers[source.read.entity], min(self.config.line_characters, limit)
            )
            if not pay([header.text], [documents, self.whole, source.budget], frame=around):
                break
            self.sources[document] = source
            self._keep(source, header, self.facts.of(header.line, header.shown))

    def _keep(self, source: _Source, entry: Entry, facts: frozenset[Fact]) -> None:
        source.chosen[entry.line.start] = entry
        self.given |= facts | {_said(entry)}

    def ranked(self, ranked: Sequence[RankedLine], documents: Budget) -> None:
        """Lines, given best first, as they bear on the question; each is worth less the more its document has."""
        queues: dict[int, deque[tuple[float, int, Entry]]] = {}
        for at, one in enumerate(ranked):
            if (entry := self._entry(one)) is not None:
                queues.setdefault(one.line.document, deque()).append((one.score, at, entry))
        heap = [(-queue[0][0], queue[0][1], document) for document, queue in queues.items()]
        heapq.heapify(heap)
        long = self.config.long_lines
        while heap and documents.characters > 0:
            document = heapq.heappop(heap)[2]
            source, queue = self.sources[document], queues[document]
            entry = queue.popleft()[2]
            if self._add(
                source, self.writer.long(entry) if long > 0 else self.writer.short(entry), [documents]
            ):
                long -= 1
            if queue:
                score, at, _ = queue[0]
                heapq.heappush(heap, (-score * self.config.decay**source.taken, at, document))

    def _entry(self, one: RankedLine) -> Entry | None:
        """The entry of a ranked line, None for one that is told in a header or of no source."""
        if one.line.document not in self.sources:
            return None
        return self.entry_at.get((one.line.document, one.line.start))

    def _add(self, source: _Source, entry: Entry, budgets: Sequence[Budget]) -> bool:
        """Take a line, with the header that it stands under, unless it is known or does not fit."""
        paying = [*budgets, self.whole, source.budget]
        if entry.line.start in source.chosen or any(len(entry.text) >= one.characters for one in paying):
            return False
        facts = self.facts.of(entry.line, entry.shown)
        if facts <= self.given or _said(entry) in self.given:
            return False
        header = source.read.headers.get(entry.line.entity)
        missing = header is not None and header.line.start not in (*source.chosen, entry.line.start)
        above = [best_header(header, self.config.line_characters)] if header is not None and missing else []
        if not pay([one.text for one in (*above, entry)], paying):
            return False
        for one in above:
            self._keep(source, one, self.facts.of(one.line, one.shown))
        self._keep(source, entry, facts)
        source.taken += 1
        return True

    def lengthen(self, ranked: Sequence[RankedLine], documents: Budget) -> None:
        """Lines that were cut at greater length, the best first, as far as there is room."""
        for one in ranked:
            entry = self._entry(one)
            if entry is None:
                continue
            source = self.sources[one.line.document]
            now = source.chosen.get(one.line.start)
            if (
                now is None
                or not self.writer.is_cut(now)
                or (longer := self.writer.long(entry)).text == now.text
            ):
                continue
            if pay([longer.text], [documents, self.whole, source.budget], instead=now.text):
                self._keep(source, longer, self.facts.of(longer.line, longer.shown))

    def enrich(self, budget: Budget) -> dict[int, list[ContextLine]]:
        """Triples by the number of their source."""
        enrichment = Enrichment(self.release, self.release.method, self.facts, self.names, self.language)
        found: dict[int, list[ContextLine]] = {}
        for line in enrichment.lines(self.reads, self.given, budget, [self.whole]):
            found.setdefault(line.n, []).append(line)
        return found

    def rest(self) -> None:
        """What is left, best document first, in its own order: lines, and headers of chained entities by themselves."""
        for source in self.sources.values():
            left = [*source.read.entries, *source.read.headers.values()]
            for entry in sorted(left, key=lambda entry: entry.line.start):
                self._add(source, self.writer.short(entry), [])


def _said(entry: Entry) -> Fact:
    """What a line says of whom in so many words."""
    return ("said", entry.line.entity, entry.text)


def _source(release: Release, source: _Source, triples: Iterable[ContextLine]) -> ContextSource:
    read = source.read
    lines = [_line(source.chosen[start]) for start in sorted(source.chosen)]
    own = {line.entities[0] for line in lines}
    told = {
        node
        for line in lines
        if line.line is not None and line.line.kind not in RELATIONAL
        for node in line.shown
    }
    members = (member.entity for member in release.documents.members(read.document))
    entities = dict.fromkeys(
        [read.entity, *(entity for entity in members if entity in own or entity in told)]
    )
    return ContextSource(read.n, read.document, read.entity, (*lines, *triples), tuple(entities))


def _line(entry: Entry) -> ContextLine:
    kind = Kind.HEADER if entry.line.kind == Line.HEADER else Kind.DOCUMENT
    entities = tuple(dict.fromkeys((entry.line.entity, *entry.shown)))
    return ContextLine(entry.text, kind, entry.n, entities, entry.line)
