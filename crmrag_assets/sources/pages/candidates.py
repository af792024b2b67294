"""Things that may be the same: what was read from different documents, and what a curator wrote; found by their names, never
merged, and what a person decided of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from crmrag_query.documents.pages import is_read
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.text import fold, tokenize

LEAST: Final = (
    0.75  # score from which on two names are told; source: the first implementation's threshold for review
)
MOST: Final = 5  # candidates of one thing, the likeliest
ALL: Final = 10_000  # of all together
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


def candidates(
    graph: Graph, documents: Mapping[str, str], settled: Iterable[Pair]
) -> Iterator[tuple[Pair, float]]:
    """Pairs that may be one thing and nothing is settled of, with a score 0..1, the likeliest first.

    ``documents``: of what was read, the document. Compared are things of one category, of two documents or read and
    written by a curator, by the cosine of the letters of their names (in threes, rare ones weighing more); 1 for the same
    folded name.
    """
    done, found = set(settled), dict[Pair, float]()
    nodes, names = _named(graph)
    if not len(nodes):
        return
    iris = [graph.iri(int(node)) for node in nodes]
    read = np.array([is_read(iri) for iri in iris])
    kinds = graph.adjacency.categories[nodes]
    grams = _grams(names)
    rows = np.flatnonzero(read & np.array([iri in documents for iri in iris]))
    for at in range(0, len(rows), ROWS):
        part = rows[at : at + ROWS]
        near = (grams[part] @ grams.T).tocsr()
        for place, row in enumerate(part.tolist()):
            span = slice(near.indptr[place], near.indptr[place + 1])
            others, scores = near.indices[span], near.data[span]
            own = documents[iris[row]]
            kept = 0
            for other, score in sorted(
                zip(others.tolist(), scores.tolist(), strict=True), key=lambda one: (-one[1], one[0])
            ):
                score = 1.0 if names[row] == names[other] else min(float(score), 0.999)
                if score < LEAST or kept == MOST:
                    break
                apart = iris[row] != iris[other] and kinds[row] & kinds[other]
                if not apart or (read[other] and documents.get(iris[other], own) == own):
                    continue
                pair = Pair.of(iris[row], iris[other])
                if pair not in done:
                    found[pair] = max(found.get(pair, 0.0), round(score, 3))
                    kept += 1
    yield from sorted(found.items(), key=lambda one: (-one[1], one[0]))[:ALL]


def _named(graph: Graph) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Entities with a name of their own, once for each of their folded names."""
    table, ptr = graph.label_rows
    owner = np.repeat(np.arange(graph.nodes), ptr[1:] - ptr[:-1])
    texts = table.column("text").to_pylist()
    seen, nodes, names = set[tuple[int, str]](), list[int](), list[str]()
    entity = graph.flags & FLAG_ENTITY != 0
    for node, text in zip(owner.tolist(), texts, strict=True):
        name = " ".join(tokenize(fold(text)))
        if name and entity[node] and (node, name) not in seen:
            seen.add((node, name))
            nodes.append(node)
            names.append(name)
    return np.array(nodes, np.int64), names


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
