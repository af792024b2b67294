"""Errors of a run as a person should read them: in the same words in Dagster's log, at the command line and in messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.database import database_trouble, trouble_in_words
from crmrag_query.artifacts.places import dataset_folder, pointer
from crmrag_query.errors import BuildFault, CrmRagError, in_a_line

KIND = "error"  # the key of a failure's metadata under which the class of the error stands
FAULT = "That is a fault of crmrag, not of your data: report it with this message and the traceback."
NO_MEMORY = "Memory or threads ran out. Build with fewer processes (--threads 1), or allow it more."
LOST = (
    "The process of this run ended before the run did: it was killed, mostly for memory, or the machine was restarted. "
    "What is finished is kept, and the next build goes on from there."
)
ELSEWHERE = "Its events tell more: crmrag ui."
INTERRUPTED = "DagsterExecutionInterruptedError"  # what Dagster makes of Ctrl-C within a step
# How Dagster puts the class before the message.
_OWN_CLASS = re.compile(r"crmrag_\w+(?:\.\w+)*\.(?P<kind>\w+): ")
_ALLOCATION = re.compile(
    r"(?:can't|cannot) allocate memory|unable to allocate|can't start new thread", re.IGNORECASE
)


class StepFailed(dg.Failure):
    """A failed step, told for people: Dagster shows this before all else that it knows of the error."""


@dataclass(frozen=True)
class Told:
    """What a failed step says, and the traceback of its error.

    ``kind``: the class of an error of ours without its package; "" for one that nobody foresaw.
    """

    kind: str
    text: str
    trace: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped the run."""
        return self.kind == INTERRUPTED


@contextmanager
def explained(step: str, data: Path | None = None, dataset: str = "") -> Iterator[None]:
    """Within the block, every error is one that Dagster shows as told: our own with its remedy, another as our fault.

    With ``data`` and ``dataset`` it ends with what became of the data set's release. Raises StepFailed.
    """
    try:
        yield
    except dg.Failure:
        raise
    except Exception as met:
        error = database_trouble(met) or met
        after = f"\n{afterwards(data, dataset)}" if data is not None else ""
        text = f"'{step}' failed. {reason(error)}{after}"
        foreseen = isinstance(error, CrmRagError) or _is_memory(error)
        kind = {KIND: type(error).__name__} if foreseen else {}
        raise StepFailed(text, kind, allow_retries=False) from met


def told_as_is(error: CrmRagError) -> StepFailed:
    """An error that says itself what failed and what became of the release."""
    metadata: dict[str, Any] = {KIND: type(error).__name__}
    if isinstance(error, BuildFault):
        metadata["traceback"] = dg.MetadataValue.md(f"```\n{error.trace}\n```")
    return StepFailed(str(error), metadata, allow_retries=False)


def reason(error: BaseException) -> str:
    """An error in words for a person, with what to do."""
    if isinstance(error, CrmRagError):
        return str(error)
    if _is_memory(error):
        return NO_MEMORY
    return f"{type(error).__name__}: {in_a_line(error)}. {FAULT}"


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or bool(_ALLOCATION.search(str(error)))


def afterwards(data: Path, dataset: str) -> str:
    """What a failed build has left."""
    current = pointer(dataset_folder(data, dataset))
    release = "The current release stays as it was." if current else "There is no release of it yet."
    return f"What is finished is kept, and the next build goes on from there. {release}"


def told_of(event: dg.DagsterEvent) -> Told | None:
    """What the event of a failed step says; None of any other event, and of one without an error."""
    data = event.step_failure_data if event.is_step_failure else None
    if data is None or data.error is None:
        return None
    chain = list(_chain(data.error))
    if any(INTERRUPTED in error.message for error in chain):
        return Told(INTERRUPTED, "The run was stopped.")
    own = data.user_failure_data
    if own is not None and own.description:
        kind = str(own.metadata[KIND].value) if KIND in own.metadata else ""
        return Told(kind, own.description, chain[-1].to_string())
    return _raw(str(event.step_key), chain)


def _raw(step: str, chain: list[Any]) -> Told:
    """Of an error that nothing explained: our own words where one of the chain is ours, else the innermost message."""
    for error in chain:
        message = error.message.strip()
        if found := _OWN_CLASS.match(message):
            return Told(found["kind"], f"'{step}' failed. {message[found.end() :]}", error.to_string())
        if (trouble := trouble_in_words(message)) is not None:
            return Told(type(trouble).__name__, f"'{step}' failed. {trouble}", error.to_string())
    innermost = chain[-1]
    said = innermost.message.strip().rstrip(".")
    return Told("", f"'{step}' failed. {said}. {ELSEWHERE}", innermost.to_string())


def _chain(error: Any) -> Iterator[Any]:
    """The error and what caused it."""
    while error is not None:
        yield error
        error = error.cause
