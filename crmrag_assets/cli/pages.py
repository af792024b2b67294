"""`crmrag pages`: what may be the same as something that a machine read from pages, and what a person decides of it."""

from __future__ import annotations

from pathlib import Path

import click

from crmrag_assets.cli.options import config_option, data_option


@click.group()
def pages() -> None:
    """What a machine read from pages."""


@pages.command()
@click.argument("dataset")
@data_option
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 1000), help="How many to list."
)
@click.option("--offset", default=0, type=click.IntRange(0), help="From which on.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def candidates(dataset: str, data: Path, limit: int, offset: int, as_json: bool) -> None:
    """List what in DATASET may be the same: read from two documents, or read and written by a curator.

    The likeliest come first. Nothing is merged by itself: `crmrag pages accept` and `refuse` write down what a person
    decides, for the next build.
    """
    from crmrag_query.client.local import open_engine
    from crmrag_query.client.wire import ListCandidates
    from crmrag_query.codec import to_json

    found = open_engine(str(data)).candidates(ListCandidates(dataset, limit, offset))
    if as_json:
        click.echo(to_json(found))
        return
    click.echo(f"{found.total:,} candidates")
    for one in found.candidates:
        click.echo(
            f"{one.score:.2f}  {one.read.label} = {one.other.label} ?\n      {one.read.iri} {one.other.iri}"
        )


@pages.command()
@click.argument("dataset")
@click.argument("one")
@click.argument("other")
@config_option
def accept(dataset: str, one: str, other: str, config: Path | None) -> None:
    """Say that the IRIs ONE and OTHER of DATASET are the same thing; the next build links them."""
    _decided(dataset, one, other, config, "accepted")


@pages.command()
@click.argument("dataset")
@click.argument("one")
@click.argument("other")
@config_option
def refuse(dataset: str, one: str, other: str, config: Path | None) -> None:
    """Say that the IRIs ONE and OTHER of DATASET are two things; the next build proposes them no more."""
    _decided(dataset, one, other, config, "refused")


def _decided(dataset: str, one: str, other: str, config: Path | None, verdict: str) -> None:
    from crmrag_assets.sources.pages.candidates import Pair, decide
    from crmrag_query.config.datasets import load_datasets
    from crmrag_query.config.reading import datasets_file
    from crmrag_query.config.sources import PagesConfig

    declared = load_datasets(datasets_file(config / "datasets.yaml" if config else None))
    if dataset not in declared:
        raise click.UsageError(f"There is no data set {dataset!r}: {', '.join(declared) or 'none at all'}.")
    chosen = declared[dataset]
    found = next((entry.config for entry in chosen.sources if isinstance(entry.config, PagesConfig)), None)
    if found is None:
        raise click.UsageError(f"The data set {dataset!r} has no pages.")
    try:
        pair = Pair.of(one, other)
    except ValueError as error:
        raise click.UsageError(f"{one} and {other}: {error}.") from None
    file = chosen.root / found.decided
    decide(file, pair, verdict)
    click.echo(f"{verdict}, in {file}. It counts from the next build on: crmrag build {dataset}")
