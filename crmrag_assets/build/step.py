"""A step makes one artifact (or one chunk of it) from others; it is skipped when nothing it reads has changed. Layers are
the order of a build. And who is told how a build goes on, the command line, Dagster's log, or nobody; and what it comes to.

Locks, which the operating system frees with the process that holds them: one build a data set at a time, and turns at a
server, so that whoever shares a data folder asks it so many things at once, and no more. A killed build keeps nobody waiting.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from filelock import FileLock, Timeout
from pydantic import BaseModel

from crmrag_assets.build import store as failpoints
from crmrag_assets.build.store import Record, Store, data_version, disk_explained, working_folder
from crmrag_query.artifacts.manifest import BUCKETS, digests_of, sha256_file
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method, config_hash
from crmrag_query.config.operations import Operations
from crmrag_query.config.sources import PagesConfig
from crmrag_query.errors import BuildError, SourceUnreachable
from crmrag_query.graph.arrays import Bytes
from crmrag_query.ontology.load import Vocabulary
from crmrag_query.version import __version__

Hashes = npt.NDArray[np.uint64]

MOST_BITS = 8


def ids_of(iris: pa.Array) -> Hashes:
    """The first eight bytes of the SHA-256 of each IRI of a column, uint64; the first of them is its bucket."""
    first = np.ascontiguousarray(digests_of(iris)[:, :8])
    return first.view(">u8").ravel().astype(np.uint64)


def buckets_of_ids(ids: Hashes) -> Bytes:
    """The bucket of each id, uint8."""
    return (ids >> np.uint64(56)).astype(np.uint8)


def buckets_of_all(iris: pa.Array) -> Bytes:
    """The bucket of each IRI of a column, uint8."""
    return buckets_of_ids(ids_of(iris))


def chunk_bits(entities: int, chunk_size: int) -> int:
    """Fewest leading bits, 0 to 8, that leave at most ``chunk_size`` entities in an average chunk."""
    if chunk_size < 1:
        raise BuildError(f"The chunk size is {chunk_size}.", "Set it to 1 or more.")
    return min(MOST_BITS, max(0, -(-entities // chunk_size) - 1).bit_length())


def chunk_keys(bits: int) -> list[str]:
    """Keys of all 2^bits chunks, ascending: two hexadecimal digits, the lower 8 - bits bits zero."""
    return [f"{first:02x}" for first in range(0, BUCKETS, BUCKETS >> _checked(bits))]


def buckets_of(chunk: str, bits: int) -> range:
    """The buckets that make up a chunk; raises BuildError for a key that does not exist at these bits."""
    if chunk not in chunk_keys(bits):
        raise BuildError(
            f"There is no chunk {chunk!r} among {1 << bits}.", "Keys are 00, … in steps of 256 / chunks."
        )
    first = int(chunk, 16)
    return range(first, first + (BUCKETS >> bits))


def all_buckets(rows: int, most: int) -> Iterator[range]:
    """All buckets in order, so many at a time as hold about ``most`` of the ``rows`` of all."""
    width = BUCKETS
    while width > 1 and rows * width > most * BUCKETS:
        width //= 2
    return (range(first, first + width) for first in range(0, BUCKETS, width))


def _checked(bits: int) -> int:
    if not 0 <= bits <= MOST_BITS:
        raise BuildError(f"Chunks cannot have {bits} bits.", f"Use 0 to {MOST_BITS}.")
    return bits


class Progress(Protocol):
    """Told by a build function how far it has come; must be cheap and never raise."""

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        """``done`` of ``total`` units (bytes, chunks, documents); None while the total is unknown."""


class SilentProgress:
    """Progress that nobody watches."""

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        return None


@dataclass(frozen=True)
class BuildContext:
    """What every step is given; ``name`` is the data set's, or that of a sample of it.

    ``refreshed``: when an endpoint was last to be asked again, "" for never; of a sample, when that of its base was.
    ``operations``: among others how much this and other builds ask of the same server at once.
    ``share``: per cent of the documents that have vectors in the release that is made, the most important ones; 0 for none.
    ``turn``: the chunks that this process makes one after the other, for steps that make several at once for less.
    """

    name: str
    config: DatasetConfig
    method: Method
    vocabulary: Vocabulary
    ontology_files: tuple[Path, ...]
    data: Path
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Progress = field(default_factory=SilentProgress)
    sample: int | None = None
    refreshed: str = ""
    operations: Operations = field(default_factory=Operations)
    share: int = 100
    turn: tuple[str, ...] = ()

    @cached_property
    def store(self) -> Store:
        return Store(working_folder(self.data, self.name))

    def finished(self, artifact: str, chunk: str | None = None) -> Record:
        """The record of an artifact that this step reads; BuildError when it was not built."""
        record = self.store.record(artifact, chunk)
        if record is None:
            which = artifact if chunk is None else f"{artifact} (chunk {chunk})"
            raise BuildError(
                f"'{which}' of data set '{self.name}' is not built yet.", f"Run: crmrag build {self.name}"
            )
        return record

    @cached_property
    def configs(self) -> dict[str, object]:
        """The identities of parts of the method that `config_of` has worked out, which every step and chunk asks for."""
        return {}

    @cached_property
    def method_hash(self) -> str:
        """Identity of the whole method."""
        return config_hash(self.method)

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What the chunks of one turn have in common, by name."""
        return {}

    @cached_property
    def ontology_hash(self) -> str:
        """Identity of the ontology tables."""
        hashes = "".join(f"{path.name} {sha256_file(path)}\n" for path in self.ontology_files)
        return hashlib.sha256(hashes.encode()).hexdigest()

    def folder(self, artifact: str, chunk: str | None = None) -> Path:
        return self.store.folder(artifact, chunk)


