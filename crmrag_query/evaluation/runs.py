"""Rankings as TREC runs, what is relevant as qrels, and the measures of one against the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import quote

from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import Measure
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import MissingExtraError
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.graph.graph import Graph

BASELINES = {"plain BM25": ("sparse",), "plain dense": ("dense",), "plain RRF": ("dense", "sparse")}
"""Plain ways to retrieve, which every mode is compared with: the name of each and its channels."""

MEASURES: tuple[str, ...] = get_args(Measure)
Qrels = Mapping[str, frozenset[str]]
Run = Mapping[str, Sequence[str]]
"""Question id -> names of documents, best first."""
Relevant = Mapping[str, str]
"""Document that answers a question -> the document that it counts as: the same for all that hold one gold entity."""
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Names:
    """Documents as they stand in run files: the IRI of their entity, white space percent-encoded."""

    release: Release

    def of(self, document: int) -> str:
        iri = self.release[Graph].iri(self.release[Documents].entity(document))
        return _SPACE.sub(lambda found: quote(found[0], safe=""), iri)

    def holding(self, iris: Iterable[str]) -> frozenset[str]:
        """The documents that hold the entities; an IRI that the data lacks has none."""
        graph, documents = self.release[Graph], self.release[Documents]
        nodes = [node for iri in iris if (node := graph.node(iri)) is not None]
        held = {documents.document_of(node) for node in nodes}
        return frozenset(self.of(document) for document in held if document is not None)

    def relevant(self, question: GoldQuestion) -> Relevant:
        """The documents that answer a question, those of one entity as one."""
        return alike(self.holding(entity) for entity in question.gold)

    def unheld(self, question: GoldQuestion) -> tuple[str, ...]:
        """The gold entities, by their first IRI, that no document holds: nothing could find them."""
        return tuple(min(entity) for entity in question.gold if not self.holding(entity))


def alike(groups: Iterable[frozenset[str]]) -> dict[str, str]:
    """Each document of any group, with the one that its group counts as; a document of two groups counts for the first."""
    found: dict[str, str] = {}
    for group in groups:
        documents = sorted(group)
        known = (found[document] for document in documents if document in found)
        stands = next(known, documents[0] if documents else "")
        for document in documents:
            found.setdefault(document, stands)
    return found


def judged(ranking: Sequence[str], relevant: Relevant, neither: frozenset[str]) -> list[str]:
    """The ranking without documents that are neither right nor wrong, those of one gold entity once, where the first is."""
    kept = (document for document in ranking if document in relevant or document not in neither)
    return list(dict.fromkeys(relevant.get(document, document) for document in kept))


def require_measures() -> Any:
    """The package ir_measures. Raises MissingExtraError where it is not installed."""
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtraError("Evaluating", "evaluate", "ir_measures") from error
    return ir_measures


def measure(run: Run, qrels: Qrels) -> dict[str, dict[str, float]]:
    """Each of ``MEASURES`` for each question of ``qrels``: measure -> question id -> value, by ir_measures."""
    ir_measures = require_measures()
    wanted = [ir_measures.parse_measure(name) for name in MEASURES]
    relevant = [ir_measures.Qrel(id, document, 1) for id in qrels for document in sorted(qrels[id])]
    scored = [
        ir_measures.ScoredDoc(id, document, float(len(run[id]) - rank))
        for id in qrels
        for rank, document in enumerate(run.get(id, ()))
    ]
    found: dict[str, dict[str, float]] = {name: dict.fromkeys(qrels, 0.0) for name in MEASURES}
    for metric in ir_measures.iter_calc(wanted, relevant, scored):
        found[str(metric.measure)][metric.query_id] = float(metric.value)
    return found


def tag(system: str) -> str:
    """A system's name as it stands in files."""
    return system.replace(" ", "-")


def run_text(run: Run, tag: str) -> str:
    """A run in TREC's format: question Q0 document rank score tag."""
    rows = [
        f"{id} Q0 {document} {rank} {len(ranking) - rank + 1} {tag}\n"
        for id, ranking in run.items()
        for rank, document in enumerate(ranking, 1)
    ]
    return "".join(rows)


def qrels_text(qrels: Qrels) -> str:
    """Qrels in TREC's format: question 0 document relevance."""
    return "".join(f"{id} 0 {document} 1\n" for id in qrels for document in sorted(qrels[id]))
