"""Completions of what was typed, and search of entities by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crmrag_query.linking import NameIndex, link, search, suggest
from tests.support.names import PLAIN, STOP, index_of

NAMES = (
    "Albert Bierstadt", "Bier", "Portrait of Bierstadt", "Παναγία Ασίνου", "Asinou", "1986.12.3", "1986.12.4",
    "Bierstadt",
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> NameIndex:
    return index_of(tmp_path_factory.mktemp("names"), *NAMES)


def suggested(index: NameIndex, text: str, limit: int = 10) -> list[int]:
    return [one.entity for one in suggest(index, text, limit)]


def test_any_word_of_a_name_may_be_begun(index: NameIndex) -> None:
    assert set(suggested(index, "bier")) == {0, 1, 2, 7}
    assert set(suggested(index, "albert bier")) == {0}
    assert set(suggested(index, "ASIN")) == set(suggested(index, "ασιν")) == {3, 4}
    assert set(suggested(index, "1986.12")) == {5, 6}
    assert set(suggested(index, "portrait of the bier")) == {2}


def test_names_that_are_given_more_wholly_come_first(index: NameIndex) -> None:
    assert suggested(index, "asinou")[0] == 4
    assert suggested(index, "bierstadt")[0] == 7
    found = suggest(index, "bierstadt", 10)
    assert [(-one.score, one.entity) for one in found] == sorted((-one.score, one.entity) for one in found)
    assert all(0 < one.score <= 1 for one in found)


def test_a_whole_word_of_a_name_goes_before_one_that_is_only_begun(tmp_path: Path) -> None:
    index = index_of(tmp_path, "Moranzoni", "Thomas Moran", "Thomas Cole", "Thomas Sully", "Thomas Eakins")
    assert suggested(index, "moran") == [1, 0] and suggested(index, "moranz") == [0]
    assert suggested(index, "thomas mor") == [1]


def test_no_more_than_wanted(index: NameIndex) -> None:
    assert len(suggested(index, "b", 2)) == 2
    assert suggested(index, "b", 0) == []


@pytest.mark.parametrize("text", ["", " ", "\x00", "😀", "zzz", "b" * 100_000, "b " * 50_000, "\ud800"])
def test_hostile_text_suggests_little(index: NameIndex, text: str) -> None:
    assert len(suggest(index, text, 5)) <= 5
    assert len(search(index, text, 5, PLAIN)) <= 5


def test_completion_of_every_name_by_every_beginning_finds_it(index: NameIndex) -> None:
    for entity, name in enumerate(NAMES):
        for end in range(1, len(name) + 1):
            if name[:end].rstrip(" .")[-1:].isalnum():
                assert entity in suggested(index, name[:end].rstrip(" ."), 100), name[:end]


def test_search_forgives_slips_where_nothing_begins_so(index: NameIndex) -> None:
    assert search(index, "Albert Biersatdt", 3, PLAIN)[0].entity == 0
    assert [one.entity for one in search(index, "bier", 10, PLAIN)] == suggested(index, "bier")


def test_names_of_another_version_are_refused(tmp_path: Path) -> None:
    from crmrag_query.errors import ReleaseError

    with pytest.raises(ReleaseError, match="No name index"):
        NameIndex.open(tmp_path)
    (tmp_path / "names.json").write_text('{"schema": 0}', encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"has version 0.*crmrag build"):
        NameIndex.open(tmp_path)


@pytest.mark.parametrize(
    "array", ["entry_ptr", "posting_ptr", "word_ptr", "entry_kind", "bag_hashes", "sound_word", "near"]
)
def test_a_damaged_index_is_refused_with_its_file(tmp_path: Path, array: str) -> None:
    from crmrag_query.errors import ReleaseError

    index_of(tmp_path, *NAMES)
    file = tmp_path / f"{array}.npy"
    sound = np.load(file)
    for damaged in (
        sound.astype(np.float64),
        sound.reshape(1, -1),
        sound[:-1] if array != "near" else sound[:0, None],
    ):
        np.save(file, damaged)
        with pytest.raises(ReleaseError, match=r"name index|\.npy"):
            NameIndex.open(tmp_path)
    file.write_bytes(file.read_bytes()[:60])
    with pytest.raises(ReleaseError, match=array):
        NameIndex.open(tmp_path)


def test_numbers_that_lead_nowhere_are_an_error_of_the_release(tmp_path: Path) -> None:
    from crmrag_query.errors import ReleaseError

    index_of(tmp_path, *NAMES)
    posting = np.load(tmp_path / "posting.npy")
    np.save(tmp_path / "posting.npy", posting + 100_000)
    with pytest.raises(ReleaseError, match="damaged"):
        link(NameIndex.open(tmp_path), "works by Albert Bierstadt", STOP, PLAIN)
