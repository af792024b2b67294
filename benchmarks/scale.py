"""What a build costs: seconds of each artifact, peak memory, disk, and floors measured in the same run.

    python benchmarks/scale.py (FILE | --entities N) [--model hash] [--data FOLDER] [--communities] [--out RESULT]
        [--against RESULT] [--cap GIB]

FILE is N-Triples, plain or .zst; --entities has `generate.py` make a museum of that size. The build is `crmrag build` in a
process of its own, with the hashing stand-in as encoder unless another is named; "without encoder" leaves out the artifacts
that an encoder makes (ENCODING). Floors: parsing the decompressed bytes with pyoxigraph, and one pass over their lines.
--communities builds without communities, then adds them to what is built: `with_communities` tells what that takes, and how
many times the seconds and the memory of a build without them a build with them takes (the seconds of both, the larger peak).
--cap builds in a control group of Linux whose processes, and the files that they have in memory, take at most so many GiB
together, and tells how much of it was memory of their own (``anonymous_mib``), which the system cannot take back; where no
such group can be made it says so and ends. --against prints how much more or less each figure is than in a result of before,
as ratios to the parse, which machines share: a report, not a verdict.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyoxigraph as ox

ENCODING = ("encoder", "embeddings", "faiss_index")
NOTABLE = 0.5  # seconds below which an artifact is not compared: noise
LAUNCH = """
import resource, sys
from crmrag_query.cli.main import group
try:
    group(sys.argv[1:], standalone_mode=False)
finally:
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        print("peak_kib", resource.getrusage(who).ru_maxrss, file=sys.stderr)
    print("cpu", sum(sum(resource.getrusage(who)[:2]) for who in (0, -1)), file=sys.stderr)
