"""Artifacts of a layer that do not wait for one another, made ahead of their turn in processes beside each other.

A run takes its artifacts in turn, and most of them keep one core busy. Of a large data set processes begin all that may be
made apart as soon as what it is made from is there; each turn then waits for its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from crmrag_assets.build.layers import Layer, chunks_of
from crmrag_assets.build.step import BuildContext, Outcome, Step, run_step, version_of
from crmrag_assets.build.steps import STEPS
from crmrag_assets.build.workers import Processes, processes, workers_of


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
        """Begin every step of which all that it needs is finished."""
        for step in self.steps:
            if step.artifact not in self.begun and all(map(self._finished, self._within(step))):
                self.begun[step.artifact] = self.processes.submit(_make, step.artifact)

    def _within(self, step: Step) -> list[str]:
        """What the step needs of what is made here."""
        return [need for need in step.needs if self.makes(need)]

    def _finished(self, artifact: str) -> bool:
        made = self.begun.get(artifact)
        return made is not None and made.done() and made.exception() is None

    def _failed(self, artifact: str) -> Future[Outcome]:
        """What failed that the artifact was to be made from, near or far."""
        step = next(step for step in self.steps if step.artifact == artifact)
        missing = next(need for need in self._within(step) if not self._finished(need))
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
        if any(need in found for need in within) or _outdated(step, context):
            found[step.artifact] = step
    return list(found.values())


def _outdated(step: Step, context: BuildContext) -> bool:
    """Whether the record of what is there says that it was made from something else; its files are not looked at."""
    record = context.store.record(step.artifact)
    return record is None or record.version != version_of(step, context)


def _make(context: BuildContext, artifact: str) -> Outcome:
    return run_step(STEPS[artifact], context)
