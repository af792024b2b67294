"""Triples on disk between reading and chunking: batches sorted by bucket, so that a chunk is a slice of each.

`spool.arrow` (Arrow IPC file, uncompressed, memory-mapped): subject, object, kind, and numbers into vocabularies for
property, datatype, language and graph. `offsets.npy` int64 [batches, 257]: where each bucket begins in a batch.
`vocabulary.json`: column -> values.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyoxigraph as ox
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crmrag_assets.build.step import buckets_of_all
from crmrag_assets.harvest.report import HarvestReport, Tally
from crmrag_assets.harvest.triples import NO_COLUMNS, SKOLEM, columns_of
from crmrag_query.artifacts.manifest import BUCKETS, canonical_json, write_text
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints

# Nodes of equal colour that RDFC-1.0 may permute: its cost is exponential in them (7: 0.2 s, 8: 2 s).
TIED_LIMIT = 6
VISITS_LIMIT = 5_000_000  # edges looked at for one component: a few seconds, whatever its shape
Colour = dict[str, int]
# Of each node its edges: direction and constant part, other blank node or "".
Shape = dict[str, list[tuple[str, str]]]


def colours(quads: Sequence[ox.Quad]) -> tuple[Colour, bool]:
    """Colours by the shape of one component, refined until at most ``TIED_LIMIT`` nodes share theirs; are they proven?

    They are not where the order of the quads may have decided among equals. Nodes of equal colour in a tree are
    interchangeable, so there a traversal tells the rest apart. Elsewhere one node is set apart and refinement goes on: right
    for the usual symmetries (rings, cliques), but not proven.
    """
    shape = _shape_of(quads)
    cost = sum(map(len, shape.values()))
    colour = dict.fromkeys(shape, 0)
    pairs = {(node, other) for node, edges in shape.items() for _, other in edges if node < other}
    is_tree, proven = len(pairs) == len(shape) - 1, True
    for _ in range(VISITS_LIMIT // cost + 1):
        if sum(size for size in Counter(colour.values()).values() if size > 1) <= TIED_LIMIT:
            return colour, proven
        refined = _refined(shape, colour)
        if max(refined.values()) == max(colour.values()):
            if is_tree:
                return _traversed(shape, colour), True
            refined, proven = _set_apart(refined), False
        colour = refined
    return _traversed(shape, colour), False


def _shape_of(quads: Sequence[ox.Quad]) -> Shape:
    shape: Shape = {}
    for s, p, o, g in quads:
        subject = s.value if isinstance(s, ox.BlankNode) else ""
        object_ = o.value if isinstance(o, ox.BlankNode) else ""
        if subject and subject == object_:
            shape.setdefault(subject, []).append((f"loop {p} {g}", ""))
            continue
        if subject:
            shape.setdefault(subject, []).append((f"out {p} {g} {'' if object_ else o}", object_))
        if object_:
            shape.setdefault(object_, []).append((f"in {p} {g} {'' if subject else s}", subject))
    return shape


def _refined(shape: Shape, colour: Colour) -> Colour:
    """Each colour split by the edges and the colours at their other ends; the order of colours is kept."""
    at = {"": -1, **colour}
    seen = {
        node: (colour[node], tuple(sorted((part, at[other]) for part, other in edges)))
        for node, edges in shape.items()
    }
    rank = {signature: number for number, signature in enumerate(sorted(set(seen.values())))}
    return {node: rank[signature] for node, signature in seen.items()}


def _set_apart(colour: Colour) -> Colour:
    """One node of the first tied colour goes before the others of its colour."""
    tied = min(number for number, size in Counter(colour.values()).items() if size > 1)
    chosen = next(node for node, number in colour.items() if number == tied)
    return {node: number + (number >= tied and node != chosen) for node, number in colour.items()}


def _traversed(shape: Shape, colour: Colour) -> Colour:
    """Places in a depth-first traversal from a node of the least colour, along edges in order of their colours."""
    place: Colour = {}
    waiting = [min(shape, key=colour.__getitem__)]
    while waiting:
        node = waiting.pop()
        if node not in place:
            place[node] = len(place)
            edges = sorted((part, colour[other], other) for part, other in shape[node] if other)
            waiting.extend(other for _, _, other in reversed(edges))
    return place


HINT = ox.NamedNode("urn:crmrag:colour")  # tells RDFC-1.0 what refinement found; never leaves this module
SMALL = 5  # nodes of a component that RDFC-1.0 always handles in milliseconds
DIGITS = 32


@dataclass
class Skolemiser:
    """Names the blank nodes of one file after another and counts what it met."""

    nodes: int = 0
    components: int = 0
    merged: int = 0
    merged_triples: int = 0
    unproven: int = 0
    _seen: set[bytes] = field(default_factory=set)

    def named(self, quads: Sequence[ox.Quad]) -> Iterator[ox.Quad]:
        """The quads of one file that hold blank nodes, these replaced by IRIs; each distinct component once."""
        for component in components(quads):
            form = canonical(component)
            self.components += 1
            self.nodes += form.nodes
            self.unproven += not form.proven
            digest = hashlib.sha256(form.text.encode()).digest()
            if digest in self._seen:
                self.merged += 1
                self.merged_triples += len(component)
            else:
                self._seen.add(digest)
                yield from _renamed(form)


@dataclass(frozen=True, slots=True)
class Form:
    """A component in canonical form: sorted N-Quads, the same as quads, and whether no order could change it."""

    text: str
    quads: tuple[ox.Quad, ...]
    nodes: int
    proven: bool


def components(quads: Iterable[ox.Quad]) -> Iterator[list[ox.Quad]]:
    """The quads grouped by the blank nodes that they share as subject or object."""
    held = list(quads)
    number: dict[str, int] = {}
    ends = [[number.setdefault(end, len(number)) for end in blank_ends(quad)] for quad in held]
    one, other = [each[0] for each in ends], [each[-1] for each in ends]
    shape = len(number), len(number)
    joined = connected_components(coo_array((np.ones(len(held), bool), (one, other)), shape=shape))[1]
    groups: dict[int, list[ox.Quad]] = {}
    for quad, group in zip(held, joined[one].tolist(), strict=True):
        groups.setdefault(group, []).append(quad)
    yield from groups.values()


def canonical(component: Sequence[ox.Quad]) -> Form:
    """The canonical form of one component; equal for isomorphic components when ``proven``."""
    nodes = dict.fromkeys(end for quad in component for end in blank_ends(quad))
    dataset = ox.Dataset(component)
    proven = True
    if len(nodes) > SMALL:
        refined, proven = colours(component)
        for node, colour in refined.items():
            dataset.add(ox.Quad(ox.BlankNode(node), HINT, ox.Literal(str(colour))))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    quads = tuple(quad for quad in dataset if quad.predicate != HINT)
    text = "".join(sorted(f"{quad} .\n" for quad in quads))
    return Form(text, quads, len(nodes), proven)


def blank_ends(quad: ox.Quad) -> list[str]:
    """Labels of the blank nodes at the quad's ends: one or two."""
    return [end.value for end in (quad.subject, quad.object) if isinstance(end, ox.BlankNode)]


