"""Answers have addresses and conversations can be gone on in, by those who may; what is kept goes when it is to go."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from crmrag_query import Client
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.manifest import switch
from crmrag_query.client import wire
from crmrag_query.client.local import Engine, open_engine
from crmrag_query.codec import from_plain
from crmrag_query.errors import ConfigError
from crmrag_query.service import store as stores
from crmrag_query.service.store import Clocks, KeptText, Store
from tests.service.test_api import events_of, problem_of
from tests.support.service import application, configured, failing_command, process, served
from tests.support.shared import own_two_releases

API = wire.PREFIX
QUESTION = "When was the church of Asinou built?"
FOLLOW = "And who paid for its paintings?"


def ask(http: httpx.Client, question: str = QUESTION, **more: Any) -> dict[str, Any]:
    response = http.post(f"{API}/ask", json={"question": question, **more})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def begin(http: httpx.Client, **more: Any) -> dict[str, str]:
    found: dict[str, str] = http.post(f"{API}/conversations", json=more).raise_for_status().json()
    return found


def turns(http: httpx.Client, id: str) -> list[dict[str, str]]:
    found = http.get(f"{API}/conversations", params={"id": id}).raise_for_status().json()
    listed: list[dict[str, str]] = found["turns"]
    return listed


@contextmanager
def serving(engine: Engine, state: Path | None, **parts: Any) -> Iterator[httpx.Client]:
    with (
        served(application(engine, state=state, **parts)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


# answers


def test_an_answer_is_kept_as_it_was_given(http: httpx.Client, local: Client) -> None:
    given = ask(http)
    kept = http.get(f"{API}/answers", params={"id": given["id"]}).json()
    assert kept["answer"] == given and kept["id"] == given["id"] and kept["current"] is True
    assert kept["asked"].endswith("Z") and len(kept["asked"]) == 20
    assert from_plain(Answer, kept["answer"]) == local.ask(QUESTION)
    assert ask(http)["id"] != given["id"], "each has an address of its own"


def test_a_streamed_answer_is_kept_before_its_end_is_told(http: httpx.Client) -> None:
    response = http.post(f"{API}/ask", json={"question": QUESTION}, headers={"Accept": wire.EVENTS})
    answer = events_of(response)[-1][1]["answer"]
    assert http.get(f"{API}/answers", params={"id": answer["id"]}).json()["answer"] == answer


def test_what_is_only_looked_at_is_not_kept(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path) as http:
        http.post(f"{API}/plan", json={"question": QUESTION}).raise_for_status()
        http.post(f"{API}/retrieve", json={"question": QUESTION}).raise_for_status()
        assert http.post(f"{API}/ask", json={"question": "?"}).status_code == 400
    with closing(sqlite3.connect(tmp_path / stores.FILE)) as db:
        assert db.execute("SELECT count(*) FROM answers").fetchone() == (0,)


def test_a_replay_asks_the_same_again_with_what_went_before(http: httpx.Client) -> None:
    begun = begin(http)
    ask(http, thread=begun["id"], key=begun["key"])
    second = ask(http, FOLLOW, thread=begun["id"], key=begun["key"])
    told = http.post(f"{API}/replay", json={"id": second["id"]}).json()
    assert told["same"] is True and told["release_changed"] is False
    assert told["answer"]["text"] == second["text"] and told["answer"]["id"] == ""
    assert told["answer"]["conversation"] == second["conversation"]
    assert len(turns(http, begun["id"])) == 2, "a replay is no turn"


def test_a_replay_tells_what_a_new_release_changed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, first, second = own_two_releases(tmp_path_factory, tmp_path)
    place = tmp_path / "releases" / "churches"
    switch(place, first)
    with serving(open_engine(str(tmp_path)), tmp_path / "state") as http:
        grown, steady = ask(http, "How many murals are there?"), ask(http, "Who painted Mural 1?")
        switch(place, second)
        kept = http.get(f"{API}/answers", params={"id": grown["id"]}).json()
        assert kept["current"] is False and kept["answer"] == grown, "what was said stays said"
        told = {
            one["id"]: http.post(f"{API}/replay", json={"id": one["id"]}).json() for one in (grown, steady)
        }
        assert told[grown["id"]]["same"] is False and told[grown["id"]]["release_changed"] is True
        assert told[grown["id"]]["answer"]["release"] == second
        assert told[grown["id"]]["answer"]["set"]["size"] > grown["set"]["size"]
        assert told[steady["id"]]["same"] is True and told[steady["id"]]["release_changed"] is True
        shutil.rmtree(place)
        assert http.get(f"{API}/answers", params={"id": grown["id"]}).status_code == 200


def test_feedback_is_kept_with_its_answer(http: httpx.Client, engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path, kept={"comment_characters": 20}) as own:
        answer = ask(own)["id"]
        assert own.post(f"{API}/feedback", json={"answer": answer, "verdict": "good"}).json() == {}
        assert (
            own.post(
                f"{API}/feedback", json={"answer": answer, "verdict": "bad", "comment": "Ωχ'; DROP--"}
            ).json()
            == {}
        )
        for body, match in (
            ({"answer": answer, "verdict": "great"}, "verdict"),
            ({"answer": answer, "verdict": "bad", "comment": "x" * 21}, "21 characters"),
            ({"answer": answer}, "verdict is missing"),
        ):
            told = problem_of(own.post(f"{API}/feedback", json=body))
            assert told.status == 400 and match in told.detail
        unknown = own.post(f"{API}/feedback", json={"answer": "nothing", "verdict": "good"})
        assert problem_of(unknown).status == 404
    with closing(sqlite3.connect(tmp_path / stores.FILE)) as db:
        found = db.execute("SELECT answer, verdict, comment FROM feedback ORDER BY rowid").fetchall()
    assert found == [(answer, "good", ""), (answer, "bad", "Ωχ'; DROP--")]


# conversations


def test_a_conversation_goes_on_where_it_was_left(http: httpx.Client, local: Client) -> None:
    begun = begin(http)
    assert set(begun) == {"id", "key", "dataset"} and begun["dataset"] == "sample"
    assert turns(http, begun["id"]) == []
    first = ask(http, thread=begun["id"], key=begun["key"])
    second = ask(http, FOLLOW, thread=begun["id"], key=begun["key"])
    expected = local.ask(FOLLOW, local.ask(QUESTION))
    assert from_plain(Answer, second) == expected
    told = http.get(f"{API}/conversations", params={"id": begun["id"]}).json()
    assert (told["id"], told["dataset"]) == (begun["id"], "sample") and told["created"].endswith("Z")
    assert [(one["answer"], one["question"]) for one in told["turns"]] == [
        (first["id"], QUESTION), (second["id"], FOLLOW)
    ]  # fmt: skip
    assert [one["text"] for one in told["turns"]] == [first["text"], second["text"]]
    assert begun["key"] not in json.dumps([told, first, second])


def test_what_is_kept_goes_before_what_is_sent(http: httpx.Client, local: Client) -> None:
    begun = begin(http)
    ask(http, thread=begun["id"], key=begun["key"])
    found = ask(http, FOLLOW, thread=begun["id"], key=begun["key"], history=["Who was Nikephoros?"])
    assert from_plain(Answer, found) == local.ask(FOLLOW, local.ask(QUESTION))


def test_whoever_has_the_link_may_read_and_only_the_key_goes_on(http: httpx.Client) -> None:
    mine, other = begin(http), begin(http)
    ask(http, thread=mine["id"], key=mine["key"])
    for accept in (wire.JSON, wire.EVENTS):
        for key in (
            "",
            "wrong",
            other["key"],
            mine["key"] + " ",
            mine["id"],
            mine["key"].swapcase(),
            "é",
            "\0",
        ):
            body = {"question": FOLLOW, "thread": mine["id"], "key": key}
            told = problem_of(http.post(f"{API}/ask", json=body, headers={"Accept": accept}))
            assert told.status == 403 and told.remedy and told.error == "NotAllowed"
    for key in ("wrong", other["key"]):
        gone = http.post(f"{API}/conversations/remove", json={"id": mine["id"], "key": key})
        assert problem_of(gone).status == 403
    assert problem_of(http.post(f"{API}/conversations/remove", json={"id": mine["id"]})).status == 400
    assert len(turns(http, mine["id"])) == 1


@pytest.mark.parametrize(
    "id", ["", "nothing", "%", "' OR '1'='1", "../../etc/passwd", "\0", "x" * 5000, "☃", "*", "null"]
)
def test_a_forged_id_leads_nowhere(http: httpx.Client, id: str) -> None:
    begin(http)
    ask(http)
    for path in ("/answers", "/conversations"):
        assert problem_of(http.get(f"{API}{path}", params={"id": id})).status == 404
    assert problem_of(http.post(f"{API}/replay", json={"id": id})).status == 404
    assert problem_of(http.post(f"{API}/feedback", json={"answer": id, "verdict": "good"})).status == 404
    assert problem_of(http.post(f"{API}/conversations/remove", json={"id": id, "key": ""})).status == 404
    if id:
        told = http.post(f"{API}/ask", json={"question": QUESTION, "thread": id, "key": ""})
        assert problem_of(told).status == 404


def test_an_answer_is_no_conversation_and_neither_is_the_other(http: httpx.Client) -> None:
    begun, answer = begin(http), ask(http)["id"]
    assert problem_of(http.get(f"{API}/conversations", params={"id": answer})).status == 404
    assert problem_of(http.get(f"{API}/answers", params={"id": begun["id"]})).status == 404


def test_ids_are_not_to_be_guessed(http: httpx.Client) -> None:
    found = [value for _ in range(50) for one in (begin(http),) for value in (one["id"], one["key"])]
    assert len(set(found)) == 100 and min(map(len, found)) >= 22
    assert len({one[:4] for one in found}) > 90


def test_a_conversation_is_about_one_data_set(data: Path, tmp_path: Path) -> None:
    (tmp_path / "releases").mkdir()
    for name in ("one", "two"):
        (tmp_path / "releases" / name).symlink_to(data / "releases" / "sample")
    with serving(open_engine(str(tmp_path)), tmp_path / "state") as http:
        assert "one, two" in problem_of(http.post(f"{API}/conversations", json={})).detail
        assert problem_of(http.post(f"{API}/conversations", json={"dataset": "three"})).status == 404
        begun = begin(http, dataset="two")
        keyed = {"thread": begun["id"], "key": begun["key"]}
        assert ask(http, **keyed)["dataset"] == ask(http, dataset="two", **keyed)["dataset"] == "two"
        body = {"question": FOLLOW, "dataset": "one", **keyed}
        assert "'two'" in problem_of(http.post(f"{API}/ask", json=body)).detail


def test_a_conversation_has_an_end(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path, kept={"turns": 2}) as http:
        begun = begin(http)
        for _ in range(2):
            ask(http, thread=begun["id"], key=begun["key"])
        body = {"question": FOLLOW, "thread": begun["id"], "key": begun["key"]}
        told = problem_of(http.post(f"{API}/ask", json=body))
        assert told.status == 400 and "2 turns" in told.detail and "another" in told.remedy


def test_no_key_is_taken_from_an_address(http: httpx.Client) -> None:
    """Addresses stand in logs and histories: what wants a key takes it in the body, and nowhere else."""
    begun = begin(http)
    params = {"id": begun["id"], "key": begun["key"]}
    assert problem_of(http.delete(f"{API}/conversations", params=params)).status == 405
    told = http.post(f"{API}/conversations/remove", params=params, json={"id": begun["id"]})
    assert problem_of(told).status == 400 and "key" in problem_of(told).detail
    assert turns(http, begun["id"]) == []


def test_what_is_removed_is_gone(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path) as http:
        begun, other = begin(http), ask(http)["id"]
        answer = ask(http, thread=begun["id"], key=begun["key"])["id"]
        http.post(f"{API}/feedback", json={"answer": answer, "verdict": "bad", "comment": "mine"})
        own = {"id": begun["id"], "key": begun["key"]}
        assert http.post(f"{API}/conversations/remove", json=own).json() == {}
        assert problem_of(http.get(f"{API}/conversations", params={"id": begun["id"]})).status == 404
        assert problem_of(http.get(f"{API}/answers", params={"id": answer})).status == 404
        assert problem_of(http.post(f"{API}/conversations/remove", json=own)).status == 404
        assert http.get(f"{API}/answers", params={"id": other}).status_code == 200
    with closing(sqlite3.connect(tmp_path / stores.FILE)) as db:
        assert db.execute("SELECT count(*) FROM feedback").fetchone() == (0,)


def test_no_key_stands_in_the_database(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path) as http:
        begun = begin(http)
        ask(http, thread=begun["id"], key=begun["key"])
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert begun["id"].encode() in written and begun["key"].encode() not in written


def test_a_service_that_keeps_nothing_says_so(engine: Engine) -> None:
    with serving(engine, None) as http:
        assert ask(http)["id"] == ""
        for response in (
            http.post(f"{API}/conversations", json={}),
            http.get(f"{API}/answers", params={"id": "x"}),
            http.post(f"{API}/ask", json={"question": QUESTION, "thread": "x", "key": "y"}),
        ):
            told = problem_of(response)
            assert told.status == 404 and "keeps no answers" in told.detail and told.remedy


# the database


def kept(id: str, asked: float, thread: str = "") -> KeptText:
    return KeptText(id, asked, "sample", "r", thread, "{}", "{}")


@dataclass
class Watch:
    """Clocks of a machine that a test sets."""

    today: float = 1_000_000_000.0
    uptime: float = 1_000.0

    def __call__(self) -> Clocks:
        return Clocks(self.today, self.uptime)

    def wait(self, seconds: float) -> None:
        self.today += seconds
        self.uptime += seconds

    def restart(self, off: float) -> None:
        """The machine is off for so many seconds and has been up for a minute since."""
        self.today += off + 60
        self.uptime = 60


def test_what_is_too_old_or_too_much_goes(tmp_path: Path) -> None:
    watch = Watch()
    config = configured(kept={"days": 10, "answers": 3}).kept
    store = Store(tmp_path, config, watch)
    used, (left, _) = store.begin("sample")[0], store.begin("sample")
    store.keep(kept("old", watch.today, used))
    store.comment("old", "good", "")
    watch.wait(9 * stores.DAY)
    store.keep(kept("young", watch.today, used))
    assert store.answer("old") and store.conversation(used)
    assert store.conversation(left) is None, "a conversation that was begun and left does not stay"
    watch.wait(2 * stores.DAY)
    store.keep(kept("new", watch.today))
    assert store.answer("old") is None and store.answer("young") and store.conversation(used)
    for n in range(4):
        watch.wait(config.sweep_seconds + 1)
        store.keep(kept(f"n{n}", watch.today))
    assert [bool(store.answer(id)) for id in ("young", "n0", "n1", "n2", "n3")] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert store.conversation(used) is None
    with closing(sqlite3.connect(tmp_path / stores.FILE)) as db:
        assert db.execute("SELECT count(*) FROM feedback").fetchone() == (0,)
    store.close()


TEN_YEARS = 3650 * stores.DAY


def test_a_clock_that_jumps_ahead_sweeps_nothing(tmp_path: Path) -> None:
    """Nor does it where another process of the service, or the next one, meets the jump."""
    watch, config = Watch(), configured(kept={"days": 10}).kept
    store, other = Store(tmp_path, config, watch), Store(tmp_path, config, watch)
    begun, _ = store.begin("sample")
    store.keep(kept("before", watch.today))
    watch.today += TEN_YEARS
    watch.wait(2 * config.sweep_seconds)
    for n, one in enumerate((store, other, Store(tmp_path, config, watch))):
        one.keep(kept(f"after{n}", watch.today))
        watch.wait(2 * config.sweep_seconds)
        assert one.answer("before") and one.conversation(begun)
        one.close()


def test_a_clock_that_is_set_back_keeps_nothing_longer(tmp_path: Path) -> None:
    watch, config = Watch(), configured(kept={"days": 10, "answers": 2}).kept
    store = Store(tmp_path, config, watch)
    watch.today += TEN_YEARS
    store.keep(kept("from the future", watch.today))
    watch.today -= TEN_YEARS
    for n in range(3):
        watch.wait(2 * config.sweep_seconds)
        store.keep(kept(f"n{n}", watch.today))
    assert store.answer("from the future") is None, "of too many the first kept goes, not the latest"
    assert store.answer("n1") and store.answer("n2")
    watch.wait(11 * stores.DAY)
    store.keep(kept("last", watch.today))
    assert store.answer("last") and not store.answer("n2")
    store.close()


def test_a_conversation_goes_on_from_its_last_turn_though_the_clock_was_set_back(tmp_path: Path) -> None:
    watch = Watch()
    store = Store(tmp_path, configured().kept, watch)
    thread, _ = store.begin("sample")
    store.keep(kept("first", watch.today, thread))
    watch.today -= TEN_YEARS
    store.keep(kept("second", watch.today, thread))
    _, last = store.last_turn(thread)
    assert last is not None and last.id == "second"
    assert [one.id for one in store.turns(thread)] == ["first", "second"]
    store.close()


def test_answers_age_while_no_service_runs(tmp_path: Path) -> None:
    """Of the time for which the machine was off, a day at each start: only the time of day tells of it, and may be wrong."""
    watch, config = Watch(), configured(kept={"days": 10}).kept

    def asked(id: str) -> Store:
        store = Store(tmp_path, config, watch)
        store.keep(kept(id, watch.today))
        store.close()
        return store

    asked("old")
    watch.wait(11 * stores.DAY)
    assert asked("young").answer("old") is None
    watch.restart(off=TEN_YEARS)
    assert asked("after years off").answer("young")
    for n in range(10):
        watch.restart(off=stores.DAY / 2)
        watch.wait(stores.DAY)
        asked(f"n{n}")
    assert asked("last").answer("young") is None


def test_all_processes_of_a_service_age_its_answers_once(tmp_path: Path) -> None:
    watch, config = Watch(), configured(kept={"days": 10}).kept
    workers = [Store(tmp_path, config, watch) for _ in range(4)]
    workers[0].keep(kept("old", watch.today))
    for day in range(9):
        watch.wait(stores.DAY)
        for n, worker in enumerate(workers):
            worker.keep(kept(f"{day}-{n}", watch.today))
    assert workers[1].answer("old")
    watch.wait(2 * stores.DAY)
    workers[2].keep(kept("last", watch.today))
    assert workers[3].answer("old") is None
    for worker in workers:
        worker.close()


def test_nothing_is_too_old_where_days_is_nought(tmp_path: Path) -> None:
    store = Store(tmp_path, configured(kept={"days": 0}).kept)
    store.keep(kept("ancient", 1.0))
    store.keep(kept("new", 2.0))
    assert store.answer("ancient")
    store.close()


def test_comments_of_one_answer_are_bounded(tmp_path: Path) -> None:
    store = Store(tmp_path, configured(kept={"comments": 3}).kept)
    for n in range(5):
        store.comment("a", "good", str(n))
    store.comment("b", "bad", "other")
    with closing(sqlite3.connect(tmp_path / stores.FILE)) as db:
        found = [comment for (comment,) in db.execute("SELECT comment FROM feedback ORDER BY rowid")]
    assert found == ["2", "3", "4", "other"]
    store.close()


def test_threads_and_processes_share_one_database(tmp_path: Path) -> None:
    """Two stores on one file, as of two processes, and eight threads that write and read."""
    config = configured(kept={"days": 0}).kept
    one, two = Store(tmp_path, config), Store(tmp_path, config)
    thread, key = one.begin("sample")

    def work(n: int) -> bool:
        store = (one, two)[n % 2]
        store.keep(kept(f"a{n}", float(n), thread))
        return store.answer(f"a{n}") is not None and len(store.turns(thread)) > 0

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(100)))
    assert sorted(turn.asked for turn in one.turns(thread)) == [*range(100)]
    found = two.conversation(thread)
    assert found is not None and found.opens(key) and not found.opens("other")
    assert two.last_turn(thread)[0] == 100
    one.close()
    two.close()


@pytest.mark.slow
def test_two_services_share_one_database(data: Path, tmp_path: Path) -> None:
    with (
        process(data, "--state", str(tmp_path)) as one,
        process(data, "--state", str(tmp_path)) as two,
        httpx.Client(base_url=one.address, timeout=60) as a,
        httpx.Client(base_url=two.address, timeout=60) as b,
    ):
        begun = begin(a)
        keyed = {"thread": begun["id"], "key": begun["key"]}
        for http in (a, b, a):
            ask(http, **keyed)
        assert len(turns(a, begun["id"])) == len(turns(b, begun["id"])) == 3
        started = threading.Barrier(4)

        def append(n: int) -> str:
            started.wait(30)
            answer: str = ask((a, b)[n % 2], **keyed)["id"]
            return answer

        with ThreadPoolExecutor(4) as pool:
            ids = set(pool.map(append, range(4)))
        assert ids <= {turn["answer"] for turn in turns(b, begun["id"])} and len(ids) == 4


@pytest.mark.parametrize("case", ["schema", "no database", "a folder", "a file for the folder"])
def test_a_database_that_cannot_be_used_is_told_and_left_as_it_was(
    data: Path, tmp_path: Path, forked: Path, case: str
) -> None:
    place = tmp_path / "state"
    file = place / stores.FILE
    if case == "a file for the folder":
        place.write_text("mine")
    else:
        place.mkdir()
    if case == "schema":
        with closing(sqlite3.connect(file)) as db:
            db.execute("CREATE TABLE newer (a)")
            db.execute("PRAGMA user_version = 7")
    elif case == "no database":
        file.write_bytes(b"x" * 5000)
    elif case == "a folder":
        file.mkdir()
    before = file.read_bytes() if file.is_file() else b""
    with pytest.raises(ConfigError, match=r"(?s)kept here.*--no-history") as caught:
        Store(place, configured().kept)
    assert str(place) in str(caught.value)
    assert (file.read_bytes() if file.is_file() else b"") == before
    if case == "schema":
        status, told = failing_command(data, "--state", str(place), forked=forked)
        assert status == 1 and "its schema is 7, not 2" in told and "--state" in told
        assert "Traceback" not in told


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    places = [Path("/proc/nothing/state")] if Path("/proc").is_dir() else []
    places += [] if os.geteuid() == 0 else [tmp_path, tmp_path / "below"]
    for place in places:
        with pytest.raises(ConfigError, match=r"(?s)kept here.*--no-history"):
            Store(place, configured().kept)


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As on a full disk: the question is answered, the log says that its answer is not kept."""
    with serving(engine, tmp_path) as http:
        ask(http)
        with closing(sqlite3.connect(tmp_path / stores.FILE)) as db:
            db.execute("DROP TABLE answers")
        found = ask(http)
        assert found["id"] == "" and found["text"]
        assert "not kept" in caplog.text
        told = problem_of(http.get(f"{API}/answers", params={"id": "x"}))
        assert told.status >= 500 and told.remedy and str(tmp_path) not in json.dumps(told.detail)


def test_an_answer_of_another_version_is_told_not_tripped_over(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path) as http:
        begun = begin(http)
        answer = ask(http, thread=begun["id"], key=begun["key"])["id"]
        with closing(sqlite3.connect(tmp_path / stores.FILE)) as db, db:
            db.execute("UPDATE answers SET answer = ?", ('{"words": "of old"}',))
        for response in (
            http.get(f"{API}/answers", params={"id": answer}),
            http.get(f"{API}/conversations", params={"id": begun["id"]}),
            http.post(f"{API}/replay", json={"id": answer}),
            http.post(f"{API}/ask", json={"question": FOLLOW, "thread": begun["id"], "key": begun["key"]}),
        ):
            assert problem_of(response).status == 404 and "version" in problem_of(response).detail
