"""The lines of the retrieved documents that bear on a question, ranked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import ExtractiveConfig
from crmrag_query.documents.documents import SEPARATOR, Documents, Line
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.linking import Mention
from crmrag_query.ontology.load import Category
from crmrag_query.plans.world import World
from crmrag_query.questions.form import Reading
from crmrag_query.retrieval.scores import Candidate, reciprocal_rank_fusion
from crmrag_query.text import SHORTEST_STEM, same_stem, sentence_starts, tokenize, with_singulars

Encode = Callable[[list[str]], npt.NDArray[np.float32]]
ANCHORED = 0.5  # share of a subject's name in the question from which a line is about what was asked
NAMED_TARGETS = 30  # targets whose names take part in matching; the whole set stays in the line
SHOWN = 10  # names on a line, as on a line of a document
ENCODED_CHARACTERS = 160  # of a line, about 40 word pieces: enough to tell what it is about
SENTENCES = 300  # characters of a passage on one line: short sentences say little alone
DATED = re.compile(r"\d{3,4}|centur|siècle|Jahrhundert|αιώ", re.IGNORECASE)


@dataclass(frozen=True)
class Evidence:
    """A line of a document as it bears on the question.

    ``text`` is the line as the document has it; ``subject`` names whom it is about; ``names`` are the names of its
    targets in the question's language; ``mention``: the share (0..1) of the subject's name that the question contains,
    ``mentioned``: those words; ``cued``: the question's words ask for lines of this kind; ``expected``: it leads to what
    the question word asks for.
    """

    line: Line
    rank: int
    subject: str
    text: str
    names: tuple[str, ...]
    mention: float = 0.0
    mentioned: frozenset[str] = frozenset()
    cued: bool = False
    expected: bool = False
    score: float = 0.0

    @cached_property
    def match(self) -> str:
        """What is compared with the question."""
        return f"{self.subject}. {self.text} {' '.join(self.names)}"

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Its folded words."""
        return tuple(tokenize(self.match))


def gather(
    release: Release,
    candidates: Sequence[Candidate],
    reading: Reading,
    config: ExtractiveConfig,
    mentions: Sequence[Mention] = (),
) -> list[Evidence]:
    """The lines of the candidates' documents and the sentences of their passages, best document first, at most
    ``config.ranked_lines``.

    A line about an entity of ``mentions``, which the question may spell otherwise, is about what is named.
    """
    reader = _Reader(release, reading, config, linked_names(mentions))
    found = (one for rank, candidate in enumerate(candidates) for one in reader.lines(candidate, rank))
    return _outnamed(list(islice(found, config.ranked_lines)))


def sentences(release: Release, document: int, passages: Sequence[int]) -> list[tuple[Line, str]]:
    """The sentences of some passages that lead to a document as lines about the entities that they describe, short ones
    together, with their texts.

    A line leads to the node that states the text where this is not the entity, and stands where it does in the whole of the
    document.
    """
    store = release[Documents]
    found: list[tuple[Line, str]] = []
    start = len(store.text(document)) if passages else 0
    for number in store.passages_of(document) if passages else ():
        passage, start = store.passage(number), start + len(SEPARATOR)
        if number in passages:
            own = () if passage.source == passage.entity else (passage.source,)
            first, body = len(passage.text) - len(passage.body), passage.body
            cuts = [0, *sentence_starts(body), len(body)]
            at = 0
            for cut, following in pairwise([*cuts, len(body) + SENTENCES]):
                if cut > at and following - at > SENTENCES:
                    line = Line(
                        document, passage.entity, Line.PASSAGE, passage.key, passage.label,
                        start + first + at, start + first + cut, 1, own,
                    )  # fmt: skip
                    found.append((line, f"{passage.label}: {body[at:cut].rstrip()}"))
                    at = cut
        start += len(passage.text)
    return found


