"""`crmrag build`, what it will cost (`crmrag estimate`), vectors that follow (`crmrag embed`), and `crmrag demo`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from crmrag_assets.cli.options import (
    config_option,
    data_option,
    reported,
    size_text,
    threads_option,
    told_where_it_stopped,
    use_threads,
    write_line,
)
from crmrag_query.text import amount

if TYPE_CHECKING:
    from crmrag_assets.steps.estimate import Estimate


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
        from crmrag_assets.build.step import rows_of
        from crmrag_assets.cli.options import show_concerns, show_summary
        from crmrag_assets.launch import BuildRequest, run_build
        from crmrag_assets.partitions import BuildResource
        from crmrag_query.artifacts.manifest import dataset_folder, pointer

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
        from crmrag_assets.launch import EmbedRequest, run_embed
        from crmrag_assets.partitions import BuildResource

        folders = BuildResource(data=str(data), config=str(config or ""), threads=threads or 0)
        with reported(console, data, quiet) as (instance, reporter):
            result = run_embed(EmbedRequest(dataset, folders, now), instance, reporter)
        if not quiet:
            for remark in (*result.remarks, *result.warnings):
                write_line(console, remark)
        click.echo(f"Release {result.release} of {dataset} has vectors of {result.share} % of its documents.")


@click.command()
@click.argument("dataset")
@data_option
@config_option
@threads_option
@click.option(
    "--price", type=click.FloatRange(min=0), metavar="USD", help="Price of a million tokens, if you know it."
)
@click.option("--json", "as_json", is_flag=True, help="The estimate as JSON.")
def estimate(
    dataset: str, data: Path, config: Path | None, threads: int | None, price: float | None, as_json: bool
) -> None:
    """Say beforehand what building DATASET will cost.

    Discovers the source and builds a small sample of it; nothing is sent to a paid encoder. An endpoint is counted and
    its subjects are listed, which a build then does not repeat; only the sample's triples are fetched. Of files that were
    built before it also tells which entities changed since, and about how many documents will be encoded again.
    """
    import json

    use_threads(threads)
    from crmrag_assets.build.context import open_context
    from crmrag_assets.steps.estimate import estimate as forecast
    from crmrag_assets.steps.indexes import litellm_price
    from crmrag_assets.steps.pages import readings_foreseen

    prices = litellm_price if price is None else lambda model: price / 1e6
    opened = open_context(dataset, data, config, threads)
    found = forecast(opened, prices)
    click.echo(json.dumps(asdict(found), indent=2) if as_json else estimate_text(found))
    if not as_json:
        for told in readings_foreseen(opened):
            click.echo(f"  pages      {told}")


def estimate_text(found: Estimate) -> str:
    """The estimate in a few lines."""
    from crmrag_assets.build.step import duration

    lines = [
        f"{found.dataset}: {amount(found.entities, 'entity', 'entities')}, {amount(found.triples, 'triple')}",
        f"  documents  about {found.documents:,} in {found.windows:,} windows",
        f"  tokens     about {found.tokens:,} for {found.model}",
        f"  time       about {duration(found.seconds)} on this machine",
        f"  answers    after about {duration(found.first_seconds)}, before all vectors are made",
        f"  disk       about {size_text(found.bytes)} without the model",
    ]
    if found.requests is not None and found.harvest_seconds is not None:
        minutes = duration(found.harvest_seconds)
        lines.append(f"  harvest    about {found.requests:,} requests, {minutes} at the endpoint")
    if found.paid:
        known = "unknown: give the price of a million tokens with --price" if found.price is None else ""
        lines.append(f"  price      {known or f'about ${found.price:,.2f}'}")
    return "\n".join([*lines, *_again_lines(found)])


def _again_lines(found: Estimate) -> list[str]:
    from crmrag_assets.build.step import duration

    again = found.again
    if again is None:
        return []
    if not again.changed + again.added + again.removed:
        return [
            "Nothing changed in the source since it was built last; the figures above are those of a first build."
        ]
    price = f", ${again.price:,.2f}" if again.price is not None else ""
    return [
        "That is a first build. Since the last one "
        f"{amount(again.changed, 'entity', 'entities')} changed, {again.added:,} came and {again.removed:,} went:",
        f"  encoded    about {again.documents:,} documents again, {again.tokens:,} tokens{price}; all else is kept",
        f"  time       about {duration(again.seconds)}, all artifacts made from the new triples",
    ]


DATASET = "sample"


@click.command()
@data_option
@click.pass_context
def demo(context: click.Context, data: Path) -> None:
    """Build the bundled sample data set and ask it its example questions."""
    click.echo(f"Building the data set '{DATASET}' into {data}/ …", err=True)
    context.invoke(
        build, dataset=DATASET, data=data, config=None, threads=None, sample=None, refresh=False, quiet=False
    )

    from crmrag_query.answers.ask import ask
    from crmrag_query.answers.records import answer_text
    from crmrag_query.artifacts.release import open_release

    release = open_release(DATASET, data)
    for question in release.manifest.examples[:3]:
        click.echo(f"\n{'─' * 78}\n? {question}\n")
        click.echo(answer_text(ask(release, question), triples=1, sources=6))
    click.echo(f"\n{'─' * 78}\n{_next(data)}")


def _next(data: Path) -> str:
    """What to type next, with the command as it can be typed here."""
    command, where = Path(sys.argv[0]), "" if data == Path("data") else f" --data {data}"
    typed = str(command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command)
    if command.parent.as_posix() in ("/usr/bin", "/usr/local/bin"):
        typed = "crmrag"
    return "\n".join(
        (
            "What next:",
            f'  {typed} ask {DATASET}{where} "Which murals show Saint George?"   another question; --json for programs',
            f"  {typed} chat {DATASET}{where}   a conversation",
            f"  {typed} serve{where}   the web page and the HTTP API, at http://127.0.0.1:8000",
            "  make ui   the assets just built, with their lineage and metadata, in the Dagster UI",
            f"  {typed} datasets add my_museum --rdf export.ttl && {typed} build my_museum   your own data; "
            "--endpoint URL in place of --rdf for a SPARQL endpoint",
        )
    )
