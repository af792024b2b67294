"""Things that may be the same: what was read from different documents, and what a curator wrote; found by their names, never
merged, and what a person decided of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from crmrag_query.documents.pages import is_read
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.text import fold, plain, tokenize

LEAST: Final = (
    0.75  # score from which on two names are told; source: the first implementation's threshold for review
)
MOST: Final = 5  # candidates of one thing, the likeliest
ALL: Final = 10_000  # of all together
ENCODED: Final = 20_000  # names that are encoded of what was read, and of others
ROWS: Final = 500  # things whose names are compared at a time
GRAM: Final = 3  # letters that names are compared by
COMMON: Final = 5000  # names that hold a gram, beyond which it tells nothing
ACCEPTED, REFUSED = "accepted", "refused"


@dataclass(frozen=True, order=True)
class Pair:
    """Two things by IRI, the first one read from a page; in order where both were."""

    a: str
    b: str

    @classmethod
    def of(cls, one: str, other: str) -> Pair:
        """Raises ValueError where neither was read from a page."""
        if not (is_read(one) or is_read(other)):
            raise ValueError("neither of the two was read from a page")
        key = (not is_read(one), one), (not is_read(other), other)
        return cls(*(iri for _, iri in sorted(key)))


def decided(file: Path) -> dict[Pair, str]:
    """What a person decided of pairs: lines of `accepted` or `refused` and two IRIs, with tabs between; none without a file.

    Raises BuildError for a line of another form.
    """
    found = dict[Pair, str]()
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            verdict, one, other = line.split("\t")
            if verdict not in (ACCEPTED, REFUSED):
                raise ValueError(f"{verdict!r} is neither {ACCEPTED} nor {REFUSED}")
            found[Pair.of(one, other)] = verdict
        except ValueError as error:
            raise BuildError(
                f"{file}, line {number}: {error}.",
                "It holds `accepted` or `refused` and two IRIs, with tabs between.",
            ) from error
    return found


def decide(file: Path, pair: Pair, verdict: str) -> None:
    """Write down a decision; a later one of the same pair takes the place of an earlier one."""
    known = decided(file) | {pair: verdict}
    draft = file.with_name(f".{file.name}.new")
    text = "".join(f"{said}\t{one.a}\t{one.b}\n" for one, said in sorted(known.items()))
    draft.write_text(
        "# What is the same: `crmrag pages candidates` lists, a person decides.\n" + text, encoding="utf-8"
    )
    draft.replace(file)


Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Unit vectors of names, float32 [names, dimension], by the data set's encoder."""


def candidates(
    graph: Graph, documents: Mapping[str, str], settled: Iterable[Pair], encode: Encode | None = None
) -> Iterator[tuple[Pair, float]]:
    """Pairs that may be one thing and nothing is settled of, with a score 0..1, the likeliest first.

    ``documents``: of what was read, the document. Compared are things of one category, of two documents or read and
    written by a curator: by the letters of their names, and by the vectors of these where there is an encoder, which knows
    another word for the same. 1 for the same folded name.
    """
    done = set(settled)
    names = Names.of(graph, documents)
    if not len(names.nodes):
        return
    found = dict[Pair, float]()
    ways = [_by_letters(names)] if encode is None else [_by_letters(names), _by_vectors(names, encode)]
    for row, other, score in chain(*ways):
        pair = Pair.of(names.iris[row], names.iris[other])
        if pair not in done:
            found[pair] = max(found.get(pair, 0.0), round(score, 3))
    yield from sorted(found.items(), key=lambda one: (-one[1], one[0]))[:ALL]


@dataclass(frozen=True)
class Names:
    """Names of entities, a row for each of an entity's folded names; ``texts`` as written; ``document``: the number of that
    which a thing was read from, -1 of what a curator wrote; ``read``: the rows of what was read."""

    graph: Graph
    nodes: npt.NDArray[np.int64]
    texts: list[str]
    folded: list[str]
    iris: list[str]
    kinds: npt.NDArray[np.integer]
    document: npt.NDArray[np.int32]
    read: npt.NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph, documents: Mapping[str, str]) -> Names:
        nodes, texts, folded = _named(graph)
        iris = [graph.iri(int(node)) for node in nodes]
        numbers = {one: number for number, one in enumerate(sorted(set(documents.values())))}
        # What a machine read and no statement tells the document of is compared with nothing.
        document = np.array(
            [numbers.get(documents.get(iri, ""), -2) if is_read(iri) else -1 for iri in iris], np.int32
        )
        kinds = graph.adjacency.categories[nodes]
        return cls(graph, nodes, texts, folded, iris, kinds, document, np.flatnonzero(document >= 0))

    def comparable(
        self, rows: npt.NDArray[np.integer], others: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.bool_]:
        """Which rows of what was read may be one thing with which others, bool, as rows and others are broadcast."""
        alike = self.kinds[rows] & self.kinds[others] != 0
        apart = (self.document[others] != -2) & (self.document[rows] != self.document[others])
        return np.asarray(alike & apart)


