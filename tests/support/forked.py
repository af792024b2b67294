"""Commands without the seconds that Python needs to load what they use: each is a process forked off one that has it loaded.

`start_forking(TESTS)` starts that process and gives the socket at which it listens. `command` and `start` pass words,
folder, environment and streams on, and end as the command does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
# What builds and answers load, but nothing that reads a configuration while it is loaded.
LOADED = (
    "alembic.command", "crmrag_assets.steps.registry", "crmrag_query.cli.main", "crmrag_query.client.local", "dagster",
    "dagster._core.storage.event_log", "faiss", "pandas", "pyshacl", "rich.progress", "sqlalchemy",
)  # fmt: skip
SECONDS = 120  # until it has everything loaded, on a busy machine
_CLIENT = """\
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({socket!r})
    said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(said).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(said)
    process = server.recv(8, socket.MSG_WAITALL)
    for number in (signal.SIGTERM, signal.SIGINT) if len(process) == 8 else ():
        signal.signal(number, lambda number, _: os.kill(int.from_bytes(process, "big"), number))
    status = server.recv(1)
sys.exit(status[0] if status else 137)
"""


def script(listening: Path, name: str) -> str:
    """A shell script that runs a command with its words in a process that is forked off."""
    return f'#!/bin/sh\nexec {shlex.join(command(listening, name))} "$@"\n'


def command(listening: Path, *words: str) -> list[str]:
    """The command line that runs a command in a process that is forked off, and passes SIGTERM and SIGINT on to it.

    It ends as that process does; with the status that a shell gives it where that one is killed.
    """
    return [sys.executable, "-I", "-S", str(_client(listening)), *words]


def start(listening: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    """Start a command in a process that is forked off."""
    return subprocess.Popen(
        command(listening, *words), cwd=ROOT, env=os.environ | environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _client(listening: Path) -> Path:
    return listening.with_suffix(".py")


def start_forking(tests: int) -> Path:
    """The socket of a process that runs stand-ins' commands (`standins.run`), as long as the process ``tests`` runs."""
    listening = Path(mkdtemp()) / "forked"  # a socket's path has to be short
    _client(listening).write_text(_CLIENT.format(socket=str(listening)), encoding="utf-8")
    log, ready = listening.with_suffix(".log"), _ready(listening)
    words = [sys.executable, "-m", "tests.support.forked", str(listening), str(tests)]
    in_background = ["sh", "-c", f'"$@" >{shlex.quote(str(log))} 2>&1 &', "sh"]
    subprocess.run([*in_background, *words], cwd=ROOT, check=True, start_new_session=True)
    end = time.monotonic() + SECONDS
    while not ready.exists():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    return listening


def _ready(listening: Path) -> Path:
    return listening.with_suffix(".ready")


def serve(listening: str, tests: int) -> None:
    for name in LOADED:
        importlib.import_module(name)
    _read_languages()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what is forked off
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever whoever starts the tests ignores
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(listening)
        server.listen(64)
        server.settimeout(1)
        _ready(Path(listening)).touch()
        while _runs(tests):
            with suppress(TimeoutError):
                asked, _ = server.accept()
                with asked:
                    if not os.fork():
                        server.close()
                        _run(asked)
    shutil.rmtree(Path(listening).parent)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _read_languages() -> None:
    """What every question needs and no configuration changes."""
    from crmrag_query.language import READ
    from crmrag_query.questions.lexicon import ref_words
    from crmrag_query.questions.period import find_period

    find_period("1800")
    for code in READ:
        ref_words(code)


def _run(asked: socket.socket) -> NoReturn:
    """The command that is asked for, in this process, as if it had been started like any other."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status = 1
    try:
        length, streams, _, _ = socket.recv_fds(asked, 8, 3)
        words, folder, environment = _read(asked, int.from_bytes(length, "big"))
        asked.sendall(os.getpid().to_bytes(8, "big"))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        from tests.support.standins import run

        status = run(words)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for written in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                written.flush()
        with suppress(OSError):
            asked.send(bytes([status & 255]))
        os._exit(status & 255)


def _read(asked: socket.socket, length: int) -> Any:
    found = b""
    while len(found) < length:
        found += asked.recv(length - len(found))
    return json.loads(found)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
