"""`crmrag ui`: the Dagster UI on the same definitions and the same data folder; `crmrag notify`: who is told of failures, and
whether that works."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import click

from crmrag_assets.cli.options import config_option, data_option, stoppable
from crmrag_query.errors import MissingExtraError, ServiceError

WORKSPACE = "workspace.yaml"


@click.command()
@data_option
@config_option
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True)
def ui(data: Path, config: Path | None, port: int, host: str) -> None:
    """Open the Dagster UI; the job `build` builds a data set as `crmrag build` does."""
    from crmrag_assets.instance import dagster_home, open_instance

    program = Path(sys.executable).with_name("dagster")
    found = str(program) if program.exists() else shutil.which("dagster")
    if found is None:
        raise MissingExtraError("The Dagster UI", "build", "dagster-webserver")
    _see_that_it_is_free(host, port)
    with open_instance(data):  # what is the matter with the database is told here, in words
        pass
    environment = os.environ | {
        "DAGSTER_HOME": str(dagster_home(data)),
        "CRMRAG_DATA": str(data.resolve()),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "PYTHONWARNINGS": "ignore:Function `dev_command` is superseded",  # by a tool that we do not need
    }
    if config:
        environment["CRMRAG_CONFIG"] = str(config.resolve())
    target = ["-w", WORKSPACE] if Path(WORKSPACE).exists() else ["-m", "crmrag_assets.definitions"]
    command = [found, "dev", *target, "-h", host, "-p", str(port)]
    if os.name == "posix":  # in place of this process, so that a signal to end it reaches Dagster
        stoppable()
        os.execve(found, command, environment)
    raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)


def _see_that_it_is_free(host: str, port: int) -> None:
    """Dagster starts its daemon beside a web server that could not; ServiceError instead."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise ServiceError(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            "Is the UI open there already? Else give another one: --port 3001, --host …",
        ) from error


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
