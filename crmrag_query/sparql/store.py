"""A release as N-Quads, in batches of lines, and in an Oxigraph store: in memory, or on disk where it is built once and
opened many times."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.artifacts.manifest import fsync
from crmrag_query.codec import to_json, to_problem
from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import CrmRagError, MissingExtraError, ServiceError
from crmrag_query.graph.arrays import spread
from crmrag_query.graph.graph import Graph
from crmrag_query.sparql.check import check_query
from crmrag_query.sparql.evaluate import evaluate
from crmrag_query.syntax import RDF_TYPE

if TYPE_CHECKING:
    from pyoxigraph import Store
BATCH = 100_000  # triples
_FORBIDDEN = r'[\x00-\x20<>"{}|^`\\]'
_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))
_TEXT = pa.large_utf8()


def statements(graph: Graph) -> Iterator[memoryview]:
    """Every triple once for each named graph that states it, as lines of N-Quads in UTF-8.

    Types stand in the default graph: a release does not keep which graphs state them. Signs that IRIs may not hold are
    written as escapes, to be read leniently. Blank nodes have their names in the release (``urn:skolem:…``).
    """
    nodes = _iris(graph.iris)
    properties = _iris(_texts([graph.property_iri(n) for n in range(len(graph.property_codes))]))
    classes = _iris(_texts([graph.class_iri(n) for n in range(len(graph.class_codes))]))
    # How lines end: by the named graphs of a set of graphs, one line for each.
    sets = [names or ("",) for names in graph.graph_sets]
    tails = _texts([f" {_iri(name)} .\n" if name else " .\n" for names in sets for name in names])
    tail_ptr = np.cumsum([0, *map(len, sets)])
    rows = graph.adjacency.forward
    for start in range(0, len(rows.val), BATCH):
        line, tail = spread(tail_ptr, graph.triple_graph[start : start + BATCH])
        at = start + line
        row = np.searchsorted(rows.ptr, at, side="right") - 1
        prop = np.searchsorted(rows.prop, row, side="right") - 1
        subjects, objects = nodes.take(pa.array(rows.row[row])), nodes.take(pa.array(rows.val[at]))
        yield _lines(subjects, properties.take(pa.array(prop)), objects, tails.take(pa.array(tail)))
    ptr, types = graph.type_rows
    for start in range(0, len(types), BATCH):
        part = types[start : start + BATCH]
        subject = np.searchsorted(ptr, np.arange(start, start + len(part)), side="right") - 1
        subjects, objects = nodes.take(pa.array(subject)), classes.take(pa.array(part))
        yield _lines(subjects, _text(f"<{RDF_TYPE}>"), objects, _text(" .\n"))
    for start in range(0, graph.literal_table.num_rows, BATCH):
        literals = graph.literal_table.slice(start, BATCH)
        line, tail = spread(tail_ptr, literals.column("graph").to_numpy())
        literals = literals.take(pa.array(line))
        subjects = nodes.take(literals.column("subject"))
        predicates = properties.take(literals.column("property"))
        yield _lines(subjects, predicates, _literal(literals), tails.take(pa.array(tail)))


def _literal(part: pa.RecordBatch) -> pa.Array:
    """Literals as N-Quads writes them."""
    value = part.column("value")
    for sign, escape in _ESCAPES:
        value = pc.replace_substring(value, sign, escape)
    kind = _each_word(part.column("datatype"), lambda word: f"^^{_iri(word)}" if word else "")
    lang = _each_word(part.column("lang"), lambda word: f"@{word}" if word else "")
    return pc.binary_join_element_wise(_text('"'), value, _text('"'), kind, lang, _text(""))


def _each_word(column: pa.DictionaryArray, written: Callable[[str], str]) -> pa.Array:
    return _texts([written(word) for word in column.dictionary.to_pylist()]).take(column.indices)


def _lines(s: pa.Array, p: pa.Array, o: pa.Array, ends: pa.Array) -> memoryview:
    """Lines of these columns, of which one may be a single text, as they stand in memory."""
    space = _text(" ")
    joined = pc.binary_join_element_wise(s, space, p, space, o, ends, _text(""))
    _, offsets, data = joined.buffers()
    ends_at = np.frombuffer(offsets, np.int64, len(joined) + 1, joined.offset * 8)
    return memoryview(data)[int(ends_at[0]) : int(ends_at[-1])]


def _iris(column: pa.Array) -> pa.Array:
    """IRIs in angle brackets."""
    odd = pc.match_substring_regex(column, _FORBIDDEN)
    if pc.any(odd).as_py():
        written = [_iri(iri)[1:-1] for iri in column.filter(odd).to_pylist()]
        column = pc.replace_with_mask(column, odd, _texts(written))
    return pc.binary_join_element_wise(_text("<"), column, _text(">"), _text(""))


def _iri(iri: str) -> str:
    return f"<{re.sub(_FORBIDDEN, _escaped, iri)}>"


def _escaped(sign: re.Match[str]) -> str:
    return f"\\u{ord(sign[0]):04X}"


def _texts(texts: list[str]) -> pa.Array:
    return pa.array(texts, _TEXT)


def _text(text: str) -> pa.Scalar:
    return pa.scalar(text, _TEXT)


FORM = 1
"""Of what is written into stores; another one has them built again."""
WORKING = ".building-"
ABANDONED_SECONDS = 86_400  # after which the working folder of a build that was killed is taken away


def open_store(graph: Graph, release: str, folder: Path, config: SparqlConfig) -> Store:
    """The store of a release: in memory or, of a large one, in ``folder``, made where there is none.

    Raises ReleaseError, ServiceError, MissingExtraError.
    """
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("SPARQL", "service", "pyoxigraph") from error
    if graph.triples + graph.literal_table.num_rows + len(graph.type_rows[1]) <= config.in_memory_triples:
        store = pyoxigraph.Store()
        text = b"".join(statements(graph))
        store.bulk_load(input=text, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)
        return store
    path = folder / f"{release}-{FORM}-{pyoxigraph.__version__}"
    try:
        if not path.is_dir():
            _build(graph, path)
        os.utime(path)
        _tidy(path, config.stores)
    except OSError as error:
        raise ServiceError(
            f"The store for SPARQL cannot be built in {folder}: {error}.",
            "See that there is space, and that the folder can be written to.",
        ) from error
    return pyoxigraph.Store.read_only(str(path))


def _build(graph: Graph, path: Path) -> None:
    """Make the store in a working folder, then give it its name; another process may have done so in the meantime."""
    import pyoxigraph

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


def _tidy(path: Path, kept: int) -> None:
    """Take away the stores beside this one that were opened longest ago, and what killed builds left."""
    folders = [one for one in path.parent.iterdir() if one.is_dir()]
    stores = [one for one in folders if not one.name.startswith(WORKING)]
    for store in sorted(stores, key=_touched, reverse=True)[kept:]:
        if store != path:
            shutil.rmtree(store, ignore_errors=True)
    for working in folders:
        if working.name.startswith(WORKING) and time.time() - _written(working) > ABANDONED_SECONDS:
            shutil.rmtree(working, ignore_errors=True)


def _touched(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _written(folder: Path) -> float:
    """When something in a folder was last written: while a store is being built, just now, whatever the clock shows."""
    with suppress(OSError):
        return max(map(_touched, (folder, *folder.rglob("*"))))
    return inf  # its build has just ended


GRACE_SECONDS = 2.0  # that the alarm comes after the one who asked should have ended the process
RECURSION = 20_000  # calls within one another that reading a query may take; it has `depth` to keep within


@dataclass(frozen=True, slots=True)
class Setup:
    """``folder`` of the ``release``; ``stores``: the folder for stores on disk."""

    folder: str
    release: str
    stores: str
    config: dict[str, Any]


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin, os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed goes where messages go
    try:
        setup = Setup(**json.loads(requests.readline()))
        config = SparqlConfig.model_validate(setup.config)
        answer = _answering(setup, config)
        _confine(config)
    except CrmRagError as error:
        _say(answers, {"error": _problem(error)})
        return
    _say(answers, {"ready": True})
    for line in requests:
        with _alarm(config.seconds + GRACE_SECONDS):
            _say(answers, answer(json.loads(line)))


def _say(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(to_json(message) + "\n")
    answers.flush()


def _problem(error: CrmRagError) -> dict[str, Any]:
    """The error as it crosses the pipe: as itself, for whoever asked decides what leaves the machine."""
    problem: dict[str, Any] = json.loads(to_json(to_problem(error)))
    return problem | {"detail": error.what, "remedy": error.remedy, "error": type(error).__name__}


def _answering(setup: Setup, config: SparqlConfig) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What answers a request on the release's store; all that queries need is imported."""
    graph = Graph.open(Path(setup.folder) / "graph")
    store = open_store(graph, setup.release, Path(setup.stores), config)
    graphs = graph.named_graphs  # read before no file can be opened any more
    for form in ("ASK {}", "SELECT (STR(?x) AS ?s) FROM <urn:g> { ?x a [] }", "CONSTRUCT WHERE { ?s a ?o }"):
        evaluate(store, check_query(form, config, frozenset({"urn:g"})), 1, 1000)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        try:
            query = check_query(request["query"], config, graphs)
            return {"result": evaluate(store, query, request["limit"], config.result_characters)}
        except CrmRagError as error:
            return {"error": _problem(error)}

    return answer


def _confine(config: SparqlConfig) -> None:
    """From here on no more memory than configured besides the data, no file and no connection that is not open yet."""
    sys.setrecursionlimit(RECURSION)
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = _data_bytes()
    limits = [] if held is None else [(resource.RLIMIT_DATA, held + config.memory_bytes)]
    for what, most in [*limits, *([(resource.RLIMIT_NOFILE, 0)] if _all_open() else [])]:
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (limit, limit))


def _data_bytes() -> int | None:
    """What this process has set aside for data, in bytes; None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmData:")]
    return int(sizes[0]) * 1024 if sizes else None


def _all_open() -> bool:
    """True unless a store on disk has tables that it has not opened yet."""
    try:
        opened = {path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
    except OSError:
        return False
    opened = {path for path in opened if path.suffix == ".sst"}
    folders = {path.parent for path in opened}
    return not folders or all(table in opened for folder in folders for table in folder.glob("*.sst"))


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Ends the process after so many seconds, even within the engine, where no Python runs."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
