"""What a data set declares of its sources. Each kind of source has a configuration of its own: ours is the ``CONFIG`` of the
module of this package that is named as the kind; another package's is the ``config`` of its entry point ``crmrag.sources``.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_origin
from urllib.parse import quote, unquote

from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, model_serializer, model_validator

from crmrag_query.config.reading import FORBIDDEN_IN_IRI, Record, Requests, parse_part
from crmrag_query.errors import ConfigError, Mistake

GROUP = "crmrag.sources"
FILE_GRAPH = "urn:crmrag:file:"
"""Begins the graph of a file, in a source whose statements are told apart by their files."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")
_MAGIC = re.compile(r"[*?\[]")


def graph_of_file(name: str) -> str:
    """The graph of a file, by its name as reports show it."""
    return FILE_GRAPH + quote(name)


def file_of_graph(graph: str) -> str:
    """The name of the file whose graph it is; "" for a graph of none."""
    return unquote(graph.removeprefix(FILE_GRAPH)) if graph.startswith(FILE_GRAPH) else ""


def is_absolute(text: str) -> bool:
    """Whether a text begins as an absolute IRI does."""
    return bool(_SCHEME.match(text))


def absolute_iri(text: str) -> str:
    """The text; ValueError where it is no absolute IRI."""
    if not is_absolute(text) or FORBIDDEN_IN_IRI.search(text):
        raise ValueError(f"{text!r} is not an absolute IRI, as http://example.org/graph/1")
    return text


Iri = Annotated[str, AfterValidator(absolute_iri)]


def one_or_many(value: Any) -> Any:
    """A single text as a list of it."""
    return [value] if isinstance(value, str) else value


Files = Annotated[tuple[str, ...], BeforeValidator(one_or_many), Field(min_length=1)]
"""Names or globs, of which one may stand alone."""


class SourceConfig(Record):
    """What is declared of one source; each kind has a subclass, which also says what sources of the kind can do.

    ``alone``: the key whose value may stand for the whole. ``refreshable``: a change of it is not seen without reading it, so
    what was read is kept until it is asked again. ``crm``: it has to hold CIDOC-CRM.
    """

    alone: ClassVar[str] = ""
    refreshable: ClassVar[bool] = False
    crm: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """The value of one key may stand alone; a key without a value is one that is not given."""
        if isinstance(value, Mapping):
            return {key: given for key, given in value.items() if given is not None}
        many = bool(cls.alone) and get_origin(cls.model_fields[cls.alone].annotation) is tuple
        if cls.alone and isinstance(value, str | list | tuple if many else str):
            return {cls.alone: one_or_many(value) if many else value}
        raise ValueError(f"it holds {cls.alone or 'its keys'}, or keys: {', '.join(cls.model_fields)}")

    def places(self) -> tuple[str, ...]:
        """Where the data comes from, as declared: files, globs, an address."""
        return ()

    def described(self) -> str:
        """The source in one line, without a secret."""
        return ", ".join(self.places())

    def stated(self) -> dict[str, Any]:
        """The source as a release's provenance tells it: nothing of it may be a secret."""
        return {"declared": list(self.places())}

    def whole(self) -> tuple[str, ...]:
        """What the IRIs of the things begin with that it describes one by one, as pages are, or the IRI of their class: each
        keeps a document of its own, however little is told of it."""
        return ()

    def require(self, root: Path, key: str) -> None:
        """ConfigError, with the ``key``, for a file that is named and not there."""
        self.paths(root, key)

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        """The files that are read, sorted and distinct; ConfigError, with the ``key``, for an entry without any."""
        return ()

    def server(self) -> str:
        """The server that is asked politely, in turns with other builds, as host and port; "" where nobody is asked."""
        return ""

    def resolved(self, method: Requests) -> Requests:
        """How the server is asked: the method's requests, with what is set here."""
        return method

    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that are needed, each once."""
        return ()

    def told(self, method: Requests) -> Iterator[str]:
        """Lines for `crmrag datasets check`, after the one that describes it."""
        return iter(())


class SourceEntry(Record):
    """One source of a data set. ``graph``: the named graph of those of its triples that have none, "" for none; ``by_file``:
    whether these are in one of the file that they stand in; ``key``: where it stands in the data set's entry."""

    kind: str
    config: SerializeAsAny[SourceConfig]
    graph: str = ""
    by_file: bool = False
    key: str = Field(default="", exclude=True, repr=False)

    @property
    def identity(self) -> str:
        """16 hexadecimal digits that tell it from the other sources of its data set, whatever their order."""
        told = {"kind": self.kind, "graph": self.graph, **self._apart(), **self.config.stated()}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        graph = {"named_graph": self.graph} if self.graph else {}
        return {self.kind: self.config.model_dump(mode="json"), **graph, **self._apart()}

    def _apart(self) -> dict[str, bool]:
        return {"by_file": True} if self.by_file else {}


class _Beside(Record):
    """What may stand beside the kind in an entry of `sources`."""

    named_graph: Iri | None = None
    by_file: bool = False


