"""The process that runs queries on one release: ``python -m crmrag_query.sparql.child``.

A line of JSON each way: first a ``Setup`` and ``{"ready": true}``, then ``{"query", "limit"}`` and ``{"result"}``; in place
of an answer ``{"error"}``, a problem document. It ends with its input, and by an alarm where whoever started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from crmrag_query.codec import to_json, to_problem
from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import CrmRagError

GRACE_SECONDS = 2.0  # that the alarm comes after the one who asked should have ended the process
RECURSION = 20_000  # calls within one another that reading a query may take; it has `depth` to keep within


@dataclass(frozen=True, slots=True)
class Setup:
    """``folder`` of the ``release``; ``stores``: the folder for stores on disk."""

    folder: str
    release: str
    stores: str
    config: dict[str, Any]


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin, os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed goes where messages go
    try:
        setup = Setup(**json.loads(requests.readline()))
        config = SparqlConfig.model_validate(setup.config)
        answer = _answering(setup, config)
        _confine(config)
    except CrmRagError as error:
        _say(answers, {"error": _problem(error)})
        return
    _say(answers, {"ready": True})
    for line in requests:
        with _alarm(config.seconds + GRACE_SECONDS):
            _say(answers, answer(json.loads(line)))


def _say(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(to_json(message) + "\n")
    answers.flush()


def _problem(error: CrmRagError) -> dict[str, Any]:
    """The error as it crosses the pipe: as itself, for whoever asked decides what leaves the machine."""
    problem: dict[str, Any] = json.loads(to_json(to_problem(error)))
    return problem | {"detail": error.what, "remedy": error.remedy, "error": type(error).__name__}


def _answering(setup: Setup, config: SparqlConfig) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What answers a request on the release's store; all that queries need is imported."""
    from crmrag_query.graph.graph import Graph
    from crmrag_query.sparql.check import check_query
    from crmrag_query.sparql.evaluate import evaluate
    from crmrag_query.sparql.store import StorePlace, open_store

    graph = Graph.open(Path(setup.folder) / "graph")
    place = StorePlace(Path(setup.stores), config.stores, config.in_memory_triples)
    store = open_store(graph, setup.release, place)
    graphs = frozenset(name for names in graph.graph_sets for name in names if name)
    for form in ("ASK {}", "SELECT (STR(?x) AS ?s) FROM <urn:g> { ?x a [] }", "CONSTRUCT WHERE { ?s a ?o }"):
        evaluate(store, check_query(form, config, frozenset({"urn:g"})), 1, 1000)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        try:
            query = check_query(request["query"], config, graphs)
            return {"result": evaluate(store, query, request["limit"], config.result_characters)}
        except CrmRagError as error:
            return {"error": _problem(error)}

    return answer


def _confine(config: SparqlConfig) -> None:
    """From here on no more memory than configured besides the data, no file and no connection that is not open yet."""
    sys.setrecursionlimit(RECURSION)
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = _data_bytes()
    limits = [] if held is None else [(resource.RLIMIT_DATA, held + config.memory_bytes)]
    for what, most in [*limits, *([(resource.RLIMIT_NOFILE, 0)] if _all_open() else [])]:
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (limit, limit))


def _data_bytes() -> int | None:
    """What this process has set aside for data, in bytes; None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmData:")]
    return int(sizes[0]) * 1024 if sizes else None


def _all_open() -> bool:
    """True unless a store on disk has tables that it has not opened yet."""
    try:
        opened = {path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
    except OSError:
        return False
    opened = {path for path in opened if path.suffix == ".sst"}
    folders = {path.parent for path in opened}
    return not folders or all(table in opened for folder in folders for table in folder.glob("*.sst"))


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Ends the process after so many seconds, even within the engine, where no Python runs."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
