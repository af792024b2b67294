"""Publishing: readers see one whole release at any time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crmrag_assets.build.store import FailPoint
from crmrag_assets.cli.releases import releases
from crmrag_assets.release.publish import Pinned, export_release, publish
from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.manifest import (
    PREVIOUS,
    PROVENANCE,
    FileEntry,
    Manifest,
    dataset_folder,
    pointer,
    release_ids,
    sha256_file,
)
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, ReleaseError
from tests.support.builds import build_all, contents, failing_at, make_project, turtle
from tests.support.published import files_of, publish_text


@pytest.mark.parametrize(("refused", "names"), [(False, 2), (True, 1)])
def test_a_published_release_verifies_and_holds_hard_links_where_they_are_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: bool, names: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    if refused:
        monkeypatch.setattr(os, "link", refuse)
    name = publish_text(tmp_path, "first")
    release = open_release("churches", tmp_path)
    release.verify()
    assert release.id == name and release.provenance == {"built": "first", "companions": []}
    assert (release.folder / "graph" / "a" / "one.txt").read_text() == "first"
    assert (release.folder / "graph" / "two.txt").stat().st_nlink == names


def test_current_and_previous_are_kept_and_older_ones_removed(tmp_path: Path) -> None:
    names = [publish_text(tmp_path, text) for text in ("first", "second", "third")]
    assert set(release_ids(tmp_path, "churches")) == set(names[1:])
    assert open_release("churches", tmp_path).id == names[2]


def test_the_newest_releases_are_kept_as_many_as_are_wanted(tmp_path: Path) -> None:
    names = [publish_text(tmp_path, text, keep=3) for text in ("first", "second", "third", "fourth")]
    assert set(release_ids(tmp_path, "churches")) == set(names[1:])
    publish_text(tmp_path / "again", "second", into=tmp_path, keep=3)  # an old one that is current again
    folder = dataset_folder(tmp_path, "churches")
    assert (pointer(folder), pointer(folder, PREVIOUS)) == (names[1], names[3])
    assert set(release_ids(tmp_path, "churches")) == set(names[1:])
    assert publish_text(tmp_path, "fifth") and len(release_ids(tmp_path, "churches")) == 2


def test_a_release_that_is_not_accepted_leaves_the_old_one_current(tmp_path: Path) -> None:
    first = publish_text(tmp_path, "first")
    seen = []

    def refuse(folder: Path) -> None:
        seen.append(contents(folder / "graph"))
        raise BuildError("It contradicts itself.")

    files = files_of(tmp_path, "second")
    manifest = Manifest("churches", tuple(p.entry for p in files))
    with pytest.raises(BuildError):
        publish(tmp_path, manifest, files, {}, accept=refuse)
    assert len(seen[0]) == 2 and open_release("churches", tmp_path).id == first
    assert release_ids(tmp_path, "churches") == (first,)


@pytest.mark.parametrize("stage", ["before", "during", "after"])
def test_stopped_at_any_stage_the_old_release_stays_current_and_whole(tmp_path: Path, stage: str) -> None:
    first = publish_text(tmp_path, "first")
    with failing_at(f"publish:{stage}"), pytest.raises(FailPoint):
        publish_text(tmp_path, "second")
    release = open_release("churches", tmp_path)
    release.verify()
    assert release.id == first
    second = publish_text(tmp_path / "again", "second", into=tmp_path)
    assert open_release("churches", tmp_path).id == second
    assert pointer(tmp_path / "releases" / "churches", PREVIOUS) == first


def remove(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    path.write_bytes(b"F" + path.read_bytes()[1:])


@pytest.mark.parametrize("damage", [remove, flip])
def test_a_damaged_release_of_the_same_id_is_replaced(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """Of a file of the right size too: the build has just made it anew, from whose bytes the id is known."""
    name = publish_text(tmp_path, "first")
    damage(tmp_path / "releases" / "churches" / name / "graph" / "a" / "one.txt")
    publish_text(tmp_path / "again", "first", into=tmp_path)
    open_release("churches", tmp_path).verify()


REPORT = "validation_report.md"


def told(root: Path, text: str, **provenance: str) -> Path:
    """The one release of these tests published with a companion that says ``text``, and with other provenance."""
    files = files_of(root / f"built {len(list(root.glob('built *')))}", "content")
    report = root / "reports" / f"{text}.md"
    report.parent.mkdir(exist_ok=True)
    report.write_text(text)
    companion = FileEntry(REPORT, report.stat().st_size, sha256_file(report))
    manifest = Manifest("churches", tuple(p.entry for p in files))
    return publish(root, manifest, files, dict(provenance), [Pinned(report, companion)])


def test_the_same_release_told_otherwise_keeps_its_id_and_takes_the_newer_provenance(tmp_path: Path) -> None:
    first, second = told(tmp_path, "files", source="files"), told(tmp_path, "endpoint", source="endpoint")
    release = open_release("churches", tmp_path)
    release.verify()
    assert first == second and release.provenance is not None and release.provenance["source"] == "endpoint"
    assert (release.folder / REPORT).read_text() == "endpoint"
    assert not (first.parent / ".working").exists()


def test_a_build_that_changed_nothing_leaves_the_release_untouched(tmp_path: Path) -> None:
    folder = told(tmp_path, "same", source="files", built="monday")
    before = contents(folder), (folder / PROVENANCE).stat().st_mtime_ns
    told(tmp_path, "same", source="files", built="tuesday")
    assert (contents(folder), (folder / PROVENANCE).stat().st_mtime_ns) == before


@pytest.mark.parametrize("lost", [REPORT, PROVENANCE])
def test_what_a_copy_left_out_comes_back_with_the_next_build(tmp_path: Path, lost: str) -> None:
    folder = told(tmp_path, "same", source="files")
    before = contents(folder)
    (folder / lost).unlink()
    open_release("churches", tmp_path).verify()
    told(tmp_path, "same", source="files")
    assert contents(folder) == before


class Killed(BaseException):
    """What a test stops the process with: nothing catches it."""


def dying(call: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    """The call, or its death when the last of the calls that are ``left`` was made."""

    def made(*given: Any, **named: Any) -> Any:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return call(*given, **named)

    return made


def test_killed_at_any_file_operation_a_release_that_is_told_anew_verifies(tmp_path: Path) -> None:
    """Renames and removals are counted, and the process stopped before the first, the second and so on to the last."""
    operations, done = 0, False
    folder = told(tmp_path, "old", source="files")
    while not done:
        told(tmp_path, "old", source="files")
        with pytest.MonkeyPatch.context() as patch:
            left = [operations]
            for name in ("replace", "unlink", "rename"):
                patch.setattr(Path, name, dying(getattr(Path, name), left))
            try:
                told(tmp_path, "new", source="endpoint")
                done = True
            except Killed:
                operations += 1
        open_release("churches", tmp_path).verify()
        told(tmp_path, "new", source="endpoint")
        open_release("churches", tmp_path).verify()
        assert (folder / REPORT).read_text() == "new"
    assert operations > 3


@pytest.mark.slow
def test_ten_releases_take_the_disk_of_one_encoder(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", turtle(4), keep_releases=10, write_markdown=False)
    for churches in range(4, 14):
        (project.root / "churches.ttl").write_text(turtle(churches), encoding="utf-8")
        build_all(project.context())
    found = [path.parent for path in (project.data / "releases").glob("*/*/manifest.json")]
    assert len(found) == 10
    files = [path.stat() for one in found for path in (one / "encoder").iterdir()]
    on_disk = {one.st_ino: one.st_size for one in files}
    assert sum(one.st_size for one in files) == 10 * sum(on_disk.values()) > 0


def test_releases_share_their_encoder_and_a_copy_is_whole_and_answers(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", turtle(4))
    build_all(project.context())
    first = open_release(project.dataset, project.data)
    (project.root / "churches.ttl").write_text(turtle(5), encoding="utf-8")
    build_all(project.context())
    second = open_release(project.dataset, project.data)
    assert first.id != second.id and first.manifest.counts != second.manifest.counts
    encoders = [sorted((one.folder / "encoder").iterdir()) for one in (first, second)]
    assert encoders[0] and all(one.samefile(other) for one, other in zip(*encoders, strict=True))

    to = tmp_path / "away"
    told = CliRunner().invoke(
        releases, ["export", project.dataset, "--to", str(to), "--data", str(project.data)]
    )
    assert told.exit_code == 0 and f"crmrag ask {project.dataset} --data {to}" in told.output
    copy = open_release(project.dataset, to)
    copy.verify()
    assert copy.id == second.id and ask(copy, "Who painted church 4?").text
    assert not any(
        path.samefile(second.folder / path.relative_to(copy.folder)) for path in copy.folder.rglob("*.*")
    )
    with pytest.raises(ReleaseError, match="there already"):
        export_release(second.folder, to)


ITSELF = """
@prefix void: <http://rdfs.org/ns/void#> . @prefix dct: <http://purl.org/dc/terms/> .
ex:dump a void:Dataset ; dct:title "Churches of the hills"@en .
"""


@pytest.mark.parametrize(
    ("said", "given", "title"),
    [
        (ITSELF, {}, "Churches of the hills"),
        (ITSELF, {"title": "As we call it"}, "As we call it"),
        ("", {}, "Churches"),
        (ITSELF + ITSELF.replace("ex:dump", "ex:other").replace("hills", "plain"), {}, "Churches"),
    ],
)
def test_a_data_set_without_a_title_is_called_what_the_data_calls_itself(
    tmp_path: Path, said: str, given: dict[str, str], title: str
) -> None:
    project = make_project(tmp_path / "project", turtle(2) + said, **given)
    build_all(project.context())
    assert open_release(project.dataset, project.data).manifest.title == title
