"""Opening a release: what was built or a clear refusal."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crmrag_query.artifacts.manifest import (
    CURRENT,
    MANIFEST,
    PREVIOUS,
    PROVENANCE,
    Manifest,
    canonical_json,
    datasets_with_releases,
    entries,
    release_ids,
    switch,
)
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import ReleaseError, ReleaseNotFound

REPORT = "validation_report.md"


def make_release(data: Path, dataset: str = "churches", text: str = "content") -> Path:
    """A release of two files with a companion; what they hold does not matter here."""
    working = data / "releases" / dataset / "working"
    (working / "graph").mkdir(parents=True)
    (working / "graph" / "nodes.arrow").write_text(text)
    (working / "config.json").write_text("{}")
    manifest = Manifest(dataset, entries(working))
    (working / REPORT).write_text("# Report")
    told = {"path": REPORT, "bytes": 8, "sha256": hashlib.sha256(b"# Report").hexdigest()}
    content = {"built": "2026-01-01", "companions": [told]}
    checksum = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    (working / PROVENANCE).write_text(json.dumps({"content": content, "sha256": checksum}))
    (working / MANIFEST).write_text(manifest.text())
    folder = working.with_name(manifest.id)
    working.rename(folder)
    switch(folder.parent, manifest.id)
    return folder


def test_a_release_opens_by_name_by_its_folder_and_by_its_data_sets_folder(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    for way in ("churches", folder, folder.parent, str(folder)):
        release = open_release(way, tmp_path)
        assert release.folder.samefile(folder) and release.id == folder.name
        release.verify()
    provenance = open_release("churches", tmp_path).provenance
    assert provenance is not None and provenance["built"] == "2026-01-01"


def test_a_copied_release_opens_wherever_it_lies_and_whatever_it_is_called(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    copy = tmp_path / "elsewhere" / "my release"
    shutil.copytree(folder, copy)
    release = open_release(copy)
    release.verify()
    assert release.id == folder.name


@pytest.mark.parametrize("left_out", [(REPORT,), (PROVENANCE,), (REPORT, PROVENANCE)])
def test_a_copy_without_what_is_not_pinned_opens_and_verifies(
    tmp_path: Path, left_out: tuple[str, ...]
) -> None:
    folder = make_release(tmp_path)
    for name in left_out:
        (folder / name).unlink()
    open_release("churches", tmp_path).verify()


def tell(folder: Path, **companion: object) -> None:
    """Provenance with a valid checksum that names this one companion."""
    content = {"companions": [companion]}
    checksum = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    (folder / PROVENANCE).write_text(json.dumps({"content": content, "sha256": checksum}))


def test_provenance_makes_nobody_read_other_files(tmp_path: Path) -> None:
    """Only files that are known to be companions are looked at, whatever a provenance from elsewhere names."""
    folder = make_release(tmp_path)
    tell(folder, path="../../../secret", bytes=1, sha256="0" * 64)
    open_release("churches", tmp_path).verify()
    tell(folder, name="what")
    with pytest.raises(ReleaseError, match="companions that are no files"):
        open_release("churches", tmp_path).verify()


def truncate(folder: Path) -> None:
    (folder / "graph" / "nodes.arrow").write_text("cont")


def remove(folder: Path) -> None:
    (folder / "config.json").unlink()


def link(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("/etc/hostname")


def link_folder(folder: Path) -> None:
    shutil.move(folder / "graph", folder.parent.parent / "outside")
    (folder / "graph").symlink_to(folder.parent.parent / "outside")


def edit_manifest(folder: Path) -> None:
    text = (folder / MANIFEST).read_text().replace('"dataset": "churches"', '"dataset": "palaces"')
    (folder / MANIFEST).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (truncate, "4 bytes where 7"),
        (remove, "config.json: missing"),
        (link, "config.json: no plain file"),
        (link_folder, "graph: leads outside"),
        (edit_manifest, "manifest .* was altered"),
    ],
)
def test_a_damaged_release_does_not_open(tmp_path: Path, spoil: Callable[[Path], None], message: str) -> None:
    spoil(make_release(tmp_path))
    with pytest.raises(ReleaseError, match=message):
        open_release("churches", tmp_path)


def alter(folder: Path) -> None:
    (folder / "graph" / "nodes.arrow").write_text("CONTENT")


def add(folder: Path) -> None:
    (folder / "graph" / "more.npy").write_text("x")


def alter_provenance(folder: Path) -> None:
    path = folder / PROVENANCE
    path.write_text(path.read_text().replace("2026", "2027"))


def alter_companion(folder: Path) -> None:
    (folder / REPORT).write_text("# REPORT")


def link_companion(folder: Path) -> None:
    (folder / REPORT).unlink()
    (folder / REPORT).symlink_to("/etc/hostname")


def link_companion_to_nothing(folder: Path) -> None:
    (folder / REPORT).unlink()
    (folder / REPORT).symlink_to("nowhere")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (alter_companion, rf"{REPORT}: its content was altered"),
        (link_companion, rf"{REPORT}: no plain file"),
        (link_companion_to_nothing, rf"{REPORT}: no plain file"),
        (alter, "nodes.arrow: its content was altered"),
        (add, "more.npy: not pinned"),
        (alter_provenance, PROVENANCE),
    ],
)
def test_verifying_finds_what_sizes_do_not_show(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(make_release(tmp_path))
    release = open_release("churches", tmp_path)
    with pytest.raises(ReleaseError, match=message):
        release.verify()


def test_without_a_release_the_error_says_what_to_do_and_what_there_is(tmp_path: Path) -> None:
    make_release(tmp_path)
    with pytest.raises(ReleaseNotFound, match=r"'palaces' has no release.*crmrag build palaces.*churches"):
        open_release("palaces", tmp_path)


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../x", "a\\b"])
def test_a_name_that_is_no_folder_name_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "releases").mkdir()
    with pytest.raises(ReleaseNotFound):
        open_release(name, tmp_path)


@pytest.mark.parametrize("content", ["../../etc", "", "0123456789abcdeg", "\xff\xfe"])
def test_a_damaged_pointer_is_refused(tmp_path: Path, content: str) -> None:
    folder = make_release(tmp_path)
    (folder.parent / CURRENT).write_bytes(content.encode("latin-1"))
    with pytest.raises(ReleaseError, match="current"):
        open_release("churches", tmp_path)


def test_a_pointer_to_a_release_that_is_gone_names_the_way_back(tmp_path: Path) -> None:
    shutil.rmtree(make_release(tmp_path))
    with pytest.raises(ReleaseNotFound, match="rollback churches"):
        open_release("churches", tmp_path)


def test_switching_keeps_the_release_before(tmp_path: Path) -> None:
    first, second = make_release(tmp_path), make_release(tmp_path, text="changed")
    assert (first.parent / PREVIOUS).read_text().strip() == first.name
    assert open_release("churches", tmp_path).id == second.name
    assert release_ids(tmp_path, "churches") == tuple(sorted((first.name, second.name)))
    assert datasets_with_releases(tmp_path) == ("churches",)
