"""Manifests: content only, one id for equal content, nothing unsafe accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.artifacts.manifest import (
    MANIFEST,
    SCHEMA,
    FileEntry,
    Manifest,
    is_release_id,
    open_array,
    parse_manifest,
    read_manifest,
    safe_path,
)
from crmrag_query.errors import ReleaseError, ReleaseNotFound

FILES = (FileEntry("graph/nodes.arrow", 3, "a" * 64), FileEntry("config.json", 2, "b" * 64))


def raw(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Manifest("churches", FILES, languages=("en",)).text())
    return found | changes


def test_a_manifest_reads_back_as_it_was_written() -> None:
    manifest = Manifest("churches", FILES, "Title", "CC0", languages=("en", "el"), counts={"documents": 3})
    read = parse_manifest(json.loads(manifest.text()), "here")
    assert read.text() == manifest.text() and read.id == manifest.id


def test_the_id_depends_on_content_and_not_on_the_order_it_is_given_in() -> None:
    one, other = Manifest("churches", FILES), Manifest("churches", FILES[::-1])
    assert one.id == other.id and is_release_id(one.id)
    assert one.id != Manifest("churches", FILES[:1]).id


def test_wikidata_is_written_where_it_is_on_only_so_that_older_ids_stay() -> None:
    off, on = Manifest("churches", FILES), Manifest("churches", FILES, wikidata=True)
    assert "wikidata" not in off.text() and on.id != off.id
    assert parse_manifest(json.loads(off.text()), "here").wikidata is False
    read = parse_manifest(json.loads(on.text()), "here")
    assert read.wikidata is True and read.id == on.id


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../b", "a//b", "./a", "a\\b", "C:/x", "", "a\0b", None, 7, "a/."]
)
def test_a_path_that_leaves_the_release_is_refused(path: object) -> None:
    with pytest.raises(ReleaseError):
        safe_path(path)


@given(st.text(max_size=30))
def test_an_accepted_path_stays_below_its_folder(path: str) -> None:
    try:
        accepted = safe_path(path)
    except ReleaseError:
        return
    root = Path("/releases/x")
    assert root in (root / accepted).parents and ".." not in Path(accepted).parts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": SCHEMA + 1}, "Upgrade"),
        ({"schema": "1"}, "no manifest"),
        ({"files": "x"}, "'files'"),
        ({"dataset": None}, "'dataset'"),
        ({"wikidata": "no"}, "'wikidata'"),
        ({"files": [{"path": "a", "bytes": -1, "sha256": "a" * 64}]}, "damaged entry"),
        ({"files": [{"path": "a", "bytes": True, "sha256": "a" * 64}]}, "damaged entry"),
        ({"files": [{"path": "a", "bytes": 1, "sha256": "xyz"}]}, "checksum"),
        ({"files": [{"path": "../a", "bytes": 1, "sha256": "a" * 64}]}, "outside"),
    ],
)
def test_a_manifest_that_cannot_be_trusted_is_refused_with_the_reason(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ReleaseError, match=message):
        parse_manifest(raw(**changes), "here")


PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(PLAIN, lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=8))
def test_any_other_json_is_a_release_error(value: Any) -> None:
    with pytest.raises(ReleaseError):
        parse_manifest(value, "here")


def test_a_folder_without_a_manifest_or_with_a_torn_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseNotFound, match=str(tmp_path)):
        read_manifest(tmp_path)
    (tmp_path / MANIFEST).write_text('{"schema": 1, "files": [')
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_manifest(tmp_path)


def test_an_array_whose_header_python_refuses_in_several_threads_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "one.npy", np.arange(3))
    load, left = np.load, iter([True, False])

    def refusing(*given: object, **named: object) -> object:
        if next(left, False):
            raise SystemError("AST constructor recursion depth mismatch")
        return load(*given, **named)

    monkeypatch.setattr(np, "load", refusing)
    assert open_array(tmp_path, "one").tolist() == [0, 1, 2]
