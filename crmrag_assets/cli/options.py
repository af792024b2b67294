"""What the build commands share: options, running with errors told in a line or two, and Ctrl-C and a signal to end from the
first moment of a command on.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crmrag_query.cli.options import data_option
from crmrag_query.errors import BuildFault

if TYPE_CHECKING:
    from rich.console import Console

    from crmrag_assets.build.reporting import Reporter

__all__ = ["config_option", "data_option", "threads_option", "use_threads"]


def stoppable() -> None:
    """Have both raise KeyboardInterrupt.

    A shell starts what is in the background with Ctrl-C ignored, and Dagster would then ignore being ended, too.
    """
    if threading.current_thread() is threading.main_thread():  # no other may say so
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)


INTERRUPTED = 130


@contextmanager
def told_where_it_stopped(console: Console, kept: str) -> Iterator[None]:
    """Within the block, Ctrl-C ends the command with what is ``kept``, and a fault is told with its trace."""
    try:
        stoppable()
        yield
    except KeyboardInterrupt:
        console.print(f"\nStopped. {kept}", soft_wrap=True)
        raise SystemExit(INTERRUPTED) from None
    except BuildFault as fault:
        click.echo(f"{fault.trace.rstrip()}\n", err=True)  # for the report that the message asks for
        raise


@contextmanager
def reported(console: Console, data: Path, quiet: bool) -> Iterator[tuple[Any, Reporter]]:
    """Within the block, Dagster's records of a data folder, and what tells of progress: bars in a terminal, else lines."""
    from crmrag_assets.build.disks import disk_explained
    from crmrag_assets.build.reporting import LineReporter, SilentReporter
    from crmrag_assets.cli.bars import BarReporter
    from crmrag_assets.instance import open_instance

    bars = BarReporter(console)
    shown = console.is_terminal and not quiet
    reporter: Reporter = (
        bars if shown else SilentReporter() if quiet else LineReporter(partial(write_line, console))
    )
    with disk_explained(data), open_instance(data) as instance, bars.bars if shown else nullcontext():
        yield instance, reporter


def write_line(console: Console, text: str) -> None:
    """Print a line as it is, unbroken."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


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
