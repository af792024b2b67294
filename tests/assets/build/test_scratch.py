"""Arrays on disk that hold what arrays in memory would."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from crmrag_assets.build.scratch import Scratch, blocks, total
from crmrag_assets.build.store import disk_explained
from crmrag_query.errors import BuildError


def test_blocks_are_all_rows_in_order() -> None:
    assert list(blocks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(blocks(0)) == []


def test_what_grows_is_what_was_added(tmp_path: Path) -> None:
    growing = Scratch(tmp_path).growing(np.int32)
    growing.add(np.array([3, 1], np.int64))
    growing.add(np.array([], np.int64))
    growing.add(np.arange(10)[::3])
    growing.array[0] = 7
    assert growing.array.tolist() == [7, 1, 0, 3, 6, 9]
    assert growing.array.dtype == np.int32
    assert not list(tmp_path.iterdir()), "the files have no name"


@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_pairs_are_sorted_by_both(tmp_path: Path, rows: int) -> None:
    random = np.random.default_rng(rows)
    first, second = random.integers(0, 50, rows), random.integers(0, 1 << 20, rows)
    parts = ((first[part], second[part]) for part in blocks(rows, 7))
    pairs = Scratch(tmp_path).sorted_pairs(parts, 20)
    found = [pair for _, *columns in pairs.parts() for pair in zip(*columns, strict=True)]
    assert found == sorted(zip(first.tolist(), second.tolist(), strict=True))


def test_what_is_gathered_is_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    values, order = np.arange(20).reshape(2, 10), np.array([9, 0, 4])
    assert np.array_equal(Scratch(tmp_path).gathered(values, order), values[:, order])
    assert Scratch(tmp_path).empty((2, 0), np.uint64).shape == (2, 0)


def test_totals_tell_where_each_begins_and_the_last_ends() -> None:
    assert total([2, 0, 3]).tolist() == [0, 2, 2, 5]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves no room for files")
def test_room_is_reserved_so_that_a_full_disk_is_told_and_kills_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserved = []

    def full(_: int, start: int, size: int) -> None:
        reserved.append((start, size))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(BuildError, match="is full"), disk_explained(tmp_path):
        Scratch(tmp_path).empty((3, 5), np.int64)
    assert reserved == [(0, 3 * 5 * 8)]
