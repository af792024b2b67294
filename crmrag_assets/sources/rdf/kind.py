"""The kind `rdf`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.rdf.files import RdfFiles
from crmrag_query.config.sources.rdf import RdfConfig
from crmrag_query.errors import CrmRagError

STATEMENTS = 1000
"""Statements of each file that are read."""


def open_files(config: RdfConfig, opening: Opening) -> RdfFiles:
    contexts = config.context_files(opening.root)
    return RdfFiles(opening.paths, opening.method, opening.root, config.base_iri, contexts)


def look(config: RdfConfig, opening: Opening) -> Iterator[str]:
    """What is wrong with the first statements of each file."""
    whole = open_files(config, opening)
    for path in whole.files:
        yield from _of_file(replace(whole, files=(path,)), path)


def _of_file(file: RdfFiles, path: Path) -> Iterator[str]:
    try:
        for _, count, tally in file.look(STATEMENTS):
            if tally.broken_count:
                first = f" ({tally.broken[0]})" if tally.broken else ""
                yield f"{path}: {tally.broken_count} of the first {count:,} statements cannot be read{first}. Correct them."
            elif not count:
                yield f"{path}: there is no statement in it. Did the export fail? Write it again."
    except CrmRagError as error:
        yield str(error)


KIND = Kind(RdfConfig, open_files, look)
