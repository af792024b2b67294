"""`crmrag verify`: whether a release can be trusted; `crmrag diff`: what is other in a release than in another."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from crmrag_query.artifacts.files import STRAY
from crmrag_query.artifacts.manifest import PREVIOUS, dataset_folder, find_named, pointer
from crmrag_query.artifacts.mirror import bring
from crmrag_query.artifacts.release import Opener, open_release
from crmrag_query.cli.options import data_option
from crmrag_query.compare import Count, Difference, Documents, Files, Setting, Side, compare
from crmrag_query.text import printable
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


WIDEST = 60  # characters of a setting's value
LISTED = 25  # classes and settings that are shown


def diff_lines(found: Difference) -> Iterator[str]:
    """All lines; a part in which nothing changed says so in one."""
    yield f"From {_side(found.before)}"
    yield f"to   {_side(found.after)}"
    if found.before.release == found.after.release:
        yield "They are the same release."
        return
    yield from _counts("Counts", found.counts)
    yield from _counts("Entities by category", found.categories)
    yield from _counts("Entities by class", found.classes)
    yield from _settings("Configuration", found.settings)
    yield from _settings("Encoder", found.encoder)
    yield from _documents(found.documents)
    yield from _files(found.files)


def _side(side: Side) -> str:
    built = f", built {side.built}" if side.built else ""
    return f"{side.dataset} {side.release}{built}"


def _title(title: str, changed: int, as_before: str) -> Iterator[str]:
    yield ""
    yield title if changed else f"{title}: {as_before}"


def _counts(title: str, counts: Sequence[Count]) -> Iterator[str]:
    yield from _title(title, len(counts), "as before")
    shown = counts[:LISTED]
    width = max((len(count.name) for count in shown), default=0)
    for count in shown:
        change = count.after - count.before
        yield f"  {count.name:<{width}}  {count.before:>12,} → {count.after:>12,}  {change:>+11,}"
    yield from _more(len(counts))


def _settings(title: str, settings: Sequence[Setting]) -> Iterator[str]:
    yield from _title(title, len(settings), "as before")
    for one in settings[:LISTED]:
        yield f"  {one.name}: {_value(one.before)} → {_value(one.after)}"
    yield from _more(len(settings))


def _value(text: str) -> str:
    text = text or "(nothing)"
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _more(count: int) -> Iterator[str]:
    if count > LISTED:
        yield f"  and {count - LISTED:,} more (--json has all)"


def _documents(found: Documents) -> Iterator[str]:
    parts = ((found.came, "came"), (found.went, "went"), (found.rewritten, "read otherwise"))
    changed = [f"{count:,} {how}" for count, how in parts if count]
    yield ""
    yield f"Documents: {', '.join([*changed, f'{found.same:,} as before'])}"
    for sign, count, first in (
        ("+", found.came, found.first_came),
        ("-", found.went, found.first_went),
        ("~", found.rewritten, found.first_rewritten),
    ):
        for one in first:
            yield f"  {sign} {one.label}  <{one.iri}>"
            yield from (f"      {line}" for line in one.diff)
        if first and count > len(first):
            yield f"  {sign} and {count - len(first):,} more (--limit)"


def _files(files: Sequence[Files]) -> Iterator[str]:
    same, others = [], []
    for one in files:
        if one.changed or one.came or one.went:
            parts = ((one.changed, "other"), (one.came, "new"), (one.went, "gone"), (one.same, "the same"))
            counted = ", ".join(f"{count:,} {how}" for count, how in parts if count)
            others.append(f"{one.artifact} ({counted})")
        else:
            same.append(one.artifact)
    yield ""
    yield f"Files that are the same: {', '.join(same) or 'none'}"
    if others:
        yield f"Files that are not: {', '.join(others)}"


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@data_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Documents of each kind by name.",
)
@click.option("--texts", is_flag=True, help="With what changed in the text of those that read otherwise.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def diff(before: str, after: str | None, data: Path, limit: int, texts: bool, as_json: bool) -> None:
    """What is other in release B than in release A: counts, configuration, documents, files.

    Each is a release's id, a data set's name (its current release), NAME@previous, NAME@ID, or the folder of a release.
    `crmrag diff NAME` alone compares the previous release with the current one.
    """
    names = (before, after) if after else (f"{before}@previous", before)
    for name in names:
        bring(name, data)
    old, new = (open_release(find_named(name, data)) for name in names)
    found = compare(old, new, limit, texts)
    if as_json:
        click.echo(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        click.echo(printable("\n".join(diff_lines(found))))
