"""What an attacker tries, in ten minutes: files, releases, requests and replies of a model's server that mean harm.

    python benchmarks/attack.py [--only files releases requests model] [--each 30] [--seed 1] [--out RESULT.json]

An attempt holds where it ends within its seconds and its memory, in what was asked for or in an error with its remedy, where
others are answered meanwhile, and where nothing is sent to an address that a file, a release or a reply names; else it
fails. Files and releases are opened in a process of their own each, with the stand-in encoder; requests and replies meet a
real `crmrag serve`. Writes attempts and failures of each kind as JSON, and as a table in Markdown beside it; ends with
status 1 where one failed. ``--each``: random attempts of each kind. MiB: what a process grows by.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PATHS = [str(folder) for folder in Path(__file__).resolve().parents[:2]]
sys.path[:0] = PATHS

from attacks.files import attack_files  # noqa: E402
from attacks.model import attack_model  # noqa: E402
from attacks.record import Record  # noqa: E402
from attacks.releases import attack_releases  # noqa: E402
from attacks.requests import attack_requests  # noqa: E402
from attacks.servers import KEY  # noqa: E402

MAKE = "import sys, pathlib; from attacks.releases import make; print(make(pathlib.Path(sys.argv[1])))"
SECTIONS = ("files", "releases", "requests", "model")
OUT = Path(__file__).parent / "results" / "attack.json"


def table(told: dict[str, Any]) -> str:
    """The result as a page."""
    lines = [
        "# Attacks",
        "",
        f"Made by `{told['command']}` in {told['seconds']:.0f} s on {told['processors']} processors. What holds and what "
        "fails: see benchmarks/attack.py.",
        "",
        "| what | attempts | failures | longest, s | most, MiB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for kind in told["kinds"]:
        name = f"{kind['section']}: {kind['kind']}"
        lines.append(
            f"| {name} | {kind['attempts']:,} | {kind['failures']} | {kind['seconds']} | {kind['mib']:,} |"
        )
    lines.append(f"| **all** | **{told['attempts']:,}** | **{told['failures']}** | | |")
    failed = [f"- {kind['section']}, {one}" for kind in told["kinds"] for one in kind["failed"]]
    return "\n".join([*lines, *(["", "## Failures", "", *failed] if failed else []), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--each", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    os.environ.pop("ATTACKED", None)
    os.environ |= {"OPENAI_API_KEY": KEY, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(PATHS)}
    chance, record, begun = random.Random(given.seed), Record(), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if set(given.only) - {"files"}:
            made = subprocess.run(
                [sys.executable, "-c", MAKE, str(folder / "project")],
                check=True,
                capture_output=True,
                text=True,
            )
            os.environ["ATTACKED"] = made.stdout.strip()
        release = Path(os.environ.get("ATTACKED", scratch))
        if "files" in given.only:
            attack_files(record, folder, chance, given.each)
        if "releases" in given.only:
            attack_releases(record, release, chance, given.each)
        if "requests" in given.only:
            attack_requests(record, release, folder / "requests", chance, given.each)
        if "model" in given.only:
            attack_model(record, release, folder / "model")
    kinds = [{"section": section, "kind": kind, **one} for (section, kind), one in record.kinds.items()]
    told = {
        "command": " ".join(["python benchmarks/attack.py", *sys.argv[1:]]),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "seconds": round(time.monotonic() - begun),
        "attempts": sum(kind["attempts"] for kind in kinds),
        "failures": sum(kind["failures"] for kind in kinds),
        "kinds": kinds,
    }
    given.out.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(table(told), encoding="utf-8")
    print(table(told))
    raise SystemExit(1 if told["failures"] else 0)


if __name__ == "__main__":
    main()