def untold(release: Release, lines: Sequence[Line]) -> list[Line]:
    """What the data states of the entities of a document and none of its ``lines`` leads to, a line for each property and
    direction.

    Texts leave out what others' records say, what has no name and the like, which answers may need and exclusions must know.
    They stand at the end of the text, where they take no room.
    """
    graph, index = release[Graph], release[TriplesIndex]
    led_to: dict[int, set[int]] = {}
    for line in lines:
        led_to.setdefault(line.entity, {line.entity}).update(line.targets)
    found = []
    for entity, told in led_to.items():
        numbers = index.numbers_of(entity)
        subject, object_ = index.tri_s[numbers], graph.adjacency.forward.val[numbers]
        inward = subject != entity
        ways: dict[tuple[int, bool], list[int]] = {}
        others = np.where(inward, subject, object_).tolist()
        for number, back, other in zip(index.tri_p[numbers].tolist(), inward.tolist(), others, strict=True):
            ways.setdefault((number, back), []).append(other)
        for (number, back), targets in sorted(ways.items()):
            if not told.issuperset(targets):
                kind, label = Line.INCOMING if back else Line.OUTGOING, graph.property_label(number, back)
                code, end = graph.property_code(number) or graph.property_iri(number), lines[-1].end
                found.append(
                    Line(lines[0].document, entity, kind, code, label, end, end, len(targets), tuple(targets))
                )
    return found


def written(line: Line, names: Sequence[str]) -> str:
    """A line of relations as a document has it, with the names of its first targets."""
    shown = names[:SHOWN]
    rest = line.total - len(shown)
    return f"{line.label}: {'; '.join(shown)}" + (f" and {rest} more" if rest > 0 else "")


def _outnamed(found: list[Evidence]) -> list[Evidence]:
    """Lines about something whose name the question holds only within a longer name ("Virgin" in "Church of the Virgin")
    with as much less of a mention as that name is longer."""
    names = {one.mentioned for one in found if one.mention >= ANCHORED}
    longest = {own: max((len(other) for other in names if own < other), default=0) for own in names if own}
    return [
        replace(one, mention=one.mention * len(one.mentioned) / longer)
        if (longer := longest.get(one.mentioned, 0))
        else one
        for one in found
    ]


def linked_names(mentions: Sequence[Mention]) -> dict[int, tuple[float, frozenset[str]]]:
    """For each entity of the mentions its score and the words of the question that name it."""
    found: dict[int, tuple[float, frozenset[str]]] = {}
    for mention in mentions:
        words = frozenset(tokenize(mention.text))
        for one in mention.entities:
            if one.score > found.get(one.entity, (0.0, words))[0]:
                found[one.entity] = (one.score, words)
    return found


@dataclass
class _Reader:
    """Reads lines as evidence; what several of them name is looked up once."""

    release: Release
    reading: Reading
    config: ExtractiveConfig
    linked: Mapping[int, tuple[float, frozenset[str]]]
    _labels: dict[int, str] = field(default_factory=dict)
    _mentions: dict[int, tuple[float, frozenset[str]]] = field(default_factory=dict)

    def lines(self, candidate: Candidate, rank: int) -> Iterator[Evidence]:
        """The lines of a document, then the sentences of its passages, then what neither tells."""
        store, document = self.release[Documents], candidate.document
        text, lines = store.text(document), store.lines(document)
        for line in lines:
            if line.kind != Line.HEADER:
                yield self.read(line, rank, text[line.start : line.end])
        for line, said in sentences(self.release, document, candidate.passages):
            yield self.read(line, rank, said)
        for line in untold(self.release, lines):
            names = [self.label(node) for node in line.targets[:SHOWN]]
            yield self.read(line, rank, written(line, names))

    def read(self, line: Line, rank: int, text: str) -> Evidence:
        graph, reading = self.release[Graph], self.reading
        if line.entity not in self._mentions:
            own = _mention(graph, line.entity, reading, self.config)
            self._mentions[line.entity] = max(own, self.linked.get(line.entity, own), key=lambda one: one[0])
        mention, mentioned = self._mentions[line.entity]
        called: tuple[str, ...] = (line.key, line.label)  # what cues may call it
        if line.kind == Line.FR:
            called = (published_label(self.release, line),)
        targets, categories = line.targets[:NAMED_TARGETS], graph.adjacency.categories
        dated = reading.expects & Category.Time and DATED.search(text)
        return Evidence(
            line,
            rank,
            self.label(line.entity),
            text,
            tuple(self.label(node) for node in targets),
            mention,
            mentioned,
            cued=not reading.cues.isdisjoint(called),
            expected=bool(dated) or any(int(categories[node]) & reading.expects for node in targets),
        )

    def label(self, node: int) -> str:
        if node not in self._labels:
            self._labels[node] = self.release[Graph].label(node, (self.reading.language,))
        return self._labels[node]


