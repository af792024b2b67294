"""Flipping bits of a release's files, one at a time, and asking what is left: does it answer, refuse, or fall over?

`attempts` runs in a process of its own, which loads the libraries once and forks one for each flip.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
ANSWERED, REFUSED, TRACEBACK, CRASHED = "answered", "refused", "traceback", "crashed"
SECONDS, MEMORY = 120, 8 << 30  # for one attempt; more counts as a crash
_SAYS = {0: ANSWERED, 3: REFUSED, 4: TRACEBACK}


@dataclass(frozen=True, slots=True)
class Flip:
    """One bit of a file of a release."""

    path: str
    byte: int
    bit: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a flip: one of ANSWERED, REFUSED, TRACEBACK, CRASHED, and what was said."""

    flip: Flip
    outcome: str
    said: str


def random_flips(release: Path, count: int, seed: int) -> list[Flip]:
    """Bits of files drawn alike, whatever their size; equal seeds give equal flips of equal releases."""
    drawn = random.Random(seed)
    files = sorted(path for path in release.rglob("*") if path.is_file() and path.stat().st_size)
    found = []
    for _ in range(count):
        file = drawn.choice(files)
        found.append(
            Flip(
                file.relative_to(release).as_posix(), drawn.randrange(file.stat().st_size), drawn.randrange(8)
            )
        )
    return found


def attempts(
    release: Path, flips: Sequence[Flip], questions: Sequence[str], pinned: bool = False
) -> list[Attempt]:
    """Each flip by itself in the folder of a release, which is as before after each; the release is opened and asked.

    ``pinned``: the manifest is given the checksum of the flipped file, as whoever means harm would do; the folder must not be
    named by the release's id then.
    """
    asked = {"release": str(release), "questions": [*questions], "pinned": pinned}
    with subprocess.Popen(
        [sys.executable, "-m", __name__], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        told, _ = process.communicate(json.dumps({**asked, "flips": [asdict(one) for one in flips]}))
    found = [json.loads(line) for line in told.splitlines()]
    assert len(found) == len(flips), "the process that tries the flips has ended early"
    return [Attempt(flip, *one) for flip, one in zip(flips, found, strict=True)]


def _all(release: Path, flips: Sequence[Flip], questions: Sequence[str], pinned: bool) -> Iterator[list[str]]:
    for flip in flips:
        file, manifest = release / flip.path, release / "manifest.json"
        before, pins = file.read_bytes(), manifest.read_bytes()
        changed = bytearray(before)
        changed[flip.byte] ^= 1 << flip.bit
        file.write_bytes(changed)
        if pinned and file != manifest:
            old, new = (hashlib.sha256(one).hexdigest().encode() for one in (before, changed))
            manifest.write_bytes(pins.replace(old, new))
        try:
            yield _in_a_fork(release, questions)
        finally:
            file.write_bytes(before)
            manifest.write_bytes(pins)


def _in_a_fork(release: Path, questions: Sequence[str]) -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _try(release, questions, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        said = f"{signal.Signals(-status).name} {said}".strip()
    return [_SAYS.get(status, CRASHED), said]


def _try(release: Path, questions: Sequence[str], pipe: int) -> NoReturn:
    from crmrag_query import Client
    from crmrag_query.errors import CrmRagError

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)
    status, said = 4, ""
    try:
        with Client(release) as client:
            for question in questions:
                client.ask(question)
        status = 0
    except CrmRagError as error:
        status, said = 3, f"{type(error).__name__}: {error}"
    except BaseException:
        said = traceback.format_exc()
    os.write(pipe, said.encode()[-8000:])
    os._exit(status)


def _main() -> None:
    import bm25s  # noqa: F401
    import faiss  # noqa: F401
    import onnxruntime  # noqa: F401
    import tokenizers  # noqa: F401

    import crmrag_query.client.local
    import crmrag_query.retrieval.dense  # noqa: F401

    asked = json.load(sys.stdin)
    flips = [Flip(**one) for one in asked["flips"]]
    for told in _all(Path(asked["release"]), flips, asked["questions"], asked["pinned"]):
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    _main()
