"""`crmrag diff`: what is other in a release than in another."""

from __future__ import annotations

import json
from pathlib import Path

import click

from crmrag_query.cli.options import data_option
from crmrag_query.cli.printable import printable


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@data_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Documents of each kind by name.",
)
@click.option("--texts", is_flag=True, help="With what changed in the text of those that read otherwise.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def diff(before: str, after: str | None, data: Path, limit: int, texts: bool, as_json: bool) -> None:
    """What is other in release B than in release A: counts, configuration, documents, files.

    Each is a release's id, a data set's name (its current release), NAME@previous, NAME@ID, or the folder of a release.
    `crmrag diff NAME` alone compares the previous release with the current one.
    """
    from crmrag_query.artifacts.places import find_named
    from crmrag_query.artifacts.release import open_release
    from crmrag_query.cli.diff_text import diff_lines
    from crmrag_query.compare.compare import compare

    names = (before, after) if after else (f"{before}@previous", before)
    old, new = (open_release(find_named(name, data)) for name in names)
    found = compare(old, new, limit, texts)
    if as_json:
        click.echo(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        click.echo(printable("\n".join(diff_lines(found))))
