"""Memory of a build: a data set, and ten copies of it with renamed IRIs.

    python benchmarks/memory.py FILE.nt.zst [--copies 10] [--entity-prefix http://]

The data set must be N-Triples (plain or .zst). Copies differ in the IRIs of their subjects (and of objects that are
subjects), so that nothing merges. Embeddings use the hashing stand-in: the encoder's own memory does not depend on the
size of the data. Prints one JSON line per build: triples, entities, documents, seconds, peak resident memory in MiB.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

IRI = re.compile(r"<([^>]*)>")
LAUNCH = """
import resource, sys
from crmrag_query.cli.main import group
try:
    group(sys.argv[1:], standalone_mode=False)
finally:
    print("peak_kib", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def lines(path: Path) -> list[str]:
    stream = pa.input_stream(str(path), compression="detect")
    return [line for line in io.TextIOWrapper(stream, encoding="utf-8") if line.strip()]


def write_copies(source: Path, target: Path, copies: int) -> None:
    """``copies`` of the data in one file; copy 0 keeps its IRIs."""
    data = lines(source)
    subjects = {line.split(" ", 1)[0][1:-1] for line in data}
    with target.open("w", encoding="utf-8") as out:
        for copy in range(copies):
            suffix = f"-copy{copy}" if copy else ""
            out.writelines(rename(line, subjects, suffix) for line in data)


def rename(line: str, subjects: set[str], suffix: str) -> str:
    return IRI.sub(lambda match: f"<{match[1]}{suffix}>" if match[1] in subjects else match[0], line)


def build(file: Path, folder: Path) -> dict[str, object]:
    config = folder / "config"
    config.mkdir(parents=True)
    (config / "datasets.yaml").write_text(
        f"datasets:\n  measured:\n    title: Measured\n    rdf: ['{file}']\n    embedding: {{model: hash}}\n"
        "    write_markdown: false\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-c", LAUNCH, "build", "measured", "--quiet", "--data", str(folder / "data")]
    done = subprocess.run([*command, "--config", str(config)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    peak = int(re.findall(r"peak_kib (\d+)", done.stderr)[-1])
    release = folder / "data" / "releases" / "measured"
    manifest = json.loads((release / (release / "current").read_text().strip() / "manifest.json").read_text())
    return {"peak_mib": peak // 1024, "counts": manifest["counts"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--copies", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for copies in (1, arguments.copies):
            file = Path(name) / f"{copies}.nt"
            write_copies(arguments.file, file, copies)
            print(json.dumps({"copies": copies} | build(file, Path(name) / str(copies))), flush=True)


if __name__ == "__main__":
    main()