def _renamed(form: Form) -> Iterator[ox.Quad]:
    """The quads of a component with the names of its nodes."""
    prefix = hashlib.sha256(form.text.encode())
    names: dict[str, ox.NamedNode] = {}
    for label in dict.fromkeys(end for quad in form.quads for end in blank_ends(quad)):
        digest = prefix.copy()
        digest.update(label.encode())
        names[label] = ox.NamedNode(SKOLEM + digest.hexdigest()[:DIGITS])
    for s, p, o, g in form.quads:
        subject = names[s.value] if isinstance(s, ox.BlankNode) else s
        yield ox.Quad(subject, p, names[o.value] if isinstance(o, ox.BlankNode) else o, g)


ROWS = 100_000  # rows of a batch, about
CODED = ("p", "datatype", "lang", "g")
SPOOL = pa.schema(
    [("s", pa.large_utf8()), ("o", pa.large_utf8()), ("kind", pa.uint8())]
    + [(name, pa.int32()) for name in CODED]
)
NAMES = ("spool.arrow", "offsets.npy", "vocabulary.json")


class Codes(dict[str, int]):
    """Numbers for values in order of appearance; "" is 0."""

    def __init__(self) -> None:
        super().__init__({"": 0})

    def __missing__(self, value: str) -> int:
        number = self[value] = len(self)
        return number

    def of(self, values: pl.Series) -> Ints:
        """The numbers of a column of few distinct values, int32."""
        encoded = values.to_arrow().dictionary_encode()
        numbers = np.array([self[value] for value in encoded.dictionary.to_pylist()], np.int32)
        return numbers[encoded.indices.to_numpy()] if len(numbers) else numbers


