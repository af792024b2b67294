"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crmrag_query.artifacts.objects import is_address

if TYPE_CHECKING:
    from crmrag_query.plans.records import Plan

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

trust_option: Decorator = click.option(
    "--trust",
    metavar="HOST",
    multiple=True,
    help="A host that a release may have questions sent to, to encode them; several times for several (CRMRAG_TRUST).",
)


class DataFolder(click.Path):
    """A data folder, or the one that mirrors the object store whose address is given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and is_address(value):
            # with arrays and tables, which help needs not
            from crmrag_query.artifacts.mirror import mirror_folder

            return mirror_folder(value)
        return super().convert(value, param, ctx)


data_option: Decorator = click.option(
    "--data",
    type=DataFolder(file_okay=False, path_type=Path),
    envvar="CRMRAG_DATA",
    default=Path("data"),
    show_default=True,
    help="Folder that builds write to, or, to read, the address of an object store (CRMRAG_DATA).",
)
mode_option: Decorator = click.option(
    "--mode",
    default="",
    metavar="NAME",
    help="How questions are answered: crm (the default), vector, fulltext, or another that `crmrag modes DATASET` lists.",
)
within_option: Decorator = click.option(
    "--within",
    multiple=True,
    metavar="KEY=VALUE",
    help="Ask a part of the data: category=Actor, class=E22, type=IRI, graph=IRI, file=NAME, iri=IRI, read=no or read=yes "
    "(without, or nothing but, what a machine read from pages), or plan=FILE with the JSON of one (- for standard input); "
    "several times for several. Of one key any counts, of several keys all.",
)


def read_within_options(given: Sequence[str]) -> Plan | None:
    """The plan of the values of ``--within``. Raises click.UsageError, QuestionError."""
    from crmrag_query.plans.within import read_within

    keys = {
        "category": "categories",
        "class": "classes",
        "type": "types",
        "graph": "graphs",
        "file": "files",
        "iri": "iris",
    }
    found: dict[str, Any] = {}
    for one in given:
        key, _, value = one.partition("=")
        if key == "plan" and value and "plan" not in found:
            found["plan"] = _read_json(value)
        elif key == "read" and value in ("yes", "no"):
            found["read"] = value == "yes"
        elif key in keys and value:
            found.setdefault(keys[key], []).append(value)
        else:
            raise click.UsageError(
                f"--within {one[:80]!r}: give {', '.join(f'{name}=…' for name in keys)}, read=no or one plan=FILE."
            )
    return read_within(found)


def _read_json(name: str) -> Any:
    with click.open_file(name, encoding="utf-8") as file:
        try:
            return json.load(file)
        except (ValueError, RecursionError) as error:
            raise click.UsageError(f"--within plan={name}: it is no JSON: {error}.") from None
