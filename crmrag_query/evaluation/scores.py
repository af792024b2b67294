"""Scores of contexts and answers against what is known of the answer, their confidence intervals by the bootstrap
(Efron 1979), and the record of a whole evaluation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import unescape
from typing import Any, Final, NamedTuple, get_args
from urllib.parse import quote

import numpy as np

from crmrag_query.answers.records import Answer, Source
from crmrag_query.answers.support import CITATION, split_sentences
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Measure
from crmrag_query.context.context import Context
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import MissingExtraError
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Request
from crmrag_query.llm.pool import ModelPool
from crmrag_query.reading.plan_json import read_json
from crmrag_query.text import plain, shorten

BLOCK = 1 << 20  # numbers drawn at a time
RESAMPLES, CONFIDENCE, SEED = 10_000, 0.95, 20120109


class Interval(NamedTuple):
    """A mean and the ends of its percentile interval."""

    mean: float
    low: float
    high: float


def interval(
    values: Sequence[float], resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
) -> Interval:
    """The mean of ``values`` and its percentile interval over ``resamples`` means of as many values drawn with return.

    All three are NaN for no values. The same seed gives the same interval.
    """
    given = np.asarray(values, np.float64)
    if len(given) == 0:
        return Interval(np.nan, np.nan, np.nan)
    random = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(given))
    means = [
        given[random.integers(0, len(given), (min(rows, resamples - done), len(given)))].mean(axis=1)
        for done in range(0, resamples, rows)
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(float(given.mean()), float(low), float(high))


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


# characters of an answer and of a source; cited sources that are told
ANSWER, SOURCE, SOURCES = (6_000, 1_500, 30)
WHY = 300  # characters of a reason
MOST = 10  # the best mark
REPLY_TOKENS = 300
_MARK: Final = {"type": "integer"}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"relevance": _MARK, "faithfulness": _MARK, "why": {"type": "string"}},
    "required": ["relevance", "faithfulness", "why"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """Marks from 0 to 1 by a model, and its reason: ``relevance``, whether the answer answers the question;
    ``faithfulness``, the share of what it says that its cited sources state."""

    relevance: float
    faithfulness: float
    why: str = ""


def judge(pool: ModelPool, instructions: str, answers: Mapping[str, Answer]) -> dict[str, Judgement]:
    """The judgements of answers by their ids; of those that the model gave no fitting one for, none."""
    requests = (_request(instructions, answer) for answer in answers.values())
    judged = zip(answers, pool.map(requests, read_judgement), strict=True)
    return {id: one for id, one in judged if one is not None}


def _request(instructions: str, answer: Answer) -> Request:
    cited = [source for source in answer.sources if source.cited][:SOURCES]
    told = {
        "question": answer.question,
        "answer": shorten(plain(answer.text), ANSWER),
        "sources": [{"n": one.n, "says": shorten(_said(one), SOURCE)} for one in cited],
    }
    if answer.set is not None:
        told["set"] = shorten(plain(answer.set.text), SOURCE)
    return Request(
        [
            {"role": "system", "content": instructions},
            {"role": "user", "content": json.dumps(told, ensure_ascii=False)},
        ],
        SCHEMA,
        most=REPLY_TOKENS,
    )


def _said(source: Source) -> str:
    return plain("; ".join(filter(None, (source.label, source.snippet, *map(str, source.triples)))))


def read_judgement(reply: str) -> Judgement:
    """The judgement of a reply; ValueError that says what is wrong with it."""
    told = read_json(reply)
    marks = [told.get(name) for name in ("relevance", "faithfulness")]
    if not all(isinstance(mark, int) and not isinstance(mark, bool) and 0 <= mark <= MOST for mark in marks):
        raise ValueError(f'"relevance" and "faithfulness" must be whole numbers from 0 to {MOST}.')
    relevance, faithfulness = (int(mark) / MOST for mark in marks if mark is not None)
    return Judgement(relevance, faithfulness, shorten(plain(str(told.get("why") or "")), WHY))


Scores = Mapping[str, Mapping[str, float]]
"""Measure -> question id -> value."""


@dataclass(frozen=True, slots=True)
class ContextScore:
    """What of the answer stands in the context of one question.

    ``entities``: share of the gold entities among the sources' entities; ``facts``: share of the gold facts in its text;
    None where the question has none. ``tokens`` are estimated.
    """

    entities: float | None
    facts: float | None
    sources: int
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One answer against what is known of it; None where there is nothing to tell it by.

    ``precision``, ``recall``, ``f1``: of the cited sources against the gold set, for questions that ask for a set;
    ``facts``: share of the gold facts in the text; ``number``: the gold number stands in its first sentence; ``labels``:
    share of the labels of a gold ranking or table that stand in the text, in whatever order and with whatever values;
    ``refused``: it says that the data does not say; ``unsupported``: sentences that their sources do not support;
    ``judged``: what a language model thinks of it, where one was asked.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    facts: float | None
    number: bool | None
    labels: float | None
    refused: bool
    unsupported: int
    quality: float | None
    written_by: str
    text: str
    judged: Judgement | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything measured on one data set with one file of questions.

    ``file``, ``sha256``: the questions' file; by question id: ``asked``, the question; ``kinds``; ``unheld``, gold entities
    that no document holds; ``form_expected`` and ``form_found``, query types; ``contexts``; ``answers``. ``retrieval``:
    system -> scores; ``refusals``: ids of questions that are to be refused; ``latency``: stage -> milliseconds of each
    question, the only part that differs from run to run.
    """

    dataset: str
    release: str
    relationships: str
    encoder: str
    file: str
    sha256: str
    asked: Mapping[str, str]
    kinds: Mapping[str, str]
    unheld: Mapping[str, tuple[str, ...]]
    retrieval: Mapping[str, Scores]
    form_expected: Mapping[str, str]
    form_found: Mapping[str, str]
    contexts: Mapping[str, ContextScore]
    answers: Mapping[str, AnswerScore] = field(default_factory=dict)
    refusals: frozenset[str] = frozenset()
    latency: Mapping[str, list[float]] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        return len(self.kinds)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``latency`` last."""
        return asdict(self) | {"refusals": sorted(self.refusals), "latency": dict(self.latency)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """An evaluation, and the runs and relevant documents that it was measured by."""

    evaluation: Evaluation
    runs: dict[str, Run]
    qrels: dict[str, frozenset[str]]


# A number in figures, with thousands apart or together: 1,234 · 1 234 · 1.234 · 1’234 · 3.5 · -12.
_NUMBER = re.compile(
    r"(?<![\w.,–−-])[-−]?(?:\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+|\d+)(?:[.,]\d+)?(?![\w]|[.,]\d)"
)
_THOUSANDS = re.compile(r"[,.'’\u00a0\u202f ](?=\d{3}(?!\d))")


def share_of_facts(facts: Sequence[str], text: str) -> float | None:
    """Share of ``facts`` that stand in ``text``, whatever their case and white space; None without facts."""
    folded = _folded(text)
    return sum(_folded(fact) in folded for fact in facts) / len(facts) if facts else None


def share_of_entities(gold: Sequence[frozenset[str]], found: Collection[str]) -> float | None:
    """Share of the gold entities of which ``found`` holds one IRI at least; None without gold."""
    held = set(found)
    return sum(not entity.isdisjoint(held) for entity in gold) / len(gold) if gold else None


def states_number(value: float, text: str, abbreviations: Collection[str] = ()) -> bool:
    """Whether the first sentence of ``text``, its citations left out, holds ``value`` as a number in figures."""
    pieces = split_sentences(text, abbreviations)
    first = CITATION.sub(" ", text[pieces[0].start : pieces[0].end]) if pieces else ""
    return any(float(value) in _readings(found[0]) for found in _NUMBER.finditer(first))


def score_context(question: GoldQuestion, context: Context, entities: Collection[str]) -> ContextScore:
    """``entities``: the IRIs of the context's sources' entities."""
    return ContextScore(
        share_of_entities(question.gold, entities),
        share_of_facts(question.facts, unescape(context.render())),
        len(context.sources),
        context.characters,
        context.tokens,
    )


def score_answer(question: GoldQuestion, answer: Answer, abbreviations: Collection[str] = ()) -> AnswerScore:
    """The cited sources as the answer's set, where one is asked for; facts, number, labels; whether it refuses."""
    precision = recall = f1 = number = None
    if question.answer_form == "iris":
        precision, recall, f1 = set_scores(question, [one for one in answer.sources if one.cited])
    if question.answer_form == "number" and question.value is not None:
        number = states_number(question.value, answer.text, abbreviations)
    return AnswerScore(
        precision,
        recall,
        f1,
        share_of_facts(question.facts, answer.text),
        number,
        share_of_facts(question.labels, answer.text),
        answer.refused,
        len(answer.unsupported),
        answer.quality.score if answer.quality else None,
        answer.written_by,
        answer.text,
    )