@dataclass(frozen=True, slots=True)
class Layer:
    """Assets that one run materialises; ``chunked``: over the chunks of the data set."""

    name: str
    assets: tuple[str, ...]
    chunked: bool = False


# Each layer's assets have the same partitions: Dagster refuses mixed ones in a run. What is in chunks has no output that
# another asset of its run could follow.
LAYERS = (
    Layer("pages", ("page_images",), chunked=True),
    Layer("readings", ("page_extractions",), chunked=True),
    Layer("discovery", ("entities",)),
    Layer("harvest", ("prefetch",), chunked=True),
    Layer("graph", ("harvest_report", "graph", "edges", "triples_index")),
    Layer("relationships", ("fr_documents",), chunked=True),
    Layer("documents", (
        "documents", "date_index", "profile", "aggregation_index", "name_index", "lexicon", "bm25_index",
        "entity_graph", "entity_documents", "encoder",
        "communities", "community_summaries", "page_candidates",
    )),
    Layer("embeddings", ("embeddings",), chunked=True),
    Layer("release", (
        "faiss_index", "token_vectors", "community_index", "graph_partitions", "partition_edges", "training_questions",
        "alignment_model", "alignment_evaluation", "validation_report", "release", "pushed_release",
        "postgres_graph",
    )),
)  # fmt: skip
ARTIFACTS = tuple(asset for layer in LAYERS for asset in layer.assets)
CHUNKED = frozenset(asset for layer in LAYERS if layer.chunked for asset in layer.assets)
PAGED = frozenset(
    ("page_images", "page_extractions")
)  # whose chunks are of documents, before there are entities to count
DOCUMENTS = 16  # of pages in an average chunk: enough for all workers of a language model to have one each

# Artifact -> its folder in a release, which for most has its name; "" for files at the release's root.
PLACES = {
    artifact: artifact for artifact in (
        "page_extractions", "page_candidates", "graph", "edges", "triples_index", "documents", "entity_documents",
        "entity_graph", "communities", "community_summaries", "community_index", "graph_partitions", "partition_edges",
        "alignment_model", "encoder", "embeddings", "token_vectors", "lexicon", "profile",
    )
} | {
    "page_images": "pages", "faiss_index": "dense", "bm25_index": "sparse", "aggregation_index": "aggregation",
    "date_index": "dates", "name_index": "names", "validation_report": "", "method": "",
}  # fmt: skip


