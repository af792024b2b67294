"""Resources: where builds read their configuration and write their data."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import dagster as dg

from crmrag_assets.build.context import open_context
from crmrag_assets.build.reporting import LogReporter, Reporter, current_reporter
from crmrag_assets.build.step import BuildContext


class BuildResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Folders of a build; ``config`` empty means the configuration that ``crmrag`` finds by itself."""

    data: str = "data"
    config: str = ""
    threads: int = 0

    def reporter(self, context: dg.AssetExecutionContext) -> Reporter:
        """Who is told of progress: the command line where it runs the build, else Dagster's log."""
        return current_reporter(LogReporter(context.log.info))

    def settings(self) -> dict[str, str | int]:
        """The same folders as run configuration."""
        return {"data": self.data, "config": self.config, "threads": self.threads}

    @property
    def config_folder(self) -> Path | None:
        """The folder of the configuration; None for the one that is found by itself."""
        return Path(self.config) if self.config else None

    def opened(self, dataset: str) -> BuildContext:
        """The build context of a data set."""
        return open_context(dataset, Path(self.data), self.config_folder, self.threads or None)

    def context(self, dataset: str, artifact: str, reporter: Reporter) -> BuildContext:
        """The build context of a data set, which reports as ``artifact``."""
        return replace(self.opened(dataset), progress=reporter.progress(artifact))


def from_environment() -> BuildResource:
    """Folders as CRMRAG_DATA and CRMRAG_CONFIG name them: what the Dagster UI uses."""
    return BuildResource(
        data=os.environ.get("CRMRAG_DATA", "data"), config=os.environ.get("CRMRAG_CONFIG", "")
    )
