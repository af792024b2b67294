"""A watch tells a change from a flicker: files that are touched or half-written, endpoints that fail, lie or shrink."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.context import ask_again
from crmrag_assets.build.step import BuildContext, run_step
from crmrag_assets.build.store import Published
from crmrag_assets.harvest.source import OfFiles
from crmrag_assets.operations.watch import Listing, Verdict, Watched, compare, watch
from crmrag_assets.sources import source_for
from crmrag_assets.steps.registry import RELEASE
from crmrag_query.config.operations import Watching
from tests.support.builds import Project, build_all, make_project, turtle
from tests.support.endpoints import Always, quad
from tests.support.faults import SIGNALLED, Fault, bent, refusal
from tests.support.sparql_answers import Answer
from tests.support.sparql_exchange import Endpoint, Plan
from tests.support.sparql_server import serving

SETTLE = 120
LIMITS = Watching(request_seconds=2)
START = 1_800_000_000.0


@dataclass
class Watch:
    """A watch over a project, its memory carried from look to look, by a clock that stands until it is moved."""

    project: Project
    now: float = START
    memory: str | None = None
    limits: Watching = LIMITS

    def context(self) -> BuildContext:
        return self.project.context()

    def look(self, after: float = 0.0) -> Verdict:
        self.now += after
        found = watch(self.context(), self.memory, self.limits, self.now)
        self.memory = found.state.dumped()
        return found

    def settled(self) -> Verdict:
        """Two looks, long enough apart."""
        first = self.look(60)
        assert first.change == ""
        return self.look(SETTLE)

    def build(self) -> None:
        build_all(self.context())

    def write(self, churches: int, name: str = "churches.ttl") -> None:
        (self.project.root / name).write_text(turtle(churches), encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of files, built once; tests work on copies."""
    project = make_project(tmp_path_factory.mktemp("watch") / "built", turtle(4), write_markdown=False)
    build_all(project.context())
    return project.root


@pytest.fixture
def files(built: Path, tmp_path: Path) -> Watch:
    shutil.copytree(built, tmp_path / "project", copy_function=shutil.copy2)
    return Watch(Project(tmp_path / "project"))


def test_what_was_built_is_found_unchanged_and_confirmed_also_by_a_watch_that_begins_anew(
    files: Watch,
) -> None:
    verdict = files.settled()
    assert verdict.confirmed and verdict.change == "" and "is what was built" in verdict.says
    assert files.look(60).says == "Nothing has changed." and files.look(60).confirmed
    files.memory = "{garbage"
    assert files.settled().confirmed


def test_a_change_counts_when_it_has_settled_and_once(files: Watch) -> None:
    files.settled()
    files.write(5)
    first = files.look(60)
    assert first.change == "" and "Changed: files" in first.says and "Looked at again in 120 s" in first.says
    assert files.look(60).change == ""
    verdict = files.look(60)
    assert verdict.change and "A build is launched" in verdict.says
    assert [files.look(60).change for _ in range(4)] == [""] * 4, "nor while the build has not been made"
    waiting = files.look(60)
    assert not waiting.confirmed and "has not published it" in waiting.says
    files.build()
    assert files.look(60).confirmed


def test_a_restart_between_any_two_looks_changes_nothing(files: Watch) -> None:
    """The memory is text; what was launched and not remembered is launched under the same identity."""
    files.settled()
    files.write(5)
    files.look(60)
    before = files.memory
    verdict = files.look(SETTLE)
    files.memory = before
    assert files.look(5).change == verdict.change != ""


def test_files_that_are_still_being_written_are_waited_for(files: Watch) -> None:
    files.settled()
    for churches in range(5, 9):
        files.write(churches)
        assert files.look(SETTLE).change == ""
    assert files.look(SETTLE - 1).change == "" and files.look(1).change


def test_files_that_were_only_touched_are_no_change(files: Watch) -> None:
    files.settled()
    os.utime(files.project.root / "churches.ttl", ns=(1, 1))
    verdict = files.settled()
    assert verdict.change == "" and verdict.confirmed and "is what was built" in verdict.says


def test_a_change_that_is_taken_back_is_none_and_one_back_and_forth_is_each_time(files: Watch) -> None:
    files.settled()
    files.write(5)
    files.look(60)
    files.write(4)
    verdict = files.settled()
    assert verdict.change == "" and verdict.confirmed
    seen = []
    for churches in (5, 4, 5):
        files.write(churches)
        seen.append(files.settled().change)
        files.build()
    assert all(seen) and len(set(seen)) == 3