def alone(context: BuildContext) -> int:
    """Of a step that makes each chunk by itself."""
    return 1


def never(context: BuildContext) -> bool:
    """Of a step that is made in the build's own process only."""
    return False


def always(context: BuildContext) -> bool:
    """Of a step that may be made in any process, or is wanted of every data set."""
    return True


UNWANTED = "unwanted"  # among the counts of what a data set does without
Inputs = Mapping[str, str]
Stats = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """How an artifact is made.

    ``writer``: raised when the code would write other bytes from the same inputs. ``write``: fills an empty folder and
    returns counts for people. ``needs``: the artifacts that it is made from. ``parts``: what it reads of the method, by the
    names of its sections (`retrieval.k`); `relationships`: those in use; `ontology`: its tables. ``inputs``: the identity
    of all else that is read, by name, where that is not the content of its needs. ``after``: done when a wanted
    artifact is finished, also when it was there already; must be safe to repeat. ``lasting``: an upgrade of the program
    alone does not make it anew, as a source would be asked for everything again; only ``writer`` does. ``apart``: whether
    it, or its chunks, may be made in processes beside others. ``together``: how many of its chunks a process makes best at
    once: their contents are the same. ``wanted``: whether the data set has the artifact at all; where it has not, it is
    finished without a file and read from nothing, and a release is published without it.
    """

    artifact: str
    writer: int
    write: Callable[[BuildContext, Path, str | None], Stats]
    needs: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    inputs: Callable[[BuildContext, str | None], Inputs] | None = None
    chunked: bool = False
    lasting: bool = False
    apart: Callable[[BuildContext], bool] = never
    together: Callable[[BuildContext], int] = alone
    wanted: Callable[[BuildContext], bool] = always
    after: Callable[[BuildContext], None] | None = None

    def follow(self, context: BuildContext) -> None:
        """Do what comes after the finished artifact, where the data set has it."""
        if self.after is not None and self.wanted(context):
            self.after(context)


@dataclass(frozen=True)
class Outcome:
    """A finished artifact or chunk: its record, and whether it was there already."""

    record: Record
    reused: bool
    chunk: str | None = None

    @property
    def unwanted(self) -> bool:
        """Whether the data set does without it, so that nothing was made."""
        return bool(self.record.stats.get(UNWANTED))


def is_made(context: BuildContext, artifact: str) -> bool:
    """Whether a finished artifact is one that the data set wants; of one in chunks, any chunk tells."""
    if artifact in PAGED:
        return bool(context.store.chunks(artifact))
    chunk = chunks_of(context)[0] if artifact in CHUNKED else None
    return not context.finished(artifact, chunk).stats.get(UNWANTED)


def chunks_to_make(step: Step, context: BuildContext) -> Sequence[str | None]:
    """The chunks that a step is run for; one None where it makes its artifact at once."""
    return chunks_of(context, step.artifact) if step.chunked else (None,)


def contents(context: BuildContext, *artifacts: str) -> dict[str, str]:
    """The identity of artifacts as they are, chunk by chunk where they have chunks; BuildError for one that is not built."""
    found = {}
    for artifact in artifacts:
        for chunk in chunks_of(context) if artifact in CHUNKED else [None]:
            found[f"{artifact}/{chunk or ''}"] = context.finished(artifact, chunk).content
    return found


def version_of(step: Step, context: BuildContext, chunk: str | None = None) -> str:
    """The data version that the artifact gets from what it reads now; BuildError when that is not built.

    The program's version is part of it: after an upgrade everything is made again (embeddings from their cache), but for
    what lasts.
    """
    if not step.wanted(context):
        return data_version(step.artifact, step.writer, {UNWANTED: "yes"})
    inputs = dict(step.inputs(context, chunk) if step.inputs else contents(context, *step.needs))
    if step.parts:
        inputs["config"] = config_of(context, *step.parts)
    if not step.lasting:
        inputs["crmrag"] = __version__
    return data_version(step.artifact, step.writer, inputs | ({"chunk": chunk} if chunk else {}))


