"""All steps by the name of their artifact, and running them: one by one, chunk by chunk, or side by side.

A run takes its artifacts in turn, and most of them keep one core busy. Of a large data set processes begin all that may be
made apart as soon as what it is made from is there; each turn then waits for its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import chain

from crmrag_assets.build.step import (
    BuildContext,
    Layer,
    Outcome,
    Step,
    chunks_of,
    chunks_to_make,
    current_outcome,
    run_step,
    version_of,
)
from crmrag_assets.build.workers import Processes, processes, side_by_side, workers_of
from crmrag_assets.steps import (
    communities,
    documents,
    graph,
    graph_partitions,
    indexes,
    pages,
    release,
    source,
)

STEPS: Mapping[str, Step] = {
    step.artifact: step
    for steps in (
        pages.STEPS,
        (pages.PAGE_CANDIDATES,),
        source.STEPS,
        graph.STEPS,
        documents.STEPS,
        indexes.STEPS,
        communities.STEPS,
        graph_partitions.STEPS,
        release.STEPS,
    )
    for step in steps
}


def finished_layer(layer: Layer, context: BuildContext) -> list[Outcome] | None:
    """The outcomes of a layer of which nothing has to be made again; None as soon as something has to."""
    found = []
    for artifact in layer.assets:
        step = STEPS[artifact]
        for chunk in chunks_to_make(step, context):
            outcome = current_outcome(step, context, chunk)
            if outcome is None:
                return None
            found.append(outcome)
    return found


def run_chunks(step: Step, context: BuildContext, chunks: Sequence[str]) -> Iterator[Outcome]:
    """`run_step` for each chunk, in order; large data sets' chunks that have to be made are made side by side, and several of
    them in a turn where the step takes less for them together.

    Raises what a step raises, and BuildError where a process was killed.
    """
    there = {chunk: current_outcome(step, context, chunk) for chunk in chunks}
    stale = [chunk for chunk, outcome in there.items() if outcome is None]
    count = workers_of(context, len(stale)) if step.apart(context) else 1
    size = step.together(context) if stale else 1
    if count > 1:
        size = min(size, -(-len(stale) // (TURNS * count)))
    turns = [tuple(stale[start : start + size]) for start in range(0, len(stale), size)]
    if count == 1:
        made = chain.from_iterable(_made(step, context, turn) for turn in turns)
    else:
        items = [(step.artifact, turn) for turn in turns]
        made = chain.from_iterable(side_by_side(context, _make_all, items, count))
    for outcome in there.values():
        yield outcome or next(made)
    next(made, None)  # nothing is left, but processes whose work is not seen to end are ended with it


TURNS = 4  # of each process at least, so that all of them end at about the same time


def _made(step: Step, context: BuildContext, turn: tuple[str, ...]) -> Iterator[Outcome]:
    given = replace(context, turn=turn)
    return (run_step(step, given, chunk) for chunk in turn)


def _make_all(context: BuildContext, item: tuple[str, tuple[str, ...]]) -> list[Outcome]:
    artifact, turn = item
    return list(_made(STEPS[artifact], context, turn))


def _make(context: BuildContext, item: tuple[str, str | None]) -> Outcome:
    artifact, chunk = item
    return run_step(STEPS[artifact], context, chunk)


@dataclass
class Ahead:
    """The steps that processes work through, in the order of work, and what has come of them."""

    processes: Processes
    steps: Sequence[Step]
    begun: dict[str, Future[Outcome]] = field(default_factory=dict)

    def outcome(self, artifact: str) -> Outcome:
        """The finished artifact, waited for. Raises what its step raises, or that of one that it is made from."""
        while True:
            self._begin()
            own = self.begun.get(artifact)
            if own is not None and own.done():
                return self.processes.result(own)
            running = [one for one in self.begun.values() if not one.done()]
            if own is None and not running:
                return self.processes.result(self._failed(artifact))
            wait(running, return_when=FIRST_COMPLETED)

    def makes(self, artifact: str) -> bool:
        """Whether the artifact is among them."""
        return any(step.artifact == artifact for step in self.steps)

    def _begin(self) -> None:
        """Begin every step of which all that it needs of what is made here is finished."""
        for step in self.steps:
            if step.artifact not in self.begun and not self._missing(step):
                self.begun[step.artifact] = self.processes.submit(_make, (step.artifact, None))

    def _missing(self, step: Step) -> list[str]:
        """What the step needs of what is made here and is not finished, or failed."""
        made = (artifact for artifact in step.needs if self.makes(artifact))
        ended = {name for name, one in self.begun.items() if one.done() and one.exception() is None}
        return [artifact for artifact in made if artifact not in ended]

    def _failed(self, artifact: str) -> Future[Outcome]:
        """What failed that the artifact was to be made from, near or far."""
        missing = self._missing(next(step for step in self.steps if step.artifact == artifact))[0]
        return self.begun[missing] if missing in self.begun else self._failed(missing)


_CURRENT: ContextVar[Ahead | None] = ContextVar("crmrag_ahead", default=None)


@contextmanager
def made_ahead(layer: Layer, context: BuildContext) -> Iterator[None]:
    """Within the block `run_or_await` finds what processes make of a layer; of a small data set, nothing."""
    steps = _apart(layer, context)
    count = workers_of(context, len(chunks_of(context))) if len(steps) > 1 else 1
    if count == 1:
        yield
        return
    with processes(context, min(count, len(steps))) as working:
        token = _CURRENT.set(Ahead(working, steps))
        try:
            yield
        finally:
            _CURRENT.reset(token)


def run_or_await(step: Step, context: BuildContext) -> Outcome:
    """`run_step`, or the outcome of the process that makes the artifact ahead of its turn."""
    ahead = _CURRENT.get()
    if ahead is None or not ahead.makes(step.artifact):
        return run_step(step, context)
    return ahead.outcome(step.artifact)


def _apart(layer: Layer, context: BuildContext) -> list[Step]:
    """The layer's steps that have to be made and may be made apart, as what they need of this layer may."""
    found: dict[str, Step] = {}
    for step in (STEPS[artifact] for artifact in (() if layer.chunked else layer.assets)):
        within = [need for need in step.needs if need in layer.assets]
        if not all(one.apart(context) for one in (step, *(STEPS[need] for need in within))):
            continue
        record = context.store.record(step.artifact)  # its files are not looked at
        remade = any(need in found for need in within)
        if remade or record is None or record.version != version_of(step, context):
            found[step.artifact] = step
    return list(found.values())
