"""What operators see: metrics that parse and count, lines of JSON that tell enough, and never a secret."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from crmrag_query.client import wire
from crmrag_query.client.local import Engine, open_engine
from crmrag_query.errors import ReleaseError
from crmrag_query.llm.model import CannedModel, LiteLLM
from crmrag_query.service.observe import JsonLines
from tests.conftest import ROOT
from tests.support.model_server import model_server
from tests.support.service import PATIENCE, application, beside, process, served, until

API = wire.PREFIX
QUESTION = "When was the church of Asinou built?"
KEY = "s3cret-of-the-museum"


def metrics(http: httpx.Client) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Values of all metrics by name and labels."""
    response = http.get("/metrics")
    assert response.status_code == 200 and "version=" in response.headers["content-type"]
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(response.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def value(found: dict[str, dict[tuple[tuple[str, str], ...], float]], name: str, **labels: str) -> float:
    """The sum of a metric's values that have these labels."""
    return sum(
        number for given, number in found.get(name, {}).items() if labels.items() <= dict(given).items()
    )


@pytest.fixture
def fresh(engine: Engine, tmp_path: Path) -> Iterator[httpx.Client]:
    """A service of its own, whose counts begin at nothing and which answers each question anew."""
    with (
        served(application(engine, state=tmp_path, work={"answer_seconds": 0})) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        yield http


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, "crmrag.service"):
        yield caplog


def written(lines: pytest.LogCaptureFixture) -> list[str]:
    """The log's lines."""
    return [JsonLines().format(record) for record in lines.records if record.name == "crmrag.service"]


def told(lines: pytest.LogCaptureFixture, event: str, least: int = 0) -> list[dict[str, Any]]:
    """The values of the log's lines of an event, once there are so many: they are written after the response."""

    def found() -> list[dict[str, Any]]:
        return [line for line in map(json.loads, written(lines)) if line["event"] == event]

    return until(lambda: found() if len(found()) >= least else []) if least else found()


# metrics


def test_requests_are_counted_by_method_path_and_status(fresh: httpx.Client) -> None:
    for path in ("/datasets", "/datasets", "/search?text=a", "/search", "/nothing", "/nothing/else"):
        fresh.get(API + path)
    fresh.get("/a/some-id")
    count = "crmrag_requests_total"
    until(lambda: value(metrics(fresh), count, path="/a/{id}"))
    found = metrics(fresh)
    assert value(found, count, method="GET", path=f"{API}/datasets", status="200") == 2
    assert value(found, count, path=f"{API}/search", status="200") == 1
    assert value(found, count, path=f"{API}/search", status="400") == 1
    assert value(found, count, path="(other)", status="404") == 2
    assert value(found, count, path="/a/{id}") == 1
    assert value(found, "crmrag_request_seconds_count", path=f"{API}/datasets") == 2
    assert value(found, "crmrag_request_seconds_bucket", path=f"{API}/datasets", le="+Inf") == 2
    assert value(metrics(fresh), count, path="/metrics") >= 1


def test_no_caller_can_make_ever_more_metrics(fresh: httpx.Client) -> None:
    before = metrics(fresh)
    for n in range(20):
        fresh.request(f"METHOD{n}", "/health")
        fresh.get(f"/nothing/{n}")
        fresh.get(f"/a/{n}")
        fresh.get(f"/static/{n}.js")
        fresh.get(f"{API}/search?text={n}&dataset=unknown{n}")
    after = metrics(fresh)
    grown = {name: len(values) - len(before.get(name, ())) for name, values in after.items()}
    assert grown["crmrag_requests_total"] <= 6, after["crmrag_requests_total"]


def test_answers_are_counted_with_their_stages(fresh: httpx.Client) -> None:
    for accept in (wire.JSON, wire.EVENTS):
        fresh.post(f"{API}/ask", json={"question": QUESTION}, headers={"Accept": accept})
    fresh.post(f"{API}/ask", json={"question": "?"})
    found = metrics(fresh)
    assert value(found, "crmrag_answers_total", dataset="sample", mode="crm", written_by="extractive") == 2
    assert value(found, "crmrag_answer_seconds_count", mode="crm") == 2
    assert value(found, "crmrag_quality_count", mode="crm") == 2
    stages = {dict(labels)["stage"] for labels in found["crmrag_stage_seconds_count"]}
    assert {"linking", "encoding", "retrieval", "evidence", "context", "exact", "answer"} <= stages
    assert all(number == 2 for number in found["crmrag_stage_seconds_count"].values())
    assert 0 < value(found, "crmrag_stage_seconds_sum", stage="total") < 2 * PATIENCE
    assert "crmrag_tokens_total" not in found


@pytest.mark.slow
# litellm's records, at their first use
@pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")
def test_tokens_of_a_language_model_are_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with model_server("It was built around 1100 [1].") as script:
        model = LiteLLM("openai/scripted", script.address, timeout=10)
        app = application(beside(engine, model))
        with served(app) as address, httpx.Client(base_url=address, timeout=PATIENCE) as http:
            answer = http.post(f"{API}/ask", json={"question": QUESTION}).json()
            found = metrics(http)
    assert answer["written_by"] == "openai/scripted"
    assert value(found, "crmrag_answers_total", written_by="openai/scripted") == 1
    assert {dict(labels)["kind"] for labels in found["crmrag_tokens_total"]} == {"prompt", "completion"}


# logs


def test_each_request_is_a_line_with_the_id_that_its_response_carries(
    fresh: httpx.Client, lines: pytest.LogCaptureFixture
) -> None:
    responses = [fresh.get(f"{API}/datasets"), fresh.get(f"{API}/search"), fresh.get("/nothing")]
    found = {line["request"]: line for line in told(lines, "request", 3)}
    ids = [response.headers["x-request-id"] for response in responses]
    assert len(set(ids)) == 3
    for response, id in zip(responses, ids, strict=True):
        line = found[id]
        assert line["status"] == response.status_code and line["bytes"] == len(response.content)
        assert line["method"] == "GET" and line["ms"] >= 0 and line["time"].endswith("+00:00")


def test_each_answer_is_a_line_that_evaluations_can_be_made_from(
    fresh: httpx.Client, lines: pytest.LogCaptureFixture
) -> None:
    answer = fresh.post(f"{API}/ask", json={"question": "Which churches were built before 1200?"}).json()
    [line] = told(lines, "answer", 1)
    for key in ("dataset", "release", "question", "mode", "form", "written_by", "exhaustive", "refused"):
        assert line[key] == answer[key]
    assert line["answer"] == answer["id"] and line["characters"] == len(answer["text"])
    assert line["documents"] == [source["iri"] for source in answer["sources"]]
    assert line["scores"] == [source["score"] for source in answer["sources"]]
    assert any(score is not None and score > 0 for score in line["scores"])
    assert line["set_size"] == answer["set"]["size"] and line["timings"] == answer["timings"]
    assert isinstance(line["entities"], list) and line["tokens"] is None and line["cost"] is None


def test_themes_and_quality_stand_in_the_log_and_what_is_low_is_a_warning(
    fresh: httpx.Client, lines: pytest.LogCaptureFixture
) -> None:
    asked = {"question": "What are the main topics?", "mode": "global_vector"}
    answer = fresh.post(f"{API}/ask", json=asked).json()
    [line] = told(lines, "answer", 1)
    themes = [source["iri"] for source in answer["sources"] if source["kind"] == "community"]
    assert themes and line["communities"] == themes
    assert line["quality"] == answer["quality"]["score"] and line["low"] == (line["quality"] < 0.6)
    level = next(record.levelname for record in lines.records if record.msg == "answer")
    assert (level == "WARNING") == line["low"]


def test_feedback_is_counted_by_mode(fresh: httpx.Client) -> None:
    asked = {"question": QUESTION, "mode": "fulltext"}
    answer = fresh.post(f"{API}/ask", json=asked).json()
    for verdict in ("good", "bad", "bad"):
        fresh.post(f"{API}/feedback", json={"answer": answer["id"], "verdict": verdict}).raise_for_status()
    found = metrics(fresh)
    assert value(found, "crmrag_feedback_total", mode="fulltext", verdict="bad") == 2
    assert value(found, "crmrag_feedback_total", mode="fulltext", verdict="good") == 1


def test_the_page_for_operators_tells_every_field_of_the_log(
    fresh: httpx.Client, lines: pytest.LogCaptureFixture
) -> None:
    _, _, text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8").partition("## The log")
    tables = {
        event: {name for cell in re.findall(r"^\| (`.*?) \|", part, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)}
        for event, part in re.findall(r"^`(\w+)`(.*?)(?=^`\w+`|\Z)", text, re.MULTILINE | re.DOTALL)
    }  # fmt: skip
    fresh.post(f"{API}/ask", json={"question": QUESTION})
    common = {"time", "event"}
    [answer], [request] = told(lines, "answer", 1), told(lines, "request", 1)
    assert answer.keys() - common == tables["answer"]
    assert request.keys() - common == tables["request"] - {"error"}


def test_what_is_hidden_from_who_asks_is_told_in_the_log(
    data: Path, tmp_path: Path, lines: pytest.LogCaptureFixture
) -> None:
    """A release that cannot be opened: its path is nobody's business but the operator's."""
    place = tmp_path / "releases" / "broken"
    place.mkdir(parents=True)
    (place / "current").write_text("nothing\n")
    with served(application(open_engine(str(tmp_path)))) as address:
        for method, path, accept in (
            ("GET", "/dataset", ""),
            ("POST", "/ask", wire.JSON),
            ("POST", "/ask", wire.EVENTS),
        ):
            more: dict[str, Any] = {"json": {"question": QUESTION}} if method == "POST" else {}
            response = httpx.request(
                method, address + API + path, headers={"Accept": accept}, timeout=PATIENCE, **more
            )
            assert response.status_code >= 400 and str(tmp_path) not in response.text
            if response.status_code >= 500:
                assert "log" in response.json()["remedy"]
    told(lines, "request", 3)
    assert str(place) in "".join(written(lines))


def test_a_failure_in_the_midst_is_told_with_its_traceback(
    fresh: httpx.Client, engine: Engine, lines: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ReleaseError("the file /srv/secret/graph.npy is cut", "Build it again.")

    monkeypatch.setattr(type(engine), "search", fail)
    assert "/srv/secret" not in fresh.get(f"{API}/search?text=a").text
    monkeypatch.setattr(type(engine), "search", lambda *_: 1 / 0)
    fresh.get(f"{API}/search?text=a")
    first, second = told(lines, "request", 2)
    assert "/srv/secret/graph.npy" in first["error"] and second["error"] == "ZeroDivisionError"
    [failed] = [line for line in told(lines, "log") if line["level"] == "ERROR"]
    assert "ZeroDivisionError" in failed["traceback"] and "division" in failed["traceback"]


@pytest.mark.parametrize(
    "question",
    ["\x1b[31mred", 'a\nb\r\nc {"event": "answer"}', "‮gnirts", "Παναγία", "\u2028\u2029 x", "\x00 a"],
)
def test_no_question_can_break_a_line_or_forge_one(
    fresh: httpx.Client, lines: pytest.LogCaptureFixture, question: str
) -> None:
    response = fresh.post(f"{API}/ask", json={"question": question})
    fresh.get("/%0a%7b%22event%22:%20%22answer%22%7d%1b[31m")
    assert len(told(lines, "request", 2)) == 2
    assert len(told(lines, "answer")) == (response.status_code == 200)
    assert not any(sign in line for line in written(lines) for sign in "\n\r\x1b\x00")
    assert all(len(line.splitlines()) == 1 for line in written(lines))


def test_no_key_reaches_the_log_or_the_metrics(data: Path, tmp_path: Path, forked: Path) -> None:
    """Keys of callers, right and wrong, in headers, bodies and query strings; the key of the model; from a whole process."""
    wrong, model = "wr0ng-key-of-somebody", "sk-model-secret-1234567890"
    with (
        model_server("x", status=401) as script,
        process(
            data, "--state", str(tmp_path), "--model", "openai/scripted", "--api-base", script.address,
            forked=forked, CRMRAG_API_KEYS=f"{KEY}, other", OPENAI_API_KEY=model,
        ) as running,
        httpx.Client(base_url=running.address, timeout=PATIENCE) as http,
    ):  # fmt: skip
        good = {"Authorization": f"Bearer {KEY}"}
        http.get(f"{API}/datasets", headers={"Authorization": f"Bearer {wrong}"})
        http.get(f"{API}/datasets?key={wrong}&api_key={wrong}")
        begun = http.post(f"{API}/conversations", json={}, headers=good).json()
        keyed = {"thread": begun["id"], "key": begun["key"]}
        answer = http.post(f"{API}/ask", json={"question": QUESTION, **keyed}, headers=good).json()
        assert answer["written_by"] == "extractive" and any("scripted" in note for note in answer["notes"])
        http.post(
            f"{API}/ask", json={"question": QUESTION, "thread": begun["id"], "key": wrong}, headers=good
        )
        http.get(f"{API}/conversations?id={begun['id']}&key={begun['key']}", headers=good)
        http.post(f"{API}/conversations/remove", json={"id": begun["id"], "key": begun["key"]}, headers=good)
        counted = http.get("/metrics", headers=good).text
        running.logged("request", path="/metrics")
        log = running.end()
    assert script.requests, "the model was asked"
    for secret in (KEY, wrong, model, begun["key"], "Bearer"):
        assert secret not in log and secret not in counted and secret not in json.dumps(answer)
    later = log.splitlines()[1:]
    assert len(later) > 8 and all(isinstance(json.loads(line), dict) for line in later)


@pytest.mark.slow
def test_quiet_leaves_out_requests_and_keeps_warnings(data: Path) -> None:
    with process(data, "--no-history", "--quiet") as running:
        httpx.get(f"{running.address}{API}/datasets").raise_for_status()
        log = running.end()
    assert "http://" in log and '"request"' not in log


def test_a_library_s_words_are_lines_too() -> None:
    record = logging.LogRecord("uvicorn.error", logging.WARNING, "", 1, "Odd %s\nrequest", ("new",), None)
    line = json.loads(JsonLines().format(record))
    assert (line["event"], line["logger"], line["level"]) == ("log", "uvicorn.error", "WARNING")
    assert line["message"] == "Odd new\nrequest"


def test_a_canned_model_has_no_price(engine: Engine) -> None:
    app = application(beside(engine, CannedModel("It was built around 1100 [1].")))
    with served(app) as address, httpx.Client(base_url=address, timeout=PATIENCE) as http:
        assert http.post(f"{API}/ask", json={"question": QUESTION}).is_success
        assert value(metrics(http), "crmrag_cost_dollars_total") == 0
