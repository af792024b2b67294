"""The `crmrag` command: its own commands, and those that installed packages add by entry point."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import entry_points

import click

from crmrag_query.errors import CrmRagError
from crmrag_query.text import printable
from crmrag_query.version import __version__

# Commands that need the build extra: named here so that an installation without it can say so.
BUILD_COMMANDS = (
    "build",
    "demo",
    "embed",
    "estimate",
    "notify",
    "pages",
    "partitions",
    "postgres",
    "releases",
    "rollback",
    "shacl",
    "ui",
)
OWN_COMMANDS = {
    "ask": "ask", "chat": "ask", "datasets": "datasets", "diff": "releases", "evaluate": "evaluate", "graph": "look",
    "mcp": "serve", "modes": "look", "ontology": "datasets", "serve": "serve", "set": "look", "teach": "evaluate",
    "themes": "look", "verify": "releases",
}  # fmt: skip
"""The module of this package that each of its commands is in."""


class Commands(click.Group):
    """Commands are imported when they are called, so that asking never pays for building."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*OWN_COMMANDS, *BUILD_COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in OWN_COMMANDS:
            found = vars(import_module(f"crmrag_query.cli.{OWN_COMMANDS[cmd_name]}")).values()
            return next(one for one in found if isinstance(one, click.Command) and one.name == cmd_name)
        return _added().get(cmd_name) or _missing(cmd_name)


def _added() -> dict[str, click.Command]:
    """Commands of installed packages; a package whose own dependencies are missing adds none."""
    found: dict[str, click.Command] = {}
    for point in entry_points(group="crmrag.commands"):
        try:
            found.update({str(command.name): command for command in point.load()})
        except ImportError:
            continue
    return found


def _missing(name: str) -> click.Command | None:
    if name not in BUILD_COMMANDS:
        return None

    @click.command(name, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def stand_in() -> None:
        raise click.ClickException(
            f"'crmrag {name}' needs the extra 'build'. Install it: pip install 'crmrag[build]'"
        )

    stand_in.help = "Needs the extra 'build': pip install 'crmrag[build]'."
    return stand_in


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="crmrag")
def group() -> None:
    """Ask a cultural-heritage knowledge graph (CIDOC-CRM) and trust the answer."""


def main() -> None:
    """Run a command; errors meant for people are told in a line or two, with status 1."""
    try:
        group(prog_name="crmrag")
    except CrmRagError as error:
        click.echo(printable(f"Error: {error}"), err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:
        if error.filename is None:
            raise
        click.echo(
            f"Error: {error.filename}: {error.strerror}. Check the path, and who may read and write it.",
            err=True,
        )
        sys.exit(1)
