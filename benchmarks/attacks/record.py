"""What came of attempts, and work that is tried in a process of its own."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crmrag_query.errors import CrmRagError

SECONDS, MEBIBYTES = 60.0, 1024.0  # of one attempt
ASIDE = multiprocessing.get_context("forkserver")
ASIDE.set_forkserver_preload(["attacks.loaded"])


@dataclass
class Record:
    """What came of all attempts, by section and kind."""

    kinds: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def add(self, section: str, kind: str, name: str, fault: str, seconds: float, mib: float = 0.0) -> None:
        """Count an attempt; ``fault``: why it failed, "" where it held."""
        empty = {"attempts": 0, "failures": 0, "seconds": 0.0, "mib": 0, "failed": []}
        told = self.kinds.setdefault((section, kind), empty)
        told["attempts"] += 1
        told["seconds"] = max(told["seconds"], round(seconds, 1))
        told["mib"] = max(told["mib"], round(mib))
        if fault:
            told["failures"] += 1
            told["failed"].append(f"{name}: {fault}"[:300])
            print(f"FAILED {section}, {kind}, {name}: {fault[:300]}", file=sys.stderr, flush=True)


def resident(pid: int | None) -> float:
    """MiB that a process holds; 0 where it has ended."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024
    return 0.0


def aside(work: Callable[..., None], *given: Any) -> tuple[str, float, float]:
    """Why the work failed in a process of its own ("" where it held), seconds, MiB."""
    receiving, sending = ASIDE.Pipe(duplex=False)
    child = ASIDE.Process(target=_tell, args=(sending, work, given))
    child.start()
    sending.close()
    begun, first, most = time.monotonic(), 0.0, 0.0
    while not receiving.poll(0.02):
        most = max(most, resident(child.pid))
        first = first or most
        if time.monotonic() - begun > SECONDS or most - first > MEBIBYTES:
            child.kill()
    seconds = time.monotonic() - begun
    with suppress(EOFError):
        fault: str | None = None
        fault = receiving.recv()
    child.join()
    if fault is None:
        fault = "it took too long or too much" if child.exitcode == -9 else f"it ended with {child.exitcode}"
    return fault, seconds, max(0.0, most - first)


def _tell(pipe: Any, work: Callable[..., None], given: Sequence[Any]) -> None:
    try:
        work(*given)
        told = ""
    except CrmRagError as error:
        told = "" if error.remedy else f"no remedy: {error}"
    except BaseException as error:
        told = f"{type(error).__name__}: {error}"
    pipe.send(told)
