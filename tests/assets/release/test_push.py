"""A release in an object store: whole or not at all, whatever goes wrong; of two pushes one wins, and readers follow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import obstore
import pytest
from click.testing import CliRunner
from obstore.store import MemoryStore

from crmrag_assets.build.context import open_context
from crmrag_assets.build.store import FailPoint
from crmrag_assets.cli.releases import releases
from crmrag_assets.release import push as pushing
from crmrag_assets.release.publish import publish
from crmrag_assets.release.push import Pushed, push
from crmrag_query.artifacts import mirror as mirroring
from crmrag_query.artifacts import objects as storing
from crmrag_query.artifacts.manifest import (
    FileEntry,
    Manifest,
    dataset_folder,
    entries,
    find_release,
    pointer,
    release_ids,
)
from crmrag_query.artifacts.mirror import Mirror, mirror_folder, mirror_of, read_stored
from crmrag_query.artifacts.objects import Objects, Replaced, open_objects
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, BuildHeldUp, ReleaseError, ReleaseNotFound, StoreUnreachable
from crmrag_query.timing import Kept
from tests.conftest import ROOT
from tests.support import runs
from tests.support.builds import build_all, contents, failing_at, make_project, turtle
from tests.support.object_store import (
    Asked,
    Fault,
    Proxy,
    bucket_behind_proxy,
    cut_while_answering,
    cut_while_sending,
    denied,
    done_but_unheard,
    environment,
    lagging,
    refused,
    s3_server,
    slowed,
)
from tests.support.published import publish_text


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(server: str) -> Iterator[tuple[str, Proxy]]:
    with bucket_behind_proxy(server) as found:
        yield found


@pytest.fixture(autouse=True)
def own_cache_and_little_patience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(storing, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr("crmrag_query.timing.WARNED", Kept(10))


def pushed(data: Path, objects: Objects, **options: int | bool) -> Pushed:
    return push(find_release("churches", data), objects, **options)  # type: ignore[arg-type]


def current(objects: Objects) -> str:
    found = read_stored(objects, "churches")
    assert found is not None
    return found[0].releases[0]


def large(root: Path, megabytes: int = 20) -> str:
    """A release with a file that is sent in parts."""
    from crmrag_assets.release.publish import Pinned

    work = root / "work" / "large"
    work.mkdir(parents=True)
    (work / "large.bin").write_bytes(bytes(range(256)) * (megabytes << 12))
    files = tuple(
        Pinned(work / one.path, FileEntry(f"graph/{one.path}", one.bytes, one.sha256))
        for one in entries(work)
    )
    return publish(
        root, Manifest("churches", tuple(one.entry for one in files)), files, {"built": "large"}
    ).name


def stores(tmp_path: Path, address: str) -> dict[str, Objects]:
    return {
        "s3": open_objects(address),
        "file": open_objects(f"file://{tmp_path}/shared/releases of ours".replace(" ", "_"), make=True),
        "memory": Objects("memory://", MemoryStore()),
    }


# One interface.


@pytest.mark.parametrize("kind", ["s3", "file", "memory"])
def test_an_object_is_replaced_only_while_it_is_what_was_read(
    tmp_path: Path, bucket: tuple[str, Proxy], kind: str
) -> None:
    objects = stores(tmp_path, bucket[0])[kind]
    assert objects.read("a/b") is None
    objects.replace("a/b", b"first", None)
    with pytest.raises(Replaced):
        objects.replace("a/b", b"other", None)
    first = objects.read("a/b")
    assert first is not None and first.data == b"first"
    objects.replace("a/b", b"second", first)
    with pytest.raises(Replaced):
        objects.replace("a/b", b"third", first)
    second = objects.read("a/b")
    assert second is not None and second.data == b"second"
    assert [one.path for one in objects.list("a") if not one.path.endswith(".lock")] == ["a/b"]
    objects.write("a/c/d", b"")
    assert objects.folders("a") == ("c",)


@pytest.mark.parametrize("kind", ["s3", "file", "memory"])
def test_a_release_comes_out_of_a_store_as_it_went_in(
    tmp_path: Path, bucket: tuple[str, Proxy], kind: str
) -> None:
    objects, data = stores(tmp_path, bucket[0])[kind], tmp_path / "data"
    first = publish_text(data, "first")
    assert pushed(data, objects) == Pushed(first, 2, len("first") + len("two"))
    assert pushed(data, objects) == Pushed(first, there=True)
    second = publish_text(data, "second")
    assert pushed(data, objects).files == 1  # of its two files one is there
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    assert mirror.names() == ("churches",)
    mirror.bring("churches")
    found = find_release("churches", mirror.data)
    assert found.name == second and contents(found) == contents(find_release("churches", data))
    assert release_ids(mirror.data, "churches") == (second,)
    # going back to what was there sends nothing
    assert push(dataset_folder(data, "churches") / first, objects) == Pushed(first, 0, 0)
    kept = read_stored(objects, "churches")
    assert kept is not None and kept[0].releases == (first, second)


def test_what_no_kept_release_names_goes_when_it_is_old_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects, data = Objects("memory://", MemoryStore()), tmp_path / "data"
    names = [publish_text(data, text) for text in ("first",)]
    pushed(data, objects)
    for text in ("second", "third"):
        names.append(publish_text(data, text))
        assert pushed(data, objects).removed == 0
    monkeypatch.setattr(pushing, "OLD", timedelta(0))
    names.append(publish_text(data, "fourth"))
    # manifest and provenance of the first and second releases, and the file that only each of them had
    assert pushed(data, objects).removed == 6
    left = {one.path for one in objects.list("releases")}
    assert not any(name in path for path in left for name in names[:2])
    monkeypatch.setattr(pushing, "OLD", timedelta(hours=36))
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    for name in (names[3], names[2]):
        push(dataset_folder(data, "churches") / name, objects)
        mirror.bring("churches")
        assert find_release("churches", mirror.data).name == name


def test_nothing_is_removed_where_a_kept_manifest_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects, data = Objects("memory://", MemoryStore()), tmp_path / "data"
    first = publish_text(data, "first")
    pushed(data, objects)
    objects.write(f"releases/churches/{first}/manifest.json", b"{}")
    monkeypatch.setattr(pushing, "OLD", timedelta(0))
    publish_text(data, "second")
    with pytest.raises(ReleaseError):
        pushed(data, objects)
    assert current(objects) != first  # it is told after the new one is current


# Faults.


FAULTS: dict[str, list[tuple[Fault, Callable[[Asked], bool], int]]] = {
    "refusals": [(refused, lambda a: a.method == "GET", 1), (refused, lambda a: a.method == "PUT", 1)],
    "slowness": [(slowed(0.2), lambda a: True, 1_000)],
    "a part cut": [(cut_while_sending, lambda a: a.is_part, 2)],
    "a part unheard": [(done_but_unheard, lambda a: a.is_part, 1)],
    "a switch unheard": [(done_but_unheard, lambda a: a.method == "PUT" and a.key.endswith("/current"), 1)],
    "answers cut": [(cut_while_answering, lambda a: a.method == "GET" and "/files/" in a.key, 2)],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_passes_is_overcome(tmp_path: Path, bucket: tuple[str, Proxy], fault: str) -> None:
    address, proxy = bucket
    objects, name = open_objects(address), large(tmp_path / "data")
    for one in FAULTS[fault]:
        proxy.fails(*one)
    assert pushed(tmp_path / "data", objects).files == 1
    assert len({asked for asked in proxy.heard if asked.is_part}) and len(proxy.sent("/files/")) >= 3
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    mirror.bring("churches")
    found = find_release("churches", mirror.data)
    assert found.name == name and contents(found) == contents(find_release("churches", tmp_path / "data"))


def test_a_store_that_stops_answering_leaves_the_old_release_and_the_next_push_goes_on(
    tmp_path: Path, bucket: tuple[str, Proxy]
) -> None:
    address, proxy = bucket
    objects, data = open_objects(address), tmp_path / "data"
    first = publish_text(data, "first")
    pushed(data, objects)
    second = large(data)
    proxy.fails(cut_while_sending, lambda asked: asked.is_part)
    with pytest.raises(StoreUnreachable, match="does not answer"):
        pushed(data, objects)
    assert current(objects) == first and f"museum/releases/churches/{second}/manifest.json" not in proxy.keys(
        address.split("/")[2]
    )
    proxy.faults.clear()
    assert pushed(data, objects).files == 1 and current(objects) == second


@pytest.mark.parametrize("stage", ["before", "during"])
def test_stopped_at_any_stage_the_old_release_is_read_and_what_was_sent_is_not_sent_again(
    tmp_path: Path, bucket: tuple[str, Proxy], stage: str
) -> None:
    objects, data = open_objects(bucket[0]), tmp_path / "data"
    first = publish_text(data, "first")
    pushed(data, objects)
    publish_text(data, "second")
    with failing_at(f"push:{stage}"), pytest.raises(FailPoint):
        pushed(data, objects)
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    mirror.bring("churches")
    assert find_release("churches", mirror.data).name == first
    assert pushed(data, objects).files == (1 if stage == "before" else 0)
    mirror.bring("churches")
    assert find_release("churches", mirror.data).name != first


def test_a_push_that_is_killed_in_the_midst_of_a_file_leaves_the_old_release(
    tmp_path: Path, bucket: tuple[str, Proxy]
) -> None:
    address, proxy = bucket
    objects, data = open_objects(address), tmp_path / "data"
    first = publish_text(data, "first")
    pushed(data, objects)
    second = large(data, 40)
    begun = len(proxy.heard)
    proxy.fails(slowed(0.5), lambda asked: asked.is_part)
    words = ["releases", "push", "churches", "--to", address, "--data", str(data)]
    program = "from crmrag_query.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], cwd=ROOT, env=os.environ | environment(proxy)
    )
    end = time.monotonic() + 120
    while not any(asked.is_part for asked in proxy.heard[begun:]):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert current(objects) == first
    proxy.faults.clear()
    assert pushed(data, objects).files == 1 and current(objects) == second


def test_of_two_pushes_at_once_one_wins_and_the_other_is_told(
    tmp_path: Path, bucket: tuple[str, Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    objects, came = open_objects(bucket[0]), Barrier(2)
    send = pushing._send

    def together(*given: object) -> None:
        send(*given)  # type: ignore[arg-type]
        came.wait(60)  # both have read what was current, and neither has replaced it

    monkeypatch.setattr(pushing, "_send", together)
    ids = [publish_text(tmp_path / text, text) for text in ("first", "second")]
    told: list[object] = []

    def attempt(text: str) -> None:
        try:
            told.append(pushed(tmp_path / text, objects).release)
        except BuildError as error:
            told.append(error)

    threads = [Thread(target=attempt, args=(text,)) for text in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = current(objects)
    (lost,) = [one for one in told if isinstance(one, BuildError)]
    assert won in ids and won in told and f"release {won} of 'churches' is current there" in lost.what
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    mirror.bring("churches")
    assert find_release("churches", mirror.data).name == won


def test_listings_that_lag_hide_a_data_set_for_a_while_and_spoil_nothing(
    tmp_path: Path, bucket: tuple[str, Proxy]
) -> None:
    address, proxy = bucket
    objects, data = open_objects(address), tmp_path / "data"
    proxy.fails(lagging({}), lambda asked: asked.is_listing)
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    assert mirror.names() == ()
    for text in ("first", "second"):
        name = publish_text(data, text)
        assert pushed(data, objects).release == name == current(objects)
        mirror.bring("churches")
        assert find_release("churches", mirror.data).name == name
    assert mirror.names() == ()
    proxy.faults.clear()
    assert mirror.names() == ("churches",)


# What is refused.


def test_a_file_that_was_altered_in_the_store_is_refused_and_pushing_it_whole_mends_it(
    tmp_path: Path, bucket: tuple[str, Proxy]
) -> None:
    objects, data = open_objects(bucket[0]), tmp_path / "data"
    first = publish_text(data, "first")
    pushed(data, objects)
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    mirror.bring("churches")
    second = publish_text(data, "second")
    pushed(data, objects)
    entry = next(one for one in entries(data / "work" / "second") if one.path == "a/one.txt")
    objects.write(f"releases/churches/files/{entry.sha256}", b"Second")
    with pytest.raises(ReleaseError, match=r"was altered: .*graph/a/one\.txt .*--whole"):
        mirror.bring("churches")
    assert find_release("churches", mirror.data).name == first
    assert pushed(data, objects, whole=True).files == 2
    mirror.bring("churches")
    assert find_release("churches", mirror.data).name == second


def test_a_manifest_that_was_altered_is_refused(tmp_path: Path) -> None:
    objects, data = Objects("memory://", MemoryStore()), tmp_path / "data"
    first = publish_text(data, "first")
    pushed(data, objects)
    path = f"releases/churches/{first}/manifest.json"
    whole = objects.read(path)
    assert whole is not None
    objects.write(path, whole.data.replace(b'"graph/two.txt"', b'"graph/../two.txt"'))
    with pytest.raises(ReleaseError, match="outside its own folder"):
        Mirror(tmp_path / "cache" / "mirror", objects).bring("churches")
    objects.write(path, whole.data.replace(b'"title": ""', b'"title": "x"'))
    with pytest.raises(ReleaseError, match="was altered"):
        Mirror(tmp_path / "cache" / "mirror", objects).bring("churches")
    assert not (tmp_path / "cache" / "mirror" / "releases" / "churches" / "current").exists()


def test_a_file_that_is_not_what_was_built_is_not_pushed(tmp_path: Path) -> None:
    objects, data = Objects("memory://", MemoryStore()), tmp_path / "data"
    publish_text(data, "first")
    file = find_release("churches", data) / "graph" / "two.txt"
    file.write_text("tow")
    with pytest.raises(BuildError, match=r"two\.txt is not what was built.*crmrag verify churches"):
        pushed(data, objects)
    assert read_stored(objects, "churches") is None


def test_errors_name_the_thing_and_the_remedy(tmp_path: Path, bucket: tuple[str, Proxy]) -> None:
    address, proxy = bucket
    data = tmp_path / "data"
    publish_text(data, "first")
    with pytest.raises(ReleaseNotFound, match=r"no bucket .* for s3://none/x.*Make it"):
        pushed(data, open_objects("s3://none/x"))
    with pytest.raises(ReleaseNotFound, match="has no release of data set 'other'"):
        open_release("other", mirror_folder(address))
    with pytest.raises(ReleaseError, match="no address of an object store"):
        open_objects("ftp://x/y")
    with pytest.raises(BuildError, match=r"Nothing is built in s3://.*publish_to"):
        open_context("churches", mirror_folder(address))
    proxy.fails(denied)
    with pytest.raises(ReleaseError, match=r"refuses reading .*Access Denied.*credentials"):
        pushed(data, open_objects(address))


def test_the_command_says_what_was_sent(tmp_path: Path, bucket: tuple[str, Proxy]) -> None:
    data, runner = tmp_path / "data", CliRunner()
    name = publish_text(data, "first")
    words = ["push", "churches", "--to", bucket[0], "--data", str(data)]
    done = runner.invoke(releases, words, catch_exceptions=False)
    assert done.output == f"Release {name} of churches is current in {bucket[0]}: 2 files sent, 8 B.\n"
    assert "already; nothing was sent" in runner.invoke(releases, words, catch_exceptions=False).output


# The cache.


def test_files_are_fetched_once_for_all_mirrors_and_what_no_release_has_is_tidied_away(
    tmp_path: Path, bucket: tuple[str, Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, proxy = bucket
    objects, data = open_objects(address), tmp_path / "data"
    names = []
    mirrors = [Mirror(tmp_path / "cache" / name, objects) for name in ("one", "other")]
    monkeypatch.setattr(mirroring, "UNUSED_SECONDS", 0.0)
    for text in ("first", "second", "third"):
        names.append(publish_text(data, text))
        pushed(data, objects)
        for mirror in mirrors:
            mirror.bring("churches")
            folder = dataset_folder(mirror.data, "churches")
            assert pointer(folder) == names[-1] and set(release_ids(mirror.data, "churches")) == set(
                names[-2:]
            )
    fetched = [asked.key for asked in proxy.heard if asked.method == "GET" and "/files/" in asked.key]
    assert len(fetched) == len(set(fetched)) == 4
    mirroring.tidy(mirrors[0].pool, 0.0)
    assert len([*mirrors[0].pool.iterdir()]) == 3  # those of two releases


def test_the_cache_keeps_within_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects, data = Objects("memory://", MemoryStore()), tmp_path / "data"
    large(data, 2)
    pushed(data, objects)
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    monkeypatch.setenv("CRMRAG_CACHE_GIB", "0.001")
    with pytest.raises(ReleaseError, match=r"needs 0\.0 GiB more .*Raise CRMRAG_CACHE_GIB"):
        mirror.bring("churches")
    monkeypatch.setenv("CRMRAG_CACHE_GIB", "0.003")
    mirror.bring("churches")
    # another mirror needs the room, and this one has been idle
    monkeypatch.setattr(mirroring, "IDLE_SECONDS", 0.0)
    others = Objects("memory://", MemoryStore())
    from crmrag_assets.release.publish import Pinned

    work = tmp_path / "other" / "work"
    work.mkdir(parents=True)
    (work / "x.bin").write_bytes(b"x" * (2 << 20))
    files = tuple(Pinned(work / one.path, one) for one in entries(work))
    publish(tmp_path / "other", Manifest("murals", tuple(one.entry for one in files)), files, {})
    push(find_release("murals", tmp_path / "other"), others)
    Mirror(tmp_path / "cache" / "other", others).bring("murals")
    assert not dataset_folder(mirror.data, "churches").exists()


def test_a_data_set_that_the_store_has_no_more_goes_from_the_mirror(tmp_path: Path) -> None:
    store = MemoryStore()
    objects, data = Objects("memory://", store), tmp_path / "data"
    publish_text(data, "first")
    pushed(data, objects)
    mirror = Mirror(tmp_path / "cache" / "mirror", objects)
    mirror.bring("churches")
    obstore.delete(store, "releases/churches/current")
    with pytest.raises(ReleaseNotFound):
        mirror.bring("churches")
    assert not dataset_folder(mirror.data, "churches").exists()


def test_a_mirror_is_known_by_its_folder(bucket: tuple[str, Proxy]) -> None:
    folder = mirror_folder(f"{bucket[0]}/")
    mirror = mirror_of(folder)
    assert mirror is not None and mirror.objects.address == bucket[0] and folder == mirror_folder(bucket[0])
    assert mirror_of(folder.parent) is None


# As an artifact of a build.


def test_a_build_pushes_its_release_and_the_next_one_only_what_is_new(
    tmp_path: Path, bucket: tuple[str, Proxy]
) -> None:
    address, proxy = bucket
    project = make_project(tmp_path / "project", turtle(3), write_markdown=False, publish_to=address)
    build_all(project.context())
    objects, first = open_objects(address), open_release("churches", project.data)
    assert current(objects) == first.id
    sent = len(proxy.sent("/files/"))
    assert sent == len({one.sha256 for one in first.manifest.files})
    build_all(project.context())
    assert len(proxy.sent("/files/")) == sent
    (project.root / "churches.ttl").write_text(turtle(4), encoding="utf-8")
    build_all(project.context())
    second = open_release("churches", project.data)
    before = {one.sha256 for one in first.manifest.files}
    assert len(proxy.sent("/files/")) == sent + len({one.sha256 for one in second.manifest.files} - before)
    copy = open_release("churches", mirror_folder(address))
    copy.verify()
    assert copy.id == second.id == current(objects) and copy.provenance == second.provenance


@pytest.mark.slow
def test_a_build_whose_store_does_not_answer_is_held_up_and_the_next_one_pushes(
    tmp_path: Path, bucket: tuple[str, Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, proxy = bucket
    monkeypatch.setattr(storing, "TRIES", 0)
    project = make_project(tmp_path / "project", turtle(3), write_markdown=False, publish_to=address)
    proxy.fails(refused)
    with pytest.raises(BuildHeldUp, match=r"'pushed_release' failed\. s3://\S+ does not answer"):
        runs.build(project)
    released = open_release("churches", project.data).id  # here it is
    proxy.faults.clear()
    runs.build(project)
    assert current(open_objects(address)) == released
