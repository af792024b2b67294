"""A release in an Oxigraph store: in memory, or on disk where it is built once and opened many times."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crmrag_query.artifacts.files import fsync
from crmrag_query.errors import MissingExtraError, ServiceError
from crmrag_query.graph.graph import Graph

if TYPE_CHECKING:
    from pyoxigraph import Store

FORM = 1
"""Of what is written into stores; another one has them built again."""
WORKING = ".building-"
ABANDONED_SECONDS = 86_400  # after which the working folder of a build that was killed is taken away


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where stores on disk are: ``folder``, of which ``kept`` stay; releases of up to ``in_memory`` triples have none."""

    folder: Path
    kept: int
    in_memory: int


def open_store(graph: Graph, release: str, place: StorePlace) -> Store:
    """The store of a release, made where there is none; raises ReleaseError, ServiceError, MissingExtraError."""
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("SPARQL", "service", "pyoxigraph") from error
    if graph.triples + graph.literal_table.num_rows + len(graph.type_rows[1]) <= place.in_memory:
        from crmrag_query.sparql.statements import statements

        store = pyoxigraph.Store()
        text = b"".join(statements(graph))
        store.bulk_load(input=text, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)
        return store
    path = place.folder / f"{release}-{FORM}-{pyoxigraph.__version__}"
    try:
        if not path.is_dir():
            _build(graph, path)
        os.utime(path)
        _tidy(place, path)
    except OSError as error:
        raise ServiceError(
            f"The store for SPARQL cannot be built in {place.folder}: {error}.",
            "See that there is space, and that the folder can be written to.",
        ) from error
    return pyoxigraph.Store.read_only(str(path))


def _build(graph: Graph, path: Path) -> None:
    """Make the store in a working folder, then give it its name; another process may have done so in the meantime."""
    import pyoxigraph

    from crmrag_query.sparql.statements import statements

    path.parent.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(prefix=WORKING, dir=path.parent))
    try:
        text, made = working / "triples.nq", working / "store"
        with text.open("wb") as file:
            for lines in statements(graph):
                file.write(lines)
        store = pyoxigraph.Store(str(made))
        store.bulk_load(path=str(text), format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)
        store.flush()
        del store
        for file_path in made.iterdir():
            fsync(file_path)
        with suppress(OSError):
            made.rename(path)
        if not path.is_dir():
            raise OSError(f"{made} cannot be renamed to {path}")
        fsync(path.parent)
    finally:
        shutil.rmtree(working, ignore_errors=True)


def _tidy(place: StorePlace, path: Path) -> None:
    """Take away the stores that were opened longest ago, and what killed builds left."""
    folders = [one for one in place.folder.iterdir() if one.is_dir()]
    stores = [one for one in folders if not one.name.startswith(WORKING)]
    for store in sorted(stores, key=_touched, reverse=True)[place.kept :]:
        if store != path:
            shutil.rmtree(store, ignore_errors=True)
    for working in folders:
        if working.name.startswith(WORKING) and time.time() - _touched(working) > ABANDONED_SECONDS:
            shutil.rmtree(working, ignore_errors=True)


def _touched(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
