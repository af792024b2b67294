"""Kinds of sources: ours is the ``KIND`` of the module ``kind`` in the folder of this package that is named as the kind;
another package's is its entry point ``crmrag.sources``. What ours let declare stands in ``crmrag_query.config.sources``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from crmrag_assets.build.step import Turns
from crmrag_assets.harvest.source import Source
from crmrag_query.config.loading import Method
from crmrag_query.config.sources import GROUP, SourceConfig
from crmrag_query.errors import ConfigError


@dataclass(frozen=True)
class Opening:
    """What a source is opened with besides what is declared of it.

    ``paths``: the files that it names, sorted; ``root``: the folder that their names are shown relative to; ``work``: a
    folder that keeps what helps later reading; ``refreshed``: when it was last to be asked again (ISO), "" for never;
    ``turns``: at which its server is asked; ``made``: folders of the artifacts that are made before sources are
    read, by name, one for each chunk.
    """

    method: Method
    paths: tuple[Path, ...] = ()
    root: Path = Path()
    work: Path = Path()
    refreshed: str = ""
    turns: Turns | None = None
    made: Mapping[str, Sequence[Path]] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A kind of source: what is declared of it, and how that becomes a source.

    ``open`` takes the configuration, a ``config``, and must not read or ask anything yet. ``look``: what is wrong with the
    first of its data, one message each, read quickly, for `crmrag datasets check`. ``ask``: lines about a server after a few
    requests, for `--ask`; raises SourceError where it cannot be a source.
    """

    config: type[SourceConfig]
    open: Callable[[Any, Opening], Source]
    look: Callable[[Any, Opening], Iterator[str]] | None = None
    ask: Callable[[Any, Method], Iterable[str]] | None = None


@cache
def kind_of(name: str) -> Kind:
    """The kind of that name, one of ``source_kinds``. Raises ConfigError for an entry point that gives none."""
    other = next(iter(entry_points(group=GROUP, name=name)), None)
    found = import_module(f"crmrag_assets.sources.{name}.kind").KIND if other is None else other.load()
    if not isinstance(found, Kind):
        raise ConfigError.single(
            "datasets.yaml", f"sources.{name}", f"its entry point in {GROUP} gives a {type(found).__name__}",
            remedy="It should name a Kind: docs/extending.md.",
        )  # fmt: skip
    return found
