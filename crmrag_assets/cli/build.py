"""`crmrag build`."""

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
@click.option(
    "--sample", type=click.IntRange(min=2), metavar="N", help="Only N connected entities, as DATASET-sample."
)
@click.option(
    "--refresh",
    is_flag=True,
    help="Ask an endpoint again for what was harvested; files are always read anew.",
)
@click.option(
    "--wait",
    is_flag=True,
    help="Publish nothing before every document has its vectors, also where that takes more than two minutes.",
)
@click.option("-q", "--quiet", is_flag=True, help="Tell errors and the release only.")
def build(
    dataset: str,
    data: Path,
    config: Path | None,
    threads: int | None,
    sample: int | None,
    refresh: bool,
    wait: bool,
    quiet: bool,
) -> None:
    """Build DATASET from its source to a release.

    What is finished and unchanged is not made again: an interrupted build goes on where it stopped. What was harvested
    from an endpoint stays as it is until --refresh. Where encoding the documents would take more than two minutes, the
    release is published without their vectors, which `crmrag embed DATASET` then makes.
    """
    use_threads(threads)
    console = Console(stderr=True)
    again = f"crmrag build {dataset}" + (f" --sample {sample}" if sample else "")
    anew = " (with --refresh it would ask for everything once more)" if refresh else ""
    with told_where_it_stopped(console, f"What is finished is kept: `{again}` goes on from here{anew}."):
        from crmrag_assets.build.reporting import rows_of
        from crmrag_assets.cli.bars import show_concerns, show_summary
        from crmrag_assets.launch import BuildRequest, run_build
        from crmrag_assets.partitions import BuildResource
        from crmrag_query.artifacts.places import dataset_folder, pointer

        folders = BuildResource(data=str(data), config=str(config or ""), threads=threads or 0)
        with reported(console, data, quiet) as (instance, reporter):
            result = run_build(BuildRequest(dataset, folders, sample, refresh, wait), instance, reporter)
        release = pointer(dataset_folder(data, result.dataset))
        if not quiet:
            console.print()
            show_summary(console, rows_of(result.outcomes))
            warned = ["Checks that ask for a look:", *(f"- {warning}" for warning in result.warnings)]
            for remark in (*result.remarks, *(warned if result.warnings else ())):
                write_line(console, remark)
            if release is not None:
                show_concerns(console, dataset_folder(data, result.dataset) / release)
        click.echo(f'Release {release} of {result.dataset}. Ask it: crmrag ask {result.dataset} "…"')
