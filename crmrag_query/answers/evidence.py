"""The lines of the retrieved documents that bear on a question, ranked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

from crmrag_query.answers.typed import SHORTEST_STEM, same_stem
from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import ExtractiveConfig
from crmrag_query.documents.documents import Line
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.form import Reading
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.retrieval.fusion import reciprocal_rank_fusion
from crmrag_query.retrieval.pipeline import Candidate
from crmrag_query.retrieval.tokenizer import tokenize, with_singulars

Encode = Callable[[list[str]], npt.NDArray[np.float32]]
NAMED_TARGETS = 30  # targets whose names take part in matching; the whole set stays in the line
ENCODED_CHARACTERS = 160  # of a line, about 40 word pieces: enough to tell what it is about
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


def gather(
    release: Release, candidates: Sequence[Candidate], reading: Reading, config: ExtractiveConfig
) -> list[Evidence]:
    """The lines of the candidates' documents, best document first, at most ``config.ranked_lines``."""
    found: list[Evidence] = []
    mentions: dict[int, tuple[float, frozenset[str]]] = {}
    for rank, candidate in enumerate(candidates):
        text = release.documents.text(candidate.document)
        for line in release.documents.lines(candidate.document):
            if line.kind == Line.HEADER:
                continue
            if line.entity not in mentions:
                mentions[line.entity] = _mention(release.graph, line.entity, reading, config)
            mention, mentioned = mentions[line.entity]
            one = _evidence(release, line, rank, text[line.start : line.end], reading)
            found.append(replace(one, mention=mention, mentioned=mentioned))
            if len(found) == config.ranked_lines:
                return found
    return found


def _evidence(release: Release, line: Line, rank: int, text: str, reading: Reading) -> Evidence:
    graph = release.graph
    shown = line.targets[:NAMED_TARGETS]
    names = tuple(graph.label(node, (reading.language,)) for node in shown)
    return Evidence(
        line,
        rank,
        graph.label(line.entity, (reading.language,)),
        text,
        names,
        cued=not reading.cues.isdisjoint(_kinds(release.catalogue, line)),
        expected=_is_expected(graph, line, text, reading),
    )


def _kinds(catalogue: Catalogue, line: Line) -> tuple[str, ...]:
    """What cues may call a line: the code of its property, or the label of its relationship."""
    return (catalogue[catalogue.number(line.key)].label,) if line.kind == Line.FR else (line.key, line.label)


def _is_expected(graph: Graph, line: Line, text: str, reading: Reading) -> bool:
    if reading.expects & Category.Time and DATED.search(text):
        return True
    return any(
        int(graph.adjacency.categories[node]) & reading.expects for node in line.targets[:NAMED_TARGETS]
    )


def _mention(
    graph: Graph, entity: int, reading: Reading, config: ExtractiveConfig
) -> tuple[float, frozenset[str]]:
    """Share of the words of the entity's best matching name that the question contains, less for a type; and the words."""
    words = with_singulars(reading.words)
    names = ([t for t in tokenize(label.text) if t not in reading.stop] for label in graph.labels(entity))
    found = [(sum(token in words for token in name) / len(name), name) for name in names if name]
    share, best = max(found, key=lambda item: item[0], default=(0.0, []))
    weight = config.type_mention if graph.category(entity) == Category.Concept else 1.0
    return share * weight, words.intersection(best)


def rank_evidence(
    found: list[Evidence], reading: Reading, encode: Encode, config: ExtractiveConfig
) -> list[Evidence]:
    """Lines by how well they answer: BM25 over the lines, the encoder over the best, and the rank of their document.

    Scores are sums of reciprocal ranks with ``config.rrf_k``, and what ``config`` adds for a line about an entity that
    the question names, for one that a cue asks for, and for one that leads to what is expected.
    """
    if not found:
        return []
    by_words = _by_words(found, reading)
    by_document = sorted(range(len(found)), key=lambda i: (found[i].rank, i))
    first = [i for i, _ in reciprocal_rank_fusion([by_words, by_document], config.rrf_k)][
        : config.encoded_lines
    ]
    by_meaning = _by_meaning(found, first, reading, encode)
    score = dict(reciprocal_rank_fusion([by_words, by_meaning], config.rrf_k))
    ranked = [replace(one, score=score.get(i, 0.0) + _addition(one, config)) for i, one in enumerate(found)]
    return sorted(ranked, key=lambda one: (-one.score, one.rank, one.line.start))


def _addition(one: Evidence, config: ExtractiveConfig) -> float:
    return (
        config.document_weight / (config.rrf_k + one.rank + 1)
        + config.mention_bonus * one.mention**2
        + config.cue_bonus * one.cued
        + config.expected_bonus * one.expected
    )


def _by_words(found: list[Evidence], reading: Reading) -> list[int]:
    """Line numbers that share content words with the question, best first (rank-bm25's Okapi)."""
    corpus = [tokenize(one.match) or [""] for one in found]
    scores = BM25Okapi(corpus).get_scores(list(reading.content))
    present = [i for i, tokens in enumerate(corpus) if not set(tokens).isdisjoint(reading.content)]
    return sorted(present, key=lambda i: (-scores[i], i))


def _by_meaning(found: list[Evidence], first: Sequence[int], reading: Reading, encode: Encode) -> list[int]:
    """The given lines by cosine with the question, best first."""
    vectors = encode([reading.question, *(found[i].match[:ENCODED_CHARACTERS] for i in first)])
    cosine = vectors[1:] @ vectors[0]
    return [first[j] for j in np.argsort(-cosine, kind="stable")]


def unknown_words(found: Sequence[Evidence], reading: Reading) -> tuple[str, ...]:
    """Content words of the question that stand in none of the lines, in order; words that are cues do not count."""
    present = {token for one in found for token in tokenize(one.match)}
    stems = {token[:SHORTEST_STEM] for token in present}
    missing = (word for word in reading.content if word not in reading.cueing and word not in present)
    return tuple(
        dict.fromkeys(
            word
            for word in missing
            if word[:SHORTEST_STEM] not in stems or not any(same_stem(token, word) for token in present)
        )
    )
