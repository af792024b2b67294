"""Rankings as TREC runs, what is relevant as qrels, and the measures of one against the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import MissingExtraError
from crmrag_query.evaluation.questions import GoldQuestion

MEASURES = ("Success@10", "Rprec", "R@10", "R@20", "nDCG@10", "nDCG@20", "RR")
Qrels = Mapping[str, frozenset[str]]
Run = Mapping[str, Sequence[str]]
"""Question id -> names of documents, best first."""


@dataclass(frozen=True, slots=True)
class Names:
    """Documents as they stand in run files: the IRI of their entity, with white space and the like quoted."""

    release: Release

    def of(self, document: int) -> str:
        return quote(
            self.release.graph.iri(self.release.documents.entity(document)), safe=":/#?&=%,;+@~()!*'"
        )

    def holding(self, iris: Iterable[str]) -> frozenset[str]:
        """The documents that hold the entities; an IRI that the data lacks has none."""
        graph, documents = self.release.graph, self.release.documents
        nodes = [node for iri in iris if (node := graph.node(iri)) is not None]
        held = {documents.document_of(node) for node in nodes}
        return frozenset(self.of(document) for document in held if document is not None)


def qrels_of(questions: Sequence[GoldQuestion], names: Names) -> dict[str, frozenset[str]]:
    """The relevant documents of each question that has any."""
    found = {one.id: names.holding(iri for entity in one.gold for iri in entity) for one in questions}
    return {id: documents for id, documents in found.items() if documents}


def judged(ranking: Sequence[str], relevant: frozenset[str], neither: frozenset[str]) -> list[str]:
    """The ranking without the documents that are neither right nor wrong."""
    return [document for document in ranking if document in relevant or document not in neither]


def measure(run: Run, qrels: Qrels) -> dict[str, dict[str, float]]:
    """Each of ``MEASURES`` for each question of ``qrels``: measure -> question id -> value, by ir_measures."""
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtraError("Evaluating", "evaluate", "ir_measures") from error
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
