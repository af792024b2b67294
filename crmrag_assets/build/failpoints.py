"""Fail-points, for tests: stop a build at a named place, by an error, by one that nobody foresaw, or by killing the process.

``CRMRAG_FAILPOINT=<artifact>[:<chunk>][:before|during|after][=raise|fault|kill]``, several separated by commas;
``during`` (the default) is when the files are written and nothing is published yet. Without the variable a
fail-point costs one look-up in the environment.
"""

from __future__ import annotations

import os
import signal

from crmrag_query.errors import BuildError

VARIABLE = "CRMRAG_FAILPOINT"
BEFORE, DURING, AFTER = "before", "during", "after"
_STAGES = (BEFORE, DURING, AFTER)


class FailPoint(BuildError):
    """A fail-point was reached; only tests set any."""


def reach(artifact: str, chunk: str | None, stage: str) -> None:
    """Stop here when the environment asks for it."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    for point in wanted.split(","):
        place, _, action = point.strip().partition("=")
        if _matches(place.split(":"), artifact, chunk, stage):
            _stop(action, place)


def _matches(place: list[str], artifact: str, chunk: str | None, stage: str) -> bool:
    named = place[-1] if place[-1] in _STAGES else DURING
    rest = place[:-1] if place[-1] in _STAGES else place
    return named == stage and rest[0] == artifact and (len(rest) == 1 or rest[1] == chunk)


def _stop(action: str, place: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "fault":
        raise RuntimeError(f"Fail-point {place} was reached.")
    raise FailPoint(f"Fail-point {place} was reached.", f"Unset {VARIABLE} to build.")