"""


def floors(file: Path) -> dict[str, float]:
    """Seconds to parse the bytes with pyoxigraph, and to look at every line once; decompression is outside of both."""
    data = pa.input_stream(str(file), compression="detect").read()
    start = time.perf_counter()
    triples = sum(1 for _ in ox.parse(data, format=ox.RdfFormat.N_TRIPLES))
    parse = time.perf_counter() - start
    start = time.perf_counter()
    lines = sum(1 for line in data.split(b"\n") if line)
    assert lines >= triples
    return {"triples_read": triples, "parse": round(parse, 2), "lines": round(time.perf_counter() - start, 2)}


GROUPS = Path("/sys/fs/cgroup")
LIMITS = (("memory", "memory.limit_in_bytes", "total_rss"), ("", "memory.max", "anon"))
"""Of both versions of control groups: the folder of memory's, the file of the limit, what a process' own memory is called."""
JOIN = 'echo $$ > "$0" && exec "$@"'
LOOK_SECONDS = 0.2


@dataclass
class Cap:
    """A control group of so many bytes; ``anonymous``: the most bytes of their own that its processes had together."""

    folder: Path
    own: str
    anonymous: int = 0

    def within(self, command: Sequence[str]) -> list[str]:
        """The command as it is run within the group."""
        return ["sh", "-c", JOIN, str(self.folder / "cgroup.procs"), *command]

    def look(self, ended: threading.Event) -> None:
        """Look again and again how much there is, until it has ended."""
        while not ended.wait(LOOK_SECONDS):
            stat = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
            self.anonymous = max(self.anonymous, int(stat[self.own]))


@contextmanager
def capped(gib: float | None) -> Iterator[Cap | None]:
    """A control group of so many GiB while the block runs; None where none is asked for."""
    if gib is None:
        yield None
        return
    cap, ended = _group(int(gib * (1 << 30))), threading.Event()
    looking = threading.Thread(target=cap.look, args=(ended,))
    looking.start()
    try:
        yield cap
    finally:
        ended.set()
        looking.join()
        cap.folder.rmdir()


def _group(limit: int) -> Cap:
    """A new control group of so many bytes."""
    for controller, file, own in LIMITS:
        folder = GROUPS / controller / f"crmrag-{os.getpid()}"
        try:
            folder.mkdir()
            (folder / file).write_text(str(limit))
            return Cap(folder, own)
        except OSError:
            if folder.exists():
                folder.rmdir()
    raise SystemExit(f"No control group of memory can be made below {GROUPS}: run as root, or without --cap.")


def build(
    file: Path, folder: Path, model: str, communities: bool = True, cap: Cap | None = None
) -> dict[str, Any]:
    """Build the file in a new process: seconds, the largest process' resident memory, costs of each artifact, counts."""
    config = folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "datasets.yaml").write_text(
        f"datasets:\n  measured:\n    title: Measured\n    rdf: ['{file.resolve()}']\n"
        f"    embedding: {{model: '{model}'}}\n    write_markdown: false\n"
        f"    communities: {str(communities).lower()}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-c", LAUNCH, "build", "measured", "--quiet", "--data", str(folder / "data")]
    command += ["--config", str(config)]
    start, since = time.perf_counter(), time.time()
    within = cap.within(command) if cap else command
    done = subprocess.run(within, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    artifacts = costs(folder / "data" / "work" / "measured", since)
    encoding = sum(artifacts[name]["seconds"] for name in ENCODING if name in artifacts)
    release = folder / "data" / "releases" / "measured"
    manifest = json.loads((release / (release / "current").read_text().strip() / "manifest.json").read_text())
    peaks = [int(kib) >> 10 for kib in re.findall(r"^peak_kib (\d+)", done.stderr, re.MULTILINE)]
    return {
        "wall": round(wall, 1),
        "without_encoder": round(wall - encoding, 1),
        "processor": round(float(re.findall(r"^cpu ([\d.]+)", done.stderr, re.MULTILINE)[-1]), 1),
        "peak_mib": peaks[0],
        "peak_mib_of_workers": peaks[1],
        **({"anonymous_mib": cap.anonymous >> 20} if cap else {}),
        "artifacts": artifacts,
        "counts": manifest["counts"],
        "release_mib": sum(file["bytes"] for file in manifest["files"]) >> 20,
        "data_folder_mib": sum(path.stat().st_size for path in _distinct(folder / "data")) >> 20,
    }


def added(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What communities take in a build that has all else, and their share of a whole build."""
    peaks = [max(one["peak_mib"], one["peak_mib_of_workers"]) for one in (before, after)]
    return {
        "wall": after["wall"],
        "processor": after["processor"],
        "peak_mib": peaks[1],
        "artifacts": {name: cost for name, cost in after["artifacts"].items() if cost["seconds"]},
        "processor_ratio": round((before["processor"] + after["processor"]) / before["processor"], 3),
        "seconds_ratio": round((before["wall"] + after["wall"]) / before["wall"], 3),
        "peak_ratio": round(max(peaks) / peaks[0], 3),
    }


def _distinct(folder: Path) -> list[Path]:
    """The files of a folder, those with several names once: a release shares its files with the working folder."""
    return list({(path.stat().st_ino): path for path in folder.rglob("*") if path.is_file()}.values())


def costs(work: Path, since: float) -> dict[str, dict[str, float]]:
    """Seconds, those of a processor, and MiB of each artifact; of a chunked one over all its chunks, in whichever process
    each was made. What was made before the time ``since`` took no seconds."""
    found: dict[str, dict[str, float]] = {}
    for artifact in sorted(path for path in work.iterdir() if path.is_dir()):
        own, chunks = (
            dict.fromkeys(("seconds", "processor", "mib"), 0.0),
            sorted(artifact.glob("*/record.json")),
        )
        begun, ended = [], []
        for path in [*artifact.glob("record.json"), *chunks]:
            stats = json.loads(path.read_text())["stats"]
            own["mib"] += stats.get("bytes", 0) / (1 << 20)
            if path.stat().st_mtime < since:
                continue
            own["seconds"] += stats.get("seconds", 0.0)
            own["processor"] += stats.get("processor_seconds", 0.0)
            ended.append(path.stat().st_mtime)
            begun.append(ended[-1] - stats.get("seconds", 0.0))
        if chunks and ended:  # side by side: from the first one's begin to the last one's end
            own["seconds"] = max(ended) - min(begun)
        if own["mib"]:
            found[artifact.name] = {name: round(value, 2) for name, value in own.items()}
    return dict(sorted(found.items(), key=lambda one: -one[1]["seconds"]))


def machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}


def compared(now: dict[str, Any], before: dict[str, Any]) -> str:
    """A Markdown table of what costs more or less than it did: times as multiples of the run's own parse."""
    parse, past = now["floors"]["parse"], before["floors"]["parse"]
    lines = ["| figure | now | before | ratio |", "|---|---|---|---|"]

    def row(name: str, value: float, other: float, unit: str) -> None:
        lines.append(
            f"| {name} | {value:,.1f} {unit} | {other:,.1f} {unit} | {value / max(other, 1e-9):.2f} |"
        )

    row("build without encoder", now["without_encoder"] / parse, before["without_encoder"] / past, "× parse")
    for name, cost in now["artifacts"].items():
        old = before["artifacts"].get(name, {"seconds": 0.0})
        if max(cost["seconds"], old["seconds"]) >= NOTABLE:
            row(name, cost["seconds"] / parse, old["seconds"] / past, "× parse")
    for name in ("peak_mib", "peak_mib_of_workers", "release_mib"):
        row(name, now[name], before[name], "MiB")
    return "\n".join(lines)


def generated(entities: int, folder: Path) -> Path:
    """A made museum of so many entities."""
    file = folder / f"museum-{entities}.nt.zst"
    command = [
        sys.executable,
        str(Path(__file__).with_name("generate.py")),
        str(file),
        "--entities",
        str(entities),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--entities", type=int)
    parser.add_argument(
        "--data", type=Path, help="folder for the build, kept; a temporary one where none is given"
    )
    parser.add_argument("--model", default="hash")
    parser.add_argument("--communities", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--cap", type=float, help="GiB of memory that the build may take")
    arguments = parser.parse_args()
    if (arguments.file is None) == (arguments.entities is None):
        parser.error("give a FILE or --entities")
    with tempfile.TemporaryDirectory() as name:
        file = arguments.file or generated(arguments.entities, Path(name))
        result: dict[str, Any] = {"file": file.name, "machine": machine(), "floors": floors(file)}
        result |= {"cap_gib": arguments.cap} if arguments.cap else {}
        folder = arguments.data or Path(name)
        with capped(arguments.cap) as cap:
            result |= build(file, folder, arguments.model, not arguments.communities, cap)
        if arguments.communities:
            result["with_communities"] = added(result, build(file, folder, arguments.model))
    result["ratio_to_parse"] = round(result["without_encoder"] / result["floors"]["parse"], 1)
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if arguments.against:
        print(compared(result, json.loads(arguments.against.read_text(encoding="utf-8"))))
    else:
        print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
