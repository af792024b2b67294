"""What a data set declares of its sources. Each kind of source has a configuration of its own: those of this program stand in
``KINDS``; another package's is the ``config`` of its entry point ``crmrag.sources``.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_origin
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializeAsAny,
    field_validator,
    model_serializer,
    model_validator,
)

from crmrag_query.config.reading import (
    FORBIDDEN_IN_IRI,
    Count,
    HeaderName,
    NotNegative,
    Positive,
    Record,
    Requests,
    Variable,
    parse_part,
)
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
    keys = entry if isinstance(entry, Mapping) else ()
    named = [str(key) for key in keys if key not in _Beside.model_fields]
    if len(named) != 1:
        held = f", and holds {', '.join(named)}" if named else ""
        what = f"it must hold one kind of source ({kinds}){held}"
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
    """The names of all kinds of sources: those of KINDS, then those of other packages."""
    return tuple(dict.fromkeys((*KINDS, *sorted(entry_points(group=GROUP).names))))


@cache
def config_of(kind: str) -> type[SourceConfig]:
    """The configuration of a kind, one of ``source_kinds``. Raises ConfigError for an entry point that gives none."""
    other = next(iter(entry_points(group=GROUP, name=kind)), None)
    if other is None:
        return KINDS[kind]
    try:
        found = other.load().config
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


NO_CONTACT = "  does not say who asks: set `contact` to an address that its operators can write to"
GRAPHS = ("default", "named", "all")
_SECRET = re.compile(r"(?i)key|token|secret|passw|pwd|auth|user|sig")


def _address(text: str) -> str:
    if FORBIDDEN_IN_IRI.search(text) or not text.isascii():
        raise ValueError("an address holds no spaces, quotes or letters beyond ASCII: percent-encode them")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("not the address of an endpoint, as https://example.org/sparql")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address does not hold credentials: name environment variables under `auth`")
    if any(_SECRET.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise ValueError(
            "an address does not hold credentials: name an environment variable under `auth` or `headers`"
        )
    if "#" in text:
        raise ValueError("an endpoint's address ends before '#': what follows is for a page in a browser")
    return text


def _graphs(value: Any) -> Any:
    """One of the words, or distinct IRIs in their order."""
    if isinstance(value, str) and value in GRAPHS:
        return value
    listed = [value] if isinstance(value, str) and is_absolute(value) else value
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(one, str) for one in listed):
        raise ValueError(f"it is {', '.join(GRAPHS)}, or a list of the IRIs of named graphs")
    return tuple(dict.fromkeys(absolute_iri(one) for one in listed))


def _plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError("it goes into an HTTP header, which takes plain ASCII characters in one line")
    return text


Graphs = Annotated[Literal["default", "named", "all"] | tuple[str, ...], BeforeValidator(_graphs)]


class Auth(Record):
    """How to sign in; each value is the *name* of an environment variable that holds the secret.

    Without a `kind`, a `token` means bearer, else basic is meant.
    """

    kind: Literal["basic", "digest", "bearer"]
    user: Variable | None = None
    password: Variable | None = None
    token: Variable | None = None

    @model_validator(mode="before")
    @classmethod
    def _kind(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError("it holds keys: kind (basic, digest or bearer), and user and password, or token")
        return {"kind": "bearer" if value.get("token") else "basic", **value}

    @model_validator(mode="after")
    def _complete(self) -> Auth:
        secret, signed = ("token",), ("user", "password")
        needed, others = (secret, signed) if self.kind == "bearer" else (signed, secret)
        if missing := [name for name in needed if getattr(self, name) is None]:
            raise ValueError(f"{self.kind} needs {' and '.join(missing)}, the names of environment variables")
        if given := [name for name in others if getattr(self, name) is not None]:
            raise ValueError(f"{self.kind} takes no {' and '.join(given)}")
        return self

    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that hold what signs in."""
        return tuple(name for name in (self.user, self.password, self.token) if name is not None)


class OwnRequests(Record):
    """What a data set sets otherwise than the method's `requests`."""

    batch_entities: Count | None = None
    page_rows: Count | None = None
    subject_rows: int | None = Field(default=None, ge=0)
    timeout_seconds: Positive | None = None
    pause_seconds: NotNegative | None = None
    parallel: Count | None = None
    retries: int | None = Field(default=None, ge=0)
    first_wait_seconds: NotNegative | None = None
    longest_wait_seconds: NotNegative | None = None
    response_bytes: Count | None = None
    blank_rows: int | None = Field(default=None, ge=0)
    blank_depth: Count | None = None
    request_budget: Count | None = None


