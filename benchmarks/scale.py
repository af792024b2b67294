"""What a build costs: seconds of each artifact, peak memory, floors measured in the same run.

    python benchmarks/scale.py FILE [--data FOLDER] [--model hash] [--out RESULT.json]

FILE is N-Triples, plain or .zst. The build is `crmrag build` in a process of its own, with the hashing stand-in as encoder
unless another is named; "without encoder" leaves out the artifacts that an encoder makes (ENCODING). Floors: parsing the
decompressed bytes with pyoxigraph, and one pass over the lines. Every figure stands beside its ratio to the parse.
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
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyoxigraph as ox

ENCODING = ("encoder", "embeddings", "faiss_index")
LAUNCH = """
import resource, sys
from crmrag_query.cli.main import group
try:
    group(sys.argv[1:], standalone_mode=False)
finally:
    print("peak_kib", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
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


def build(file: Path, folder: Path, model: str) -> dict[str, Any]:
    """Build the file in a new process: wall seconds, peak resident memory, seconds and bytes of each artifact, counts."""
    config = folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "datasets.yaml").write_text(
        f"datasets:\n  measured:\n    title: Measured\n    rdf: ['{file.resolve()}']\n"
        f"    embedding: {{model: '{model}'}}\n    write_markdown: false\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-c", LAUNCH, "build", "measured", "--quiet", "--data", str(folder / "data")]
    start = time.perf_counter()
    done = subprocess.run([*command, "--config", str(config)], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    artifacts = costs(folder / "data" / "work" / "measured")
    encoding = sum(artifacts[name]["seconds"] for name in ENCODING if name in artifacts)
    release = folder / "data" / "releases" / "measured"
    manifest = json.loads((release / (release / "current").read_text().strip() / "manifest.json").read_text())
    return {
        "wall": round(wall, 1),
        "without_encoder": round(wall - encoding, 1),
        "peak_mib": int(re.findall(r"peak_kib (\d+)", done.stderr)[-1]) // 1024,
        "artifacts": artifacts,
        "counts": manifest["counts"],
        "release_mib": sum(file["bytes"] for file in manifest["files"]) >> 20,
    }


def costs(work: Path) -> dict[str, dict[str, float]]:
    """Seconds and MiB of each artifact, over all its chunks."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted(work.glob("*/record.json")) + sorted(work.glob("*/*/record.json")):
        stats = json.loads(path.read_text())
        own = found.setdefault(stats["artifact"], {"seconds": 0.0, "mib": 0.0})
        own["seconds"] = round(own["seconds"] + stats["stats"].get("seconds", 0.0), 2)
        own["mib"] = round(own["mib"] + stats["stats"].get("bytes", 0) / (1 << 20), 1)
    return dict(sorted(found.items(), key=lambda one: -one[1]["seconds"]))


def machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--data", type=Path, help="folder for the build, kept; a temporary one where none is given"
    )
    parser.add_argument("--model", default="hash")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    result: dict[str, Any] = {
        "file": arguments.file.name,
        "machine": machine(),
        "floors": floors(arguments.file),
    }
    with tempfile.TemporaryDirectory() as name:
        result |= build(arguments.file, arguments.data or Path(name), arguments.model)
    result["ratio_to_parse"] = round(result["without_encoder"] / result["floors"]["parse"], 1)
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
