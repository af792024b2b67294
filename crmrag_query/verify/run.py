"""All checks of a release, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from crmrag_query.artifacts.manifest import COMPANIONS, PROVENANCE, read_manifest
from crmrag_query.artifacts.release import Release
from crmrag_query.artifacts.verify import Advance, FileFault, faults_of_files, provenance_faults
from crmrag_query.errors import ReleaseError
from crmrag_query.verify import contents, dense, documents, graph, lookups, sparse
from crmrag_query.verify.check import SHOWN, Check, Checked, Report, run_checks

REFERENCES: Sequence[Check] = (
    *contents.CHECKS,
    *graph.CHECKS,
    *documents.CHECKS,
    *dense.CHECKS,
    *sparse.CHECKS,
    *lookups.CHECKS,
)
"""Cross-references between artifacts: what no checksum sees. To check more, add to the list of its module."""
ALL: Sequence[Check] = (*REFERENCES, *dense.PROBES)

Tell = Callable[[Checked], None]


def verify_folder(
    folder: Path,
    tell: Tell = lambda checked: None,
    advance: Advance = lambda done, total: None,
    checks: Sequence[Check] = ALL,
) -> Report:
    """Every file of the release in ``folder`` against its manifest, then ``checks`` of those that are what was built.

    ``tell`` is given each check as it ends; ``advance`` is told (bytes done, bytes in all) of the files. Raises ReleaseError
    for a folder without a manifest that can be read.
    """
    release = Release(folder, read_manifest(folder))
    told: list[Checked] = []

    def tell_of(checked: Checked) -> None:
        told.append(checked)
        tell(checked)

    faults = faults_of_files(folder, release.manifest, advance)
    tell_of(_files(release, faults))
    tell_of(_provenance(folder))
    damaged = {fault.path.split("/")[0] for fault in faults if not fault.stray}
    for checked in run_checks(checks, release, damaged):
        tell_of(checked)
    return Report(release.id, release.manifest.dataset, tuple(told))


def check_references(release: Release, checks: Sequence[Check] = REFERENCES) -> Report:
    """What the artifacts of a release say of each other; its files are taken to be what was built."""
    return Report(release.id, release.manifest.dataset, tuple(run_checks(checks, release)))


def _files(release: Release, faults: Sequence[FileFault]) -> Checked:
    shown = [str(fault) for fault in faults[:SHOWN]]
    if len(faults) > SHOWN:
        shown.append(f"and {len(faults) - SHOWN:,} more files")
    return Checked("files", "files", len(release.manifest.files) + 1, tuple(shown))  # with the manifest


def _provenance(folder: Path) -> Checked:
    """How the release came to be, which is no part of it: a copy may leave it out, but must not tell anything else."""
    try:
        faults, absent = provenance_faults(folder)
    except ReleaseError as error:
        return Checked("provenance", "files", 1, (error.what,))
    remarks = tuple(
        f"{name} was left out; it tells how the release came to be, and nothing answers from it"
        for name in absent
    )
    looked = 0 if PROVENANCE in absent else 1 + len(COMPANIONS) - len(absent)
    return Checked("provenance", "files", looked, tuple(map(str, faults)), remarks=remarks)
