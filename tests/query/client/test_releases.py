"""A client of a folder follows the current release, whatever happens to it, from as many threads as there are."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crmrag_query import Client, ReleaseWarning, errors
from crmrag_query.artifacts.manifest import switch
from crmrag_query.client import library as releases
from tests.support.shared import own_two_releases

QUESTION = "Who painted Mural 4?"


@pytest.fixture
def data(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A data folder with two releases of one data set, of which the first is current."""
    found = own_two_releases(tmp_path_factory, tmp_path)
    switch(tmp_path / "releases" / "churches", found[1])
    return found


def test_a_new_release_is_served_from_the_next_call_on(data: tuple[Path, str, str]) -> None:
    folder, first, second = data
    with Client(folder) as client, Client(folder / "releases" / "churches" / first) as fixed:
        assert client.ask(QUESTION).release == first
        switch(folder / "releases" / "churches", second)
        assert client.ask(QUESTION).release == client.datasets()["churches"].release == second
        assert client.entity("http://example.org/church8").label == "Church 8"
        assert fixed.ask(QUESTION).release == first
        switch(folder / "releases" / "churches", first)
        assert client.ask(QUESTION).release == first


@pytest.mark.parametrize("damage", ["missing", "cut file", "no manifest", "broken config", "damaged pointer"])
def test_a_release_that_cannot_be_opened_leaves_the_one_before_in_service(
    data: tuple[Path, str, str], damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _, second = data
    place = folder / "releases" / "churches"
    kept = folder / "kept"
    shutil.copytree(place / second, kept)
    with Client(folder) as client:
        before = client.ask(QUESTION)
        switch(place, second)
        if damage == "missing":
            shutil.rmtree(place / second)
        elif damage == "cut file":
            (place / second / "graph" / "forward_val.npy").write_bytes(b"")
        elif damage == "no manifest":
            (place / second / "manifest.json").unlink()
        elif damage == "broken config":
            (place / second / "config.json").write_bytes(
                b"x" * (place / second / "config.json").stat().st_size
            )
        else:
            (place / "current").write_text("nonsense\n")
        with pytest.warns(ReleaseWarning, match="served on"):
            assert client.ask(QUESTION) == before
        assert client.ask(QUESTION) == before, "told once"
        shutil.rmtree(place / second, ignore_errors=True)
        shutil.move(kept, place / second)
        (place / "current").write_text(second + "\n")
        monkeypatch.setattr(releases, "RETRY_SECONDS", 0.0)
        assert client.ask(QUESTION).release == second, "it is tried again"


def test_a_first_release_that_cannot_be_opened_is_an_error(data: tuple[Path, str, str]) -> None:
    folder, first, _ = data
    (folder / "releases" / "churches" / first / "manifest.json").write_text("{")
    with Client(folder) as client, pytest.raises(errors.ReleaseError):
        client.ask(QUESTION)


@pytest.mark.parametrize("damage", ["manifest", "cut file", "pointer", "nothing there", "content"])
def test_a_damaged_data_set_is_listed_with_the_reason_and_the_others_can_be_asked(
    data: tuple[Path, str, str], damage: str
) -> None:
    folder, first, _ = data
    broken = folder / "releases" / "broken"
    shutil.copytree(folder / "releases" / "churches", broken)
    release = broken / first
    if damage == "manifest":
        (release / "manifest.json").write_text("{")
    elif damage == "cut file":
        (release / "graph" / "forward_val.npy").write_bytes(b"")
    elif damage == "pointer":
        (broken / "current").write_text("nonsense\n")
    elif damage == "nothing there":
        shutil.rmtree(release)
    else:
        (release / "config.json").write_bytes(b"x" * (release / "config.json").stat().st_size)
    with Client(folder) as client:
        if damage == "content":  # it shows when the release is read
            assert [one.name for one in client.datasets()] == ["broken", "churches"]
            with pytest.raises(errors.ReleaseError):
                client.ask(QUESTION, dataset="broken")
        found = client.datasets()
        assert [one.name for one in found] == ["churches"] and found.default == ""
        [one] = found.unavailable
        assert one.name == "broken" and ("again" in one.reason or "write a release id" in one.reason)
        assert f"broken cannot be asked: {' '.join(one.reason.split())}" in str(found)
        assert client.ask(QUESTION, dataset="churches").text
        with pytest.raises(errors.ReleaseError):
            client.ask(QUESTION, dataset="broken")
        shutil.rmtree(broken)
        shutil.copytree(folder / "releases" / "churches", broken)
        assert client.ask(QUESTION, dataset="broken").text, "it is asked again once it is mended"
        assert client.datasets().unavailable == ()


def test_a_data_set_that_is_built_later_is_found(data: tuple[Path, str, str]) -> None:
    folder = data[0]
    with Client(folder) as client:
        assert [one.name for one in client.datasets()] == ["churches"]
        shutil.copytree(folder / "releases" / "churches", folder / "releases" / "later")
        assert [one.name for one in client.datasets()] == ["churches", "later"]
        assert client.ask(QUESTION, dataset="later").dataset == "later"
        with pytest.raises(errors.QuestionError, match="churches, later"):
            client.ask(QUESTION)


@pytest.mark.parametrize("gone", ["pointer", "data set", "release", "data folder"])
def test_a_data_set_that_is_removed_ends_with_the_next_call_and_is_found_again(
    data: tuple[Path, str, str], tmp_path: Path, gone: str
) -> None:
    """Whatever was opened of it; those that are left are named."""
    folder, first, _ = data
    place = folder / "releases" / "churches"
    shutil.copytree(place, folder / "releases" / "others")
    taken = {
        "pointer": place / "current",
        "data set": place,
        "release": place / first,
        "data folder": folder / "releases",
    }[gone]
    with Client(folder) as client:
        assert client.ask(QUESTION, dataset="churches").release == first
        taken.rename(tmp_path / "aside")
        with pytest.raises(errors.ReleaseNotFound) as told:
            client.ask(QUESTION, dataset="churches")
        if gone == "release":
            assert first in told.value.what and "crmrag rollback churches" in told.value.remedy
        elif gone == "data folder":
            assert "is not there" in told.value.what and "mounted" in told.value.remedy
        else:
            assert "'churches'" in told.value.what and told.value.remedy == "There are: others."
        if gone != "data folder":
            assert client.ask(QUESTION, dataset="others").release == first
        (tmp_path / "aside").rename(taken)
        assert client.ask(QUESTION, dataset="churches").release == first


@pytest.mark.parametrize("target", ["data set", "release"])
def test_so_does_one_that_is_opened_by_its_own_folder(data: tuple[Path, str, str], target: str) -> None:
    folder, first, _ = data
    place = folder / "releases" / "churches"
    opened = place if target == "data set" else place / first
    with Client(opened) as client:
        assert client.ask(QUESTION).release == first
        opened.rename(folder / "aside")
        with pytest.raises(errors.ReleaseNotFound, match="not there"):
            client.ask(QUESTION)
        assert len(client.datasets()) == 0
        (folder / "aside").rename(opened)
        assert client.ask(QUESTION).release == first


def test_a_data_set_cannot_be_named_by_a_path(
    data: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where a release lies: a service's callers name data sets."""
    folder, first, _ = data
    monkeypatch.chdir(folder / "releases" / "churches")
    with Client(folder) as client:
        for name in (first, f"./{first}", "../churches", str(folder / "releases" / "churches"), ".", "a\0b"):
            with pytest.raises(errors.ReleaseNotFound):
                client.ask(QUESTION, dataset=name)


@pytest.mark.slow
def test_threads_share_a_client_while_releases_change(data: tuple[Path, str, str]) -> None:
    folder, first, second = data
    with Client(folder) as client:
        expected = {}
        for release in (first, second):
            switch(folder / "releases" / "churches", release)
            expected[release] = client.ask(QUESTION)
        stop = threading.Event()

        def turning() -> None:
            while not stop.is_set():
                for release in (first, second):
                    switch(folder / "releases" / "churches", release)

        turner = threading.Thread(target=turning)
        turner.start()
        try:
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda _: client.ask(QUESTION), range(40)))
        finally:
            stop.set()
            turner.join()
    assert all(answer == expected[answer.release] for answer in found)


def test_an_empty_data_folder_says_how_to_build(tmp_path: Path) -> None:
    (tmp_path / "releases").mkdir()
    with Client(tmp_path) as client:
        assert len(client.datasets()) == 0
        with pytest.raises(errors.ReleaseNotFound, match="crmrag build"):
            client.ask(QUESTION)
