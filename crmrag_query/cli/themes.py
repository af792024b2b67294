"""`crmrag themes`: what a data set is about."""

from __future__ import annotations

from pathlib import Path

import click

from crmrag_query.cli.options import data_option
from crmrag_query.text import printable


@click.command()
@click.argument("dataset")
@data_option
@click.option(
    "--level", type=click.IntRange(min=0), help="Themes of one level, 0 the finest; default: the outermost."
)
@click.option("--within", default="", metavar="ID", help="The themes that a theme is made of.")
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="How many to pass over.")
@click.option(
    "--language", default="", help="Language of labels and sentences; default: the data set's first."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def themes(
    dataset: str,
    data: Path,
    level: int | None,
    within: str,
    limit: int,
    offset: int,
    language: str,
    as_json: bool,
) -> None:
    """The themes of DATASET (its name, or the folder of a release), the largest first: what belongs together in it.

    docs/themes.md tells how they are found.
    """
    from crmrag_query.artifacts.release import open_release
    from crmrag_query.client.local import list_themes
    from crmrag_query.client.wire import ListThemes
    from crmrag_query.codec import to_json

    release = open_release(dataset, data)
    asked = ListThemes(None, level, within, limit, offset, language)
    with release.reading():
        found = list_themes(release, release.manifest.dataset, asked)
    if as_json:
        click.echo(to_json(found))
        return
    click.echo(printable(found.head()))
    for one in found.themes:
        members = ", ".join(member.label for member in one.members)
        click.echo(printable(f"\n{one.id}  {one.title}  ({one.size:,})\n{one.text}\n{members}"))
