"""Releases of two files, published like real ones: what they hold does not matter."""

from __future__ import annotations

from pathlib import Path

from crmrag_assets.release.publish import Pinned, publish
from crmrag_query.artifacts.manifest import FileEntry, Manifest, entries


def files_of(root: Path, text: str) -> tuple[Pinned, ...]:
    """Two files of a working folder, pinned at other places."""
    work = root / "work" / text
    (work / "a").mkdir(parents=True)
    (work / "a" / "one.txt").write_text(text)
    (work / "two.txt").write_text("two")
    return tuple(
        Pinned(work / entry.path, FileEntry(f"graph/{entry.path}", entry.bytes, entry.sha256))
        for entry in entries(work)
    )


def publish_text(root: Path, text: str, into: Path | None = None, keep: int = 2) -> str:
    """Publish a release of the data set ``churches`` that holds this text, below ``root`` or ``into``; its id."""
    files = files_of(root, text)
    manifest = Manifest("churches", tuple(p.entry for p in files))
    return publish(into or root, manifest, files, {"built": text}, keep=keep).name