def config_of(context: BuildContext, *parts: str) -> str:
    """The identity of parts of the method, named as in a step."""
    for part in set(parts) - context.configs.keys():
        value: object = context.method
        if part == "ontology":
            value = context.ontology_hash
        elif part == "relationships":
            value = context.method.relationship_sets[context.method.relationships]
        else:
            for name in part.split("."):
                value = getattr(value, name)
        context.configs[part] = config_hash(value) if isinstance(value, BaseModel) else value
    return config_hash({part: context.configs[part] for part in parts})


def current_outcome(step: Step, context: BuildContext, chunk: str | None = None) -> Outcome | None:
    """The artifact where it is still what these inputs give, else None."""
    if context.store.record(step.artifact, chunk) is None:
        return None
    version = version_of(step, context, chunk)
    if not context.store.is_current(step.artifact, version, chunk):
        return None
    return Outcome(context.finished(step.artifact, chunk), True, chunk)


def run_step(step: Step, context: BuildContext, chunk: str | None = None) -> Outcome:
    """Make the artifact, or find that it is still what these inputs give."""
    failpoints.reach(step.artifact, chunk, failpoints.BEFORE)
    with disk_explained(context.data):
        version = version_of(step, context, chunk)
        reused = context.store.is_current(step.artifact, version, chunk)
        if not reused:
            stats: Stats = {}
            with context.store.writing(step.artifact, version, stats, chunk) as folder:
                stats.update(step.write(context, folder, chunk) if step.wanted(context) else {UNWANTED: True})
            failpoints.reach(step.artifact, chunk, failpoints.AFTER)
        step.follow(context)
    return Outcome(context.finished(step.artifact, chunk), reused, chunk)


DISCOVERY = "discovery.json"


def bits_of(context: BuildContext) -> int:
    """How many leading bits of an IRI's hash name its chunk; BuildError before discovery."""
    return _bits(context.folder("entities"), context.finished("entities").content)


@lru_cache(maxsize=2)
def _bits(folder: Path, content: str) -> int:
    return int(json.loads((folder / DISCOVERY).read_bytes())["bits"])


def chunks_of(context: BuildContext, artifact: str = "") -> list[str]:
    """Keys of the chunks that the data set has, ascending; BuildError before discovery.

    Those of ``PAGED`` are of its documents of pages, as they lie there now: none where it has none of these.
    """
    if artifact not in PAGED:
        return chunk_keys(bits_of(context))
    entries = [one for one in context.config.sources if isinstance(one.config, PagesConfig)]
    count = sum(len(context.config.paths_of(one)) for one in entries)
    return chunk_keys(chunk_bits(count, DOCUMENTS)) if count else []


def document_buckets(chunk: str, count: int) -> range:
    """The buckets of one of the chunks of so many documents of pages; BuildError for a chunk that there is not."""
    return buckets_of(chunk, chunk_bits(count, DOCUMENTS))


class Reporter:
    """Told of every artifact of a build, in the order of work. This one tells nobody."""

    def started(self, artifact: str, chunks: int) -> None:
        """Work on an artifact begins; ``chunks`` is 1 for an artifact of the whole data set."""

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step, as its `Progress` is told it."""

    def finished(self, outcome: Outcome) -> None:
        """An artifact or one chunk of it is finished."""

    def remark(self, text: str) -> None:
        """Something that a person who waits should know, in a sentence."""


@dataclass(frozen=True)
class StepProgress:
    """Progress of a step, which a reporter is told."""

    reporter: Reporter
    artifact: str

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        self.reporter.within(self.artifact, done, total, note)


NAME_WIDTH = 18
UNITS = {"embeddings": "windows"}  # what a step counts that does not say so itself
COUNTED = ("chunks", "documents", "files", "texts", "triples", "windows")
SHORT = 100  # seconds that are not told in minutes


@dataclass
class _Work:
    """An artifact in work: chunks asked for, made and reused; when it began, when it last told; the step's own start."""

    chunks: int
    start: float
    last: float
    done: int = 0
    reused: int = 0
    first: int = 0
    since: float | None = None


