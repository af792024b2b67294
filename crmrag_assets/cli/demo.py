"""`crmrag demo`: the bundled data set from its file to three answers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crmrag_assets.cli.build import build
from crmrag_assets.cli.options import data_option

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
