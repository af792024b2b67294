"""What a build costs after a small change of its source, against the build from nothing.

    python benchmarks/changes.py FILE [--share 0.001 0.01 0.1] [--hub IRI] [--data FOLDER] [--out RESULT.json]

FILE is N-Triples, plain or .zst. It is built (or taken as `scale.py --data FOLDER` has left it), then a share of its subjects
is changed at random: of each, one triple: a literal reads otherwise, or a link goes, or a note comes. --hub gives one entity
another name besides. Then it is built again, and once more from nothing, which must give the same release. Of several shares
each is of what the one before has left. Told apart: the harvest (entities, prefetch), what the encoder makes, and all else,
in seconds and in those of a processor, which other work on the machine lengthens less; and how many windows were encoded
against those of documents whose text really changed. `ratio`: all else after the change, to all else from nothing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from scale import ENCODING, build, machine

from crmrag_query.artifacts.release import open_release
from crmrag_query.documents.documents import Documents

HARVEST = ("entities", "prefetch", "harvest_report")
NOTE = "<http://www.cidoc-crm.org/cidoc-crm/P3_has_note>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
NAME = "measured"


def changed(file: Path, share: float, hub: str, out: Path, seed: int = 1) -> int:
    """Write the file with its subjects changed; returns how many were."""
    raw = pa.input_stream(str(file), compression="detect").read()
    lines = pl.Series("line", raw.decode().splitlines()).to_frame().filter(pl.col("line") != "")
    lines = lines.with_columns(subject=pl.col("line").str.split_exact(" ", 1).struct.field("field_0"))
    subjects = lines["subject"].unique().sort().filter(lines["subject"].unique().sort().str.starts_with("<"))
    chosen = subjects.sample(max(1, round(len(subjects) * share)), seed=seed)
    draw = np.random.default_rng(seed).random(len(lines))
    lines = lines.with_columns(draw=draw, wanted=pl.col("subject").is_in(chosen.implode()))
    first = pl.col("wanted") & (pl.col("draw") == pl.col("draw").min().over("subject"))
    lines = lines.with_columns(first=first)
    literal = pl.col("line").str.contains(r'^\S+ \S+ "')
    revised = pl.col("line").str.replace(' "', ' "revised ', literal=True)
    noted = pl.col("line") + "\n" + pl.col("subject") + f' {NOTE} "Noted on revision." .'
    gone = (
        pl.col("first") & ~literal & (pl.col("draw") * 1e6 % 2 < 1) & ~pl.col("line").str.contains("#type>")
    )
    line = pl.when(pl.col("first") & literal).then(revised).when(pl.col("first")).then(noted)
    told = lines.filter(~gone).select(line.otherwise("line"))["line"]
    if hub:
        told = told.filter(~told.str.starts_with(f"<{hub}> {LABEL} "))
        told.append(pl.Series([f'<{hub}> {LABEL} "Renamed on revision" .']))
    with pa.output_stream(str(out), compression="zstd") as stream:
        for start in range(0, len(told), 1 << 20):
            stream.write(("\n".join(told[start : start + (1 << 20)].to_list()) + "\n").encode())
    return len(chosen)


def texts(data: Path) -> pl.DataFrame:
    """The current release's documents: ``iri`` and a hash of the ``text``."""
    documents = open_release(NAME, data)[Documents]
    iris = documents.graph.iris.take(pa.array(documents.entities))
    hashed = pl.Series(pl.from_arrow(documents.table.column("text"))).hash()
    return pl.DataFrame({"iri": pl.Series(pl.from_arrow(iris)), "text": hashed})


def parted(result: dict[str, Any], whole: str, part: str) -> dict[str, float]:
    """Seconds of the harvest, of what the encoder makes, and of all else (``whole`` of the build less these): by the clock,
    or a processor's, ``part`` of each artifact."""
    seconds = {name: cost[part] for name, cost in result["artifacts"].items()}
    harvest = sum(seconds.get(name, 0.0) for name in HARVEST)
    encoding = sum(seconds.get(name, 0.0) for name in ENCODING)
    rest = result[whole] - harvest - encoding
    return {"harvest": round(harvest, 1), "encoding": round(encoding, 1), "rest": round(rest, 1)}


def costs(result: dict[str, Any]) -> dict[str, Any]:
    """What a build cost, by the clock and of a processor."""
    clock, processor = parted(result, "wall", "seconds"), parted(result, "processor", "processor")
    return clock | {"processor": processor, "artifacts": result["artifacts"]}


def encoded(data: Path, since: float) -> dict[str, int]:
    """Windows that were encoded after the time ``since``, and windows in all."""
    records = sorted((data / "work" / NAME / "embeddings").glob("*/record.json"))
    stats = [
        (json.loads(path.read_text(encoding="utf-8"))["stats"], path.stat().st_mtime >= since)
        for path in records
    ]
    return {
        "encoded": sum(one["encoded"] for one, new in stats if new),
        "windows": sum(one["windows"] for one, _ in stats),
    }


def measured(source: Path, folder: Path, fresh: Path) -> dict[str, Any]:
    """Build a changed source in ``folder``, where it was built before the change, and from nothing in ``fresh``."""
    before, since = texts(folder / "data"), time.time()
    again = build(source, folder, "hash", communities=False)
    after = texts(folder / "data")
    differ = after.join(before, on=["iri", "text"], how="anti")
    documents = {"changed": len(differ), "all": len(after)} | encoded(folder / "data", since)
    full = build(source, fresh, "hash", communities=False)
    same = open_release(NAME, folder / "data").id == open_release(NAME, fresh / "data").id
    shutil.rmtree(fresh)
    found = {"documents": documents, "again": costs(again), "full": costs(full), "same_release": same}
    rest = found["again"]["rest"] / found["full"]["rest"]
    worked = found["again"]["processor"]["rest"] / found["full"]["processor"]["rest"]
    return found | {"ratio": round(rest, 2), "ratio_of_processor": round(worked, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--share", type=float, nargs="+", default=[0.001])
    parser.add_argument("--hub", default="")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, current = arguments.data or Path(name) / "again", arguments.file
        if not (folder / "data" / "releases" / NAME / "current").exists():
            build(current, folder, "hash", communities=False)
        result: dict[str, Any] = {"file": arguments.file.name, "machine": machine(), "changes": []}
        for number, share in enumerate(arguments.share):
            source = Path(name) / f"source{number}" / "data.nt.zst"
            source.parent.mkdir()
            count = changed(current, share, arguments.hub, source, seed=number + 1)
            told = {"share": share, "changed_entities": count}
            result["changes"].append(told | measured(source, folder, Path(name) / f"fresh{number}"))
            current = source
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