@dataclass
class LineReporter(Reporter):
    """For logs and pipes: a line when an artifact is finished, unless the data set does without it, and one every ``pause``
    seconds while it is made."""

    write: Callable[[str], None]
    pause: float = 10.0
    clock: Callable[[], float] = time.monotonic
    _works: dict[str, _Work] = field(default_factory=dict)

    def started(self, artifact: str, chunks: int) -> None:
        now = self.clock()
        self._works[artifact] = _Work(chunks, now, now)

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        work = self._works[artifact]
        work.done += 1
        work.reused += outcome.reused
        work.first, work.since = 0, None
        spent = self.clock() - work.start
        if outcome.unwanted:
            return
        if work.done == work.chunks:
            unchanged = f", {work.reused:,} of {work.chunks:,} chunks unchanged" if work.reused else ""
            if work.reused == work.chunks:
                unchanged = ", unchanged"
            self._line(artifact, f"{spent:6.1f} s{unchanged}")
        elif self._due(work):
            left = _seconds_left(spent, work.done - work.reused, work.chunks, work.done)
            self._line(artifact, f"{work.done:,} of {work.chunks:,} chunks{left}")

    def remark(self, text: str) -> None:
        self.write(text)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step: ``done`` at its first call is what was there before, as far as time goes."""
        work = self._works.get(artifact)
        if work is None:
            return
        if work.since is None:
            work.first, work.since = done, self.clock()
        if not self._due(work):
            return
        text = amount(done, total, note or UNITS.get(artifact, ""))
        if work.chunks > 1:
            self._line(artifact, f"chunk {work.done + 1:,} of {work.chunks:,}, {text}")
        else:
            left = _seconds_left(self.clock() - work.since, done - work.first, total, done)
            self._line(artifact, f"{text}{left}")

    def _due(self, work: _Work) -> bool:
        now = self.clock()
        if now - work.last < self.pause:
            return False
        work.last = now
        return True

    def _line(self, artifact: str, text: str) -> None:
        self.write(f"{artifact:<{NAME_WIDTH}} {text}")


def amount(done: int, total: int | None, note: str) -> str:
    """A count with its unit, or what is being done and how much of it is: units differ there, bytes among them."""
    if note and note not in COUNTED:
        return f"{note}, {done / total:.0%}" if total else note
    return f"{done:,}{f' of {total:,}' if total else ''} {note}".rstrip()


def _seconds_left(spent: float, made: int, total: int | None, done: int) -> str:
    """What is left at the pace so far; nothing while there is no pace."""
    if not total or made <= 0 or spent <= 0:
        return ""
    return f", {duration(spent / made * (total - done))} left"


def duration(seconds: float) -> str:
    """Seconds as a person says them: 12 s, 3 min, 1 h 05 min."""
    if seconds < SHORT:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


@dataclass(frozen=True)
class Row:
    """One artifact: chunks (1 when not chunked), how many of them were there already, counts, bytes, seconds."""

    artifact: str
    chunks: int
    reused: int
    counts: Mapping[str, int]
    bytes: int
    seconds: float


def rows_of(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row an artifact that the data set wants, in build order; seconds are those that this build spent."""
    rows, wanted = [], [outcome for outcome in outcomes if not outcome.unwanted]
    for artifact in ARTIFACTS:
        made = [outcome for outcome in wanted if outcome.record.artifact == artifact]
        if not made:
            continue
        counts: Counter[str] = Counter()
        for outcome in made:
            stats = outcome.record.stats.items()
            counts.update({key: value for key, value in stats if type(value) is int})
        seconds = (float(one.record.stats.get("seconds", 0)) for one in made if not one.reused)
        reused = sum(outcome.reused for outcome in made)
        rows.append(Row(artifact, len(made), reused, counts, counts["bytes"], sum(seconds)))
    return rows


_CURRENT: ContextVar[Reporter | None] = ContextVar("crmrag_reporter", default=None)


@contextmanager
def reporting_to(reporter: Reporter) -> Iterator[None]:
    """Within the block, builds of this process report to ``reporter``."""
    token = _CURRENT.set(reporter)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_reporter(fallback: Reporter | None = None) -> Reporter:
    """The reporter of the running build, else ``fallback``, else a silent one."""
    return _CURRENT.get() or fallback or Reporter()


