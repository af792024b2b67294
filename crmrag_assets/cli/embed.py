"""`crmrag embed`."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from crmrag_assets.cli.build import INTERRUPTED
from crmrag_assets.cli.options import config_option, data_option, stoppable, threads_option, use_threads
from crmrag_query.errors import BuildFault


@click.command()
@click.argument("dataset")
@data_option
@config_option
@threads_option
@click.option("--now", is_flag=True, help="Whatever the hour: not only in the `embed_hours` of the data set.")
@click.option("-q", "--quiet", is_flag=True, help="Tell errors and the release only.")
def embed(dataset: str, data: Path, config: Path | None, threads: int | None, now: bool, quiet: bool) -> None:
    """Make the vectors that the release of DATASET lacks, those of the most important documents first.

    Better releases are published on the way, with vectors of 1, 5, 20, 50 and 100 per cent of the documents. What was encoded
    is kept when it is stopped. DATASET can be asked and built meanwhile.
    """
    use_threads(threads)
    console = Console(stderr=True)
    write = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    try:
        stoppable()
        from crmrag_assets.build.disks import disk_explained
        from crmrag_assets.build.reporting import LineReporter, Reporter, SilentReporter
        from crmrag_assets.cli.bars import BarReporter
        from crmrag_assets.embedding import EmbedRequest, run_embed
        from crmrag_assets.instance import open_instance
        from crmrag_assets.partitions import BuildResource

        folders = BuildResource(data=str(data), config=str(config or ""), threads=threads or 0)
        bars = BarReporter(console)
        shown = console.is_terminal and not quiet
        reporter: Reporter = bars if shown else SilentReporter() if quiet else LineReporter(write)
        with disk_explained(data), open_instance(data) as instance, bars.bars if shown else nullcontext():
            result = run_embed(EmbedRequest(dataset, folders, now), instance, reporter)
        if not quiet:
            for remark in (*result.remarks, *result.warnings):
                write(remark)
        click.echo(f"Release {result.release} of {dataset} has vectors of {result.share} % of its documents.")
    except KeyboardInterrupt:
        console.print(
            f"\nStopped. What is encoded is kept: `crmrag embed {dataset}` goes on from here.", soft_wrap=True
        )
        raise SystemExit(INTERRUPTED) from None
    except BuildFault as fault:
        click.echo(f"{fault.trace.rstrip()}\n", err=True)  # for the report that the message asks for
        raise
