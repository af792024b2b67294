"""The client: patient with what passes, quick to end with what does not, polite, and exact about what it cost."""

from __future__ import annotations

import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from crmrag_assets.sources.endpoint.client import DAMAGED, Client, Learned, Unanswered, credentials_of
from crmrag_assets.sources.endpoint.queries import ALIVE
from crmrag_assets.sources.endpoint.results import JSON, TSV
from crmrag_query.errors import SourceError
from crmrag_query.version import __version__
from tests.support import faults
from tests.support.endpoints import METHOD, Always, First, client_of, config_of, star
from tests.support.faults import HARMLESS, NAMED, SIGNALLED, Fault, InTurn, redirected, refusal, replied
from tests.support.sparql_answers import LOGIN_PAGE, TYPES, Answer
from tests.support.sparql_auth import Auth
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

QUERY = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
NUMBER = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
TRIPLES = 36


@dataclass
class Down:
    """From the ``after``-th request on nothing is answered."""

    after: int
    fault: Fault = NAMED["reset"]

    def choose(self, query: str) -> Fault | None:
        self.after -= 1
        return self.fault if self.after < 0 else None


# What is tried again, and what it costs.


@pytest.mark.parametrize("fault", [*SIGNALLED, *HARMLESS], ids=lambda one: one.name)
def test_whatever_shows_in_a_response_is_met(fault: Fault) -> None:
    """Once or twice, each: the rows are those of the store in the end, and the traffic that of the server's log."""
    for times in (1, 2):
        with serving(star(), [First(fault, times)]) as server:
            client = client_of(server, timeout_seconds=0.2)
            assert len(set(client.rows(QUERY))) == client.count(NUMBER) == TRIPLES
            traffic = client.gathered().traffic
            asked = [one for one in server.log if one.query and one.path == "/sparql"]
            assert traffic.requests == len(asked)
            assert traffic.retries == (0 if fault in HARMLESS else traffic.requests - 2)
            assert traffic.rows == TRIPLES + 1
            assert server.updates == [] and server.failures == []


def test_traffic_is_exact() -> None:
    plan = InTurn(None, NAMED["502"], None, NAMED["cut in line"], NAMED["reset"], None, None)
    with serving(star(), [plan], relabel=False) as server:
        client = client_of(server, first_wait_seconds=0.02)
        for _ in range(4):
            client.rows(QUERY)
        gathered = client.gathered()
        tsv, json = len(body_of(server, TSV)), len(body_of(server, JSON))
        asked_json = [TYPES["json"] in one.accept for one in server.log if not one.fault]
        whole = sum(json if is_json else tsv for is_json in asked_json)
        traffic = gathered.traffic
        assert (traffic.requests, traffic.retries, traffic.rows) == (7, 3, 4 * TRIPLES)
        assert whole <= traffic.bytes < whole + tsv  # and the part of the one that was cut
        assert 0.05 < gathered.traffic.waited < 0.2  # a cut body is asked for in another format at once
        assert 0 < gathered.traffic.seconds < 2
        assert client.gathered().traffic.requests == 0 and not gathered.missing


def body_of(server: Endpoint, format: ox.QueryResultsFormat) -> bytes:
    found = server.store.query(QUERY).serialize(format=format)  # type: ignore[union-attr]
    assert found is not None
    return found


def test_compressed_bytes_are_counted_as_transferred() -> None:
    with serving(star(), compress=True) as server:
        client = client_of(server)
        client.rows(QUERY)
        assert client.gathered().traffic.bytes < len(body_of(server, TSV)) / 2


def test_a_failed_request_is_tried_again_so_many_times_and_doubles_its_wait() -> None:
    with serving(star(), [Always(NAMED["500"], lambda query: query == QUERY)]) as server:
        client = client_of(server, retries=3, first_wait_seconds=0.03, longest_wait_seconds=0.08)
        with pytest.raises(Unanswered, match="execution time is too high"):
            client.rows(QUERY)
        asked = [one.at for one in server.log if one.query == QUERY]
        waits = [later - earlier for earlier, later in pairwise(asked)]
        assert len(waits) == 3
        assert all(
            least <= wait < least + 0.06 for wait, least in zip(waits, (0.03, 0.06, 0.08), strict=True)
        )
        assert [one.query for one in server.log[4:]] == [ALIVE]


