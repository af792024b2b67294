"""`crmrag graph`: the three tools that language models work with a data set by, for people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from crmrag_query.cli.options import data_option, trust_option
from crmrag_query.text import printable


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
    from crmrag_query.artifacts.release import Opener, open_release
    from crmrag_query.codec import to_json
    from crmrag_query.stores.opened import open_store
    from crmrag_query.stores.tools import TOOLS, StoreTools

    release = open_release(dataset, data, Opener.here(trust))
    with release.reading():
        tools = StoreTools(open_store(release, language), release.manifest.dataset)
        found = getattr(tools, tool)(**asked)
    lines = next(one.lines for one in TOOLS if one.name == tool)
    click.echo(to_json(found) if as_json else printable("\n".join(lines(found))))
