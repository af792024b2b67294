"""A first look at the sources of a data set: `crmrag datasets check`."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_assets.sources.kinds import Opening, kind_of
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method
from crmrag_query.config.sources import SourceConfig, source_kinds


def first_statements(dataset: DatasetConfig, method: Method) -> Iterator[str]:
    """What is wrong with the first of a data set's data, where that is read without asking anybody: one message each."""
    for one in dataset.sources:
        if look := kind_of(one.kind).look:
            yield from look(one.config, Opening(method, dataset.paths_of(one), dataset.root))


def first_look(config: SourceConfig, method: Method) -> list[str]:
    """Lines about a source whose server is asked a few things; raises SourceError where it cannot be a source."""
    asked = next(kind.ask for kind in map(kind_of, source_kinds()) if kind.config is type(config))
    return (
        list(asked(config, method)) if asked else [f"{config.described()} is not asked anything beforehand."]
    )
