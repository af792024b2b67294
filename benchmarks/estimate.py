"""What `crmrag estimate` says before a first build, beside what the build then made.

    python benchmarks/estimate.py NAME … --data EMPTY_FOLDER [--config FOLDER] --out benchmarks/results/estimate.md

Each data set is estimated in a folder that has nothing of it, then built with all its vectors. Documents, passages among them, and
windows are counted in the release; disk is that of the release's folder without the encoder. Exits with 1 where any of these
is more than a fifth off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.ipc as ipc

from crmrag_query.artifacts.release import open_release
from crmrag_query.evaluation.report import table

COMMAND = [sys.executable, "-c", "from crmrag_query.cli.main import main; main()"]
FAR = 0.2
TEXT = """# Estimates before a first build

`python benchmarks/estimate.py` says how it is measured. Of each: what was said, what was made, and by how much that was off.

"""


def crmrag(*arguments: str, config: Path | None) -> str:
    """What a command writes."""
    environment = os.environ | ({"CRMRAG_CONFIG": str(config)} if config else {})
    return subprocess.run(
        [*COMMAND, *arguments], env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def made_of(name: str, data: Path) -> dict[str, int]:
    """Documents, windows and bytes of a data set's release."""
    release = open_release(name, data)
    windows = 0
    for path in release.folder.glob("embeddings/*/windows.arrow"):
        with ipc.open_file(path) as file:
            windows += file.read_all().num_rows
    files = (path for path in release.folder.rglob("*") if path.is_file() and "encoder" not in path.parts)
    counts = release.manifest.counts
    return {
        "documents": counts["documents"] + counts["passages"],
        "windows": windows,
        "bytes": sum(path.stat().st_size for path in files),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="What an estimate says, beside what the build made.")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows: list[list[str]] = []
    worst = 0.0
    for name in given.names:
        where = (name, "--data", str(given.data))
        said = json.loads(crmrag("estimate", *where, "--json", config=given.config))
        crmrag("build", *where, "--wait", "--quiet", config=given.config)
        row = [name, f"{said['entities']:,}"]
        for key, made in made_of(name, given.data).items():
            off = said[key] / made - 1
            worst = max(worst, abs(off))
            row += [f"{said[key]:,}", f"{made:,}", f"{off:+.0%}"]
        rows.append(row)
        print(*row, sep="\t", flush=True)
    head = ["data set", "entities"]
    for key in ("documents", "windows", "bytes"):
        head += [f"{key} said", "made", "off"]
    given.out.write_text(f"{TEXT}{table(head, rows)}\n", encoding="utf-8")
    return int(worst > FAR)


if __name__ == "__main__":
    sys.exit(main())
