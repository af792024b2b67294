"""`crmrag modes`: the ways in which a data set can be asked, and one question in several of them, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from crmrag_query.cli.ask import model_options
from crmrag_query.cli.options import data_option, trust_option
from crmrag_query.text import amount, printable, shorten

TEXT = 300  # characters of an answer that are shown
SOURCES = 30  # that are
LABEL = 60  # characters of the name of one


@click.command()
@click.argument("dataset")
@click.argument("question", default="")
@data_option
@trust_option
@model_options
@click.option(
    "--mode", "names", multiple=True, metavar="NAME", help="Only this mode; several times for several."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, with the whole answers.")
def modes(
    dataset: str,
    question: str,
    data: Path,
    trust: tuple[str, ...],
    model: str | None,
    api_base: str | None,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the modes of DATASET or, with a QUESTION, answer it in each of them, side by side.

    Of each mode: its answer, how long it took, the tokens of a language model, and how many of its sources no other mode
    found. Then the sources, those of most modes first.
    """
    from crmrag_query.client import Client
    from crmrag_query.client.records import Modes
    from crmrag_query.codec import to_json

    folder = Path(dataset)
    target, name = (dataset, None) if folder.is_dir() else (str(data), dataset)
    with Client(target, dataset=name, model=model, api_base=api_base, trust=trust) as client:
        found = client.compare_modes(question, names or None) if question else client.modes()
    if as_json:
        click.echo(to_json(found))
        return
    click.echo(printable(found.head()))
    if isinstance(found, Modes):
        for mode, title, channels, _, lacks in found.rows():
            told = f"lacks {lacks}" if lacks else channels
            click.echo(printable(f"  {mode:<22} {title}{f' ({told})' if told else ''}"))
        return
    for mode, milliseconds, tokens, sources, alone, text in found.rows():
        took = f"{milliseconds:,.0f} ms" + (f", {tokens:,} tokens" if tokens is not None else "")
        head = f"{mode}: {took}, {amount(sources, 'source')}, {alone} found by it alone"
        click.echo(printable(f"\n{head}\n{shorten(text, TEXT)}"))
    click.echo("\nSources, those of most modes first")
    for source in found.sources[:SOURCES]:
        click.echo(printable(f"  {shorten(source.label, LABEL)}: {', '.join(source.modes)}"))
    if len(found.sources) > SOURCES:
        click.echo(f"  … and {len(found.sources) - SOURCES} more (--json has all)")
