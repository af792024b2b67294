"""Putting a context together: the set that answers or counts, headers of all sources, lines as they bear on the question,
triples, and what then has room."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import ContextConfig
from crmrag_query.context.context import (
    NO_DOCUMENT,
    Budget,
    Context,
    ContextLine,
    ContextSource,
    Finding,
    Kind,
    KnownSet,
    frame,
    measured,
    pay,
)
from crmrag_query.context.evidence import Evidence, sentences
from crmrag_query.context.lines import (
    LINE_CHARACTERS,
    LONG_LINE_CHARACTERS,
    RELATIONAL,
    Entry,
    Fact,
    Facts,
    Names,
    Read,
    Row,
    Writer,
    best_header,
    members_of,
    read_document,
)
from crmrag_query.context.wikidata import WikidataTexts, wikidata_lines
from crmrag_query.dates import describe
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.form import Analysis, Form
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import Aggregation, RelationshipCount
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.text import plain, shorten, tokens

# Characters of the block of counts, and how long its lists are. Source: the published CRM-RAG.
COUNTS_CHARACTERS = 3000
TYPES = 15
CENTRAL = 20  # names by PageRank, for each category
MAKERS = 30  # actors by number of works
RELATIONSHIPS = 8
NAME_CHARACTERS = 60  # of a name in a list


def counts_lines(
    release: Release, analysis: Analysis, budget: Budget, others: Sequence[Budget]
) -> tuple[ContextLine, ...]:
    """Lines of counts, those first that bear most on the question; none for a SPECIFIC question or without room.

    The frame of the block is paid for too. A list that does not fit whole is cut, and says how many it leaves out.
    """
    budgets = [budget, *others]
    lines: list[ContextLine] = []
    if analysis.form is Form.SPECIFIC:
        return ()
    for head, items in _lists(release, analysis):
        around = () if lines else frame("counts", 0)
        text = _within(head, items, budgets, around)
        if text:
            lines.append(ContextLine(text, Kind.COUNT))
    return tuple(lines)


def _within(head: str, items: Sequence[str], budgets: Sequence[Budget], around: Sequence[str]) -> str:
    """``head: a; b and 3 more`` with as many items as can be paid for, ``around`` included; "" for none."""
    kept = list(items)
    while kept:
        left = len(items) - len(kept)
        text = f"{head}: {'; '.join(kept)}" + (f" and {left} more" if left else "")
        if pay([text], budgets, frame=around):
            return text
        del kept[len(kept) * 4 // 5 :]
    return ""


def _lists(release: Release, analysis: Analysis) -> Iterator[tuple[str, list[str]]]:
    """Heads and items, the most telling first."""
    counts = release[Aggregation]
    wanted = analysis.targets | analysis.contexts | analysis.reading.expects
    categories = sorted(
        counts.categories,
        key=lambda count: (not _bit(count.category) & analysis.targets, not _bit(count.category) & wanted),
    )
    yield (
        f"All {counts.entities} entities of the data set by category",
        [f"{count.category} {count.primary}" for count in categories if count.primary],
    )
    yield "Entities by class", [f"{_name(one.label)} {one.entities}" for one in counts.classes[:TYPES]]
    if not wanted or wanted & (Category.Actor | Category.Thing | Category.Event):
        yield (
            "Actors by number of works",
            [f"{_name(actor.label)} {actor.score:.0f}" for actor in counts.actors(MAKERS)],
        )
    for count in categories:
        if _bit(count.category) & (analysis.targets or wanted):
            names = (_name(ranked.label) for ranked in counts.top(count.category, CENTRAL))
            yield f"Most connected of {count.category}", list(dict.fromkeys(names))
    ends = {one.id: one.domain | one.range for one in release[Catalogue]}

    def order(count: RelationshipCount) -> tuple[bool, bool, int]:
        own = ends.get(count.key, 0)
        return not own & analysis.targets, not own & wanted, -count.pairs

    stated = sorted((count for count in counts.relationships if count.pairs), key=order)
    yield (
        "Relationships by pairs",
        [
            f"{_name(one.label)} {one.pairs} (from {one.sources} to {one.targets} entities)"
            for one in stated[:RELATIONSHIPS]
        ],
    )


def _bit(category: str) -> int:
    return int(Category.__members__.get(category, 0))


def _name(label: str) -> str:
    return shorten(plain(label), NAME_CHARACTERS)


# Priorities of triples: both ends retrieved, high-value property, labelled, other.
BOTH, VALUED, LABELLED, OTHER = range(4)
# The block of triples. Source: the published CRM-RAG.
TRIPLES_CHARACTERS = 5000
PER_ENTITY = 15
ENTITY_CHARACTERS = 200  # at least; else characters / entities
HIGH_VALUE = (
    "P4", "P82a", "P82b", "P14", "P14i", "P108", "P108i", "P7", "P55", "P53", "P89", "P16", "P16i", "P12", "P12i", "P62",
    "P62i", "P46", "P46i", "P56", "P56i", "K24", "P9", "P9i",
)  # fmt: skip
_RDFS, _OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
# By exact IRI, never by a part of it.
EXCLUDED = {
    RDF_TYPE,
    *(_RDFS + name for name in ("label", "comment", "subClassOf", "subPropertyOf", "domain", "range", "seeAlso")),
    f"{_RDFS}isDefinedBy", f"{_OWL}inverseOf", f"{_OWL}equivalentClass",
}  # fmt: skip


@dataclass(frozen=True)
class Enrichment:
    """Chooses and writes the triples around retrieved entities."""

    release: Release
    facts: Facts
    names: Names
    language: str
    _written: dict[int, str] = field(default_factory=dict)

    def lines(
        self, reads: Sequence[Read], given: set[Fact], budget: Budget, others: Sequence[Budget]
    ) -> list[ContextLine]:
        """Lines for the entities of ``reads``, best source first, of triples that are not among ``given``.

        An entity takes at most ``PER_ENTITY`` triples and max(``ENTITY_CHARACTERS``, characters / entities) characters.
        What is taken is paid from ``budget`` and the ``others``, and joins ``given``.
        """
        home = {entity: read.n for read in reversed(reads) for entity in read.headers}
        retrieved = frozenset(home)
        share = max(ENTITY_CHARACTERS, TRIPLES_CHARACTERS // max(1, len(home)))
        found: list[ContextLine] = []
        for read in reads:
            for entity in read.headers:
                if home[entity] == read.n:
                    own = budget.part(share)
                    chosen = self.choose(entity, retrieved, given)
                    found += self._write(read.n, entity, chosen, given, [own, budget, *others])
        return found

    def choose(self, entity: int, retrieved: Container[int], given: Container[Fact]) -> list[Row]:
        """At most ``PER_ENTITY`` triples of an entity, by priority, then the order of ``HIGH_VALUE``, then number; without
        those ``given``."""
        flags = self.release[Graph].flags.view(np.ndarray)
        ranked: list[tuple[tuple[int, int, int], Row]] = []
        for number, s, p, o in self.facts.triples_of(entity):
            if number in given or self._excluded[p]:
                continue
            other, place = o if s == entity else s, self._value[p]
            if other in retrieved:
                priority = BOTH
            elif place < len(HIGH_VALUE):
                priority = VALUED
            else:
                priority = LABELLED if flags[other] & FLAG_LABELLED else OTHER
            ranked.append(((priority, place, number), (number, s, p, o)))
        return [row for _, row in heapq.nsmallest(PER_ENTITY, ranked)]

    def _write(
        self, n: int, entity: int, rows: Sequence[Row], given: set[Fact], budgets: Sequence[Budget]
    ) -> list[ContextLine]:
        """Lines of triples; those that read the same, as to things of one name, are one line with their number."""
        graph, alike = self.release[Graph], dict[str, dict[Fact, Row]]()
        seen: set[Fact] = set()
        for row in rows:
            _, s, p, o = row
            fact = self._fact(s, p, o)
            if fact not in given and fact not in seen:
                seen.add(fact)
                said = plain(graph.property_label(p, lang=self.language)) or plain(graph.property_iri(p))
                text = f"{self._name(s)} — {said} — {self._name(o)}"
                alike.setdefault(text, {})[fact] = row
        lines = []
        for text, found in alike.items():
            text += f" ×{len(found)}" if len(found) > 1 else ""
            if pay([text], budgets):
                numbers = tuple(row[0] for row in found.values())
                given.update(found, numbers)
                others = (o if s == entity else s for _, s, _, o in found.values())
                lines.append(
                    ContextLine(text, Kind.TRIPLE, n, tuple(dict.fromkeys((entity, *others))), None, numbers)
                )
        return lines

    def _fact(self, s: int, p: int, o: int) -> Fact:
        """The same for a triple and for its inverse, where the data states both."""
        code = self.release[Graph].property_code(p)
        if not code:
            return ("triple", p, s, o)
        return ("triple", code[:-1], o, s) if code.endswith("i") else ("triple", code, s, o)

    def _name(self, node: int) -> str:
        """A node's name; of a time-span its dates, of an event its name with them. Kept for one question."""
        if node not in self._written:
            graph, ontology, name = self.release[Graph], self.release.ontology, self.names.of(node)
            dates = self._dates(node)
            codes = (graph.class_code(number) for number in graph.types(node).tolist())
            if dates and any(code and ontology.is_a(code, "E52") for code in codes):
                name = dates
            elif not dates:
                forward = graph.adjacency.forward
                spans = [span for p in self._span_properties for span in forward.neighbours(p, node).tolist()]
                dates = next(filter(None, map(self._dates, spans)), "")
            self._written[node] = f"{name} ({dates})" if dates and dates not in name else name
        return self._written[node]

    def _dates(self, node: int) -> str:
        """The dates stated on a node; most have none, which is seen without reading the table."""
        at = int(np.searchsorted(self._dated, node))
        dated = at < len(self._dated) and self._dated[at] == node
        return dates_of(self.release[Graph], node, self.language) if dated else ""

    @cached_property
    def _dated(self) -> npt.NDArray[np.int32]:
        """int32 [dates]: the nodes that have dates, ascending."""
        nodes: npt.NDArray[np.int32] = self.release[Graph].timespan_table.column("node").to_numpy()
        return nodes

    @cached_property
    def _span_properties(self) -> tuple[int, ...]:
        by_code = self.release[Graph].adjacency.by_code
        return tuple(
            n for code in self.release.method.dates.time_span_properties for n in by_code.get(code, ())
        )

    @cached_property
    def _excluded(self) -> list[bool]:
        """Of each property whether it is never shown."""
        graph = self.release[Graph]
        return [graph.property_iri(number) in EXCLUDED for number in range(len(graph.property_codes))]

    @cached_property
    def _value(self) -> list[int]:
        """Of each property its place among the high-value ones, their number for any other."""
        place = {code: at for at, code in enumerate(HIGH_VALUE)}
        return [place.get(code, len(HIGH_VALUE)) for code in self.release[Graph].property_codes]


