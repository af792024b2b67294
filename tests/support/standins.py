"""Stand-ins for the commands of the documentation.

`crmrag` is itself, except that nothing runs for ever and that builds take the encoder of the tests. What would change the
machine (`pip`, `make`) or take hours (benchmarks) only has its arguments checked.
"""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import tomllib
import urllib.request
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAIN = [sys.executable, "-c", "from crmrag_query.cli.main import main; main()"]


def crmrag(*words: str) -> int:
    """The command, in this process; a service is ended as soon as it is well."""
    if words[0] == "serve":
        return serve(*words)
    if words[0] == "ui":
        words = (*words, "--help")
    if words[:2] == ("datasets", "add"):
        words = (*words, "--model", "hash")
    return service(*words)


def service(*words: str) -> int:
    """The command as it is, in this process."""
    from crmrag_query.cli.main import main

    sys.argv = ["crmrag", *words]
    main()
    return 0


def serve(*words: str) -> int:
    reading, writing = os.pipe()
    child = os.fork()  # where this process is a fork itself, everything is loaded
    if not child:
        os.dup2(writing, 2)
        try:
            service(*words, "--port", "0")
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as lines:
        for line in lines:
            if match := re.search(r" at (http://\S+)", line):
                with urllib.request.urlopen(f"{match[1]}/health", timeout=60) as answer:
                    well = answer.status == 200
                os.kill(child, signal.SIGTERM)
                lines.read()
                return 0 if well else 1
    return 1


def pip(*words: str) -> int:
    """Whether such an extra can be installed."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for one in words[1:]:
        match = re.fullmatch(r"(?:crmrag|\.)(?:\[([\w,]+)\])?", one)
        if match and set((match[1] or "").split(",")) - {""} <= set(known["optional-dependencies"]):
            continue
        if words[0] != "install" or not one.startswith("--"):
            print(f"pip cannot install {one}", file=sys.stderr)
            return 1
    return 0


def make(*words: str) -> int:
    """Whether there are such targets."""
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    return 0 if set(words) <= set(targets) else 1


def claude(*words: str) -> int:
    """What the host would start."""
    return subprocess.run(words[words.index("--") + 1 :], check=False).returncode


def python(*words: str) -> int:
    """A script of ours takes these options; anything else is run."""
    if not words[0].startswith("benchmarks/"):
        return subprocess.run([sys.executable, *words], check=False).returncode
    sys.argv = [words[0], "--help"]
    sys.path.insert(0, str(ROOT / "benchmarks"))
    with redirect_stdout(StringIO()) as told, suppress(SystemExit):
        runpy.run_path(str(ROOT / words[0]), run_name="__main__")
    options = told.getvalue()
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]
    print(f"unknown options: {unknown}" if unknown else "", file=sys.stderr)
    return len(unknown) or int("usage" not in options.lower())


def run(words: list[str]) -> int:
    """Run a command, as its name and its words; the status it ends with."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    commands = {
        "crmrag": crmrag,
        "service": service,
        "claude": claude,
        "pip": pip,
        "make": make,
        "python": python,
    }
    return commands[words[0]](*words[1:])
