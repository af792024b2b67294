"""Where RDF comes from."""

from __future__ import annotations

from pathlib import Path

from crmrag_assets.sources.base import Discovery, Source
from crmrag_assets.sources.files import RdfFiles
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import load_method
from crmrag_query.config.models import Method

__all__ = ["Discovery", "Source", "source_for"]


def source_for(config: DatasetConfig, root: Path | None = None, method: Method | None = None) -> Source:
    """The source that a data set declares; ConfigError for an entry that matches no file."""
    rooted = config if root is None else config.model_copy(update={"root": root})
    return RdfFiles(rooted.files(), method or load_method(), rooted.base_iri, rooted.root)
