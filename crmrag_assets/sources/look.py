"""A first look at the files of a data set: `crmrag datasets check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from crmrag_assets.sources.files import RdfFiles
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method
from crmrag_query.errors import CrmRagError

STATEMENTS = 1000
"""Statements of each file that are read."""


def first_statements(config: DatasetConfig, method: Method) -> Iterator[str]:
    """What is wrong with the files of a data set, as far as their first statements tell: one message for each."""
    whole = RdfFiles((), method, config.base_iri, config.root, config.context_files())
    for path in config.files():
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
