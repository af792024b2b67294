"""Answers kept on disk: asked for once, for one state of one endpoint, and for a day."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.sources.endpoint.journal import KEPT, Journal


class Asked(list[str]):
    """What was asked; the answer is the query's words."""

    def __call__(self, query: str) -> list[str]:
        self.append(query)
        return query.split()


def test_a_list_is_asked_for_once(tmp_path: Path) -> None:
    asked = Asked()
    for _ in range(3):
        journal = Journal(tmp_path / "new" / "journal", "state")
        assert journal.strings("a é 𐍈", asked) == ["a", "é", "𐍈"]
        assert journal.strings("b", asked) == ["b"]
        assert journal.strings("", asked) == []
    assert asked == ["a é 𐍈", "b", ""]


def test_another_state_is_asked_again(tmp_path: Path) -> None:
    asked = Asked()
    for state in ("one", "other", "one"):
        Journal(tmp_path, state).strings("a", asked)
    assert asked == ["a", "a"]


def test_lists_are_forgotten_together_and_after_a_day(tmp_path: Path) -> None:
    journal, asked = Journal(tmp_path / "j", "state"), Asked()
    journal.forget()
    journal.strings("a", asked)
    (file,) = (tmp_path / "j").iterdir()
    old = time.time() - KEPT
    os.utime(file, (old + 60, old + 60))
    journal.strings("a", asked)
    assert asked == ["a"]
    os.utime(file, (old - 60, old - 60))
    journal.strings("a", asked)
    journal.forget()
    assert not (tmp_path / "j").exists()
    journal.strings("a", asked)
    assert asked == ["a", "a", "a"]


@pytest.mark.parametrize("damage", [b"", b'["a"', b"{}", b'"a"', b"[1]", b"[null]", b"\xff", b"[[]]"])
def test_a_damaged_list_is_asked_for_again(tmp_path: Path, damage: bytes) -> None:
    journal, asked = Journal(tmp_path, "state"), Asked()
    journal.strings("a", asked)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert journal.strings("a", asked) == ["a"] and asked == ["a", "a"]
    assert journal.strings("a", asked) == ["a"] and asked == ["a", "a"]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(query: str) -> list[str]:
        raise OSError(query)

    journal = Journal(tmp_path / "j", "state")
    with pytest.raises(OSError, match="a"):
        journal.strings("a", fail)
    assert journal.strings("a", Asked()) == ["a"]


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_every_character_survives(tmp_path_factory: pytest.TempPathFactory, answer: list[str]) -> None:
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(folder, "state")
    assert journal.strings("q", lambda _: answer) == answer
    assert journal.strings("q", lambda _: []) == answer
