"""Answers kept on disk: asked for once, for one state of one endpoint, and for a day."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.sources.endpoint.kind import KEPT, Journal


class Asked(list[str]):
    """What was asked; the answer is the query's words."""

    def __call__(self, query: str) -> list[str]:
        self.append(query)
        return query.split()


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_list_of_any_characters_is_asked_for_once(
    tmp_path_factory: pytest.TempPathFactory, answer: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("journal") / "new"
    assert Journal(folder, "state").strings("q", lambda _: answer) == answer
    assert Journal(folder, "state").strings("q", Asked()) == answer


def test_another_query_and_another_state_are_asked_again(tmp_path: Path) -> None:
    asked = Asked()
    for query, state in (("a é 𐍈", "one"), ("a", "one"), ("", "one"), ("a", "other"), ("a", "one")):
        assert Journal(tmp_path, state).strings(query, asked) == query.split()
    assert asked == ["a é 𐍈", "a", "", "a"]


def test_lists_are_forgotten_together(tmp_path: Path) -> None:
    journal, asked = Journal(tmp_path / "j", "state"), Asked()
    journal.forget()
    journal.strings("a", asked)
    journal.forget()
    assert not (tmp_path / "j").exists()
    journal.strings("a", asked)
    assert asked == ["a", "a"]


@pytest.mark.parametrize(
    ("age", "times"),
    [(KEPT - 60, 1), (KEPT + 60, 2), (-3650 * KEPT, 2)],
    ids=["day", "older", "clock set back"],
)
def test_lists_are_kept_for_a_day(age: float, times: int, tmp_path: Path) -> None:
    journal, asked = Journal(tmp_path, "state"), Asked()
    journal.strings("a", asked)
    (file,) = tmp_path.iterdir()
    os.utime(file, (time.time() - age,) * 2)
    journal.strings("a", asked)
    assert len(asked) == times


@pytest.mark.parametrize("damage", [b"", b'["a"', b"{}", b'"a"', b"[1]", b"[null]", b"\xff", b"[[]]"])
def test_a_damaged_list_is_asked_for_again(tmp_path: Path, damage: bytes) -> None:
    journal, asked = Journal(tmp_path, "state"), Asked()
    journal.strings("a", asked)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert [journal.strings("a", asked) for _ in range(2)] == [["a"], ["a"]] and len(asked) == 2


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(query: str) -> list[str]:
        raise OSError(query)

    journal = Journal(tmp_path / "j", "state")
    with pytest.raises(OSError, match="a"):
        journal.strings("a", fail)
    assert journal.strings("a", Asked()) == ["a"]