def published_label(release: Release, line: Line) -> str:
    """The label by which a line's relationship is published, whatever words tell it; of another line its own."""
    if line.kind != Line.FR:
        return line.label
    catalogue = release[World].catalogue
    return catalogue[catalogue.number(line.key)].label


def _mention(
    graph: Graph, entity: int, reading: Reading, config: ExtractiveConfig
) -> tuple[float, frozenset[str]]:
    """Share of the words of the entity's best matching name that the question contains, less for a type; and the words.

    A noun that is asked for ("which saints …") names nothing.
    """
    words = with_singulars(word for i, word in enumerate(reading.words) if i not in reading.heads)
    names = ([t for t in tokenize(label.text) if t not in reading.stop] for label in graph.labels(entity))
    found = [(sum(token in words for token in name) / len(name), name) for name in names if name]
    share, best = max(found, key=lambda item: item[0], default=(0.0, []))
    weight = config.type_mention if graph.category(entity) == Category.Concept else 1.0
    return share * weight, words.intersection(best)


def rank_evidence(
    found: list[Evidence], reading: Reading, encode: Encode, config: ExtractiveConfig
) -> list[Evidence]:
    """Lines by how well they answer: BM25 over the lines, the rank of their document, and the encoder over the best.

    Scores are sums of reciprocal ranks with ``config.rrf_k``, and what ``config`` adds for a line about an entity that
    the question names, for one that a cue asks for, and for one that leads to what is expected. The encoder is asked for
    ``config.encoded_lines`` lines only, for none by default.
    """
    if not found:
        return []
    by_document = sorted(range(len(found)), key=lambda i: (found[i].rank, i))
    rankings = [_by_words(found, reading), by_document]
    if config.encoded_lines:
        first = [i for i, _ in reciprocal_rank_fusion(rankings, config.rrf_k)][: config.encoded_lines]
        vectors = encode([reading.question, *(found[i].match[:ENCODED_CHARACTERS] for i in first)])
        nearest = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")
        rankings.append([first[j] for j in nearest])
    score = dict(reciprocal_rank_fusion(rankings, config.rrf_k))
    ranked = []
    for i, one in enumerate(found):
        added = config.document_weight / (config.rrf_k + one.rank + 1)
        added += config.mention_bonus * one.mention**2
        added += config.cue_bonus * one.cued
        added += config.expected_bonus * one.expected
        ranked.append(replace(one, score=score.get(i, 0.0) + added))
    return sorted(ranked, key=lambda one: (-one.score, one.rank, one.line.start))


def _by_words(found: list[Evidence], reading: Reading) -> list[int]:
    """Line numbers that share content words with the question, best first: rank-bm25's Okapi, in which a form of a word
    ("painted", "painting") counts as the word."""
    asked = tuple(dict.fromkeys(reading.content))
    begun: dict[str, list[str]] = {}
    for word in asked:
        begun.setdefault(word[:SHORTEST_STEM], []).append(word)
    corpus = [list(one.tokens) or [""] for one in found]
    known = {}
    for token in {token for tokens in corpus for token in tokens}:
        alike = (word for word in begun.get(token[:SHORTEST_STEM], ()) if same_stem(token, word))
        known[token] = token if token in asked else next(alike, token)
    corpus = [[known[token] for token in tokens] for tokens in corpus]
    scores = BM25Okapi(corpus).get_scores(list(asked))
    present = [i for i, tokens in enumerate(corpus) if not set(tokens).isdisjoint(asked)]
    return sorted(present, key=lambda i: (-scores[i], i))


def unknown_words(found: Sequence[Evidence], reading: Reading) -> tuple[str, ...]:
    """Content words of the question that stand in none of the lines, in order; words that are cues do not count."""
    present = {token for one in found for token in one.tokens}
    stems = {token[:SHORTEST_STEM] for token in present}
    missing = (word for word in reading.content if word not in reading.cueing and word not in present)
    return tuple(
        dict.fromkeys(
            word
            for word in missing
            if word[:SHORTEST_STEM] not in stems or not any(same_stem(token, word) for token in present)
        )
    )


def holds_all(one: Evidence, words: Sequence[str]) -> bool:
    """Whether each of the folded words, or a form of it, stands in the line."""
    return all(any(token == word or same_stem(token, word) for token in one.tokens) for word in words)
