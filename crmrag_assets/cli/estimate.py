"""`crmrag estimate`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crmrag_assets.cli.bars import size_text
from crmrag_assets.cli.options import config_option, data_option, threads_option, use_threads
from crmrag_query.text import amount

if TYPE_CHECKING:
    from crmrag_assets.steps.estimate import Estimate


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

    prices = litellm_price if price is None else lambda model: price / 1e6
    found = forecast(open_context(dataset, data, config, threads), prices)
    click.echo(json.dumps(asdict(found), indent=2) if as_json else estimate_text(found))


def estimate_text(found: Estimate) -> str:
    """The estimate in a few lines."""
    lines = [
        f"{found.dataset}: {amount(found.entities, 'entity', 'entities')}, {amount(found.triples, 'triple')}",
        f"  documents  about {found.documents:,} in {amount(found.windows, 'window')}",
        f"  tokens     about {found.tokens:,} for {found.model}",
        f"  time       about {_duration(found.seconds)} on this machine",
        f"  answers    after about {_duration(found.first_seconds)}, before all vectors are made",
        f"  disk       about {size_text(found.bytes)} without the model",
    ]
    if found.requests is not None and found.harvest_seconds is not None:
        minutes = _duration(found.harvest_seconds)
        lines.append(f"  harvest    about {found.requests:,} requests, {minutes} at the endpoint")
    if found.paid:
        known = "unknown: give the price of a million tokens with --price" if found.price is None else ""
        lines.append(f"  price      {known or f'about ${found.price:,.2f}'}")
    return "\n".join([*lines, *_again_lines(found)])


def _again_lines(found: Estimate) -> list[str]:
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
        f"  encoded    about {amount(again.documents, 'document')} again, {again.tokens:,} tokens{price}; all else is kept",
        f"  time       about {_duration(again.seconds)}, all artifacts made from the new triples",
    ]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