def dates_of(graph: Graph, node: int, language: str) -> str:
    """The dates stated on a node in the language, else in the source's words; "" for none."""
    span = graph.timespan(node)
    if span is None:
        return ""
    return (describe(span.interval, language) if span.interval else "") or plain(span.text)


SHORTEST_HEADER = 40  # characters; a name below it says little
DECAY = 0.9  # worth of a document's next line for each that it already has, so that one document does not take all
FINDINGS = 0.5  # share of all that findings may take before the documents
BESIDE = 0.4  # share of all that triples, counts and Wikidata may take before the documents
NAMES_BESIDE_SET = 8  # names of one line where a set answers: what a hub leads to is no news there
LONG_LINES = 5  # lines that are given at length before others are given at all; the rest where there is room


def assemble(
    release: Release,
    analysis: Analysis,
    candidates: Sequence[Candidate],
    ranked: Sequence[Evidence] = (),
    wikidata: WikidataTexts | None = None,
    known: KnownSet | None = None,
    findings: Sequence[Finding] = (),
    config: ContextConfig | None = None,
) -> Context:
    """The context for a question: ``candidates`` become sources 1, 2, … in their order, as far as the budget holds them.

    Within ``context.characters`` and ``context.tokens`` (of ``config``, None for the method's): counts (for questions
    that list or count) and Wikidata's texts; the header of every source; then the lines of ``ranked``, best first, each
    line of a document being worth ``DECAY`` times the one before; triples that none of them states; then what lines are
    left, document by document, where there is room. What one line states no other line states again.

    ``known``: a set, which comes first; it takes the place of counts, and leaves less room to all else. Its
    members keep their numbers as sources, others follow: first ``findings``, best first, as far as their share of the room
    holds them, then the candidates.
    """
    config = config or release.method.context
    whole = Budget(config.characters, config.tokens)
    numbers: dict[int, int] = {}
    if known is not None:
        numbers = known.numbers
        told = "\n".join(known.written())
        whole = _left_beside(config, Budget(len(told) + 1, tokens(told) + 1))
    answers = known is not None and known.answers
    room = whole.characters
    beside = whole.part(room * BESIDE, BESIDE)
    counts: tuple[ContextLine, ...] = ()
    if known is None:
        counts = counts_lines(release, analysis, _share(beside, COUNTS_CHARACTERS, room), [whole])
    held = release[Documents]
    places: dict[int, int] = {}
    free = len(set(numbers.values()))
    found = list(_findings(findings, free, whole))
    free += len(found)
    for candidate in candidates:
        if candidate.document not in places:
            n = numbers.get(held.entity(candidate.document))
            free += n is None
            places[candidate.document] = n or free
    passages = {one.document: one.passages for one in candidates}
    reads = [
        read_document(release, n, one, sentences(release, one, passages[one]))
        for one, n in sorted(places.items(), key=lambda item: item[1])
    ]
    work = _Work(release, analysis, reads, whole, NAMES_BESIDE_SET if answers else None)
    reserved = _share(beside, TRIPLES_CHARACTERS, room)
    documents = Budget(whole.characters - reserved.characters, whole.tokens - reserved.tokens)
    work.headers(documents)
    texts = wikidata_lines(release, analysis, work.reads, wikidata, [reserved, whole])
    work.ranked(ranked, documents)
    work.lengthen(ranked, documents)
    triples = work.enrich(whole.part(TRIPLES_CHARACTERS))
    work.rest()
    sources = [_source(release, one, triples.get(one.read.n, [])) for one in work.sources.values()]
    numbered = tuple(sorted([*found, *sources], key=lambda source: source.n))
    return measured(Context(numbered, texts, counts, known=known))