def test_a_build_by_hand_needs_no_second_one(files: Watch) -> None:
    files.settled()
    files.write(5)
    files.look(60)
    files.build()
    verdict = files.look(SETTLE)
    assert verdict.change == "" and verdict.confirmed


def test_a_file_that_comes_is_a_change_one_that_is_missing_a_fault(files: Watch) -> None:
    declared = files.project.config / "datasets.yaml"
    declared.write_text(
        declared.read_text().replace("- churches.ttl", "- churches.ttl\n    - '*.nt'\n    - more.ttl")
    )
    assert "no file matches" in files.look(60).says
    again = files.look(60)
    assert "2 looks in a row" in again.says and again.state.faults == 2
    files.write(2, "more.ttl")
    (files.project.root / "x.nt").write_text("<http://e/a> <http://e/b> <http://e/c> .\n")
    assert files.settled().change


def test_files_that_have_shrunk_to_nearly_nothing_are_taken_for_a_failed_export(files: Watch) -> None:
    files.settled()
    file = files.project.root / "churches.ttl"
    size = file.stat().st_size
    for text in ("", turtle(1)):
        file.write_text(text)
        verdicts = [files.look(SETTLE) for _ in range(3)]
        assert all(one.change == "" for one in verdicts)
        assert f"where it had {size:,}: that is taken for a fault" in verdicts[-1].says
        assert "crmrag build churches" in verdicts[-1].says
    files.write(5)
    assert files.settled().change


def test_checksums_take_as_many_looks_as_they_need_and_give_the_fingerprint_of_a_build(
    tmp_path: Path,
) -> None:
    paths = [tmp_path / f"{n}.ttl" for n in range(5)]
    for path in paths:
        path.write_text(turtle(2))
    listing, made = Listing.of(paths), tuple[str, ...]()
    ticks: Iterator[float] = iter(float(n) for n in range(100))
    for expected in (2, 4, 5):
        made = listing.checksums(made, 10**9, 2.5, clock=lambda: next(ticks))
        assert len(made) == expected
    config = make_project(tmp_path / "p").context().config.model_copy(update={"rdf": tuple(map(str, paths))})
    source = source_for(config)
    assert isinstance(source, OfFiles)
    assert source.fingerprint_of(dict(zip(listing.files, made, strict=True))) == source.fingerprint()
    by_size = listing.checksums((), 1, 9.0)
    assert all(" bytes of " in one for one in by_size)


def test_a_data_set_that_was_never_built_is_left_to_people(tmp_path: Path) -> None:
    found = Watch(make_project(tmp_path / "new")).look()
    assert found.change == "" and "Start the first build yourself: crmrag build churches" in found.says


def test_a_source_that_changes_while_it_is_built_counts_as_changed(files: Watch) -> None:
    files.write(6)  # what was built stays as it is, and is published again
    run_step(RELEASE, files.context())
    mark = Published.read(files.context().store.root)
    assert mark is not None and mark.source == ""
    assert files.settled().change


# Endpoints.


@pytest.fixture
def quads() -> list[ox.Quad]:
    return list(ox.parse(turtle(4), format=ox.RdfFormat.TURTLE))


class Remote(Watch):
    """A watch over an endpoint."""

    server: Endpoint


def remote(root: Path, server: Endpoint) -> Remote:
    declared = {"url": server.url, "requests": {"pause_seconds": 0, "timeout_seconds": 2}}
    found = Remote(make_project(root, rdf=None, endpoint=declared, write_markdown=False))
    found.server = server
    return found


class Switched:
    """Faults that strike while they are switched on."""

    def __init__(self) -> None:
        self.plan: Plan | None = None

    def choose(self, query: str) -> Fault | None:
        return self.plan.choose(query) if self.plan is not None else None


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Remote, Switched]]:
    """An endpoint that is harvested and built; each test begins with a watch that knows nothing."""
    switch = Switched()
    with serving(list(ox.parse(turtle(4), format=ox.RdfFormat.TURTLE)), [switch]) as server:
        found = remote(tmp_path_factory.mktemp("remote") / "project", server)
        found.build()
        yield found, switch


@pytest.fixture
def endpoint(served: tuple[Remote, Switched]) -> Iterator[tuple[Remote, Switched]]:
    watch, switch = served
    watch.memory, before = None, list(watch.server.store)
    yield watch, switch
    switch.plan = None
    watch.server.store.clear()
    watch.server.store.extend(before)