class SpoolWriter:
    """Takes triples and writes them batch by batch, one while the next is taken; memory is bounded by two batches.
    ``graph``: that of triples without one."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self.rows = 0
        self.longest = 0  # bytes of an object
        self.graph = ""
        self.skolemiser = Skolemiser()
        self._folder = folder
        self._tally = tally
        self._codes = {name: Codes() for name in CODED}
        self._offsets: list[npt.NDArray[np.int64]] = []
        self._waiting: list[pl.DataFrame] = []
        self._writer = pa.ipc.new_file(str(folder / NAMES[0]), SPOOL)
        self._beside = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def add(self, quads: Iterable[ox.Quad], columns: pl.DataFrame = NO_COLUMNS) -> list[ox.Quad]:
        """Take quads, and triples with ``columns`` (schema COLUMNS).

        Quads with blank nodes are handed back, for `add_blank`; the few that cannot be held are counted.
        """
        frame, others, anonymous = columns_of(quads)
        self._tally.anonymous += anonymous
        apart = []
        for quad in others:
            s, p, o, g = quad
            if ox.Triple in (type(s), type(o)):
                self._tally.skipped["triple about a triple (RDF 1.2)"] += 1
                continue
            self._tally.anonymous += isinstance(g, ox.BlankNode)
            apart.append(ox.Quad(s, p, o) if isinstance(g, ox.BlankNode) else quad)
        if len(frame):
            self.longest = max(self.longest, cast(int, frame["o"].str.len_bytes().max()))
        parts = [part for part in (columns, frame) if len(part)]
        if self.graph:
            named = pl.when(pl.col("g") == "").then(pl.lit(self.graph)).otherwise(pl.col("g"))
            parts = [part.with_columns(named.cast(part.schema["g"]).alias("g")) for part in parts]
        self._waiting += parts
        if sum(map(len, self._waiting)) >= ROWS:
            self._flush()
        return apart

    def add_blank(self, quads: Sequence[ox.Quad]) -> None:
        """Take quads with blank nodes, all of one file, under names that they are given."""
        self.add(self.skolemiser.named(quads))

    def close(self) -> None:
        """Write what is left, and the vocabularies."""
        self._flush()
        self._beside.shutdown()
        if self._writing is not None:
            self._writing.result()
        self._writer.close()
        offsets = np.array(self._offsets, np.int64).reshape(-1, BUCKETS + 1)
        np.save(self._folder / NAMES[1], offsets)
        vocabulary = {name: list(self._codes[name]) for name in CODED}
        write_text(self._folder / NAMES[2], canonical_json(vocabulary))

    def report(self, **counts: Any) -> HarvestReport:
        """What was met, with further counts of the report."""
        tally, blank = self._tally, self.skolemiser
        return HarvestReport(
            files=tuple(tally.files),
            broken=tuple(tally.broken),
            broken_count=tally.broken_count,
            skipped=dict(sorted(tally.skipped.items())),
            repaired=tally.repaired,
            anonymous=tally.anonymous,
            blank_nodes=blank.nodes,
            blank_components=blank.components,
            blank_merged=blank.merged,
            blank_unproven=blank.unproven,
            **counts,
        )

    @property
    def graphs(self) -> int:
        """Distinct named graphs so far."""
        return len(self._codes["g"]) - 1

    def _flush(self) -> None:
        """Write what waits, once the batch before it is written; raises what writing that raised."""
        if not self._waiting:
            return
        frame = pl.concat(self._waiting)
        self._waiting.clear()
        self.rows += len(frame)
        if self._writing is not None:
            self._writing.result()
        self._writing = self._beside.submit(self._write, frame)

    def _write(self, frame: pl.DataFrame) -> None:
        subjects = frame["s"].to_arrow().dictionary_encode()
        subject = subjects.indices.to_numpy()
        buckets = buckets_of_all(subjects.dictionary)[subject]
        order = np.argsort(buckets, kind="stable")
        counts = np.bincount(buckets, minlength=BUCKETS)
        self._offsets.append(np.concatenate([[0], np.cumsum(counts)]))
        columns = {
            "s": subjects.dictionary.take(pa.array(subject[order])),
            "o": frame["o"].to_arrow().take(pa.array(order)),
            "kind": pa.array(frame["kind"].to_numpy()[order]),
        } | {name: pa.array(self._codes[name].of(frame[name])[order]) for name in CODED}
        self._writer.write_batch(
            pa.RecordBatch.from_arrays([columns[name] for name in SPOOL.names], schema=SPOOL)
        )


def read_buckets(folder: Path, buckets: range) -> pl.DataFrame:
    """The triples of consecutive buckets with columns of schema TRIPLES as strings; unsorted, with repetitions.

    Raises BuildError when the folder holds no finished spool.
    """
    frame, vocabulary = read_coded(folder, buckets)
    return frame.with_columns(vocabulary[name].gather(frame.get_column(name)) for name in CODED)


def read_coded(folder: Path, buckets: range) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """As ``read_buckets``, the columns CODED as numbers, and the words that these are numbers of."""
    try:
        vocabulary = json.loads((folder / NAMES[2]).read_text(encoding="utf-8"))
        offsets = np.load(folder / NAMES[1])
    except (OSError, ValueError) as error:
        raise BuildError(
            f"{folder} holds no finished discovery ({error}).", "Run the build again."
        ) from error
    path = folder / NAMES[0]
    batches = _batches(path, path.stat().st_mtime_ns)
    slices = [
        batch.slice(start, stop - start)
        for batch, (start, stop) in zip(
            batches, offsets[:, [buckets.start, buckets.stop]].tolist(), strict=True
        )
        if stop > start
    ]
    # copied out of the mapping first: polars would look at whole buffers, not at slices of them
    frame = pl.DataFrame(pa.Table.from_batches(slices, schema=SPOOL).combine_chunks())
    return frame, {name: pl.Series(name, vocabulary[name], pl.String) for name in CODED}


@lru_cache(maxsize=1)
def _batches(path: Path, stamp: int) -> list[pa.RecordBatch]:
    """The batches of a spool, mapped, kept from bucket to bucket; ``stamp``: when the file was written."""
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    return [reader.get_batch(number) for number in range(reader.num_record_batches)]