def _findings(findings: Sequence[Finding], before: int, whole: Budget) -> Iterator[ContextSource]:
    """Findings as sources, numbered from after ``before``, the first ones that their share of the whole budget holds; each
    with its label and as many of its lines as fit."""
    own = whole.part(whole.characters * FINDINGS, FINDINGS)
    for n, one in enumerate(findings, before + 1):
        around = frame(one.kind, n)
        head = shorten(plain(one.label), LINE_CHARACTERS)
        texts = [shorten(plain(text), LONG_LINE_CHARACTERS) for text in one.texts]
        if not texts or not pay([head, texts[0]], [own, whole], frame=around):
            return
        told = [head, texts[0], *takewhile(lambda text: pay([text], [own, whole]), texts[1:])]
        lines = (
            ContextLine(text, Kind.FINDING, n, one.entities, None, one.triples if at else ())
            for at, text in enumerate(told)
        )
        yield ContextSource(n, NO_DOCUMENT, one, tuple(lines), one.entities)


def _left_beside(config: ContextConfig, used: Budget) -> Budget:
    """What is left beside a set that takes ``used``."""
    characters = max(config.set_characters - used.characters, config.set_beside)
    return Budget(
        max(0, min(characters, config.characters - used.characters)), max(0, config.tokens - used.tokens)
    )


