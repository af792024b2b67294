"""One data set from its file, from Oxigraph over HTTP and from Virtuoso: is it the same release?

    python benchmarks/same_release.py FILE [FILE …] [--model hash]

For each file (any RDF format, plain or compressed): builds it from the file, from Oxigraph behind HTTP, and, where
Virtuoso is installed (Debian: virtuoso-opensource), from Virtuoso; compares the releases' ids. Virtuoso normalises some
literals when it loads them: each kind of difference is counted with an example, and the file is built once more with its
literals normalised in the same, documented way (benchmarks/virtuoso_forms.py). Prints one JSON line a file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import virtuoso
from virtuoso_forms import all_as_stored

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from crmrag_assets.build.step import BuildContext, chunks_of
from crmrag_assets.sources.spooled import ByteStream, format_of
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from tests.support.builds import Project, build_all, make_project
from tests.support.sparql_server import serving

GRAPH = "urn:x:benchmark"


def read(file: Path) -> list[ox.Quad]:
    with ByteStream(file) as stream:
        return list(ox.parse(stream.whole(), format=format_of(file).parser))


def ntriples(quads: Iterable[ox.Quad]) -> bytes:
    return ox.serialize((quad.triple for quad in quads), format=ox.RdfFormat.N_TRIPLES) or b""


def built(folder: Path, quads: list[ox.Quad] | None, **keys: Any) -> tuple[str, float, BuildContext]:
    """The id of the release of a project that is made for it, seconds, and its context."""
    source = "" if quads is None else ntriples(quads).decode()
    project: Project = make_project(folder, source, **keys)
    context = project.context()
    start = time.perf_counter()
    build_all(context)
    seconds = time.perf_counter() - start
    release = pointer(dataset_folder(context.data, context.name))
    return str(release), round(seconds, 1), context


def declared(url: str, **keys: Any) -> dict[str, Any]:
    """An endpoint in place of a file, asked without pauses."""
    return {"endpoint": {"url": url, "requests": {"pause_seconds": 0}, **keys}}


def literals(context: BuildContext) -> set[tuple[str, ...]]:
    """All triples of a build's chunks, as tuples."""
    import polars as pl

    columns = ["s", "p", "o", "datatype", "lang"]
    frames = [
        pl.read_parquet(context.folder("prefetch", chunk) / "triples.parquet", columns=columns)
        for chunk in chunks_of(context)
    ]
    return set(pl.concat(frames).with_columns(pl.col("datatype", "lang").cast(pl.String)).iter_rows())


def differences(ours: BuildContext, theirs: BuildContext) -> dict[str, Any]:
    """Literals of the file that came back otherwise, by datatype, with an example of each kind."""
    file, virtuoso_ = literals(ours), literals(theirs)
    gone, new = file - virtuoso_, virtuoso_ - file
    by_place = {(s, p): (o, datatype) for s, p, o, datatype, _ in sorted(new)}
    kinds = Counter(datatype.rpartition("#")[2] for *_, datatype, _ in gone)
    examples = {
        datatype.rpartition("#")[2]: f"{o} -> {by_place.get((s, p), ('(gone)', ''))[0]}"
        for s, p, o, datatype, _ in sorted(gone, reverse=True)
    }
    return {"changed": len(gone), "kinds": dict(kinds), "examples": examples}


def compared(file: Path, model: str) -> dict[str, Any]:
    quads, keys = read(file), {"embedding": {"model": model}}
    told: dict[str, Any] = {"file": file.name, "triples": len(quads)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        from_file, told["file_s"], ours = built(folder / "file", quads, **keys)
        with serving(quads) as server:
            over_http, told["oxigraph_s"], _ = built(folder / "http", None, **declared(server.url), **keys)
        told |= {"release": from_file, "oxigraph_same": over_http == from_file}
        if virtuoso.available():
            with virtuoso.virtuoso(ntriples(quads), GRAPH) as running:
                endpoint = declared(running.url, default_graphs=[GRAPH])
                found, told["virtuoso_s"], theirs = built(folder / "virtuoso", None, **endpoint, **keys)
            told |= {"virtuoso_same": found == from_file, "virtuoso_differences": differences(ours, theirs)}
            normal, _, _ = built(folder / "normal", list(all_as_stored(quads)), **keys)
            told["virtuoso_same_normalised"] = found == normal
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--model", default="hash", help="the embedding model of all builds")
    options = parser.parse_args()
    for file in options.files:
        print(json.dumps(compared(file, options.model), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