class EndpointConfig(SourceConfig):
    """A SPARQL 1.1 endpoint and what is read of it.

    `graphs`: the endpoint's default graph as it defines it, all its named graphs, both, or the named graphs of a list.
    `default_graphs`: graphs whose union is to be the default graph (the protocol's `default-graph-uri`).
    `headers`: HTTP header -> environment variable that holds its value. `contact` goes into the User-Agent header.
    """

    alone: ClassVar[str] = "url"
    refreshable: ClassVar[bool] = True
    crm: ClassVar[bool] = True
    url: Annotated[str, AfterValidator(_address)]
    graphs: Graphs = "default"
    default_graphs: tuple[Iri, ...] = ()
    auth: Auth | None = None
    headers: dict[HeaderName, Variable] = Field(default_factory=dict)
    contact: Annotated[str, AfterValidator(_plain)] = ""
    requests: OwnRequests = OwnRequests()

    @model_validator(mode="after")
    def _agreeing(self) -> EndpointConfig:
        if self.default_graphs and self.graphs != "default":
            raise ValueError(
                "`default_graphs` make up the default graph, which `graphs` does not read: keep one"
            )
        if self.auth is not None and any(name.lower() == "authorization" for name in self.headers):
            raise ValueError("`auth` and a header Authorization stand both: keep one")
        return self

    def resolved(self, method: Requests) -> Requests:
        """The method's requests with what the data set sets for itself."""
        return method.model_copy(update=self.requests.model_dump(exclude_none=True))

    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that a request needs, each once."""
        named = (*(self.auth.variables() if self.auth else ()), *self.headers.values())
        return tuple(dict.fromkeys(named))

    def described(self) -> str:
        """The address, what is read there, and how to sign in, in one line without a secret."""
        if isinstance(self.graphs, str):
            graphs = {"default": "default graph", "named": "named graphs", "all": "all graphs"}[self.graphs]
            graphs += f" of {', '.join(self.default_graphs)}" if self.default_graphs else ""
        else:
            one, *others = self.graphs
            graphs = f"{len(self.graphs)} named graphs" if others else f"graph {one}"
        ways = [f"{self.auth.kind} authentication"] if self.auth else []
        return f"{self.url} ({', '.join([graphs, *ways, *(f'header {name}' for name in self.headers)])})"

    def places(self) -> tuple[str, ...]:
        return (self.url,)

    def stated(self) -> dict[str, Any]:
        """Without a query string, which may hold a secret."""
        return {
            "endpoint": urlsplit(self.url)._replace(query="", fragment="").geturl(),
            "graphs": self.graphs if isinstance(self.graphs, str) else list(self.graphs),
        }

    def server(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2].lower()

    def told(self, method: Requests) -> Iterator[str]:
        """How it is asked, and whether its environment variables are set."""
        requests = self.resolved(method)
        yield (
            f"  asks for {requests.batch_entities:,} entities at a time, {requests.parallel} requests at once, "
            f"{requests.pause_seconds:g} s apart"
        )
        yield f"  says that it asks for {self.contact}" if self.contact else NO_CONTACT
        for variable in self.variables():
            yield f"  {variable}: {'set' if os.environ.get(variable, '').strip() else 'not set'}"
        if self.variables() and self.url.startswith("http:"):
            yield "  what signs in is sent unencrypted: the address begins with http:"


NODE = "node/"  # in the IRI of a node, after the base


class Table(Record):
    """Files of one kind, and what their columns are called. `columns`: the names, where a file has no head."""

    files: Files
    columns: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _files_alone(cls, value: Any) -> Any:
        return {"files": value} if isinstance(value, str | list | tuple) else value


class EdgeTable(Table):
    """Edges: CSV, TSV, JSON lines, Parquet, or `.npz` of plain arrays. `source`, `target`, `relation`: the columns of the two
    ends and of what the edge says; without the last all edges say the same."""

    source: str = "source"
    target: str = "target"
    relation: str = "relation"


class NodeTable(Table):
    """Nodes. `id`, `label`, `text`, `type`: the columns of these; what is in others is stated by their names. `separator`: in
    a type, between it and the broader ones before it, as in `Science.Biology.Birds`."""

    id: str = "id"
    label: str = "label"
    text: str = "text"
    type: str = "type"
    separator: str = ""


class GraphConfig(SourceConfig):
    """A graph: its edges, and tables of its nodes.

    `base`: what the IRI of a node begins with. `relation`: what an edge says, an IRI or a few words. `node_class`: the class
    of every node, an IRI. `names`, `attributes`, `classes`: of an `.npz`, files with the names of nodes, of their features
    and of their labels, one a line.
    """

    alone: ClassVar[str] = "edges"
    edges: EdgeTable
    nodes: tuple[NodeTable, ...] = ()
    base: Iri = "urn:graph:"
    relation: str = Field(default="links to", min_length=1)
    node_class: Iri | None = None
    names: str = ""
    attributes: str = ""
    classes: str = ""

    @field_validator("nodes", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, str | dict) else value

    def places(self) -> tuple[str, ...]:
        return tuple(name for _, table in self.tables() for name in table.files)

    def whole(self) -> tuple[str, ...]:
        return (self.base + NODE,)

    def tables(self) -> Iterator[tuple[str, Table]]:
        """The tables with the keys under which they stand, those of nodes first."""
        for number, table in enumerate(self.nodes):
            yield f"nodes[{number}]", table
        yield "edges", self.edges

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        found = {
            path
            for place, table in self.tables()
            for path in matching_files(root, table.files, f"{key}.{place}.files")
        }
        return tuple(sorted(found))

    def require(self, root: Path, key: str) -> None:
        super().require(root, key)
        self.lists(root, key)

    def lists(self, root: Path, key: str = "") -> dict[str, Path]:
        """The files of names that are given, by their keys; ConfigError, with the ``key``, where there is no such file."""
        given = {name: getattr(self, name) for name in ("names", "attributes", "classes")}
        return {name: named_file(root, file, f"{key}.{name}") for name, file in given.items() if file}


class FilesConfig(SourceConfig):
    """A source that is files: names or globs."""

    alone: ClassVar[str] = "files"
    files: Files

    def places(self) -> tuple[str, ...]:
        return self.files

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        return matching_files(root, self.files, key)


class PagesConfig(FilesConfig):
    """Documents of pages: PDF, PNG, JPEG, and TIFF of one or more pages.

    `files`: names or globs, from the folder that config/ stands in. `language`: of what the pages say. `model`: the language
    model, one that sees images, that reads entities and relationships from each page; "" for none, then the text layer alone
    is used. `profile`: which types it looks for, of `extraction.yaml`. `base`: what the IRIs of documents and pages begin
    with. `decided`: the file of what a person accepted or refused as the same thing (`crmrag pages`), where there is
    one. A document is left out, and
    named, that has more than `most_pages`, is larger than `megabytes`, or needs longer than `page_seconds` for a page or more
    than `memory_megabytes`.
    """

    language: Annotated[str, Field(pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{1,8})*)?$")] = ""
    model: str = ""
    profile: str = "heritage"
    base: Iri = "urn:pages:"
    decided: str = "candidates.tsv"
    most_pages: Count = 2000
    megabytes: Positive = 200.0
    page_seconds: Positive = 20.0
    memory_megabytes: Count = 2048

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        """A glob may match nothing yet, such as that of an inbox, where another entry has files."""
        listed = [file for file in self.files if not _MAGIC.search(file) or any(root.glob(file))]
        return matching_files(root, listed or self.files, key)


class RdfConfig(FilesConfig):
    """Files of RDF with CIDOC-CRM.

    `files`: names or globs, from the folder that config/ stands in. `base_iri`: for relative IRIs. `contexts`: files that
    stand in for JSON-LD contexts, by their addresses.
    """

    crm: ClassVar[bool] = True
    base_iri: str = ""
    contexts: dict[str, str] = Field(default_factory=dict)

    def require(self, root: Path, key: str) -> None:
        super().require(root, key)
        self.context_files(root, key)

    def context_files(self, root: Path, key: str = "") -> dict[str, Path]:
        """The files that `contexts` names, by the addresses; ConfigError, with the ``key``, where there is no such file."""
        return {
            address: named_file(root, name, f"{key}.contexts.{address}")
            for address, name in self.contexts.items()
        }


WIKI_PAGE = "urn:crmrag:wiki:Page"
"""The class of every page."""


class WikiConfig(FilesConfig):
    """Dumps of a MediaWiki in XML, plain or compressed, of current pages or of whole histories.

    `files`: names or globs, from the folder that config/ stands in. `namespaces`: numbers of those whose pages are read.
    `base`: what the IRI of a page begins with; else as the dump says. `language`: of titles and texts; else as the dump says.
    `text_megabytes`: a longer text of a page is left out, and told.
    """

    namespaces: tuple[int, ...] = Field(default=(0,), min_length=1)
    base: Iri | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$")] | None = None
    text_megabytes: Positive = 4.0

    def whole(self) -> tuple[str, ...]:
        return (WIKI_PAGE,)


KINDS: dict[str, type[SourceConfig]] = {
    "endpoint": EndpointConfig,
    "graph": GraphConfig,
    "pages": PagesConfig,
    "rdf": RdfConfig,
    "wiki": WikiConfig,
}
