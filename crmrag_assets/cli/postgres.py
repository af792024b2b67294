"""`crmrag postgres`: what is searched of a release, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from crmrag_assets.cli.options import config_option, data_option, told_where_it_stopped
from crmrag_query.artifacts.manifest import release_ids

if TYPE_CHECKING:
    from crmrag_assets.release.postgres import Connection
    from crmrag_query.artifacts.release import Release


@click.group()
def postgres() -> None:
    """What is searched of releases, in PostgreSQL with pgvector: docs/postgres.md.

    CRMRAG_POSTGRES names the database, as postgresql://user@host/database; without it libpq's own variables do. Each of the
    commands may be repeated: what is there is left as it is.
    """


@postgres.command("publish")
@click.argument("dataset")
@click.option(
    "--reader", default="", metavar="ROLE", help="A role that may read it from now on, and nothing more."
)
@data_option
@config_option
def publish_(dataset: str, reader: str, data: Path, config: Path | None) -> None:
    """Publish the current release of DATASET; older ones stay there as long as they stay on disk."""
    from crmrag_assets.release.postgres import publish

    with _database() as connection:
        done = publish(connection, _opened(dataset, data, config), release_ids(data, dataset), reader)
    if done.there:
        click.echo(f"Release {done.release} of {dataset} is there already; nothing was written.")
    else:
        click.echo(f"Published: release {done.release} of {dataset}: {_counts(done.rows)}.")
    if done.left_out:
        click.echo(f"{done.left_out:,} nodes stay out, with IRIs too long for a database's index.")
    if done.removed:
        click.echo(f"Removed there, as it is gone here: {', '.join(done.removed)}.")


@postgres.command("embed")
@click.argument("dataset")
@click.option("--relationships", is_flag=True, help="Those of triples, too, which nothing here searches.")
@data_option
@config_option
def embed_(dataset: str, relationships: bool, data: Path, config: Path | None) -> None:
    """Make the vectors that rows of the current release of DATASET lack, with the release's encoder."""
    from crmrag_assets.release.postgres import embed

    with _database() as connection:
        made = embed(connection, _opened(dataset, data, config), relationships)
    click.echo(f"Vectors made: {_counts(made)}.")


@postgres.command("fts")
def fts_() -> None:
    """Give rows that lack it their full text: those of a database that another program made of the same schema, too."""
    from crmrag_assets.release.postgres import fill_full_text

    with _database() as connection:
        click.echo(f"Full text made: {_counts(fill_full_text(connection))}.")


@contextmanager
def _database() -> Iterator[Connection]:
    from crmrag_assets.release.postgres import connected

    kept = "What is finished stays; the same command goes on."
    with told_where_it_stopped(Console(stderr=True), kept), connected() as connection:
        yield connection


def _opened(dataset: str, data: Path, config: Path | None) -> Release:
    from crmrag_query.artifacts.release import Opener, open_release

    return open_release(dataset, data, Opener.here(config=config))


def _counts(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {table.replace('_', ' ')}" for table, count in rows.items()) or "nothing"
