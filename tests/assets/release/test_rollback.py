"""Going back: to a release that is whole, told in so many words, whatever else is going on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from crmrag_assets.build.step import dataset_lock
from crmrag_assets.release.publish import RolledBack, roll_back, switching
from crmrag_query.artifacts.manifest import CURRENT, PREVIOUS, pointer, release_ids, switch
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, CrmRagError, ReleaseError, ReleaseNotFound
from tests.support.published import publish_text


def current(data: Path) -> str:
    return open_release("churches", data).id


def test_it_tells_what_was_current_and_what_is_and_twice_returns(tmp_path: Path) -> None:
    first, second = publish_text(tmp_path, "first"), publish_text(tmp_path, "second")
    assert roll_back(tmp_path, "churches") == RolledBack(second, first, False) and current(tmp_path) == first
    assert roll_back(tmp_path, "churches") == RolledBack(first, second, False) and current(tmp_path) == second


def test_it_goes_to_any_release_that_is_kept(tmp_path: Path) -> None:
    first, second = publish_text(tmp_path, "first"), publish_text(tmp_path, "second")
    assert roll_back(tmp_path, "churches", first).now == first
    with pytest.raises(ReleaseError, match=r"is current already.*Nothing was changed"):
        roll_back(tmp_path, "churches", first)
    with pytest.raises(ReleaseNotFound, match=rf"no release {'0' * 16}.*{second} \(previous\)"):
        roll_back(tmp_path, "churches", "0" * 16)
    with pytest.raises(ReleaseNotFound):
        roll_back(tmp_path, "churches", "../other")
    assert current(tmp_path) == first


def test_there_is_nothing_to_go_back_to_after_the_first_build(tmp_path: Path) -> None:
    first = publish_text(tmp_path, "first")
    with pytest.raises(
        ReleaseNotFound, match=rf"no previous release.*Nothing was changed.*{first} \(current\)"
    ):
        roll_back(tmp_path, "churches")
    with pytest.raises(ReleaseNotFound, match="crmrag build palaces"):
        roll_back(tmp_path, "palaces")


def test_a_release_with_one_altered_byte_is_refused_by_name(tmp_path: Path) -> None:
    first, second = publish_text(tmp_path, "first"), publish_text(tmp_path, "second")
    path = tmp_path / "releases" / "churches" / first / "graph" / "a" / "one.txt"
    path.write_text("First")
    with pytest.raises(ReleaseError, match=rf"(?s)one.txt: its content was altered.*crmrag verify.*{first}"):
        roll_back(tmp_path, "churches")
    assert current(tmp_path) == second and pointer(path.parents[3], PREVIOUS) == first


def test_a_damaged_pointer_is_a_reason_to_go_back_and_is_mended(tmp_path: Path) -> None:
    first, second = publish_text(tmp_path, "first"), publish_text(tmp_path, "second")
    (tmp_path / "releases" / "churches" / CURRENT).write_text("nonsense")
    assert roll_back(tmp_path, "churches") == RolledBack(None, first, False)
    assert current(tmp_path) == first
    assert roll_back(tmp_path, "churches", second).before == first


def test_it_works_beside_a_running_build_and_says_that_there_is_one(tmp_path: Path) -> None:
    first, second = publish_text(tmp_path, "first"), publish_text(tmp_path, "second")
    with dataset_lock(tmp_path / "work" / "churches", "churches"):
        assert roll_back(tmp_path, "churches") == RolledBack(second, first, True)
    assert not roll_back(tmp_path, "churches").building


def test_a_process_that_does_not_let_go_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    folder = tmp_path / "releases" / "churches"
    with (
        switching(folder),
        pytest.raises(BuildError, match=r"(?s)switching the releases of 'churches'.*end it"),
        switching(folder, wait=0.05),
    ):
        pass
    with switching(folder, wait=0.05):
        pass


def test_a_release_published_meanwhile_is_not_taken_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the pointers and the switch lie seconds of checksums."""
    publish_text(tmp_path, "first")
    publish_text(tmp_path, "second")
    published = []

    def meanwhile(done: int, total: int) -> None:
        if not published:
            published.append(publish_text(tmp_path, "third"))

    with pytest.raises(ReleaseError, match=r"published a release just now.*crmrag releases list churches"):
        roll_back(tmp_path, "churches", advance=meanwhile)
    assert current(tmp_path) == published[0]


def test_builds_and_rollbacks_at_once_never_leave_current_without_its_release(tmp_path: Path) -> None:
    publish_text(tmp_path, "0")
    ended = threading.Event()
    failures: list[BaseException] = []

    def build() -> None:
        try:
            for number in range(1, 500):
                if number >= 15 and gone_back:
                    break
                publish_text(tmp_path, str(number))
        except BaseException as error:
            failures.append(error)
        finally:
            ended.set()

    gone_back = 0  # on a busy machine every look may meet a build
    builder = threading.Thread(target=build)
    builder.start()
    while not ended.is_set():
        try:
            roll_back(tmp_path, "churches")
            gone_back += 1
        except (CrmRagError, OSError):  # what it was about to go back to is gone: told, and nothing changed
            pass
    builder.join()
    assert failures == [] and gone_back
    folder = tmp_path / "releases" / "churches"
    assert {pointer(folder), pointer(folder, PREVIOUS)} == set(release_ids(tmp_path, "churches"))
    open_release("churches", tmp_path).verify()


def test_switching_to_the_current_release_keeps_the_previous_one(tmp_path: Path) -> None:
    first, second = publish_text(tmp_path, "first"), publish_text(tmp_path, "second")
    folder = tmp_path / "releases" / "churches"
    switch(folder, second)
    assert pointer(folder, PREVIOUS) == first
