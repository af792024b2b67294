"""Where a data set's triples come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from crmrag_assets.build.step import Turns
from crmrag_assets.harvest.source import Source
from crmrag_assets.sources.kinds import Opening, kind_of
from crmrag_assets.sources.several import Part, several
from crmrag_assets.sources.spooled import FileSource
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method, load_method
from crmrag_query.config.sources import SourceEntry

PARTS = "sources"  # in the working folder: what each of several sources keeps, by its identity


def source_for(
    config: DatasetConfig,
    method: Method | None = None,
    work: Path | None = None,
    refreshed: str = "",
    turns: Mapping[str, Turns] = MappingProxyType({}),
    made: Mapping[str, Sequence[Path]] = MappingProxyType({}),
) -> Source:
    """The source that a data set declares, or its several ones as one; ConfigError for an entry that matches no file.

    Where a server is asked, ``work`` is the data set's working folder, ``refreshed`` the time at which it was last to be
    asked again ("" for never), and ``turns`` tells, by server, when. ``made``: folders of the chunks of artifacts that are
    made before sources are read.
    """
    if work is None and config.asks:
        raise ValueError("a source that is asked needs the data set's working folder")
    chosen, home = method or load_method(), work or Path()

    def opened(one: SourceEntry, work: Path) -> Source:
        own = turns.get(one.config.server())
        opening = Opening(chosen, config.paths_of(one), config.root, work, refreshed, own, made)
        source = kind_of(one.kind).open(one.config, opening)
        return replace(source, by_file=True) if one.by_file and isinstance(source, FileSource) else source

    entries = config.sources
    if len(entries) == 1 and not entries[0].graph:
        return opened(entries[0], home)
    places = [home / PARTS / one.identity for one in entries]
    parts = [Part(one, opened(one, place), place, chosen) for one, place in zip(entries, places, strict=True)]
    return several(parts, chosen)
