"""What the build commands share: options, running with errors told in a line or two, and Ctrl-C and a signal to end from the
first moment of a command on.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from crmrag_query.cli.options import data_option

__all__ = ["config_option", "data_option", "threads_option", "use_threads"]


def stoppable() -> None:
    """Have both raise KeyboardInterrupt.

    A shell starts what is in the background with Ctrl-C ignored, and Dagster would then ignore being ended, too.
    """
    if threading.current_thread() is threading.main_thread():  # no other may say so
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)


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
