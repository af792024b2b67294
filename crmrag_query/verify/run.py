"""All checks of a release, in the order in which they are told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from crmrag_query.artifacts.files import Advance, check_signature, faults_of_files, provenance_faults
from crmrag_query.artifacts.manifest import COMPANIONS, PROVENANCE, read_manifest
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.world import World
from crmrag_query.retrieval.communities import FOLDER, NONE, Communities
from crmrag_query.verify import graph, indexes
from crmrag_query.verify.check import SHOWN, Check, Faults, Finding, Report, counted, pointers, within, wrong

REPORT = "validation_report.json"


def method_opens(release: Release) -> Faults:
    """The configuration, the relationships and the ontology tables that the release was built with."""
    if not release[World].catalogue.relationships:
        yield "config.json: it has no Fundamental Relationships"
    if release.method.relationships != release.manifest.relationships:
        yield f"config.json: relationships {release.method.relationships}, the manifest says {release.manifest.relationships}"
    if not release.ontology.classes:
        yield "ontology/: its tables have no classes"
    return len(release[World].catalogue)


def manifest_counts(release: Release) -> Faults:
    """The manifest's counts are those of the files."""
    graph, documents = release[Graph], release[Documents]
    paths = [entry.path.split("/") for entry in release.manifest.files]
    found = {
        "entities": int(np.count_nonzero(graph.flags & FLAG_ENTITY)),
        "nodes": graph.nodes,
        "triples": graph.triples + graph.literal_table.num_rows + len(graph.type_rows[1]),
        "literals": int(graph.literal_table.num_rows),
        "documents": documents.count,
        "passages": documents.passages.num_rows,
    }
    if release.manifest.has("embeddings"):
        found["chunks"] = len({parts[1] for parts in paths if parts[0] == "embeddings"})
    for name, count in found.items():
        yield from counted(f"manifest.json: {name}", release.manifest.counts.get(name, 0), count)
    markdown = sum(parts[0] == "entity_documents" for parts in paths)
    if markdown:
        yield from counted("entity_documents/: files", markdown, documents.count)
    return len(found)


def report_counts(release: Release) -> Faults:
    """The validation report counts what the graph and the documents hold."""
    report = json.loads((release.folder / REPORT).read_bytes())
    entities = int(np.count_nonzero(release[Graph].flags & FLAG_ENTITY))
    yield from counted(f"{REPORT}: nodes", report["entities"]["nodes"], release[Graph].nodes)
    yield from counted(f"{REPORT}: entities", report["entities"]["entities"], entities)
    yield from counted(f"{REPORT}: documents", report["documents"]["count"], release[Documents].count)
    return 3


def communities_nest(release: Release) -> Faults:
    """Members are documents, each once on a level; a parent is of the level above and has just what its parts have."""
    found, documents = release[Communities], release[Documents]
    count, level = len(found), np.asarray(found.level)
    if (yield from pointers(f"{FOLDER}/member_ptr.npy", found.member_ptr, count, len(found.member))):
        return 0
    if (yield from within(f"{FOLDER}/member.npy", found.member, 0, documents.count)):
        return 0
    if (yield from within(f"{FOLDER}/parent.npy", found.parent, NONE, count)):
        return 0
    parent = np.asarray(found.parent)
    above = parent != NONE
    yield from wrong(
        f"{FOLDER}/parent.npy: not of the level above",
        count,
        lambda block: above[block] & (level[parent[block]] != level[block] + 1),
    )
    yield from counted(
        f"{FOLDER}/communities.json: levels", len(found.levels), int(level.max(initial=-1)) + 1
    )
    for number in range(len(found.levels)):
        members = [found.members(one) for one in found.of_level(number).tolist()]
        held = np.concatenate([np.empty(0, np.int32), *members])
        if len(np.unique(held)) != len(held):
            yield f"{FOLDER}/member.npy: documents in two communities of level {number}"
    for one in np.flatnonzero(level > 0).tolist():
        parts = [found.members(part) for part in found.parts(one).tolist()]
        if not np.array_equal(
            np.sort(found.members(one)), np.sort(np.concatenate([np.empty(0, np.int32), *parts]))
        ):
            yield f"{FOLDER}/member.npy: community {found.name(one)} is not what its parts are"
    iris = documents.graph.iris
    for one in range(count):
        own = iris.take(documents.entities[np.sort(found.members(one))]).to_pylist()
        text = "\n".join([str(level[one]), *own])
        if hashlib.sha256(text.encode()).hexdigest()[:16] != found.name(one):
            yield f"{FOLDER}/id.npy: community {found.name(one)} has other members than its id says"
    return count


ReleaseCheck = Check[Release]
REFERENCES: Sequence[ReleaseCheck] = (
    Check("method", "relationships", method_opens, reads=("config.json", "ontology")),
    Check("manifest", "counts", manifest_counts, reads=("graph", "documents")),
    Check("validation report", "counts", report_counts, reads=("graph", "documents", REPORT)),
    *graph.CHECKS,
    *indexes.VECTOR_CHECKS,
    *indexes.CHECKS,
    Check("communities", "communities", communities_nest, reads=("graph", "documents", FOLDER), where=FOLDER),
    *graph.PARTITION_CHECKS,
)
"""Cross-references between artifacts: what no checksum sees. To check more, add to the list of its module."""
ALL: Sequence[ReleaseCheck] = (*REFERENCES, *indexes.PROBES)

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


def check_references(release: Release) -> Report:
    """What the artifacts of a release say of each other, and whether its encoder opens; its files are taken to be what was
    built."""
    return Report(release.id, release.manifest.dataset, tuple(_run(ALL, release, set())))


def _run(
    checks: Iterable[ReleaseCheck], release: Release, damaged: set[str]
) -> Iterator[tuple[ReleaseCheck, Finding]]:
    """Run checks in order, but those that read what is ``damaged``: folders and files at the top of the release."""
    for check in checks:
        if damaged.intersection(check.reads):
            yield check, Finding(False, skipped=True)
            continue
        there = not check.where or release.manifest.has(check.where)
        finding = check.found(release) if there else Finding(True)
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
