"""No release is published whose artifacts contradict each other."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from crmrag_assets.build.step import BuildContext
from crmrag_assets.release.contents import PLACES
from crmrag_query.artifacts.manifest import read_manifest
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import BuildError
from crmrag_query.verify.run import check_references

SHOWN = 10
ROOT_FILES = {"validation_report": "validation_report.json", "method": "config.json"}


def require_consistent(context: BuildContext, folder: Path) -> None:
    """Raise BuildError unless the artifacts of the release in ``folder`` fit each other; it names them and the remedy."""
    report = check_references(Release(folder, read_manifest(folder)))
    if report.holds:
        return
    shown = [f"  {fault}" for fault in report.faults[:SHOWN]]
    if len(report.faults) > SHOWN:
        shown.append(f"  and {len(report.faults) - SHOWN:,} more")
    made = [context.folder(artifact) for artifact in _artifacts(report.faults)]
    remove = " ".join(shlex.quote(str(path)) for path in made)
    faults = "\n".join(shown)
    raise BuildError(
        f"Release {report.release} of data set '{context.name}' was not published, as its artifacts contradict each other; "
        f"the one before stays current:\n{faults}\n",
        f"Have them made again: rm -r {remove}; crmrag build {shlex.quote(context.name)}. If it comes again, report it.",
    )


def _artifacts(faults: Iterable[str]) -> list[str]:
    """The artifacts whose files the faults name; ``release`` where it is its manifest."""
    text = "\n".join(faults)
    named = {artifact: f"{place}/" for artifact, place in PLACES.items() if place} | ROOT_FILES
    return [artifact for artifact, file in named.items() if f" {file}" in text] or ["release"]
