"""What configuration says of operations: a mistake in one data set takes nothing from the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crmrag_query.config.datasets import DatasetConfig, parse_dataset, read_entries
from crmrag_query.config.folders import datasets_file
from crmrag_query.config.operations import Operations, load_operations
from crmrag_query.errors import ConfigError


@dataclass(frozen=True)
class Declared:
    """The data sets that can be read, by name; the operations; and, for people, every mistake that was met."""

    datasets: dict[str, DatasetConfig]
    operations: Operations
    mistakes: tuple[ConfigError, ...] = ()

    @property
    def ages(self) -> dict[str, DatasetConfig]:
        """The data sets of which it is said how old they may be."""
        return {name: one for name, one in self.datasets.items() if one.rebuild.fresh_hours}


def read_declared(config: Path | None = None) -> Declared:
    """Read datasets.yaml and operations.yaml of a configuration folder, or of where they are found."""
    mistakes: list[ConfigError] = []
    datasets = _datasets(datasets_file(config / "datasets.yaml" if config else None), mistakes)
    try:
        operations = load_operations(config)
    except ConfigError as error:
        mistakes.append(error)
        operations = Operations()
    return Declared(datasets, operations, tuple(mistakes))


def _datasets(file: Path, mistakes: list[ConfigError]) -> dict[str, DatasetConfig]:
    """The data sets without a mistake; none of a file that is no list of data sets."""
    found = {}
    try:
        entries = read_entries(file)
    except ConfigError as error:
        mistakes.append(error)
        return {}
    for name, entry in entries.items():
        try:
            found[name] = parse_dataset(name, entry, file)
        except ConfigError as error:
            mistakes.append(error)
    return found
