"""What questions search is read from the disk before they come, as far as there is memory for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.artifacts import ahead
from crmrag_query.artifacts.ahead import read_ahead


@pytest.fixture
def release(tmp_path: Path) -> Path:
    for name, size in (("dense", 3000), ("sparse", 2000), ("documents", 9000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(bytes(size))
    (tmp_path / "graph").mkdir()
    return tmp_path


def test_what_is_searched_is_read_and_nothing_else(release: Path) -> None:
    assert read_ahead(release) == 5000
    assert read_ahead(release / "nowhere") == 0


def test_no_more_than_there_is_room_for(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "SHARE", 0.0)
    assert read_ahead(release) == 0