def test_a_look_costs_three_requests_and_finds_what_was_harvested(endpoint: tuple[Remote, Switched]) -> None:
    watch, _ = endpoint
    seen = len(watch.server.log)
    first = watch.look(60)
    assert first.confirmed and first.says == "Nothing has changed." and len(watch.server.log) - seen == 3
    assert any(name.startswith("sample of ") for name in first.state.known) and int(
        first.state.known["triples"]
    )
    assert watch.look(60).confirmed


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (quad("bell", "p", "church1"), "triples"),
        (None, "sample of"),
        (quad("church1", "http://example.org/other", ox.Literal("x")), "triples"),
    ],
)
def test_a_change_of_an_endpoint_settles_and_is_built_once(
    endpoint: tuple[Remote, Switched], change: ox.Quad | None, word: str
) -> None:
    watch, _ = endpoint
    watch.look(60)
    if change is None:  # the same number of triples
        old = next(one for one in watch.server.store if "label" in one.predicate.value)
        new = ox.Quad(old.subject, old.predicate, ox.Literal("Another name"))
        watch.server.change(add=[new], remove=[old])
    else:
        watch.server.change(add=[change])
    first = watch.look(60)
    assert first.change == "" and word in first.says and not first.confirmed
    verdict = watch.look(SETTLE)
    assert verdict.change and [watch.look(60).change for _ in range(3)] == [""] * 3
    assert not watch.look(60).confirmed, "it was not harvested yet"


def test_a_stated_date_is_a_change(endpoint: tuple[Remote, Switched]) -> None:
    watch, _ = endpoint
    dataset = "http://rdfs.org/ns/void#Dataset"
    stated = [
        quad("d", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", dataset),
        quad("d", "http://purl.org/dc/terms/modified", ox.Literal("2026-01-01")),
    ]
    watch.server.change(add=stated)
    watch.settled()
    assert watch.look(60).state.known["stated"] == "2026-01-01"
    newer = quad("d", "http://purl.org/dc/terms/modified", ox.Literal("2026-02-02"))
    watch.server.change(add=[newer], remove=[stated[1]])
    assert "stated 2026-01-01 → 2026-02-02" in watch.look(60).says
    assert watch.look(SETTLE).change


def test_an_endpoint_that_does_not_answer_is_no_change_and_is_let_alone_for_longer_and_longer(
    endpoint: tuple[Remote, Switched],
) -> None:
    watch, switch = endpoint
    watch.look(60)
    switch.plan = Always(refusal(503, "Starting"))
    waits = []
    for faults in range(1, 4):
        verdict = watch.look(60)
        assert (
            verdict.change == "" and not verdict.confirmed and "No change is seen in a fault" in verdict.says
        )
        waits.append(verdict.state.before - watch.now)
        asked = len(watch.server.log)
        assert "looked at again from" in watch.look(waits[-1] - 61).says and len(watch.server.log) == asked
        watch.now += 61
        assert verdict.state.faults == faults
    assert waits == [120, 240, 480]
    switch.plan = None
    assert watch.look(60).confirmed


@pytest.mark.parametrize("fault", SIGNALLED[2:], ids=lambda fault: fault.name)
def test_no_fault_of_an_endpoint_is_a_change(endpoint: tuple[Remote, Switched], fault: Fault) -> None:
    watch, switch = endpoint
    watch.look(60)
    switch.plan = Always(fault)
    for _ in range(3):
        watch.now += 4000
        assert watch.look().change == ""
    switch.plan = None
    watch.now += 4000
    assert watch.look().confirmed


def test_an_endpoint_that_flickers_is_never_built(endpoint: tuple[Remote, Switched]) -> None:
    """Every look another number of triples: no two agree."""
    watch, switch = endpoint
    watch.look(60)
    numbers = iter(range(1, 100))

    def other(answer: Answer) -> Answer | None:
        more = f"{next(numbers) + 1000}".encode()
        lines = answer.body.splitlines()
        return replace(answer, body=lines[0] + b"\n" + more + b"\n") if lines[0] == b"?n" else None

    switch.plan = Always(bent("other count", other))
    for _ in range(5):
        verdict = watch.look(SETTLE)
        assert verdict.change == "" and verdict.says.startswith(("Changed", "Still changing"))
    switch.plan = None
    gone = watch.look(SETTLE)
    assert gone.confirmed and "A change that was seen before is gone" in gone.says


def test_an_empty_or_much_smaller_endpoint_is_taken_for_a_fault(endpoint: tuple[Remote, Switched]) -> None:
    watch, _ = endpoint
    watch.look(60)
    store = watch.server.store
    for left in (len(store) // 3, 0):
        for one in list(store)[left:]:
            store.remove(one)
        for _ in range(2):
            watch.now += 4000
            verdict = watch.look()
            assert verdict.change == "" and "that is taken for a fault" in verdict.says
            assert "crmrag build churches --refresh" in verdict.says


def test_a_harvest_by_hand_is_what_is_known_from_then_on(quads: list[ox.Quad], tmp_path: Path) -> None:
    with serving(quads) as server:
        watch = remote(tmp_path / "project", server)
        watch.build()
        watch.look(60)
        server.change(add=[quad("bell", "p", "church1")])
        watch.look(60)
        ask_again(watch.context())
        watch.build()
        verdict = watch.look(SETTLE)
        assert verdict.change == "" and verdict.confirmed
        # and what a watch has launched is compared with what it saw
        server.change(add=[quad("gong", "p", "church1")])
        assert watch.settled().change
        server.change(add=[quad("drum", "p", "church1")])
        ask_again(watch.context())
        watch.build()
        assert "Changed" in watch.look(60).says


# The rules, without a source.


def looks(state: Watched, *seen: dict[str, str], every: float = 60.0) -> tuple[Watched, list[bool]]:
    changed = []
    for n, signals in enumerate(seen):
        found = compare(state, signals, 1, n * every, SETTLE)
        state = found.state.settled({**state.known, **signals}, 1) if found.changed else found.state
        changed.append(found.changed)
    return state, changed


def test_headers_that_are_made_up_for_each_response_are_not_regarded() -> None:
    state, changed = looks(
        Watched(known={"n": "1", "ETag": "a"}), *({"n": "1", "ETag": tag} for tag in "bcdef")
    )
    assert not any(changed) and state.volatile == ("ETag",) and state.pending == {}
    _, changed = looks(state, *({"n": "2", "ETag": tag} for tag in "ghi"))
    assert changed == [False, False, True]


def test_a_header_that_changes_and_stays_is_a_change() -> None:
    _, changed = looks(Watched(known={"n": "1", "ETag": "a"}), *[{"n": "1", "ETag": "b"}] * 3)
    assert changed == [False, False, True]


def test_a_signal_that_is_not_answered_is_no_change_and_is_kept() -> None:
    state, changed = looks(Watched(known={"n": "1", "m": "1"}), {"m": "1"}, {"m": "1"})
    assert not any(changed) and state.known == {"n": "1", "m": "1"}


SIGNALS = st.dictionaries(st.sampled_from(["n", "m", "ETag"]), st.sampled_from("abc"))


@given(SIGNALS, st.lists(SIGNALS, max_size=8))
def test_nothing_is_ever_built_for_a_single_look(known: dict[str, str], seen: list[dict[str, str]]) -> None:
    state = Watched(known=known)
    before: dict[str, str] = {}
    for n, signals in enumerate(seen):
        found = compare(state, signals, 1, n * 1000.0, SETTLE)
        if found.changed:
            names = {name for name, value in signals.items() if state.known.get(name, value) != value}
            assert any(before.get(name) == signals[name] for name in names)
            state = found.state.settled({**state.known, **signals}, 1)
        else:
            state = found.state
        before = signals


TEXTS = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["version", "known", "amount"]), inner)
        ),
    ).map(json.dumps),
)


