"""A private Virtuoso (Debian: virtuoso-opensource) in a temporary folder: an endpoint that is none of our own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

_START_SECONDS = 90
_LOAD_SECONDS = 300
_NQUADS = 512  # a flag of TTLP: lines may name a graph of their own
_SETTINGS = """\
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
ErrorLogLevel = 3
FileExtend = 200
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DisableUnixSocket = 1
ServerThreads = 10
CheckpointInterval = 0
CaseMode = 2
DirsAllowed = .
NumberOfBuffers = 10000
MaxDirtyBuffers = 6000
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerRoot = .
ServerThreads = 10
EnabledGzipContent = 1
Charset = UTF-8
[SPARQL]
ResultSetMaxRows = {row_cap}
MaxQueryExecutionTime = {seconds}
"""


def available() -> bool:
    """Whether Virtuoso is installed."""
    return bool(shutil.which("virtuoso-t") and shutil.which("isql-vt"))


@dataclass(frozen=True)
class Virtuoso:
    """A running server; its query address is `url`."""

    folder: Path
    http_port: int
    sql_port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}/sparql"

    def load(self, ntriples: bytes, graph: str) -> None:
        """Add N-Triples to the graph (N-Quads: those that name no graph); raises RuntimeError with Virtuoso's message."""
        (self.folder / "load.nq").write_bytes(ntriples)
        self.run(f"DB.DBA.TTLP (file_to_string_output ('load.nq'), '', '{graph}', {_NQUADS});")

    def run(self, sql: str) -> str:
        """What isql prints for a statement; SPARQL and updates are written `SPARQL …;`."""
        command = ["isql-vt", f"127.0.0.1:{self.sql_port}", "dba", "dba", "VERBOSE=OFF", "PROMPT=OFF"]
        command += ["ERRORS=stdout", f"exec={sql}"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=_LOAD_SECONDS)
        printed = done.stdout.decode(errors="replace")
        if done.returncode or "*** Error" in printed:
            raise RuntimeError(f"isql: {printed[:500]}")
        return printed


@contextmanager
def virtuoso(
    ntriples: bytes = b"", graph: str = "", row_cap: int = 0, query_seconds: int = 0
) -> Iterator[Virtuoso]:
    """Start a server (4 s), load, and kill it at the end.

    ``row_cap`` rows at most in a response and ``query_seconds`` for a query; 0 for no limit.
    """
    with tempfile.TemporaryDirectory(prefix="virtuoso-", ignore_cleanup_errors=True) as name:
        server = Virtuoso(Path(name), *_free_ports())
        settings = _SETTINGS.format(
            sql=server.sql_port, http=server.http_port, row_cap=row_cap, seconds=query_seconds
        )
        (server.folder / "virtuoso.ini").write_text(settings)
        process = _started(server)
        try:
            _wait_for(server, process)
            if ntriples:
                server.load(ntriples, graph)
            yield server
        finally:
            process.kill()  # nothing that it holds is worth the seconds of an orderly end
            process.wait()


def _started(server: Virtuoso) -> subprocess.Popen[bytes]:
    """The server's process, which ends with ours, however ours ends, where the system can promise that."""
    command = ["virtuoso-t", "+configfile", "virtuoso.ini", "+foreground"]
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "KILL", *command]
    return subprocess.Popen(
        command,
        cwd=server.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )


def _wait_for(server: Virtuoso, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"{server.url}?query=ASK%7B%7D", timeout=5) as response:
                if response.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.05)
    log = server.folder / "virtuoso.log"
    raise RuntimeError(f"Virtuoso did not start: {log.read_text()[-500:] if log.exists() else 'no log'}")


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
