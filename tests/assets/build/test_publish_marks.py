"""What a working folder says of its last build is read back, and garbage is nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crmrag_assets.build.context import ask_again
from crmrag_assets.build.store import PUBLISHED, Published, confirm, confirmed_at
from crmrag_assets.operations.freshness import age, rows, sentence
from crmrag_query.artifacts.release import open_release
from tests.support.builds import build_all, make_project
from tests.support.shared import own_churches

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_a_build_marks_what_it_published_and_from_what_also_when_nothing_was_made(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = own_churches(tmp_path_factory, tmp_path / "project", churches=3, write_markdown=False)
    root = project.context().store.root
    mark = Published.read(root)
    assert mark is not None and mark.release == open_release("churches", project.data).id
    assert len(mark.source) == len(mark.harvest) == 64 and mark.fetched <= mark.at
    (root / PUBLISHED).unlink()
    build_all(project.context())
    again = Published.read(root)
    assert again is not None and (again.source, again.harvest) == (mark.source, mark.harvest)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"release": 1}'])
def test_a_mark_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    assert Published.read(tmp_path) is None and confirmed_at(tmp_path) is None
    (tmp_path / PUBLISHED).write_text(text)
    assert Published.read(tmp_path) is None
    confirm(tmp_path)
    assert confirmed_at(tmp_path) is not None


def test_files_are_as_old_as_their_last_build_and_an_endpoint_as_its_oldest_fetch(tmp_path: Path) -> None:
    rebuild = {"fresh_hours": 24}
    files = make_project(tmp_path / "files", rebuild=rebuild).context()
    endpoint = make_project(tmp_path / "far", endpoint="http://127.0.0.1:9/sparql", rebuild=rebuild).context()
    assert not age(files, NOW).fresh and "has not been published yet" in sentence([age(files, NOW)])
    for context in (files, endpoint):
        times = (f"{NOW - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}" for hours in (2, 30))
        at, fetched = times
        Published("r", at, "s", "h", fetched).write(context.store.root)
    first, second = age(files, NOW), age(endpoint, NOW)
    assert (first.fresh, first.hours, second.fresh, second.hours) == (True, 2.0, False, 30.0)
    assert "'churches' is as of 2026-11-21 at 06:00 UTC, 30.0 hours ago; 24 are allowed" in sentence(
        [first, second]
    )
    assert [row["fresh"] for row in rows([first, second])] == ["no", "yes"]
    ask_again(endpoint)
    assert age(endpoint, NOW).hours == 30.0, "to ask again is not to have asked"
