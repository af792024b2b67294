"""Kill a build twenty times at random moments; the release must be the one that an undisturbed build gives.

    python benchmarks/kills.py [--dataset sample] [--config FOLDER] [--kills 20] [--seed 1]

Each round starts `crmrag build` in a process of its own and kills it (SIGKILL) after a random share of the time that an
undisturbed build took. Rounds go on until a build ends by itself; the folder starts empty again once one has ended, until
all kills are spent. Prints one JSON line: kills, the builds that ended, the release ids seen, and seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "from crmrag_query.cli.main import main; main()"]


def build(dataset: str, data: Path, config: Path | None, kill_after: float | None = None) -> bool:
    """Run a build; True when it ended by itself. A build that fails by itself ends the benchmark."""
    process = subprocess.Popen(
        [
            *COMMAND,
            "build",
            dataset,
            "--data",
            str(data),
            "--quiet",
            *(["--config", str(config)] if config else []),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode != 0:
        raise SystemExit(f"The build failed by itself (status {process.returncode}):\n{output}")
    return True


def current(dataset: str, data: Path) -> str:
    return (data / "releases" / dataset / "current").read_text(encoding="utf-8").strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="sample")
    parser.add_argument(
        "--config", type=Path, help="folder with the datasets.yaml that declares the data set"
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        build(arguments.dataset, Path(folder) / "calm", arguments.config)
        calm = time.monotonic() - start
        expected = current(arguments.dataset, Path(folder) / "calm")
        killed, ended, seen = 0, 0, set[str]()
        data = Path(folder) / "stormy"
        while killed < arguments.kills or data.exists():
            limit = chance.uniform(0.05, 1.0) * calm if killed < arguments.kills else None
            if build(arguments.dataset, data, arguments.config, limit):
                seen.add(current(arguments.dataset, data))
                ended += 1
                shutil.rmtree(data)
            else:
                killed += 1
        result = {
            "dataset": arguments.dataset,
            "seed": arguments.seed,
            "kills": killed,
            "builds ended": ended,
        }
        result |= {"same release": seen == {expected}, "releases": sorted(seen), "expected": expected}
        print(
            json.dumps(result | {"calm build s": round(calm, 1), "all s": round(time.monotonic() - start, 1)})
        )
        raise SystemExit(0 if seen == {expected} else 1)


if __name__ == "__main__":
    main()