def parse_sources(listed: Any, file: Path | str, key: str) -> tuple[SourceEntry, ...]:
    """The entries of a list `sources`; ConfigError with every mistake in them."""
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise ConfigError.single(file, key, "it must be a list of sources, as '- rdf: exports/*.ttl'")
    parsed, mistakes = list[SourceEntry](), list[Mistake]()
    for number, entry in enumerate(listed):
        place = f"{key}[{number}]"
        try:
            parsed.append(_parsed(entry, file, place, f"sources[{number}]"))
        except ConfigError as error:
            mistakes += error.mistakes
    if mistakes:
        raise ConfigError(file, tuple(mistakes))
    return tuple(parsed)


def _parsed(entry: Any, file: Path | str, place: str, short: str) -> SourceEntry:
    kinds = ", ".join(source_kinds())
    named = (
        [str(key) for key in entry if key not in _Beside.model_fields] if isinstance(entry, Mapping) else []
    )
    if len(named) != 1:
        what = f"it must hold one kind of source ({kinds})" + (
            f", and holds {', '.join(named)}" if named else ""
        )
        raise ConfigError.single(file, place, what, remedy="As in '- rdf: exports/*.ttl'.")
    (kind,) = named
    if kind not in source_kinds():
        near = difflib.get_close_matches(kind, source_kinds(), n=1)
        remedy = f"Did you mean {near[0]}?" if near else f"There are: {kinds}."
        raise ConfigError.single(file, f"{place}.{kind}", "no such kind of source", remedy=remedy)
    beside = parse_part(_Beside, {key: value for key, value in entry.items() if key != kind}, file, place)
    config = parse_part(config_of(kind), entry[kind], file, f"{place}.{kind}")
    if beside.by_file and (beside.named_graph or config.server()):
        why = "it has no files" if config.server() else "its triples have a `named_graph`"
        raise ConfigError.single(file, f"{place}.by_file", why, remedy="Leave out one of both.")
    graph = beside.named_graph or ""
    return SourceEntry(kind=kind, config=config, graph=graph, by_file=beside.by_file, key=f"{short}.{kind}")


@cache
def source_kinds() -> tuple[str, ...]:
    """The names of all kinds of sources: our own, then those of other packages."""
    own = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(dict.fromkeys((*own, *sorted(entry_points(group=GROUP).names))))


@cache
def config_of(kind: str) -> type[SourceConfig]:
    """The configuration of a kind, one of ``source_kinds``. Raises ConfigError for an entry point that gives none."""
    other = next(iter(entry_points(group=GROUP, name=kind)), None)
    try:
        found = import_module(f"{__name__}.{kind}").CONFIG if other is None else other.load().config
    except (ImportError, AttributeError) as error:
        raise _unusable(kind, str(error)) from error
    if not (isinstance(found, type) and issubclass(found, SourceConfig)):
        raise _unusable(kind, f"its configuration is {found!r}")
    return found


def _unusable(kind: str, why: str) -> ConfigError:
    remedy = (
        f"Its entry point in {GROUP} should name a Kind whose `config` is a SourceConfig: docs/extending.md."
    )
    return ConfigError.single(
        "datasets.yaml", f"sources.{kind}", f"its package cannot be used: {why}", remedy=remedy
    )


def matching_files(root: Path, entries: Sequence[str], key: str) -> tuple[Path, ...]:
    """The files that names or globs below ``root`` mean, sorted and distinct; ConfigError for one without any."""
    found: set[Path] = set()
    for number, entry in enumerate(entries):
        matches = _matches(root, entry)
        if not matches:
            raise ConfigError.single(
                "datasets.yaml", f"{key}[{number}]", nothing_at(root, entry),
                remedy=f"Is the export there? Paths and globs are taken from {root.resolve()}.",
            )  # fmt: skip
        found.update(matches)
    return tuple(sorted(found))


def is_glob(entry: str) -> bool:
    """Whether a file is named by a pattern."""
    return bool(_MAGIC.search(entry))


def named_file(root: Path, name: str, key: str) -> Path:
    """The file of a name below ``root``; ConfigError where there is none."""
    file = root / name
    if not file.is_file():
        raise ConfigError.single(
            "datasets.yaml", key, nothing_at(root, name), remedy=f"Paths are taken from {root.resolve()}."
        )
    return file


def nothing_at(root: Path, entry: str) -> str:
    """Why an entry gives no file."""
    if (root / entry).is_dir():
        return f"{entry!r} is a folder: name its files, as in '{entry.rstrip('/')}/*.ttl'"
    return f"no file matches {entry!r}" if _MAGIC.search(entry) else f"no such file: {entry!r}"


def _matches(root: Path, entry: str) -> list[Path]:
    parts = (root / entry).parts
    fixed = next((number for number, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    folder = Path(*parts[:fixed])
    matches = [folder] if fixed == len(parts) else folder.glob("/".join(parts[fixed:]))
    return [match for match in matches if match.is_file()]