def _share(beside: Budget, characters: int, room: int) -> Budget:
    """The part of a block beside the documents: its characters, scaled down where the blocks do not all fit in the room."""
    blocks = TRIPLES_CHARACTERS + COUNTS_CHARACTERS
    scale = min(1.0, BESIDE * room / blocks)
    return beside.part(characters * scale, characters / blocks)


@dataclass
class _Source:
    """What was chosen of a document: entries by where they begin; its own budget; how many lines it has."""

    read: Read
    budget: Budget
    chosen: dict[int, Entry] = field(default_factory=dict)
    taken: int = 0


class _Work:
    """The state of putting one context together."""

    def __init__(
        self,
        release: Release,
        analysis: Analysis,
        reads: Sequence[Read],
        whole: Budget,
        most_names: int | None = None,
    ) -> None:
        self.release, self.config, self.whole = release, release.method.context, whole
        self.language = analysis.reading.language
        self.facts = Facts(release)
        self.names = Names(release)
        first = frozenset(one.entity for mention in analysis.mentions for one in mention.entities[:1])
        self.writer = Writer(release, self.names, first, members_of(reads), self.language, most_names)
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
            header = best_header(source.read.headers[source.read.entity], min(LINE_CHARACTERS, limit))
            if not pay([header.text], [documents, self.whole, source.budget], frame=around):
                break
            self.sources[document] = source
            self._keep(source, header, self.facts.of(header.line, header.shown))

    def _keep(self, source: _Source, entry: Entry, facts: frozenset[Fact]) -> None:
        source.chosen[entry.line.start] = entry
        self.given |= facts | {_said(entry)}

    def ranked(self, ranked: Sequence[Evidence], documents: Budget) -> None:
        """Lines, given best first, as they bear on the question; each is worth less the more its document has."""
        queues: dict[int, deque[tuple[float, int, Entry]]] = {}
        for at, one in enumerate(ranked):
            if (entry := self._entry(one)) is not None:
                queues.setdefault(one.line.document, deque()).append((one.score, at, entry))
        heap = [(-queue[0][0], queue[0][1], document) for document, queue in queues.items()]
        heapq.heapify(heap)
        long = LONG_LINES
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
                heapq.heappush(heap, (-score * DECAY**source.taken, at, document))

    def _entry(self, one: Evidence) -> Entry | None:
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
        above = [best_header(header, LINE_CHARACTERS)] if header is not None and missing else []
        if not pay([one.text for one in (*above, entry)], paying):
            return False
        for one in above:
            self._keep(source, one, self.facts.of(one.line, one.shown))
        self._keep(source, entry, facts)
        source.taken += 1
        return True

    def lengthen(self, ranked: Sequence[Evidence], documents: Budget) -> None:
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
        enrichment = Enrichment(self.release, self.facts, self.names, self.language)
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
    lines = []
    for start in sorted(source.chosen):
        entry = source.chosen[start]
        kind = Kind.HEADER if entry.line.kind == Line.HEADER else Kind.DOCUMENT
        named = tuple(dict.fromkeys((entry.line.entity, *entry.shown)))
        lines.append(ContextLine(entry.text, kind, entry.n, named, entry.line))
    own = {line.entities[0] for line in lines}
    told = {
        node
        for line in lines
        if line.line is not None and line.line.kind not in RELATIONAL
        for node in line.shown
    }
    members = (member.entity for member in release[Documents].members(read.document))
    entities = dict.fromkeys(
        [read.entity, *(entity for entity in members if entity in own or entity in told)]
    )
    return ContextSource(read.n, read.document, read.entity, (*lines, *triples), tuple(entities))
