"""Artifacts are published whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_assets.build.store import FailPoint, Store, data_version
from tests.support.builds import failing_at


def write(store: Store, text: str, version: str = "v1", chunk: str | None = None) -> None:
    with store.writing("things", version, {}, chunk) as folder:
        (folder / "a.txt").write_text(text)


def test_a_finished_artifact_is_current_for_its_version_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write(store, "one")
    assert store.is_current("things", "v1")
    assert not store.is_current("things", "v2")
    assert not store.is_current("other", "v1")


def test_an_altered_truncated_missing_or_added_file_is_noticed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for spoil in ("alter", "remove", "add"):
        write(store, "one")
        path = store.folder("things") / "a.txt"
        if spoil == "alter":
            path.write_text("two")
        elif spoil == "remove":
            path.unlink()
        else:
            path.with_name("b.txt").write_text("")
        assert not store.is_current("things", "v1"), spoil


def test_a_failed_write_keeps_what_was_there_and_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write(store, "one")
    with pytest.raises(FailPoint), failing_at("things"):
        write(store, "two", "v2")
    assert store.is_current("things", "v1")
    assert (store.folder("things") / "a.txt").read_text() == "one"
    assert list((tmp_path / ".working").iterdir()) == []


def test_cleaning_removes_what_a_killed_build_left(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / ".working" / "things").mkdir(parents=True)
    store.clean()
    assert not (tmp_path / ".working").exists()


def test_chunks_that_the_data_set_no_longer_has_are_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for chunk in ("00", "40", "80", "c0"):
        write(store, chunk, chunk=chunk)
    store.keep_only("things", ["00", "80"])
    assert [chunk for chunk in ("00", "40", "80", "c0") if store.record("things", chunk)] == ["00", "80"]


def test_content_does_not_depend_on_what_made_it(tmp_path: Path) -> None:
    records = []
    for version in ("v1", "v2"):
        write(Store(tmp_path / version), "one", version)
        records.append(Store(tmp_path / version).record("things"))
    first, second = records
    assert first is not None and second is not None
    assert first.content == second.content and first.version != second.version


def test_a_data_version_tells_artifacts_writers_and_inputs_apart() -> None:
    versions = {
        data_version("a", 1, {"x": "1"}), data_version("b", 1, {"x": "1"}), data_version("a", 2, {"x": "1"}),
        data_version("a", 1, {"x": "2"}), data_version("a", 1, {"y": "1"}),
    }  # fmt: skip
    assert len(versions) == 5


def test_a_damaged_record_counts_as_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write(store, "one")
    (store.folder("things") / "record.json").write_text('{"artifact": 1')
    assert store.record("things") is None and not store.is_current("things", "v1")
