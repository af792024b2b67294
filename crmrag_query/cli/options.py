"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

trust_option: Decorator = click.option(
    "--trust",
    metavar="HOST",
    multiple=True,
    help="A host that a release may have questions sent to, to encode them; several times for several (CRMRAG_TRUST).",
)
data_option: Decorator = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="CRMRAG_DATA",
    default=Path("data"),
    show_default=True,
    help="Folder that builds write to (CRMRAG_DATA).",
)
mode_option: Decorator = click.option(
    "--mode",
    default="",
    metavar="NAME",
    help="How questions are answered: crm (the default), vector, fulltext, global_vector, or one of your own; docs/modes.md.",
)
