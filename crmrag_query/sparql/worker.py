"""The other end of ``child``: a process that runs queries on one release, ended with the query that runs too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from crmrag_query.artifacts.release import Release
from crmrag_query.client.codec import from_plain, to_json
from crmrag_query.client.problems import from_problem
from crmrag_query.config.sparql import SparqlConfig
from crmrag_query.errors import CrmRagError, QuestionError, ServiceError
from crmrag_query.sparql.child import Setup
from crmrag_query.sparql.records import SparqlResult

# What the process gets of the environment: nothing secret.
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "TZ")


class Worker:
    """One process for one release. Not safe for threads: ``SparqlDesk`` lets one at a time use it.

    Its own process, and not `multiprocessing`, which would run the caller's main module again.
    """

    def __init__(self, release: Release, stores: Path, config: SparqlConfig) -> None:
        self.release = release.id
        self._config = config
        # The process finds this package where this one does; one thread computes as well as many for so little.
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        environment |= {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONUTF8": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-P", "-m", "crmrag_query.sparql.child"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
        )
        setup = Setup(str(release.folder.resolve()), release.id, str(stores.resolve()), config.model_dump())
        self._send(to_json(setup))

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def number(self) -> int:
        """The process's id."""
        return self._process.pid

    def await_ready(self) -> None:
        """Return when it can be asked; raises ReleaseError, MissingExtraError or ServiceError where it never can."""
        self._received(
            ServiceError(
                "The process for SPARQL queries ended before it began.", "See the log for the reason."
            )
        )

    def run(self, query: str, limit: int) -> SparqlResult:
        """The result of a query; QuestionError where it takes too much, after which the process is gone (``alive``)."""
        too_long = threading.Event()

        def end() -> None:
            too_long.set()
            self._process.kill()

        watch = threading.Timer(self._config.seconds, end)
        watch.start()
        try:
            self._send(json.dumps({"query": query, "limit": limit}))
            answer = self._received(_too_much())
        except QuestionError as error:
            if too_long.is_set():
                raise QuestionError(
                    f"The query took longer than {self._config.seconds:g} seconds.",
                    "Ask for less: join through fewer variables, name an entity or a class, leave out ORDER BY.",
                ) from error
            raise
        finally:
            watch.cancel()
            if too_long.is_set():
                self.close()
        return from_plain(SparqlResult, answer["result"])

    def end(self) -> None:
        """End the process at once; whoever waits for its answer is told, and closes."""
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it; never while another thread waits for its answer."""
        self._process.kill()
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()
        self._process.wait()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _send(self, line: str) -> None:
        with suppress(OSError):  # a process that ended is noticed when its answer does not come
            self._stdin.write(line + "\n")
            self._stdin.flush()

    def _received(self, ended: CrmRagError) -> dict[str, Any]:
        """Its answer; raises the error that it tells, or ``ended`` where it has ended."""
        line = self._stdout.readline()
        if not line.endswith("\n"):
            self.close()
            raise ended
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise from_problem(answer["error"])
        return answer


def _too_much() -> QuestionError:
    return QuestionError(
        "The query ended the process that ran it: it needs more memory than it may take, or is too intricate.",
        "Ask for less: fewer rows, no ORDER BY or GROUP BY over everything, fewer alternatives.",
    )