TOP = 25


def table(
    title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], where: str, level: int = 2
) -> Iterator[str]:
    """A titled table of the first rows, the others to be seen in the file ``where``; nothing when there are none."""
    if not rows:
        return
    yield from (
        "",
        f"{'#' * level} {title}",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * len(columns),
    )
    for row in rows[:TOP]:
        yield "| " + " | ".join(_cell(row.get(column)) for column in columns) + " |"
    if len(rows) > TOP:
        yield f"\nand {len(rows) - TOP:,} more (see {where})"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if type(value) in (int, float) else escaped(str(value))


def escaped(text: str) -> str:
    """Data as plain words: neither Markdown nor HTML in it takes effect."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    for sign in "\\`*_[]<>|#":
        shown = shown.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return shown


class BeingBuilt(BuildError):
    """Another process holds the lock of the data set."""


NAME, HOLDER = ".lock", ".holder"
GRACE = 0.2  # seconds for which a look at the lock may hold it


@contextmanager
def dataset_lock(root: Path, dataset: str) -> Iterator[None]:
    """Hold the lock of a data set's working folder ``root``.

    The operating system frees it when the holder dies, however it dies; the same process may take it again.
    Raises BeingBuilt, naming the holder, when another process holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    holder = root / HOLDER
    lock = FileLock(root / NAME, timeout=GRACE, is_singleton=True)
    try:
        lock.acquire()
    except Timeout:
        pid = holder.read_text(encoding="utf-8").strip() if holder.exists() else "?"
        remedy = "Wait until it ends, or stop it; what it has finished is kept."
        raise BeingBuilt(
            f"Data set '{dataset}' is being built by another process (id {pid}).", remedy
        ) from None
    try:
        holder.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


EMBEDDING = ".embedding"


@contextmanager
def embedding_lock(root: Path, dataset: str) -> Iterator[None]:
    """Hold the right to encode a data set's vectors, beside which it may be built. BuildError when another process does."""
    root.mkdir(parents=True, exist_ok=True)
    lock = _lock(root / EMBEDDING)
    if not _is_taken(lock):
        raise BuildError(
            f"The vectors of '{dataset}' are being made by another process.", "Wait until it ends."
        )
    try:
        yield
    finally:
        lock.release()


def is_embedding(root: Path) -> bool:
    """Whether somebody encodes a data set's vectors at this moment, this process included."""
    return (root / EMBEDDING).exists() and _is_held(_lock(root / EMBEDDING))


def is_locked(root: Path) -> bool:
    """Whether somebody holds the lock of a data set's working folder at this moment, this process included."""
    return (root / NAME).exists() and _is_held(FileLock(root / NAME, timeout=0))


def _is_taken(lock: FileLock) -> bool:
    """Whether the lock was free, and is the caller's now."""
    try:
        lock.acquire()
    except Timeout:
        return False
    return True


def _is_held(lock: FileLock) -> bool:
    if not _is_taken(lock):
        return True
    lock.release()
    return False


FOLDER, READERS, CLOCK = "turns", "readers", "clock"
LOOK_SECONDS = 0.02, 0.06  # between looks for a free lock, at random, so that none is always the last
_NO_NAME = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True)
class Turns:
    """The turns at one server, of which ``folder`` holds the locks; ``most`` requests at once.

    ``patience``: seconds after which a request that found no turn is given up.
    """

    folder: Path
    server: str
    most: int
    patience: float = inf

    @property
    def clock(self) -> Path:
        """The file that holds when the next request may start."""
        return self.folder / CLOCK

    def at_most(self, requests: int) -> Turns:
        """With no more requests at once than these."""
        return replace(self, most=min(self.most, requests))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Within the block, one of the requests at once is the caller's. SourceUnreachable at the end of patience."""
        # The last ones first: those who may ask more at once leave the first ones to the others.
        locks = [_lock(self.folder / str(number)) for number in reversed(range(self.most))]
        end = time.monotonic() + self.patience
        while (taken := next(filter(_is_taken, locks), None)) is None:
            if time.monotonic() > end:
                raise SourceUnreachable(
                    f"{self.server} has been asked by other builds for {self.patience:g} s.",
                    "Wait until they end; it is asked again later.",
                )
            time.sleep(random.uniform(*LOOK_SECONDS))
        try:
            yield
        finally:
            taken.release()

    @contextmanager
    def reading(self, dataset: str) -> Iterator[tuple[str, ...]]:
        """Within the block, others see that the data set asks this server; gives the data sets that do so already."""
        folder = self.folder / READERS
        own = _lock(folder / dataset)
        taken = _is_taken(own)
        try:
            others = sorted(path.name for path in folder.iterdir() if path.name != dataset)
            yield tuple(name for name in others if _is_held(_lock(folder / name)))
        finally:
            if taken:
                own.release()