def test_a_query_that_can_be_split_is_tried_again_once_only() -> None:
    with serving(star(), [Always(NAMED["500"], lambda query: query == QUERY)]) as server:
        with pytest.raises(Unanswered):
            client_of(server).rows(QUERY, patient=False)
        assert [one.query for one in server.log] == [QUERY, QUERY, ALIVE]


@pytest.mark.parametrize("status", [400, 413, 414, 422, 431, 200])
def test_a_query_that_is_refused_and_a_response_that_is_too_large_are_not_repeated(status: int) -> None:
    plans = [Always(refusal(status, "no"), lambda query: query == QUERY)] if status != 200 else []
    with serving(star(), plans) as server:
        client = client_of(server, response_bytes=500)
        client.count(NUMBER)
        with pytest.raises(Unanswered, match=f"status {status} .*: no" if plans else "more than 500 bytes"):
            client.rows(QUERY)
        assert len(server.log) == 2


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "", "²"])
def test_a_count_that_is_no_number_is_no_count(text: str) -> None:
    body = Answer(f'?n\n"{text}"\n'.encode(), TYPES["tsv"])
    with serving(star(), [InTurn(replied("odd", body))]) as server:
        client = client_of(server)
        with pytest.raises(Unanswered):
            client.count(NUMBER)
        assert not client.counts and client.count(NUMBER) == TRIPLES and client.counts


# Formats.


def test_json_follows_damaged_tsv_at_once_and_for_good_after_some() -> None:
    queries = [QUERY + " " * n for n in range(DAMAGED + 1)]
    with serving(star(), [First(NAMED["cut in line"])]) as server:
        client = client_of(server, first_wait_seconds=9, longest_wait_seconds=9)
        for query in queries[:-1]:
            client.rows(query)
        assert client.learned.json
        server.plans = []
        client.rows(queries[-1])
        formats = ["json" if TYPES["json"] in one.accept else "tsv" for one in server.log]
        assert formats == ["tsv", "json"] * DAMAGED + ["json"]
        notes = client.gathered().notes
        assert notes["damaged TSV made JSON the format of all further requests"] == 1


def test_what_was_learned_is_kept_on_disk(tmp_path: Path) -> None:
    learned = Learned(json=True, row_cap=10_000)
    learned.save(tmp_path / "learned.json")
    assert Learned.load(tmp_path / "learned.json") == learned
    for damage in ("", "[]", '{"json":true}', '{"json":true,"row_cap":"x"}'):
        (tmp_path / "learned.json").write_text(damage)
        assert Learned.load(tmp_path / "learned.json") == Learned()


def test_the_smallest_row_cap_is_remembered() -> None:
    client = client_of("http://example.org/sparql")
    for rows in (500, 300, 700):
        client.learn_cap(rows)
    assert client.learned.row_cap == 300


def test_odd_labels_and_redirections_are_noted() -> None:
    with serving(star(), [InTurn(NAMED["text/plain"], NAMED["moved 308"])]) as server:
        client = client_of(server)
        client.rows(QUERY)
        client.rows(QUERY)
        assert client.gathered().notes == Counter({
            "responses in SPARQL Results in TSV with content type text/plain": 1,
            f"responses by redirection to {server.url_of('/moved')}: declare that address": 1,
        })  # fmt: skip


def test_repaired_iris_are_counted() -> None:
    body = b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":{"type":"uri","value":"http://e/a b"}}]}}'
    with serving(star(), [InTurn(replied("invalid IRI", Answer(body, TYPES["json"])))]) as server:
        client = client_of(server)
        assert client.rows(QUERY) == [(ox.NamedNode("http://e/a%20b"), None, None)]
        assert client.gathered().repaired == 1