def set_scores(question: GoldQuestion, sources: Sequence[Source]) -> tuple[float, float, float]:
    """Precision, recall and F1 of sources against the gold set: each stands for its entity, and for the entities that it
    shows beside it, which have no document of their own."""
    return stood_scores(question, [stands_for(one) for one in sources])


def stands_for(source: Source) -> tuple[str, ...]:
    """The IRIs of a source's entity and of those that it shows beside it."""
    return (source.iri, *(entity.iri for entity in source.entities))


def stood_scores(question: GoldQuestion, members: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of ``members``, each the IRIs that it stands for, its own first, against the gold set.

    A member is right when one of its IRIs is gold; one that is neither right nor wrong is left out. Two empty sets agree.
    """
    gold = frozenset().union(*question.gold)
    right = [iris for iris in members if not gold.isdisjoint(iris)]
    wrong = [iris for iris in members if gold.isdisjoint(iris) and iris[0] not in question.also_ok]
    if not gold and not wrong:
        return 1.0, 1.0, 1.0
    precision = len(right) / (len(right) + len(wrong)) if right else 0.0
    recall = share_of_entities(question.gold, frozenset().union(*right)) or 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _readings(figures: str) -> set[float]:
    """What a number in figures may mean: "1.234" is 1234 to some and 1.234 to others."""
    plain = figures.replace("−", "-")
    together = _THOUSANDS.sub("", plain).replace(",", ".")
    decimal = plain.replace(",", ".")
    return {float(one) for one in (together, decimal) if re.fullmatch(r"-?\d+(\.\d+)?", one)}
