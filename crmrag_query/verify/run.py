"""All checks of a release, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from crmrag_query.artifacts.manifest import COMPANIONS, PROVENANCE, read_manifest
from crmrag_query.artifacts.release import Release
from crmrag_query.artifacts.signature import check_signature
from crmrag_query.artifacts.verify import Advance, faults_of_files, provenance_faults
from crmrag_query.errors import ReleaseError
from crmrag_query.verify import communities, contents, dense, documents, graph, graph_partitions, indexes
from crmrag_query.verify.check import SHOWN, Check, Finding, Report

ReleaseCheck = Check[Release]
REFERENCES: Sequence[ReleaseCheck] = (
    *contents.CHECKS,
    *graph.CHECKS,
    *documents.CHECKS,
    *dense.CHECKS,
    *indexes.CHECKS,
    *communities.CHECKS,
    *graph_partitions.CHECKS,
)
"""Cross-references between artifacts: what no checksum sees. To check more, add to the list of its module."""
ALL: Sequence[ReleaseCheck] = (*REFERENCES, *dense.PROBES)

Tell = Callable[[ReleaseCheck, Finding], None]


def verify_folder(
    folder: Path,
    tell: Tell = lambda check, finding: None,
    advance: Advance = lambda done, total: None,
    checks: Sequence[ReleaseCheck] = ALL,
    signers: Sequence[str] = (),
) -> Report:
    """Every file of the release in ``folder`` against its manifest, then ``checks`` of those that are what was built.

    ``signers``: public keys, one of which must have signed it. ``tell`` is given each check as it ends; ``advance`` is told
    (bytes done, bytes in all) of the files. Raises ReleaseError for a folder without a manifest that can be read.
    """
    release = Release(folder, read_manifest(folder))
    damaged: set[str] = set()

    def files(release: Release) -> Finding:
        faults = faults_of_files(folder, release.manifest, advance)
        damaged.update(fault.path.split("/")[0] for fault in faults if not fault.stray)
        shown = [str(fault) for fault in faults[:SHOWN]]
        if len(faults) > SHOWN:
            shown.append(f"and {len(faults) - SHOWN:,} more files")
        looked = len(release.manifest.files) + 1  # with the manifest
        return Finding(not faults, looked=looked, faults=tuple(shown))

    def signature(release: Release) -> Finding:
        try:
            check_signature(folder, signers)
        except ReleaseError as error:
            return Finding(False, looked=1, faults=(error.what,))
        return Finding(True, looked=1)

    first = [Check("files", "files", files), Check("provenance", "files", _provenance)]
    if signers:
        first.append(Check("signature", "signatures", signature))
    found = []
    for check, finding in _run((*first, *checks), release, damaged):
        found.append((check, finding))
        tell(check, finding)
    return Report(release.id, release.manifest.dataset, tuple(found))


def check_references(release: Release, checks: Sequence[ReleaseCheck] = ALL) -> Report:
    """What the artifacts of a release say of each other, and whether its encoder opens; its files are taken to be what was
    built."""
    return Report(release.id, release.manifest.dataset, tuple(_run(checks, release, set())))


def _run(
    checks: Iterable[ReleaseCheck], release: Release, damaged: set[str]
) -> Iterator[tuple[ReleaseCheck, Finding]]:
    """Run checks in order, but those that read what is ``damaged``: folders and files at the top of the release."""
    for check in checks:
        if damaged.intersection(check.reads):
            yield check, Finding(False, skipped=True)
            continue
        finding = check.found(release)
        if check.opens and finding.faults:
            damaged.add(check.opens)
        yield check, finding


def _provenance(release: Release) -> Finding:
    """How the release came to be, which is no part of it: a copy may leave it out, but must not tell anything else."""
    try:
        faults, absent = provenance_faults(release.folder)
    except ReleaseError as error:
        return Finding(False, looked=1, faults=(error.what,))
    remarks = tuple(
        f"{name} was left out; it tells how the release came to be, and nothing answers from it"
        for name in absent
    )
    looked = 0 if PROVENANCE in absent else 1 + len(COMPANIONS) - len(absent)
    return Finding(not faults, looked=looked, faults=tuple(map(str, faults)), remarks=remarks)
