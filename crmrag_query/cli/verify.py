"""`crmrag verify`: whether a release can be trusted."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crmrag_query.cli.options import data_option
from crmrag_query.text import printable

if TYPE_CHECKING:
    from crmrag_query.verify.check import Check, Finding, Report

NAME_WIDTH = 28


@click.command()
@click.argument("dataset")
@click.option("--release", metavar="ID", help="Another release of DATASET than the current one.")
@click.option(
    "--signed-by",
    "signers",
    metavar="KEY",
    multiple=True,
    help="A public key of minisign's, or the file of one, that must have signed it; several: one of them (CRMRAG_SIGNERS).",
)
@data_option
@click.option("--json", "as_json", is_flag=True, help="What came of each check as JSON.")
def verify(dataset: str, release: str | None, signers: tuple[str, ...], data: Path, as_json: bool) -> None:
    """Check every file of a release, and every artifact against those that it refers to.

    DATASET is a data set's name (its current release), NAME@previous, a release's id, or the folder of a release. Ends with
    status 1 when anything is wrong.
    """
    from crmrag_query.artifacts.mirror import bring
    from crmrag_query.artifacts.places import find_named
    from crmrag_query.artifacts.release import Opener
    from crmrag_query.verify.run import verify_folder

    bring(dataset, data)
    folder = find_named(f"{dataset}@{release}" if release else dataset, data)
    tell = (lambda check, finding: None) if as_json else show
    report = verify_folder(
        folder,
        tell,
        _advance if sys.stderr.isatty() and not as_json else lambda done, total: None,
        signers=signers or Opener.here().signers,
    )
    if as_json:
        click.echo(json.dumps(_plain(report), ensure_ascii=False, indent=1))
    else:
        click.echo(printable(_verdict(report)))
    if not report.holds:
        if not as_json:
            click.echo(printable(_remedy(report, folder, data)), err=True)
        sys.exit(1)


def show(check: Check[Any], finding: Finding) -> None:
    """A line for a check, and one for each kind of fault."""
    if finding.skipped:
        state, count = "SKIPPED", "not looked at, as files that it reads are damaged"
    else:
        state, count = "FAULTY" if finding.faults else "ok", f"{finding.looked:>14,} {check.of}"
    click.echo(f"{state:<7} {check.name:<{NAME_WIDTH}} {count}")
    for line in (*finding.faults, *finding.remarks):
        click.echo(printable(f"          {line}"))


def _plain(report: Report) -> dict[str, Any]:
    """The report for programs."""
    parts = ("looked", "faults", "skipped", "remarks")
    checked = [
        {"name": check.name, "things": check.of, **{part: getattr(finding, part) for part in parts}}
        for check, finding in report.found
    ]
    return {"holds": report.holds, "release": report.release, "dataset": report.dataset, "checked": checked}


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
    faulty = sum(bool(finding.faults) for _, finding in report.found)
    return f"{name} cannot be trusted: {faulty} of {len(report.found)} checks found faults."


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
