"""`docs/reference/commands.md`: every command of `crmrag`, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from crmrag_query.cli.main import group
from tools.reference.text import cell, code, table

HEAD = """\
# Commands

Everything that `crmrag` does, as `crmrag COMMAND --help` tells it. Where an option has a variable of the environment,
the option wins. `build`, `demo`, `estimate`, `partitions`, `releases` and `ui` come with the extra `build`."""


def page() -> str:
    """The page."""
    lines = [HEAD]
    for name, command in _commands(group, "crmrag"):
        lines += ["", *_section(name, command)]
    return "\n".join(lines) + "\n"


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """The commands below a group that do something, by their whole name."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command, info_name=name)
    for part in command.list_commands(context):
        if (found := command.get_command(context, part)) is not None and not found.hidden:
            yield from _commands(found, f"{name} {part}")


def _section(name: str, command: click.Command) -> list[str]:
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    told = [" ".join(part.split()) for part in re.split(r"\n\s*\n", (command.help or "").strip())]
    rows = [_row(one, context) for one in command.params if isinstance(one, click.Option) and not one.hidden]
    lines = [f"## {name}", "", "```text", usage, "```", ""]
    for part in told:
        lines += [_prose(part), ""]
    return [*lines, *table(("option", "what", "default", "variable"), rows)]


def _prose(text: str) -> str:
    """Help as Markdown: the \\b of click goes, what would be markup is kept as it is."""
    return re.sub(r"([*<])", r"\\\1", text.replace("\b", "").strip())


def _row(option: click.Option, context: click.Context) -> list[str]:
    names = ", ".join([*option.opts, *option.secondary_opts])
    takes = "" if option.is_flag or option.count else " " + option.make_metavar(context)
    default = option.get_default(context, call=False)
    shown = "" if option.is_flag or default in (None, (), "") or callable(default) else str(default)
    # click 8.3 has a value of its own for "no default".
    shown = "" if shown.startswith("Sentinel.") else shown
    variable = option.envvar if isinstance(option.envvar, str) else ""
    return [code(names + takes), cell(_prose(option.help or "")), code(shown), code(variable)]
