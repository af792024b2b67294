"""`crmrag set`: the whole set of a plan."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from crmrag_query.cli.options import data_option
from crmrag_query.plans.world import World
from crmrag_query.text import parts_of, printable

if TYPE_CHECKING:  # imported when a set is asked for, so that --help stays quick
    from crmrag_query.artifacts.release import Release
    from crmrag_query.plans.records import Plan
    from crmrag_query.sets.records import Sort

TABLE = "table"


@click.command(name="set")
@click.argument("dataset")
@click.argument("plan_file", metavar="PLAN", type=click.File("rb"))
@data_option
@click.option("--limit", type=click.IntRange(min=0), help="Members or rows shown; default: 20.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="How many to pass over.")
@click.option("--sort", type=click.Choice(["label", "date", "value"]), help="Order; default: the plan's own.")
@click.option("--descending", is_flag=True, help="The other way round.")
@click.option("--language", default="en", show_default=True, help="Language of labels and sentences.")
@click.option("--why", is_flag=True, help="With the triples that put each member into the set.")
@click.option("--excluded", "reason", default="", metavar="REASON", help="What is left out for this reason.")
@click.option(
    "--columns", "columns_", default="telling", show_default=True, metavar="KEYS",
    help="Columns of a file, with commas between them; telling: those that tell members apart; list: prints what there is.",
)  # fmt: skip
@click.option("--facets", "facets_only", is_flag=True, help="How many are of each type, place, century …")
@click.option("--sparql", is_flag=True, help="The query that gives the same rows.")
@click.option(
    "--format", "format_", type=click.Choice([TABLE, "csv", "json", "jsonld", "geojson"]), default=TABLE,
    show_default=True, help="table: a page; others: the whole set.",
)  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file in place of the screen.")
def set_(
    dataset: str, plan_file: BinaryIO, data: Path, limit: int | None, offset: int, sort: str | None,
    descending: bool, language: str, why: bool, reason: str, facets_only: bool, sparql: bool, format_: str,
    out: Path | None, columns_: str,
) -> None:  # fmt: skip
    """The exact set of a plan over DATASET (its name, or the folder of a release).

    PLAN is a file with a plan as JSON, or - for the standard input, such as what `crmrag ask --plan` prints.
    docs/plans.md tells what plans say.
    """
    from crmrag_query.artifacts.release import open_release
    from crmrag_query.plans.records import read_plan
    from crmrag_query.plans.sparql import to_sparql

    if [facets_only, sparql, bool(reason)].count(True) > 1:
        raise click.UsageError("--facets, --sparql and --excluded show different things: give one of them.")
    given = {"--limit": limit is not None, "--offset": bool(offset), "--why": why}
    paged = [option for option, is_given in given.items() if is_given]
    if paged and (facets_only or sparql or format_ != TABLE):
        raise click.UsageError(f"{', '.join(paged)}: for a page (--format table) only; others are whole.")
    if sparql and format_ != TABLE:
        raise click.UsageError("--sparql prints the query: it has no --format.")
    if facets_only and format_ not in (TABLE, "json"):
        raise click.UsageError("--facets can be had as --format table or json.")
    release = open_release(dataset, data)
    plan = read_plan(plan_file.read())
    order = cast("Sort", sort or "")
    if columns_ == "list":
        from crmrag_query.sets.exports import columns

        pieces = iter([f"{printable(str(columns(release, plan, language, release.manifest.dataset)))}\n"])
    elif facets_only:
        pieces = _facets(release, plan, language, format_)
    elif sparql:
        pieces = iter([to_sparql(plan, release[World])])
    elif format_ == TABLE:
        pieces = _page(release, plan, limit, offset, order, descending, language, reason, why)
    else:
        from crmrag_query.sets.exports import export

        name = release.manifest.dataset
        pieces = export(
            release, plan, format_, language, reason=reason, sort=order, descending=descending, name=name,
            columns=parts_of(columns_),
        )  # fmt: skip
    _write(pieces, out)


def _page(
    release: Release, plan: Plan, limit: int | None, offset: int, sort: Sort, descending: bool, language: str, reason: str,
    why: bool,
) -> Iterator[str]:  # fmt: skip
    from crmrag_query.answers.records import set_text
    from crmrag_query.sets.build import answer_set, excluded_set
    from crmrag_query.sets.records import Page

    page = Page(offset, -1 if limit is None else limit, sort, descending)
    name = release.manifest.dataset
    if reason:
        made = excluded_set(release, plan, reason, page, language, name=name)
    else:
        made = answer_set(release, plan, page, language, sparql=False, name=name)
    yield f"{printable(set_text(made, why))}\n"


def _facets(release: Release, plan: Plan, language: str, format_: str) -> Iterator[str]:
    from crmrag_query.answers.records import facets_text
    from crmrag_query.sets.facets import facets

    found = facets(release, plan, language, name=release.manifest.dataset)
    if format_ == TABLE:
        yield f"{printable(facets_text(found))}\n"
    else:
        yield f"{json.dumps(found.to_dict(), ensure_ascii=False, indent=2)}\n"


def _write(pieces: Iterator[str], out: Path | None) -> None:
    """To a file, whole or not at all; else to the screen, where nothing of the data can steer the terminal."""
    from crmrag_query.artifacts.manifest import replacing

    if out is None:
        screen = sys.stdout.isatty()
        for piece in pieces:
            click.echo((printable(piece) if screen else piece).encode(), nl=False)
        return
    first = next(pieces, "")  # mistakes in the plan come before a file does
    with replacing(out) as path, path.open("w", encoding="utf-8", newline="") as file:
        file.write(first)
        file.writelines(pieces)
    click.echo(f"Written to {out}.", err=True)
