"""Which files of which artifacts make a release, and the manifest that pins them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.step import BuildContext
from crmrag_query.artifacts.files import FileEntry, fsync
from crmrag_query.artifacts.manifest import COMPANIONS, Manifest

# Artifact -> its folder in a release; "" for files at the release's root.
PLACES = {
    "graph": "graph",
    "edges": "edges",
    "triples_index": "triples_index",
    "documents": "documents",
    "entity_documents": "entity_documents",
    "encoder": "encoder",
    "embeddings": "embeddings",
    "faiss_index": "dense",
    "bm25_index": "sparse",
    "aggregation_index": "aggregation",
    "date_index": "dates",
    "name_index": "names",
    "profile": "profile",
    "validation_report": "",
    "method": "",
}
CHUNKED = ("embeddings",)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file of a release: where it lies in the working folder, and its path, size and checksum in the release."""

    source: Path
    entry: FileEntry


def pinned_files(context: BuildContext) -> tuple[Pinned, ...]:
    """Every file that the manifest pins, sorted by its path there; BuildError when an artifact is not built."""
    return tuple(pinned for pinned in _all_files(context) if pinned.entry.path not in COMPANIONS)


def companion_files(context: BuildContext) -> tuple[Pinned, ...]:
    """Files that go with a release and tell how it came to be: its manifest does not pin them, its provenance does."""
    return tuple(pinned for pinned in _all_files(context) if pinned.entry.path in COMPANIONS)


def _all_files(context: BuildContext) -> list[Pinned]:
    found = (
        pinned for artifact, place in PLACES.items() for pinned in _of_artifact(context, artifact, place)
    )
    return sorted(found, key=lambda pinned: pinned.entry.path)


def _of_artifact(context: BuildContext, artifact: str, place: str) -> Iterator[Pinned]:
    for chunk in chunks_of(context) if artifact in CHUNKED else (None,):
        folder = context.folder(artifact, chunk)
        prefix = "/".join(part for part in (place, chunk) if part)
        for entry in context.finished(artifact, chunk).files:
            path = f"{prefix}/{entry.path}" if prefix else entry.path
            yield Pinned(folder / entry.path, FileEntry(path, entry.bytes, entry.sha256))


def make_manifest(
    context: BuildContext,
    files: tuple[Pinned, ...],
    counts: dict[str, int],
    config: dict[str, str],
    versions: dict[str, int],
    embedding: dict[str, object],
) -> Manifest:
    """The manifest of the data set: content only, no time, no place, no machine."""
    dataset = context.config
    return Manifest(
        dataset=context.name,
        files=tuple(pinned.entry for pinned in files),
        title=dataset.title,
        licence=dataset.licence,
        attribution=dataset.attribution,
        languages=dataset.languages,
        examples=dataset.examples,
        relationships=context.method.relationships,
        counts=counts,
        config=config,
        versions=versions,
        embedding=embedding,
        wikidata=dataset.wikidata,
    )


def link_file(source: Path, target: Path) -> None:
    """Hard link where the file system can, else a copy (another disk, no links). Finished files are never changed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        fsync(target)
