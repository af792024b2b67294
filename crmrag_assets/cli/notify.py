"""`crmrag notify`: who is told of failures, and whether that works."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crmrag_assets.cli.options import config_option


@click.command()
@config_option
@click.option(
    "--test", "test", is_flag=True, help="Send every hook a test message, and tell what came of it."
)
def notify(config: Path | None, test: bool) -> None:
    """List the hooks of operations.yaml, which are told when a build fails.

    With --test each is sent a message; the status is 1 where one did not take it.
    """
    from crmrag_assets.operations.notify import name_of, tell, trial
    from crmrag_query.config.operations import load_operations, variables
    from crmrag_query.config.reading import part_file

    operations = load_operations(config)
    if not operations.notify:
        file = part_file("operations.yaml", config)
        click.echo(f"{file} names no hook under `notify`: nobody is told when a build fails.")
    elif test:
        sent = tell(operations, trial(operations.ui))
        for one in sent:
            click.echo(str(one))
        if any(one.fault for one in sent):
            raise SystemExit(1)
    else:
        for hook in operations.notify:
            unset = [name for name in variables(hook) if not os.environ.get(name, "").strip()]
            lacking = f": not set in this shell: {', '.join(unset)}" if unset else ""
            click.echo(f"{name_of(hook)}{lacking}")
        click.echo("Try them: crmrag notify --test")
