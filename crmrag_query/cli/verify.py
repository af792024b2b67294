"""`crmrag verify`: whether a release can be trusted."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crmrag_query.cli.options import data_option
from crmrag_query.cli.printable import printable

if TYPE_CHECKING:
    from crmrag_query.verify.check import Checked, Report

NAME_WIDTH = 28


@click.command()
@click.argument("dataset")
@click.option("--release", metavar="ID", help="Another release of DATASET than the current one.")
@data_option
@click.option("--json", "as_json", is_flag=True, help="What came of each check as JSON.")
def verify(dataset: str, release: str | None, data: Path, as_json: bool) -> None:
    """Check every file of a release, and every artifact against those that it refers to.

    DATASET is a data set's name (its current release), NAME@previous, a release's id, or the folder of a release. Ends with
    status 1 when anything is wrong.
    """
    from crmrag_query.artifacts.places import find_named
    from crmrag_query.verify.run import verify_folder

    folder = find_named(f"{dataset}@{release}" if release else dataset, data)
    tell = (lambda checked: None) if as_json else show
    report = verify_folder(
        folder, tell, _advance if sys.stderr.isatty() and not as_json else lambda done, total: None
    )
    if as_json:
        click.echo(json.dumps({"holds": report.holds, **asdict(report)}, ensure_ascii=False, indent=1))
    else:
        click.echo(printable(_verdict(report)))
    if not report.holds:
        if not as_json:
            click.echo(printable(_remedy(report, folder, data)), err=True)
        sys.exit(1)


def show(checked: Checked) -> None:
    """A line for a check, and one for each kind of fault."""
    if checked.skipped:
        state, count = "SKIPPED", "not looked at, as files that it reads are damaged"
    else:
        state, count = "FAULTY" if checked.faults else "ok", f"{checked.looked:>14,} {checked.things}"
    click.echo(f"{state:<7} {checked.name:<{NAME_WIDTH}} {count}")
    for line in (*checked.faults, *checked.remarks):
        click.echo(printable(f"          {line}"))


def _advance(done: int, total: int) -> None:
    """How far the checksums are, on one line that goes away."""
    click.echo(
        f"\r{done / max(total, 1):4.0%} of {total / 1e9:.1f} GB" if done < total else "\r\x1b[K",
        nl=False,
        err=True,
    )


def _verdict(report: Report) -> str:
    name = f"Release {report.release} of data set '{report.dataset}'"
    if report.holds:
        return f"{name} is what was built, and its parts fit each other."
    faulty = sum(bool(one.faults) for one in report.checked)
    return f"{name} cannot be trusted: {faulty} of {len(report.checked)} checks found faults."


def _remedy(report: Report, folder: Path, data: Path) -> str:
    """What to do: of a release that answers now, first to go back."""
    from crmrag_query.artifacts.places import PREVIOUS, dataset_folder, pointer
    from crmrag_query.artifacts.verify import STRAY

    name = shlex.quote(report.dataset)
    if all(fault.endswith(STRAY) for fault in report.faults):
        return "Its own files are what was built: remove the others."
    parent = dataset_folder(data, report.dataset)
    if folder.parent.resolve() != parent.resolve():
        return f"Do not answer from it: copy it again, or build it: crmrag build {name}"
    if pointer(parent) != folder.name:
        return f"Do not go back to it; remove it: rm -r {shlex.quote(str(folder))}"
    if (previous := pointer(parent, PREVIOUS)) is not None and (parent / previous).is_dir():
        return (
            f"Go back to the release before (crmrag rollback {name}), then build again: crmrag build {name}"
        )
    return f"Build it again: crmrag build {name}"
