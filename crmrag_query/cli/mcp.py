"""`crmrag mcp`: the data sets as tools of a language model."""

from __future__ import annotations

import logging
import sys

import click

from crmrag_query.cli.ask import model_options
from crmrag_query.cli.options import trust_option
from crmrag_query.errors import MissingExtraError

KEY = "CRMRAG_API_KEY"


@click.command()
@click.argument("target", default="data", envvar="CRMRAG_DATA")
@click.option("--dataset", help="The data set that is asked where none is named.")
@trust_option
@model_options
@click.option("--verbose", is_flag=True, help="Log every call to standard error.")
def mcp(
    target: str,
    dataset: str | None,
    trust: tuple[str, ...],
    model: str | None,
    api_base: str | None,
    verbose: bool,
) -> None:
    """Serve TARGET to a language model by the Model Context Protocol, over standard input and output.

    TARGET is a data folder (CRMRAG_DATA, else data), the folder of a release, or the address of an object store or of a
    service; the key for a service comes from the environment variable CRMRAG_API_KEY. A host such as Claude Desktop starts
    this command itself: see docs/mcp.md.
    """
    import os

    try:
        from crmrag_query.mcp.server import make_server
    except ImportError as error:
        raise MissingExtraError("crmrag mcp", "mcp", str(error.name)) from error
    from crmrag_query.client.base import AsyncClient, is_service

    service = is_service(target)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )  # fmt: skip
    client = AsyncClient(
        target, dataset=dataset, model=None if service else model, api_base=None if service else api_base,
        api_key=os.environ.get(KEY) if service else None, trust=() if service else trust,
    )  # fmt: skip
    if sys.stdin.isatty():
        click.echo(
            f"CRM-RAG serves {target} over standard input and output; a host starts this command.", err=True
        )
    make_server(client).run("stdio")