# Endpoints that do not live.


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (replied("page", LOGIN_PAGE), "is no SPARQL endpoint, or wants a login"),
        (replied("page", Answer(LOGIN_PAGE.body, TYPES["tsv"])), "is no SPARQL endpoint, or wants a login"),
        (redirected("login", 302, "/login"), "is no SPARQL endpoint, or wants a login"),
        (replied("empty", Answer(b"")), "is no SPARQL endpoint"),
        (refusal(404, "nothing here"), "status 404 Not Found: nothing here"),
        *((refusal(status), "credentials under `endpoint: auth`") for status in (401, 403)),
        *((refusal(status), f"status {status}") for status in (405, 410, 501)),
        (refusal(400, "unknown parameter"), "status 400 Bad Request: unknown parameter"),
        (refusal(500, "out of memory"), "out of memory"),
        (NAMED["reset"], "Check the address"),
        (faults.TIME_OUT, "no whole response within 0.1 s"),
        (NAMED["redirect loop 307"], "redirects more than 5 times"),
    ],
    ids=lambda one: one.name if isinstance(one, Fault) else "",
)
def test_an_endpoint_that_never_answers_ends_with_one_clear_message(fault: Fault, said: str) -> None:
    with serving(star(), [Always(fault)]) as server:
        client = client_of(server, timeout_seconds=0.1 if fault is faults.TIME_OUT else 5, retries=2)
        with pytest.raises(SourceError) as error:
            client.rows(QUERY)
        assert said in str(error.value) and server.url in error.value.what and error.value.remedy
        assert "kept" not in str(error.value)  # nothing was harvested
        is_wrong = fault.name in {f"status {status}" for status in (401, 403, 404, 405, 410, 501)}
        assert len(server.log) <= (1 if is_wrong else 6 * 6)


def test_nobody_there_is_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/sparql"
    start = time.monotonic()
    with pytest.raises(SourceError, match=r"does not answer: no connection .*Check the address"):
        client_of(url, first_wait_seconds=5).rows(QUERY)
    assert time.monotonic() - start < 5  # what it would wait before a second attempt


def test_a_certificate_that_is_not_trusted_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(star(), tls=True) as server:
        with pytest.raises(SourceError, match=r"certificate is not accepted.*SSL_CERT_FILE"):
            client_of(server).rows(QUERY)
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        assert len(client_of(server).rows(QUERY)) == TRIPLES


@pytest.mark.parametrize(
    "fault",
    [NAMED["reset"], NAMED["502"], NAMED["login page"], refusal(404), refusal(403)],
    ids=lambda one: one.name,
)
def test_an_endpoint_that_goes_down_says_what_is_kept(fault: Fault) -> None:
    with serving(star(), [Down(2, fault)]) as server:
        client = client_of(server, retries=2)
        client.rows(QUERY)
        client.rows(QUERY)
        with pytest.raises(SourceError) as error:
            client.rows(QUERY)
        if fault.name != "status 403":
            assert "stopped answering" in error.value.what
            assert "What was harvested is kept: run the build again" in error.value.remedy
        assert len(server.log) == 2 + 3 + 3


def test_an_endpoint_that_answered_another_process_stopped_answering() -> None:
    with serving(star(), [Always(NAMED["reset"])]) as server:
        client = client_of(server, retries=1)
        client.go_on()
        with pytest.raises(SourceError, match=r"stopped answering.*What was harvested is kept"):
            client.rows(QUERY)


def test_an_endpoint_that_comes_back_in_time_is_waited_for() -> None:
    with serving(star(), [InTurn(None, *[NAMED["503"]] * 4)]) as server:
        client = client_of(server)
        client.rows(QUERY)
        assert len(client.rows(QUERY)) == TRIPLES and len(server.log) == 6


def test_a_query_that_is_too_much_is_told_from_an_endpoint_that_is_down() -> None:
    too_much = Always(faults.TIME_OUT, lambda query: query == QUERY)
    with serving(star(), [too_much]) as server, pytest.raises(Unanswered, match="no whole response within"):
        client_of(server, timeout_seconds=0.1, retries=1).rows(QUERY)


# Politeness.


def told_of_back_offs(client: Client) -> list[float]:
    """When the client began to hold all its requests back, in seconds of the server's log."""
    found, back_off = list[float](), client._pace.back_off

    def noted(seconds: float) -> None:
        back_off(seconds)
        found.append(time.monotonic())

    client._pace.back_off = noted  # type: ignore[method-assign]
    return found


def test_retry_after_is_kept_by_all_threads() -> None:
    with serving(star(), [InTurn(None, None, refusal(429, retry_after="0.3"))]) as server:
        client = client_of(server, parallel=4, longest_wait_seconds=1)
        held = told_of_back_offs(client)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: client.rows(QUERY + " " * n), range(40)))
        (since,) = held
        under_way = [one.at for one in server.log if since < one.at < since + 0.3]
        assert len(under_way) <= 3  # what the other threads had begun when the refusal came
        assert len(server.log) == 41


