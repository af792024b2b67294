"""What questions search is read from the disk before they come, as far as there is memory for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crmrag_query.artifacts.manifest import read_ahead, room


@pytest.fixture
def release(tmp_path: Path) -> Path:
    for name, size in (("dense", 3000), ("sparse", 2000), ("documents", 9000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(bytes(size))
    (tmp_path / "graph").mkdir()
    return tmp_path


def test_what_is_searched_is_read_and_nothing_else(release: Path) -> None:
    assert read_ahead(release, 20_000) == 15_000
    assert read_ahead(release / "nowhere", 20_000) == 20_000


def test_no_more_than_there_is_room_for(release: Path) -> None:
    assert read_ahead(release, 0) == 0
    assert read_ahead(release, 4000) == 1000  # a file that does not fit is not begun


def test_all_releases_share_the_room(release: Path) -> None:
    assert read_ahead(release, read_ahead(release, 8000)) == 0
    assert 0 < room() < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_vectors_that_are_seldom_looked_at_come_last(release: Path) -> None:
    (release / "dense" / "vectors.npy").write_bytes(bytes(50_000))
    assert read_ahead(release, 6000) == 1000  # all the others are read where the vectors have no room
