"""Whatever happened to a release's files, a question is answered from what was built or refused; no library falls over."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pyarrow import ipc

from crmrag_query import Client
from crmrag_query.artifacts import files as intact
from crmrag_query.artifacts.manifest import read_manifest
from crmrag_query.artifacts.release import UNREAD, Release, open_release
from crmrag_query.client import library as releases
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.graph import Graph
from tests.support.flips import ANSWERED, REFUSED, Flip, attempts, random_flips
from tests.support.small_world import small_release
from tests.support.spoiling import put

QUESTIONS = ("Who painted Mural of Saint Anna?", "Which churches are in Kolva?", "How many murals are there?")
LABELS = "graph/labels.arrow"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return small_release(tmp_path_factory)


@pytest.fixture
def data(built: Release, tmp_path: Path) -> Path:
    """A data folder with two data sets, of the same release."""
    for name in ("churches", "others"):
        shutil.copytree(built.folder.parent, tmp_path / "releases" / name)
    return tmp_path


@pytest.fixture
def folder(data: Path) -> Path:
    """The release of the first of them."""
    return open_release("churches", data).folder


@pytest.fixture
def own(built: Release, tmp_path: Path) -> Path:
    """A copy of the release whose name pins nothing: whoever means harm names it so."""
    copy = tmp_path / "own"
    shutil.copytree(built.folder, copy)
    return copy


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intact, "LARGE", 0)


def offset_of_texts(path: Path) -> int:
    """Where in a table's file the offset of its second text begins."""
    texts = ipc.open_file(path.read_bytes()).get_batch(0).column("text")
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[: len(texts) + 1]
    return path.read_bytes().index(offsets.tobytes()) + 8


def flip(path: Path, byte: int, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[byte] ^= 1 << bit
    path.write_bytes(content)


def test_no_flipped_bit_ends_a_process_or_escapes_as_the_error_of_a_library(folder: Path) -> None:
    worst = Flip(LABELS, offset_of_texts(folder / LABELS) + 5, 6)
    tried = attempts(folder, [worst, *random_flips(folder, 24, seed=1)], QUESTIONS)
    assert not [one for one in tried if one.outcome not in (ANSWERED, REFUSED)]
    assert tried[0].outcome == REFUSED and LABELS in tried[0].said
    for one in tried:
        pinned = any(entry.path == one.flip.path for entry in read_manifest(folder).files)
        if pinned and not one.flip.path.startswith(UNREAD):
            assert one.outcome == REFUSED and one.flip.path in one.said, one
            assert "'churches'" in one.said and "crmrag verify churches" in one.said


def test_nor_does_one_where_the_manifest_was_made_to_fit(own: Path) -> None:
    """Whose release that is answers for what it says, but not for the process that reads it."""
    worst = Flip(LABELS, offset_of_texts(own / LABELS) + 5, 6)
    tables = [path for ending in ("arrow", "npy") for path in sorted(own.glob(f"graph/*.{ending}"))]
    heads = [Flip(path.relative_to(own).as_posix(), 9, 2) for path in tables[::9]]
    tried = attempts(own, [worst, *heads], QUESTIONS, pinned=True)
    assert tried[0].outcome == REFUSED and LABELS in tried[0].said
    assert not [one for one in tried if one.outcome not in (ANSWERED, REFUSED)]


def test_a_damaged_data_set_is_refused_by_name_and_the_others_are_answered(data: Path, folder: Path) -> None:
    flip(folder / LABELS, offset_of_texts(folder / LABELS) + 5, 6)
    with Client(data) as client:
        for _ in range(2):
            with pytest.raises(ReleaseError, match=f"'churches' is not what was built:\n  {LABELS}") as told:
                client.ask(QUESTIONS[0], dataset="churches")
            assert (
                "crmrag build churches" in told.value.remedy and "crmrag verify churches" in told.value.remedy
            )
            assert client.ask(QUESTIONS[0], dataset="others").text


def test_files_are_read_through_once_and_again_when_they_were_written_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    known = intact.sha256_files
    monkeypatch.setattr(
        intact, "sha256_files", lambda paths: read.extend(one.name for one in paths) or known(paths)
    )
    _ = open_release(folder)[Graph]
    assert "labels.arrow" in read and "config.json" in read
    read.clear()
    _ = open_release(folder)[Graph]
    assert read == []
    (folder / LABELS).write_bytes((folder / LABELS).read_bytes())
    _ = open_release(folder)[Graph]
    assert read == ["labels.arrow"]


def test_a_release_is_opened_where_nothing_can_be_remembered(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert open_release(folder)[Graph].nodes


@pytest.mark.usefixtures("all_large")
def test_large_files_are_compared_while_questions_are_answered_and_refused_then(
    data: Path, folder: Path
) -> None:
    """What no library stumbles over: another letter."""
    flip(folder / LABELS, (folder / LABELS).read_bytes().index(b"Saint Anna"), 0)
    with Client(data) as client:
        shelf = releases.Library(data)
        try:
            _, release = shelf.release("churches")
            assert release.intact is not None
            with pytest.raises(ReleaseError, match=LABELS):
                release.intact.settle()
        except ReleaseError as error:  # the thread was as fast as the opening
            assert LABELS in str(error)
        with pytest.raises(ReleaseError, match=LABELS):
            shelf.release("churches")
        with pytest.raises(ReleaseError, match=LABELS):
            client.ask(QUESTIONS[0], dataset="churches")
        assert client.ask(QUESTIONS[0], dataset="others").text


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (put("graph/forward_ptr.npy", 2, 1 << 40), "graph/forward_ptr.npy"),
        (put("graph/forward_ptr.npy", -1, 1 << 40), "graph/forward_ptr.npy"),
        (lambda folder: flip(folder / LABELS, offset_of_texts(folder / LABELS) + 5, 6), LABELS),
    ],
    ids=["array", "array's end", "table"],
)
def test_but_what_a_library_may_not_survive_is_seen_before(
    folder: Path, spoil: Callable[[Path], None], path: str
) -> None:
    spoil(folder)
    with pytest.raises(ReleaseError, match=path):
        _ = open_release(folder)[Graph]


def test_the_error_of_a_library_that_reads_a_release_says_which_and_what_to_do(
    built: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = open_release(built.folder)
    for error in (IndexError("index 9 is out of bounds"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")):
        with pytest.raises(ReleaseError, match=type(error).__name__) as told, release.reading():
            raise error
        assert str(release.folder) in told.value.what and "crmrag verify churches" in told.value.remedy
    with pytest.raises(AssertionError), release.reading():
        raise AssertionError("a fault of ours")


def test_an_error_while_large_files_are_compared_waits_for_what_they_are(
    folder: Path, all_large: None
) -> None:
    """Then any error is the damage's."""
    release = open_release(folder)
    flip(folder / LABELS, (folder / LABELS).read_bytes().index(b"Saint Anna"), 0)
    with pytest.raises(ReleaseError, match=LABELS), release.reading():
        raise AssertionError("what damage may lead to")


def test_a_file_that_is_gone_is_named_too(folder: Path) -> None:
    release = open_release(folder)
    (folder / LABELS).unlink()
    with pytest.raises(ReleaseError, match=LABELS):
        _ = release[Graph]


def test_what_is_remembered_goes_away_with_time(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old = tmp_path / "cache" / "crmrag" / "checked" / "old.json"
    old.parent.mkdir(parents=True)
    old.write_text("[]")
    os.utime(old, (0, 0))
    _ = open_release(folder)[Graph]
    assert len([*old.parent.iterdir()]) == 1 and not old.exists()
