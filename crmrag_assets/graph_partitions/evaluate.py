"""What an aligner is worth: whether it finds the parts that a question is about, beside simpler ways to; and what a search
within the parts that it finds gives for the documents that are scored and the time that it takes.

And the questions to train and test one with, each with the parts that it is about: half about one part, half about several.
What is asked comes from the data: names, and how lines of documents word relations. Entities are in one of three groups, and
a question names or asks for those of one group only, so that what is tested was never trained with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from scipy import sparse

from crmrag_assets.communities.detect import Net, leiden, modularity, pieces
from crmrag_assets.documents.drafts import coded
from crmrag_assets.documents.satellites import Csr, csr_from_pairs
from crmrag_assets.graph_partitions.cut import SEED, both_ways, centroids, numbered
from crmrag_query.documents.documents import FR, INCOMING, OUTGOING, TYPE, Documents, open_table
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import BuildError
from crmrag_query.evaluation.scores import interval
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph_partitions import Aligner, GraphPartitions, PartitionEdges
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.scores import Hits
from crmrag_query.retrieval.sparse import SparseIndex

INSIDE, ACROSS = "inside", "across"
TRAIN, VALIDATION, SEEN, UNSEEN = "train", "validation", "seen", "unseen"
SHARES: Final = (0.7, 0.1, 0.2)  # of the entities: to train with, to stop by, to test with
STEPS: Final = range(2, 6)  # of a walk across parts; source: the published ones
NAME = 100  # characters of a name
PATIENCE = 2000  # walks that may lead nowhere one after the other
TESTED: Final = 1000  # questions of each split but the one to train with, and no more than a tenth of that
# What is asked: about one thing, the first form the published one; about two that others join; and about what is joined to a
# thing by relations in the words of the data.
OF_ONE: Final = ("Find info about {a}", "What is known about {a}?", "Tell me about {a}", "{a}")
OF_TWO: Final = (
    "Trace connection from {a} to {b}", "How is {a} connected with {b}?", "What have {a} and {b} to do with each other?"
)  # fmt: skip
RELATED: Final = ("Which {kind} {relation} {a}?", "{kind}: {relation} {a}")
THING: Final = "thing"  # of which the data names no kind
JOINT: Final = " what "  # between two relations
SCHEMA: Final = pa.schema(
    [
        ("question", pa.utf8()),
        ("kind", pa.utf8()),  # inside, across
        ("split", pa.utf8()),  # train, validation, seen, unseen
        ("entities", pa.list_(pa.int32())),  # documents: those that it names, then the one that it asks for
        ("parts", pa.list_(pa.int32())),  # ascending
    ]
)


class Question(NamedTuple):
    text: str
    kind: str
    entities: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Worded:
    """How lines of documents word the edges of the entity graph: those of document d are ``ptr[d]:ptr[d + 1]``; ``target``
    int32 [edges], ``label`` int32: which of ``labels``; ``kind``: what each document is, "" where it does not say."""

    ptr: Longs
    target: Ints
    label: Ints
    labels: tuple[str, ...]
    kind: tuple[str, ...]

    @classmethod
    def of(cls, documents: Documents, graph: EntityGraph) -> Worded:
        columns = ["document", "entity", "kind", "label", "targets"]
        lines = pl.DataFrame(pl.from_arrow(open_table(documents.folder, "lines").select(columns)))
        lines = lines.filter(lines["entity"] == pl.Series(documents.entities).gather(lines["document"]))
        kind = [""] * documents.count
        for document, targets in lines.filter(kind=TYPE).select("document", "targets").iter_rows():
            if targets and not kind[document]:
                kind[document] = documents.graph.label(targets[0])
        said = lines.filter(pl.col("kind").is_in([FR, OUTGOING, INCOMING]))
        label, labels = coded(said["label"])
        said = said.with_columns(label=label).explode("targets").drop_nulls("targets")
        said = said.with_columns(target=documents.entity_document[said["targets"].to_numpy()])
        ends = np.repeat(np.arange(graph.documents, dtype=np.int32), np.diff(graph.ptr))
        edges = pl.DataFrame({"document": ends, "target": graph.neighbour})
        kept = said.join(edges, on=["document", "target"], how="semi").filter(
            pl.col("document") != pl.col("target")
        )
        kept = kept.filter(kept["targets"] == pl.Series(documents.entities).gather(kept["target"]))
        kept = kept.sort("document", "target", "label")
        ptr = np.append(0, np.cumsum(np.bincount(kept["document"].to_numpy(), minlength=documents.count)))
        target, label = (kept[name].to_numpy().astype(np.int32) for name in ("target", "label"))
        return cls(ptr, target, label, tuple(labels.to_list()), tuple(kind))


@dataclass(frozen=True)
class Maker:
    """Makes ``count`` questions to train with, and others to test; ``worded`` where relations are told in words, as those of
    museums are."""

    documents: Documents
    partitions: GraphPartitions
    edges: PartitionEdges
    count: int
    worded: Worded | None = None

    def make(self) -> pa.Table:
        """The questions of all splits as a table of SCHEMA.

        Half of each are about one part, half about several; fewer where the graph has too little to ask about. BuildError
        where it has nothing.
        """
        chance = np.random.default_rng(SEED)
        group = chance.choice(len(SHARES), self.documents.count, p=SHARES)
        if len(np.unique(group)) < len(SHARES):  # of a handful of documents
            first = group[: len(SHARES)]
            first[:] = np.arange(len(first))
        told, tested = set[str](), min(TESTED, max(1, self.count // 10))
        across = self._across if self.worded is not None else self._by_parts
        rows: list[tuple[str, str, str, tuple[int, ...], tuple[int, ...]]] = []
        for split, number, count in (
            (TRAIN, 0, self.count),
            (VALIDATION, 1, tested),
            (SEEN, 0, tested),
            (UNSEEN, 2, tested),
        ):
            among = group == number
            kinds = ((INSIDE, count - count // 2, self._inside), (ACROSS, count // 2, across))
            for kind, wanted, maker in kinds if among.any() else ():
                make = partial(maker, among, np.flatnonzero(among), chance)
                for one in _so_many(make, wanted, told if split == SEEN else set()):
                    rows.append((one.text, kind, split, one.entities, one.parts))
                    if split == TRAIN:
                        told.add(one.text)
        if not {split for _, _, split, *_ in rows} >= {TRAIN, VALIDATION, UNSEEN}:
            raise BuildError(
                "The graph has too little to make questions of that an aligner could be trained with.",
                "Leave it out: `aligner: false` in datasets.yaml.",
            )
        return pa.table([list(column) for column in zip(*rows, strict=True)], schema=SCHEMA)

    def _name(self, document: int) -> str:
        name = " ".join(self.documents.label(document).split())
        return name if len(name) <= NAME else name[: NAME - 1].rstrip() + "…"

    def _form(self, forms: tuple[str, ...], chance: np.random.Generator, **words: str) -> str:
        return forms[int(chance.integers(len(forms)))].format(**words)

    def _inside(
        self, among: npt.NDArray[np.bool_], chosen: Longs, chance: np.random.Generator
    ) -> Question | None:
        """About one thing; where relations have words, every other about what is joined to it within its part."""
        part, one = self.partitions.part, _any(chosen, chance)
        if self.worded is None or chance.random() < 0.5:
            text = self._form(OF_ONE, chance, a=self._name(one))
            return Question(text, INSIDE, (one,), (int(part[one]),))
        walk = self._walk(one, 1, chance)
        if walk is None or not among[walk[0][-1]] or part[walk[0][-1]] != part[one]:
            return None
        return self._related(walk, chance)

    def _across(
        self, among: npt.NDArray[np.bool_], chosen: Longs, chance: np.random.Generator
    ) -> Question | None:
        """About what several steps through documents lead to."""
        walk = self._walk(_any(chosen, chance), int(chance.integers(STEPS.start, STEPS.stop)), chance)
        if walk is None or not among[walk[0][-1]] or len(set(self.partitions.part[[*walk[0]]].tolist())) < 2:
            return None
        return self._related(walk, chance)

    def _by_parts(
        self, among: npt.NDArray[np.bool_], chosen: Longs, chance: np.random.Generator
    ) -> Question | None:
        """About two things that steps from part to part lead from and to, where relations have no words."""
        start = int(self.partitions.part[_any(chosen, chance)])
        parts = _walk(self._coarse, start, int(chance.integers(STEPS.start, STEPS.stop)), chance)
        if parts is None:
            return None
        members = [own[among[own]] for own in map(self.partitions.members, (parts[0], parts[-1]))]
        if not all(len(own) for own in members):
            return None
        a, b = (_any(own, chance) for own in members)
        text = self._form(OF_TWO, chance, a=self._name(a), b=self._name(b))
        return Question(text, ACROSS, (a, b), tuple(sorted(set(parts))))

    @cached_property
    def _coarse(self) -> sparse.csr_array:
        edges, count = self.edges, len(self.partitions)
        return both_ways(edges.low, edges.high, edges.weight.astype(np.float64), count)

    def _walk(
        self, start: int, steps: int, chance: np.random.Generator
    ) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
        """Documents of a walk along worded edges, none twice, and the words of each step; None where it does not get on."""
        worded = self.worded
        assert worded is not None
        seen, words = [start], list[str]()
        for _ in range(steps):
            here = slice(int(worded.ptr[seen[-1]]), int(worded.ptr[seen[-1] + 1]))
            ways = here.start + np.flatnonzero(~np.isin(worded.target[here], seen))
            if not len(ways):
                return None
            way = _any(ways, chance)
            seen.append(int(worded.target[way]))
            words.append(worded.labels[worded.label[way]])
        return tuple(seen), tuple(words)

    def _related(
        self, walk: tuple[tuple[int, ...], tuple[str, ...]], chance: np.random.Generator
    ) -> Question:
        """Asks for the first thing of a walk, by its kind and the steps to the last, which alone is named."""
        (first, *between, last), words = walk
        assert self.worded is not None
        steps = JOINT.join(word[:1].lower() + word[1:] for word in words)
        kind = self.worded.kind[first] or THING
        text = self._form(RELATED, chance, kind=kind, relation=steps, a=self._name(last))
        parts = self.partitions.part[[first, *between, last]]
        return Question(
            text, ACROSS if len(words) > 1 else INSIDE, (last, first), tuple(sorted(set(parts.tolist())))
        )


def _walk(joined: sparse.csr_array, start: int, count: int, chance: np.random.Generator) -> list[int] | None:
    """``count`` different parts, each joined to the one before, the more strongly the likelier."""
    seen = [start]
    while len(seen) < count:
        here = slice(joined.indptr[seen[-1]], joined.indptr[seen[-1] + 1])
        weight = np.where(np.isin(joined.indices[here], seen), 0.0, joined.data[here])
        if not weight.sum():
            return None
        seen.append(int(chance.choice(joined.indices[here], p=weight / weight.sum())))
    return seen


def _so_many(make: Callable[[], Question | None], count: int, told: set[str]) -> Iterator[Question]:
    """So many questions that were not told before; fewer where the graph does not give more."""
    failed = 0
    while count and failed < PATIENCE:
        one = make()
        if one is None or one.text in told:
            failed += 1
            continue
        failed, count = 0, count - 1
        yield one


def _any(of: Ints | Longs, chance: np.random.Generator) -> int:
    return int(of[chance.integers(len(of))])


DEPTH = 10  # parts, and documents, of a ranking
VOTERS = (10, 50, 200)  # nearest documents that vote for their parts
SPARSE_VOTERS = 50
FUSED = 200  # of those in the fusion with the aligner
SHARP = 0.05  # difference of cosines by which a vote weighs e times as much
RESAMPLES = 1000
CHOSEN = (1, 3, 5, 10)  # parts that are searched
Floats = npt.NDArray[np.float32]
Reals = npt.NDArray[np.float64]
Router = Callable[[str, Floats], Reals]
"""How likely a question, by its text and its vector, is for each part."""


@dataclass(frozen=True)
class Measured:
    """Of one system on the questions of a split: means with the ends of their 95 % intervals (bootstrap)."""

    system: str
    split: str
    kind: str
    questions: int
    measures: Mapping[str, tuple[float, float, float]]

    def row(self) -> dict[str, Any]:
        shown = {
            name: f"{100 * mean:.1f} ({100 * low:.1f}–{100 * high:.1f})"
            for name, (mean, low, high) in self.measures.items()
        }
        head = {"system": self.system, "split": self.split, "kind": self.kind, "questions": self.questions}
        return head | shown


def softmax(scores: Reals) -> Reals:
    found: Reals = np.exp(scores - scores.max(initial=-np.inf))
    return found / max(float(found.sum()), 1e-12)


@dataclass(frozen=True)
class Searched:
    """What is searched: texts, those of documents and then passages; ``home`` int32 [texts]: the document of each."""

    partitions: GraphPartitions
    dense: DenseIndex
    sparse: SparseIndex
    home: Ints

    @cached_property
    def _texts(self) -> Csr:
        """The texts of each document."""
        return csr_from_pairs(self.home, np.arange(len(self.home)), len(self.partitions.part))

    def texts_of(self, parts: npt.NDArray[np.integer]) -> Ints:
        """The texts of all documents of these parts."""
        return self._texts.gather(np.concatenate([self.partitions.members(int(part)) for part in parts]))[1]

    def votes(self, hits: Hits, sharp: float) -> Reals:
        """What each part gets of the votes of texts, which weigh as the softmax of their scores."""
        found = np.zeros(len(self.partitions))
        if len(hits):
            np.add.at(found, self.partitions.part[self.home[hits.documents]], softmax(hits.scores / sharp))
        return found


def routers(of: Searched, aligner: Aligner) -> dict[str, Router]:
    """Every way to choose parts, by its name."""
    partitions, chance = of.partitions, np.random.default_rng(0)

    def dense_votes(count: int) -> Router:
        return lambda text, vector: of.votes(of.dense.search(vector, count), SHARP)

    def sparse_votes(text: str, vector: Floats) -> Reals:
        hits = of.sparse.search(text, SPARSE_VOTERS)
        return of.votes(hits, float(hits.scores.max(initial=1.0)) / 10)

    def aligned(text: str, vector: Floats) -> Reals:
        return softmax(aligner.scores(vector).astype(np.float64))

    def weighed(text: str, vector: Floats) -> Reals:
        return aligned(text, vector) * (1 - partitions.penalty)

    fused = dense_votes(FUSED)
    return {
        "aligner": aligned,
        "aligner, hubs weighed down": weighed,
        "nearest centroid": lambda text, vector: (partitions.centroid @ vector).astype(np.float64),
        **{f"votes of {count} nearest": dense_votes(count) for count in VOTERS},
        f"votes of {SPARSE_VOTERS} by words": sparse_votes,
        "aligner and votes": lambda text, vector: aligned(text, vector) + fused(text, vector),
        "aligner and votes by words": lambda text, vector: aligned(text, vector) + sparse_votes(text, vector),
        "by chance": lambda text, vector: chance.random(len(partitions)),
    }


def measured(
    routers: Mapping[str, Router], questions: Sequence[Mapping[str, Any]], vectors: Floats
) -> Iterator[Measured]:
    """Each system on each split, all kinds together and each by itself."""
    found = [
        {
            system: _of_ranking(best(route(one["question"], vector), DEPTH), one["parts"])
            for system, route in routers.items()
        }
        for one, vector in zip(questions, vectors, strict=True)
    ]
    for system in routers:
        for split in dict.fromkeys(one["split"] for one in questions):
            for kind in ("all", *dict.fromkeys(one["kind"] for one in questions)):
                values = [
                    scores[system]
                    for one, scores in zip(questions, found, strict=True)
                    if one["split"] == split and kind in ("all", one["kind"])
                ]
                means = {name: interval([one[name] for one in values], RESAMPLES) for name in MEASURES}
                yield Measured(system, split, kind, len(values), means)


def best(scores: npt.NDArray[np.floating], count: int) -> npt.NDArray[np.int64]:
    """The numbers of the highest scores, best first; ties by number."""
    return np.argsort(-scores, kind="stable")[:count]


MEASURES = ("P@1", "R@5", "R@10", "MRR@10")


def _of_ranking(ranking: npt.NDArray[np.integer], wanted: Sequence[int]) -> dict[str, float]:
    """Whether the first part is wanted, which share of the wanted are among the first, and 1 / the place of the first."""
    right = np.isin(ranking, wanted)
    places = np.flatnonzero(right)
    return {
        "P@1": float(right[0]),
        "R@5": float(right[:5].sum()) / len(wanted),
        "R@10": float(right.sum()) / len(wanted),
        "MRR@10": 1.0 / (1 + int(places[0])) if len(places) else 0.0,
    }


def end_to_end(
    routers: Mapping[str, Router], of: Searched, questions: Sequence[Mapping[str, Any]], vectors: Floats
) -> Iterator[dict[str, Any]]:
    """Of each system and number of parts that are searched: texts scored, share of what questions name and ask for among the
    DEPTH nearest, and milliseconds of a question; first of a search through all texts.

    Texts that vote are found among all of them, which counts.
    """
    whole = len(of.home)

    def through_all(text: str, vector: Floats) -> tuple[Ints, int]:
        return of.home[of.dense.search(vector, DEPTH).documents], whole

    yield _searched("all documents", "all", questions, vectors, through_all)
    for name, route in routers.items():
        before = whole if "votes" in name else 0
        for count in CHOSEN:

            def within(
                text: str, vector: Floats, route: Router = route, count: int = count, before: int = before
            ) -> tuple[Ints, int]:
                among = of.texts_of(best(route(text, vector), count))
                cosines = np.nan_to_num(of.dense.cosines(vector, among), nan=-1.0)
                return of.home[among[best(cosines, DEPTH)]], before + len(among)

            yield _searched(name, str(count), questions, vectors, within)


def _searched(
    system: str, parts: str, questions: Sequence[Mapping[str, Any]], vectors: Floats,
    search: Callable[[str, Floats], tuple[Ints, int]],
) -> dict[str, Any]:  # fmt: skip
    recalls, asked, scored, took = [], [], [], []
    for one, vector in zip(questions, vectors, strict=True):
        begun = time.perf_counter()
        found, texts = search(one["question"], vector)
        took.append(1000 * (time.perf_counter() - begun))
        recalls.append(np.isin(one["entities"], found).mean())
        if len(one["entities"]) > 1:
            asked.append(float(one["entities"][-1] in found))
        scored.append(texts)
    recall, each, milliseconds = float(np.mean(recalls)), float(np.mean(scored)), float(np.median(took))
    return {
        "system": system, "parts": parts, "texts scored": round(each), "gold recall": round(recall, 4),
        "of the last entity": round(float(np.mean(asked)), 4) if asked else None,
        "recall per 1,000 texts": round(1000 * recall / max(each, 1.0), 4),
        "ms": round(milliseconds, 3), "recall per ms": round(recall / max(milliseconds, 1e-6), 3),
    }  # fmt: skip


def verdict(found: Sequence[Measured], searched: Sequence[Mapping[str, Any]]) -> str:
    """In a sentence or two, whether routing by the aligner finds more than the nearest documents' votes do, and what is lost
    against a search through all."""
    by = {(one.system, one.kind): one for one in found if one.split == UNSEEN}
    own, says = by["aligner", "all"].measures, []
    for name in ("P@1", "R@10"):
        others = [one for (system, kind), one in by.items() if kind == "all" and "aligner" not in system]
        rival = max(others, key=lambda one: one.measures[name][0])
        a, b = own[name], rival.measures[name]
        word = "more than" if a[1] > b[2] else "less than" if a[2] < b[1] else "no more and no less than"
        says.append(f"{name} {100 * a[0]:.1f}, {word} {100 * b[0]:.1f} of {rival.system}")
    whole = searched[0]
    routed = next(one for one in searched if one["system"] == "aligner" and one["parts"] == "3")
    return (
        f"The aligner on entities that it was not trained with: {'; '.join(says)}. A search within its 3 best parts scores "
        f"{routed['texts scored']:,} texts and finds {100 * routed['gold recall']:.1f} % of the gold in "
        f"{routed['ms']:.2f} ms; one through all {whole['texts scored']:,} finds {100 * whole['gold recall']:.1f} % in "
        f"{whole['ms']:.2f} ms."
    )


ISLAND = 10  # documents below which a part is an island
ROUNDS = 5  # of k-means, a control: more change little
MOST_PAIRS = 2_000_000_000  # documents times parts up to which k-means is tried: minutes
HUB = 0.5  # score from which a part is a hub
HIGHEST = 0.99


@dataclass(frozen=True)
class Quality:
    """Of one cut. ``islands``: parts of fewer than ISLAND documents; ``giants``: above the limit; ``cut``: share of the edges
    between parts, ``cut_weight`` of their weight; ``in_pieces``: share of the parts that are not connected within;
    ``coherence``: mean cosine of two documents of a part, ``lift``: how far that is above two of any."""

    cut_by: str
    parts: int
    smallest: int
    mean: float
    largest: int
    islands: int
    giants: int
    cut: float
    cut_weight: float
    in_pieces: float
    coherence: float
    lift: float
    modularity: float

    @classmethod
    def of(cls, name: str, net: Net, part: Ints, vectors: Floats, limit: int) -> Quality:
        sizes = np.bincount(part)
        within = part[net.low] == part[net.high]
        found, everything = coherence(part, vectors), coherence(np.zeros_like(part), vectors)
        mean = float(np.average(found, weights=sizes)) if len(part) else 0.0
        edges, weight = max(1, len(within)), float(net.weight.sum()) or 1.0
        return cls(
            name, len(sizes), int(sizes.min(initial=len(part))), round(float(sizes.mean()), 1), int(sizes.max(initial=0)),
            int((sizes < ISLAND).sum()), int((sizes > limit).sum()),
            round(float((~within).sum()) / edges, 4), round(float(net.weight[~within].sum()) / weight, 4),
            round(float((pieces_of(net, part) > 1).mean()), 4), round(mean, 4),
            round(mean - float(everything[0]), 4) if len(part) else 0.0, round(modularity(net, part), 4),
        )  # fmt: skip

    def row(self) -> dict[str, object]:
        return asdict(self)


def coherence(part: Ints, vectors: Floats) -> npt.NDArray[np.float64]:
    """The mean cosine of two different documents of each part, float64 [parts]; 1 for a part of one document."""
    sums = np.zeros((int(part.max(initial=-1)) + 1, vectors.shape[1]))
    np.add.at(sums, part, vectors)
    own = np.bincount(part, (vectors.astype(np.float64) ** 2).sum(axis=1), len(sums))
    sizes = np.bincount(part, minlength=len(sums))
    pairs = sizes * (sizes - 1.0)
    return np.where(pairs > 0, ((sums**2).sum(axis=1) - own) / np.maximum(pairs, 1), 1.0)


def pieces_of(net: Net, part: Ints) -> Longs:
    """In how many connected pieces each part is by the edges within it, int64 [parts]."""
    within = part[net.low] == part[net.high]
    piece = pieces(net.low[within], net.high[within], len(part))
    _, first = np.unique(piece, return_index=True)
    return np.bincount(part[first], minlength=int(part.max(initial=-1)) + 1)


def controls(net: Net, part: Ints, vectors: Floats) -> dict[str, Ints]:
    """Other cuts to see this one beside: Leiden without a limit, the same sizes by chance, and by vectors alone (k-means)."""
    chance = np.random.default_rng(SEED)
    found = {"Leiden, without a limit": leiden(net, 1.0), "by chance": chance.permutation(part)}
    count = int(part.max(initial=-1)) + 1
    if len(part) * count <= MOST_PAIRS:
        found["k-means"] = _k_means(part, vectors)
    return found


def _k_means(part: Ints, vectors: Floats) -> Ints:
    """As many groups by cosine as there are parts, of whatever size, begun with these parts."""
    found = part
    for _ in range(ROUNDS):
        means = centroids(found, vectors)
        found = numbered((vectors @ means.T).argmax(axis=1))
    return found


def penalties(net: Net, part: Ints, vectors: Floats) -> Floats:
    """How far each part is a hub, float32 [parts], 0 … below 1: joined to others more than most parts, and about nothing.

    The share of parts that are joined less, times how incoherent it is: 0 as the median part, 1 as documents of any parts.
    Below HUB it is 0. The published description has "Partition 0", dates and stubs, as a stop list.
    """
    count = int(part.max(initial=-1)) + 1
    across = part[net.low] != part[net.high]
    ends = np.concatenate([part[net.low[across]], part[net.high[across]]])
    degree = np.bincount(ends, minlength=count) / np.maximum(np.bincount(part, minlength=count), 1)
    rank = np.searchsorted(np.sort(degree), degree) / max(1, count - 1)
    found, everything = coherence(part, vectors), coherence(np.zeros_like(part), vectors)
    span = float(np.median(found) - everything[0]) if count else 0.0
    incoherent = 1 - np.clip((found - everything[0]) / span, 0, 1) if span > 0 else np.zeros(count)
    score = rank * incoherent
    return np.where(score >= HUB, np.minimum(score, HIGHEST), 0).astype(np.float32)
