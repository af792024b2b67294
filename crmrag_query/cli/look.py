"""`crmrag set`: the whole set of a plan. `crmrag modes`, `themes` and `graph`: the ways in which a data set can be asked, and
one question in several of them, side by side; what it is about; and the three tools that language models work with it by, for
people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from crmrag_query.answers.records import facets_text, set_text
from crmrag_query.artifacts.manifest import replacing
from crmrag_query.artifacts.release import Opener, Release, open_release
from crmrag_query.cli.ask import model_options
from crmrag_query.cli.options import data_option, trust_option
from crmrag_query.codec import to_json
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets.records import Page, Sort
from crmrag_query.text import amount, parts_of, printable, shorten

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
    from crmrag_query.client.local import list_themes
    from crmrag_query.client.wire import ListThemes

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


@click.group()
def graph() -> None:
    """Look at a data set as a graph: the tools that language models call, with what they are told."""


def looking(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options that the tools share."""
    shared = trust_option(data_option(click.argument("dataset")(command)))
    shared = click.option("--language", default="", help="Language of names; default: the data set's first.")(
        shared
    )
    return click.option("--json", "as_json", is_flag=True, help="As JSON.")(shared)


@graph.command()
@looking
@click.argument("query")
@click.option("--limit", default=10, show_default=True, help="How many at most, up to 50.")
@click.option("--category", default="", help="These alone: Thing, Actor, Place, Event, Concept or Time.")
def search(query: str, limit: int, category: str, **where: Any) -> None:
    """Entities of DATASET that QUERY finds by meaning, words or name."""
    _tell("graph_search", {"query": query, "limit": limit, "category": category}, **where)


@graph.command()
@looking
@click.argument("entity")
@click.option("--hops", default=2, show_default=True, help="How many triples away, 1 to 3.")
@click.option("--limit", default=40, show_default=True, help="How many entities at most, up to 100.")
def context(entity: str, hops: int, limit: int, **where: Any) -> None:
    """What stands around ENTITY of DATASET, given by its IRI or its name."""
    _tell("graph_context", {"entity": entity, "max_hops": hops, "limit": limit}, **where)


@graph.command()
@looking
@click.argument("query", default="")
@click.option("--level", default=0, show_default=True, help="0 is the finest.")
@click.option("--limit", default=5, show_default=True, help="How many at most, up to 50.")
def communities(query: str, level: int, limit: int, **where: Any) -> None:
    """Communities of DATASET that QUERY finds; without one the largest."""
    _tell("graph_communities", {"query": query, "level": level, "limit": limit}, **where)


def _tell(
    tool: str,
    asked: dict[str, Any],
    dataset: str,
    data: Path,
    trust: tuple[str, ...],
    language: str,
    as_json: bool,
) -> None:
    from crmrag_query.stores.opened import open_store
    from crmrag_query.stores.tools import TOOLS, StoreTools

    release = open_release(dataset, data, Opener.here(trust))
    with release.reading():
        tools = StoreTools(open_store(release, language), release.manifest.dataset)
        found = getattr(tools, tool)(**asked)
    lines = next(one.lines for one in TOOLS if one.name == tool)
    click.echo(to_json(found) if as_json else printable("\n".join(lines(found))))


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
    from crmrag_query.plans.sparql import to_sparql
    from crmrag_query.sets.exports import columns, export

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
    order = cast(Sort, sort or "")
    if columns_ == "list":
        pieces = iter([f"{printable(str(columns(release, plan, language, release.manifest.dataset)))}\n"])
    elif facets_only:
        pieces = _facets(release, plan, language, format_)
    elif sparql:
        pieces = iter([to_sparql(plan, release[World])])
    elif format_ == TABLE:
        pieces = _page(release, plan, limit, offset, order, descending, language, reason, why)
    else:
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
    from crmrag_query.sets.build import answer_set, excluded_set

    page = Page(offset, -1 if limit is None else limit, sort, descending)
    name = release.manifest.dataset
    if reason:
        made = excluded_set(release, plan, reason, page, language, name=name)
    else:
        made = answer_set(release, plan, page, language, sparql=False, name=name)
    yield f"{printable(set_text(made, why))}\n"


def _facets(release: Release, plan: Plan, language: str, format_: str) -> Iterator[str]:
    from crmrag_query.sets.facets import facets

    found = facets(release, plan, language, name=release.manifest.dataset)
    if format_ == TABLE:
        yield f"{printable(facets_text(found))}\n"
    else:
        yield f"{json.dumps(found.to_dict(), ensure_ascii=False, indent=2)}\n"


def _write(pieces: Iterator[str], out: Path | None) -> None:
    """To a file, whole or not at all; else to the screen, where nothing of the data can steer the terminal."""
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