@pytest.mark.parametrize("status", [429, 503])
def test_a_longer_wait_than_allowed_ends_with_its_length(status: int) -> None:
    with serving(star(), [InTurn(None, refusal(status, "maintenance", retry_after="7200"))]) as server:
        client = client_of(server)
        client.rows(QUERY)
        with pytest.raises(
            SourceError, match=r"asks not to be asked for 7,200 s .*maintenance.*longest_wait_seconds"
        ) as error:
            client.rows(QUERY)
        assert "kept" in error.value.remedy and len(server.log) == 2


def test_requests_keep_the_pause_and_never_run_beside_more_than_asked() -> None:
    with serving(star(), latency=0.05) as server:
        client, begun = client_of(server, pause_seconds=0.03), time.monotonic()
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda n: client.count(NUMBER + " " * n), range(9)))
        starts = sorted(one.at for one in server.log)
        assert all(at >= begun + 0.03 * number for number, at in enumerate(starts))
        assert server.busiest <= 3
        assert client.gathered().traffic.waited > 0


def test_the_program_is_named_and_whom_to_write_to() -> None:
    with serving(star()) as server:
        for keys in ({"contact": "curator@example.org"}, {}):
            client_of(server, keys).count(NUMBER)
        first, second = (one.headers["user-agent"] for one in server.log)
        assert first == f"CRM-RAG/{__version__} (curator@example.org)"
        assert second == f"CRM-RAG/{__version__} (no contact given)"


# Secrets.


AUTH: dict[str, Any] = {
    "basic": {"user": "ENDPOINT_USER", "password": "ENDPOINT_PASSWORD"},
    "digest": {"kind": "digest", "user": "ENDPOINT_USER", "password": "ENDPOINT_PASSWORD"},
    "bearer": {"token": "ENDPOINT_TOKEN"},
}


@pytest.mark.parametrize("kind", ["basic", "digest", "bearer"])
def test_secrets_come_from_the_environment_and_go_nowhere_else(
    kind: Any,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    auth = Auth(kind)
    with serving(star(), auth=auth) as server:
        config = config_of(server, auth=AUTH[kind], headers={"X-Api-Key": "ENDPOINT_KEY"})
        for right in (True, False):
            password, token = (auth.password, auth.token) if right else ("wr0ng:secret", "wr0ng.token")
            variables = {"USER": auth.user, "PASSWORD": password, "TOKEN": token, "KEY": "k3y"}
            for name, value in variables.items():
                monkeypatch.setenv(f"ENDPOINT_{name}", value)
            client = Client(config, config.resolved(METHOD.requests))
            said = [repr(client), repr(vars(client)), repr(config), config.described()]
            if right:
                assert len(client.rows(QUERY)) == TRIPLES and server.log[-1].headers["x-api-key"] == "k3y"
            else:
                with pytest.raises(SourceError) as error:
                    client.rows(QUERY)
                said += [str(error.value), repr(error.value), repr(error.getrepr(style="short"))]
                assert "401" in error.value.what and "environment variables" in error.value.remedy
            said += [repr(client.gathered()), caplog.text, *capfd.readouterr()]
            assert not [secret for secret in (password, token, "k3y") for text in said if secret in text]


@pytest.mark.parametrize("name", ["ENDPOINT_USER", "ENDPOINT_PASSWORD"])
@pytest.mark.parametrize("value", [None, "", "  ", "two\nlines"])
def test_a_variable_that_holds_no_secret_is_named(
    name: str, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, text in {"ENDPOINT_USER": "keeper", "ENDPOINT_PASSWORD": "pass", name: value}.items():
        if text is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, text)
    with pytest.raises(SourceError, match=name) as error:
        credentials_of(config_of("http://example.org/sparql", auth=AUTH["basic"]))
    assert "two" not in str(error.value)


def test_an_endpoint_that_wants_a_login_says_where_to_name_it() -> None:
    with serving(star(), auth=Auth("basic")) as server:
        with pytest.raises(SourceError, match=r"status 401 .*Sign in.*endpoint: auth"):
            client_of(server).rows(QUERY)
        assert len(server.log) == 1