@given(TEXTS)
def test_any_text_is_a_memory_or_an_empty_one(text: str | None) -> None:
    assert isinstance(Watched.loaded(text), Watched)


@pytest.mark.parametrize(
    "memory", ['{"version": 1, "since": NaN}', '{"version": 1, "before": Infinity}', "[]", "{}", "1"]
)
def test_a_memory_that_cannot_be_is_forgotten(memory: str) -> None:
    assert Watched.loaded(memory) == Watched()


def test_a_clock_that_was_wrong_delays_nothing_for_ever(files: Watch) -> None:
    files.settled()
    files.write(5)
    files.now += 10**9
    files.look()
    files.memory = Watched.loaded(files.memory).faulty("x", files.now, 60, 3600).dumped()
    files.now -= 10**9
    assert files.look(60).change == "" and files.look(SETTLE).change


def test_a_memory_reads_back_as_it_was_written_and_another_version_is_forgotten() -> None:
    state = Watched(
        known={"a": "1"}, amount=5, content="c", pending={"a": "2"}, since=3.5, checksums=("x",),
        volatile=("ETag",), harvest="h", asked=True, faults=2, fault="why", before=9.0,
        parts={"p": Watched(amount=1, known={"b": "1"})},
    )  # fmt: skip
    assert state.model_fields_set == set(Watched.model_fields)
    assert Watched.loaded(state.dumped()) == state
    assert Watched.loaded(state.dumped().replace('"version": 1', '"version": 99')) == Watched()
    assert Watched.loaded(state.dumped().replace('"amount": 5', '"amount": "5"')) == Watched()
