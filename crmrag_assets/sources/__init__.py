"""Where RDF comes from."""

from __future__ import annotations

from pathlib import Path

from crmrag_assets.build.locks import Turns
from crmrag_assets.harvest.source import Discovery, Source
from crmrag_assets.sources.files import RdfFiles
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method, load_method

__all__ = ["Discovery", "Source", "source_for"]


def source_for(
    config: DatasetConfig,
    root: Path | None = None,
    method: Method | None = None,
    work: Path | None = None,
    refreshed: str = "",
    turns: Turns | None = None,
) -> Source:
    """The source that a data set declares; ConfigError for an entry of `rdf` that matches no file.

    ``root``: where relative paths start, in place of the configuration's. For an endpoint, ``work`` is the data set's
    working folder, and ``refreshed`` the time at which it was last to be asked again ("" for never);
    ``turns``: at which it is asked.
    """
    if config.endpoint is not None:
        from crmrag_assets.sources.endpoint.source import SparqlEndpoint

        if work is None:
            raise ValueError("an endpoint needs the data set's working folder")
        return SparqlEndpoint(config.endpoint, method or load_method(), work, refreshed, turns)
    rooted = config if root is None else config.model_copy(update={"root": root})
    return RdfFiles(
        rooted.files(), method or load_method(), rooted.base_iri, rooted.root, rooted.context_files()
    )
