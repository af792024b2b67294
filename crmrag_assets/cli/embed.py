"""`crmrag embed`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from crmrag_assets.cli.options import (
    config_option,
    data_option,
    reported,
    threads_option,
    told_where_it_stopped,
    use_threads,
    write_line,
)


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
    with told_where_it_stopped(
        console, f"What is encoded is kept: `crmrag embed {dataset}` goes on from here."
    ):
        from crmrag_assets.embedding import EmbedRequest, run_embed
        from crmrag_assets.partitions import BuildResource

        folders = BuildResource(data=str(data), config=str(config or ""), threads=threads or 0)
        with reported(console, data, quiet) as (instance, reporter):
            result = run_embed(EmbedRequest(dataset, folders, now), instance, reporter)
        if not quiet:
            for remark in (*result.remarks, *result.warnings):
                write_line(console, remark)
        click.echo(f"Release {result.release} of {dataset} has vectors of {result.share} % of its documents.")