def turns_at(data: Path, server: str, most: int) -> Turns:
    """The turns at a server (`data.museum.example`, `openai`) of those who share a data folder."""
    return Turns(data / FOLDER / _NO_NAME.sub("_", server), server, most)


@dataclass
class SharedClock:
    """When the next request may start, in seconds since 1970, kept in a file for all processes.

    What lies further ahead than ``longest`` seconds is taken for nonsense: the machine's clock was changed.
    """

    file: Path
    longest: float = 3600.0

    def moved(self, move: Callable[[float, float], float]) -> tuple[float, float]:
        """Move the time on by ``move`` of it and of now; gives what it was before, and now."""
        with FileLock(self.file.with_suffix(".lock")):
            now, known = time.time(), self._read()
            before = known if known <= now + self.longest else now
            if (after := move(before, now)) != known:
                self.file.write_text(f"{after:.6f}", encoding="ascii")
            return before, now

    def _read(self) -> float:
        try:
            return float(self.file.read_text(encoding="ascii"))
        except (OSError, ValueError):  # never written, or by a process that was killed
            return 0.0


def _lock(path: Path) -> FileLock:
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path, timeout=0, thread_local=False)


GUESSED = "openai"  # litellm's provider of a model that is named without one
_REPORTED: set[tuple[str, str, tuple[str, ...]]] = set()  # data set, server, and with whom it is shared


def server_turns(context: BuildContext) -> dict[str, Turns]:
    """Where the data set's requests take turns, by the servers that its sources ask; none of files."""
    most = context.operations.limits.endpoint_requests or sys.maxsize
    servers = [server for one in context.config.sources if (server := one.config.server())]
    return {server: turns_at(context.data, server, most) for server in servers}


def api_turns(context: BuildContext) -> Turns | None:
    """Where the data set's requests take turns at its embedding API; None of a model of one's own."""
    embedding = context.config.embedding
    if embedding.provider != "litellm":
        return None
    provider, named, _ = embedding.model.partition("/")
    return turns_at(context.data, provider if named else GUESSED, context.operations.limits.api_requests)


@contextmanager
def asking_servers(context: BuildContext) -> Iterator[None]:
    """Within the block others see which servers are asked; the reporter is told once whom they are shared with."""
    turns = server_turns(context)
    with ExitStack() as stack:
        for one in context.config.sources:
            if server := one.config.server():
                most = one.config.resolved(context.method.requests).parallel
                stack.enter_context(_shared(context, turns[server].at_most(most), one.kind))
        yield


@contextmanager
def asking_api(context: BuildContext) -> Iterator[None]:
    """Within the block others see that the embedding API is asked; the reporter is told once whom it is shared with."""
    with _shared(context, api_turns(context), "embedding API"):
        yield


@contextmanager
def _shared(context: BuildContext, turns: Turns | None, what: str) -> Iterator[None]:
    if turns is None:
        yield
        return
    with turns.reading(context.name) as others:
        known = (context.name, turns.server, others)
        if others and known not in _REPORTED:
            _REPORTED.add(known)
            current_reporter().remark(
                f"The {what} {turns.server} is asked for {' and '.join(map(repr, others))} too: "
                f"they take turns, {turns.most} at once at most, so this takes longer than alone."
            )
        yield
