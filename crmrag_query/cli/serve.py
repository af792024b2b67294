"""`crmrag serve`: the HTTP API and the page over built data sets; `crmrag mcp`: the data sets as tools of a language
model."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import click

from crmrag_query.cli.ask import model_options
from crmrag_query.cli.options import data_option, trust_option
from crmrag_query.errors import MissingExtraError


@click.command()
@data_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free port."
)
@click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes that answer."
)
@click.option("--dataset", help="The data set that is asked where none is named.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    help="Folder for answers and conversations; else DATA/service, of an object store data/service here.",
)
@click.option("--no-history", is_flag=True, help="Keep no answers and conversations.")
@click.option("--quiet", is_flag=True, help="Log no requests.")
@trust_option
@model_options
def serve(
    data: Path,
    host: str,
    port: int,
    workers: int,
    dataset: str | None,
    state: Path | None,
    no_history: bool,
    quiet: bool,
    trust: tuple[str, ...],
    model: str | None,
    api_base: str | None,
) -> None:
    """Serve the data sets of DATA: a web page, an HTTP API, an interface like OpenAI's.

    API keys come from the environment variable CRMRAG_API_KEYS, separated by commas; without it everybody may ask.
    """
    try:
        from crmrag_query.artifacts.mirror import mirror_of
        from crmrag_query.service.app import Settings, run
    except ImportError as error:
        raise MissingExtraError("crmrag serve", "service", str(error.name)) from error
    kept = Path("data") if mirror_of(data) else data  # a cache may be lost, answers may not
    folder = None if no_history else state or kept / "service"
    run(
        Settings(
            str(data), dataset, model, api_base, None if folder is None else str(folder), quiet, trust=trust
        ),
        host,
        port,
        workers,
    )


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
    try:
        from crmrag_query.mcp.server import make_server
    except ImportError as error:
        raise MissingExtraError("crmrag mcp", "mcp", str(error.name)) from error
    from crmrag_query.client import AsyncClient
    from crmrag_query.client.base import is_service

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
