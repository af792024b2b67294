"""What the build commands share: options, and running with errors told in a line or two."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from crmrag_query.cli.options import data_option

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

config_option: Decorator = click.option(
    "--config",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="CRMRAG_CONFIG",
    help="Folder with datasets.yaml and the method (CRMRAG_CONFIG); default: ./config, else what ships.",
)
threads_option: Decorator = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads for encoding and arrays; default: all cores."
)

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def use_threads(threads: int | None) -> None:
    """Tell the libraries how many threads to use; works when they are not imported yet."""
    if threads:
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))


__all__ = ["config_option", "data_option", "threads_option", "use_threads"]