def _by_letters(names: Names) -> Iterator[tuple[int, int, float]]:
    """Rows of names that are alike, by the cosine of their letters in threes, rare ones weighing more."""
    grams = _grams(names.folded)
    for at in range(0, len(names.read), ROWS):
        part = names.read[at : at + ROWS]
        near = (grams[part] @ grams.T).tocsr()
        for place, row in enumerate(part.tolist()):
            span = slice(near.indptr[place], near.indptr[place + 1])
            others = near.indices[span]
            held = names.comparable(np.full(len(others), row), others)
            scored = [
                (1.0 if names.folded[row] == names.folded[other] else min(score, 0.999), other)
                for other, score in zip(others[held].tolist(), near.data[span][held].tolist(), strict=True)
                if score >= LEAST
            ]
            for score, other in sorted(scored, key=lambda one: (-one[0], one[1]))[:MOST]:
                yield row, other, score


def _by_vectors(names: Names, encode: Encode) -> Iterator[tuple[int, int, float]]:
    """Rows of names that are each other's nearest, by their cosine counted from what a name has with any other (the median):
    of some encoders any two are near. At most ``ENCODED`` names of others are compared, those of what has most triples."""
    steps, nodes = names.graph.adjacency, names.graph.nodes
    degree = np.bincount(steps.forward.val, minlength=nodes) + np.bincount(
        steps.backward.val, minlength=nodes
    )
    degree = degree[names.nodes]
    apart = np.flatnonzero(names.document == -1)
    read, apart = (rows[np.argsort(-degree[rows], kind="stable")[:ENCODED]] for rows in (names.read, apart))
    others = np.concatenate([read, apart])
    vectors = encode([names.texts[row] for row in others.tolist()])
    nearest, score = np.zeros(len(read), np.int64), np.zeros(len(read))
    best, rival = (
        np.full(len(others), -1),
        np.full(len(others), LEAST),
    )  # of each other: who is nearest, how near
    for at in range(0, len(read), ROWS):
        own = slice(at, at + ROWS)
        cosines = vectors[: len(read)][own] @ vectors.T
        base = np.median(cosines, axis=1, keepdims=True)
        near = np.where(
            names.comparable(read[own, None], others[None, :]),
            (cosines - base) / np.maximum(1 - base, 1e-6),
            0,
        )
        nearest[own] = near.argmax(axis=1)
        score[own] = near.max(axis=1)
        closer = near.max(axis=0) >= np.nextafter(rival, 2)
        best[closer], rival[closer] = at + near.argmax(axis=0)[closer], near.max(axis=0)[closer]
    for row in np.flatnonzero(best[nearest] == np.arange(len(read))).tolist():
        yield int(read[row]), int(others[nearest[row]]), min(float(score[row]), 0.999)


def _named(graph: Graph) -> tuple[npt.NDArray[np.int64], list[str], list[str]]:
    """Entities with a name of their own, once for each of their folded names: nodes, names as written, and folded."""
    table, ptr = graph.label_rows
    owner = np.repeat(np.arange(graph.nodes), ptr[1:] - ptr[:-1])
    texts = table.column("text").to_pylist()
    seen, nodes, written, names = set[tuple[int, str]](), list[int](), list[str](), list[str]()
    entity = graph.flags & FLAG_ENTITY != 0
    for node, text in zip(owner.tolist(), texts, strict=True):
        name = " ".join(tokenize(fold(text)))
        if name and entity[node] and (node, name) not in seen:
            seen.add((node, name))
            nodes.append(node)
            written.append(plain(text))
            names.append(name)
    return np.array(nodes, np.int64), written, names


def _grams(names: list[str]) -> sparse.csr_array:
    """The grams of each name, weighed by how rare they are, of length 1: float32 [names, grams]."""
    words, rows, columns, counts = dict[str, int](), list[int](), list[int](), list[int]()
    for row, name in enumerate(names):
        padded = f" {name} "
        for gram, count in Counter(
            padded[at : at + GRAM] for at in range(max(1, len(padded) - GRAM + 1))
        ).items():
            rows.append(row)
            columns.append(words.setdefault(gram, len(words)))
            counts.append(count)
    held = np.bincount(columns, minlength=len(words))
    weight = np.where(held <= COMMON, np.log1p(len(names) / np.maximum(held, 1)), 0)
    values = np.array(counts) * weight[columns]
    length = np.sqrt(np.bincount(rows, values**2, minlength=len(names)))
    values = values / np.maximum(length[rows], 1e-9)
    return sparse.csr_array((values.astype(np.float32), (rows, columns)), shape=(len(names), len(words)))
