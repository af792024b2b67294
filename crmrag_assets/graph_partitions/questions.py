"""Questions to train an aligner on, each with the parts that it is about: half about one part, half about several.

What is asked comes from the data: names, and how lines of documents word relations. Entities are in one of three groups, and
a question names or asks for those of one group only, so that what is tested was never trained with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.documents.documents import FR, INCOMING, OUTGOING, TYPE, Documents, open_table
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph_partitions import GraphPartitions, PartitionEdges

INSIDE, ACROSS = "inside", "across"
TRAIN, VALIDATION, SEEN, UNSEEN = "train", "validation", "seen", "unseen"
SHARES: Final = (0.7, 0.1, 0.2)  # of the entities: to train with, to stop by, to test with
STEPS: Final = range(2, 6)  # of a walk across parts; source: the published ones
NAME = 100  # characters of a name
PATIENCE = 2000  # walks that may lead nowhere one after the other
SEED: Final = 0
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
        lines = open_table(documents.folder, "lines")
        own = documents.entities
        lines = lines.filter(
            pc.equal(lines.column("entity"), pa.array(own[lines.column("document").to_numpy()]))
        )
        typed = lines.filter(pc.equal(lines.column("kind"), TYPE))
        kind = [""] * documents.count
        for document, targets in zip(
            typed.column("document").to_pylist(), typed.column("targets").to_pylist(), strict=True
        ):
            if targets and not kind[document]:
                kind[document] = documents.graph.label(targets[0])
        said = lines.filter(pc.is_in(lines.column("kind"), pa.array([FR, OUTGOING, INCOMING], pa.uint8())))
        row = pc.list_parent_indices(said.column("targets")).to_numpy()
        nodes = pc.list_flatten(said.column("targets")).to_numpy()
        labels = said.column("label").combine_chunks().dictionary_encode()
        source = said.column("document").to_numpy()[row]
        target = documents.entity_document[nodes]
        key = (
            np.repeat(np.arange(graph.documents, dtype=np.int64), np.diff(graph.ptr)) * graph.documents
            + graph.neighbour
        )
        wanted = source.astype(np.int64) * graph.documents + target
        kept = (target >= 0) & (source != target) & np.isin(wanted, key)
        kept[kept] &= own[target[kept]] == nodes[kept]
        label = labels.indices.to_numpy()[row]
        order = np.flatnonzero(kept)[np.lexsort((label[kept], target[kept], source[kept]))]
        ptr = np.append(0, np.cumsum(np.bincount(source[order], minlength=documents.count)))
        return cls(
            ptr, target[order].astype(np.int32), label[order].astype(np.int32),
            tuple(labels.dictionary.to_pylist()), tuple(kind),
        )  # fmt: skip


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
        rows: list[tuple[str, str, str, tuple[int, ...], tuple[int, ...]]] = []
        for split, number, count in (
            (TRAIN, 0, self.count),
            (VALIDATION, 1, tested),
            (SEEN, 0, tested),
            (UNSEEN, 2, tested),
        ):
            among = group == number
            kinds = ((INSIDE, count - count // 2, self._inside), (ACROSS, count // 2, self._across))
            for kind, wanted, maker in kinds:
                made = maker(among, chance)
                for one in _so_many(made, wanted, told if split == SEEN else set()):
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

    def _inside(self, among: npt.NDArray[np.bool_], chance: np.random.Generator) -> Iterator[Question | None]:
        """About one thing; where relations have words, every other about what is joined to it within its part."""
        part, chosen = self.partitions.part, np.flatnonzero(among)
        while len(chosen):
            one = _any(chosen, chance)
            if self.worded is None or chance.random() < 0.5:
                text = self._form(OF_ONE, chance, a=self._name(one))
                yield Question(text, INSIDE, (one,), (int(part[one]),))
                continue
            walk = self._walk(one, 1, chance)
            if walk is None or not among[walk[0][-1]] or part[walk[0][-1]] != part[one]:
                yield None
                continue
            yield self._related(walk, chance)

    def _across(self, among: npt.NDArray[np.bool_], chance: np.random.Generator) -> Iterator[Question | None]:
        """About what several steps lead to: through documents where relations have words, else from part to part."""
        part, chosen = self.partitions.part, np.flatnonzero(among)
        if self.worded is not None:
            while len(chosen):
                walk = self._walk(_any(chosen, chance), int(chance.integers(STEPS.start, STEPS.stop)), chance)
                if walk is None or not among[walk[0][-1]] or len(set(part[list(walk[0])].tolist())) < 2:
                    yield None
                    continue
                yield self._related(walk, chance)
            return
        coarse = _Coarse.of(self.edges, len(self.partitions))
        while len(chosen):
            parts = coarse.walk(
                int(part[_any(chosen, chance)]), int(chance.integers(STEPS.start, STEPS.stop)), chance
            )
            if parts is None:
                yield None
                continue
            members = [
                own[among[own]]
                for own in (self.partitions.members(parts[0]), self.partitions.members(parts[-1]))
            ]
            if not all(len(own) for own in members):
                yield None
                continue
            a, b = (_any(own, chance) for own in members)
            text = self._form(OF_TWO, chance, a=self._name(a), b=self._name(b))
            yield Question(text, ACROSS, (a, b), tuple(sorted(set(parts))))

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


@dataclass(frozen=True)
class _Coarse:
    """The graph of the parts, both ways: neighbours of part p are ``ptr[p]:ptr[p + 1]``."""

    ptr: Longs
    neighbour: Ints
    weight: npt.NDArray[np.float64]

    @classmethod
    def of(cls, edges: PartitionEdges, parts: int) -> _Coarse:
        source, target = np.append(edges.low, edges.high), np.append(edges.high, edges.low)
        weight = np.append(edges.weight, edges.weight).astype(np.float64)
        order = np.lexsort((target, source))
        ptr = np.append(0, np.cumsum(np.bincount(source, minlength=parts)))
        return cls(ptr, target[order].astype(np.int32), weight[order])

    def walk(self, start: int, count: int, chance: np.random.Generator) -> list[int] | None:
        """``count`` different parts, each joined to the one before, the more strongly the likelier."""
        seen = [start]
        while len(seen) < count:
            here = slice(int(self.ptr[seen[-1]]), int(self.ptr[seen[-1] + 1]))
            weight = np.where(np.isin(self.neighbour[here], seen), 0.0, self.weight[here])
            if not weight.sum():
                return None
            seen.append(int(chance.choice(self.neighbour[here], p=weight / weight.sum())))
        return seen


def _so_many(made: Iterator[Question | None], count: int, told: set[str]) -> Iterator[Question]:
    """The next ``count`` of questions that were not told before; fewer where the graph does not give more."""
    failed = 0
    while count and failed < PATIENCE:
        one = next(made, None)
        if one is None or one.text in told:
            failed += 1
            continue
        failed, count = 0, count - 1
        yield one


def _any(of: Ints | Longs, chance: np.random.Generator) -> int:
    return int(of[chance.integers(len(of))])
