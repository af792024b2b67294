"""An endpoint is declared by its address or by a few keys; mistakes are told, secrets never."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from crmrag_query.config import DatasetConfig, load_datasets, load_method
from crmrag_query.config.datasets import add_dataset, entry_text
from crmrag_query.config.reading import Requests, default_folder
from crmrag_query.config.sources import EndpointConfig, OwnRequests
from crmrag_query.errors import ConfigError
from crmrag_query.validation import check_dataset

URL = "https://example.org/sparql"
METHOD = load_method()


def declared(tmp_path: Path, **entry: object) -> DatasetConfig:
    path = tmp_path / "datasets.yaml"
    path.write_text(yaml.safe_dump({"datasets": {"museum": entry}}), encoding="utf-8")
    return load_datasets(path)["museum"]


def endpoint(tmp_path: Path, **keys: object) -> EndpointConfig:
    found = declared(tmp_path, endpoint={"url": URL, **keys}).endpoint
    assert found is not None
    return found


def mistakes(tmp_path: Path, **entry: object) -> str:
    with pytest.raises(ConfigError) as caught:
        declared(tmp_path, **entry)
    return "".join(traceback.format_exception(caught.value))


def test_an_address_alone_is_an_endpoint(tmp_path: Path) -> None:
    museum = declared(tmp_path, endpoint=URL)
    assert museum.endpoint == EndpointConfig(url=URL)
    assert museum.endpoint.graphs == "default" and museum.endpoint.auth is None
    assert (museum.files(), museum.declared, museum.title) == ((), (URL,), "museum")


def test_an_empty_key_is_one_that_is_not_given(tmp_path: Path) -> None:
    assert endpoint(tmp_path, requests=None, headers=None, graphs=None) == EndpointConfig(url=URL)


@pytest.mark.parametrize("entry", [{"title": "x"}, {"rdf": ["a.ttl"], "endpoint": URL}])
def test_a_data_set_has_either_files_or_an_endpoint(tmp_path: Path, entry: dict[str, object]) -> None:
    told = mistakes(tmp_path, **entry)
    assert "`rdf`" in told and "`endpoint`" in told and "datasets.museum.endpoint" in told


@pytest.mark.parametrize(
    ("graphs", "read"),
    [
        ("named", "named"),
        ("all", "all"),
        ("http://x/g", ("http://x/g",)),
        (["urn:b", "urn:a", "urn:b"], ("urn:b", "urn:a")),
    ],
)
def test_graphs_are_a_word_or_distinct_iris(tmp_path: Path, graphs: object, read: object) -> None:
    assert endpoint(tmp_path, graphs=graphs).graphs == read


@pytest.mark.parametrize("graphs", ["some", [], [1], ["graph"], ["http://x/a b"], ["http://x/>."], {"a": 1}])
def test_other_graphs_are_refused_in_one_sentence(tmp_path: Path, graphs: object) -> None:
    told = mistakes(tmp_path, endpoint={"url": URL, "graphs": graphs})
    assert told.count("datasets.museum.endpoint.graphs: ") == 1
    assert "list of the IRIs" in told or "not an absolute IRI" in told


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("example.org/sparql", "not the address of an endpoint"),
        ("ftp://example.org/sparql", "not the address of an endpoint"),
        ("https:///sparql", "not the address of an endpoint"),
        ("http://example.org:99999/", "Port out of range"),
        ("http://example.org/a b", "percent-encode"),
        ("http://example.org/é", "percent-encode"),
        ("http://example.org/\nHost: x", "percent-encode"),
        ("https://query.example.org/#SELECT", "ends before '#'"),
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(tmp_path: Path, url: str, reason: str) -> None:
    told = mistakes(tmp_path, endpoint=url)
    assert "datasets.museum.endpoint.url: " in told and reason in told


@pytest.mark.parametrize("url", [URL, "http://localhost:3030/ds?default-graph-uri=urn:g", "http://[::1]:80/"])
def test_any_address_of_http_will_do(tmp_path: Path, url: str) -> None:
    assert declared(tmp_path, endpoint=url).declared == (url,)


SECRET = "hunter2-Geheimnis"


@pytest.mark.parametrize(
    "entry",
    [
        {"endpoint": f"https://me:{SECRET}@example.org/sparql"},
        {"endpoint": f"https://{SECRET}@example.org/sparql"},
        {"endpoint": f"https://example.org/sparql?api_key={SECRET}"},
        {"endpoint": f"https://example.org/sparql#{SECRET}"},
        {"endpoint": {"url": URL, "auth": SECRET}},
        {"endpoint": {"url": URL, "auth": {"token": SECRET}}},
        {"endpoint": {"url": URL, "auth": {"user": "ME", "password": SECRET}}},
        {"endpoint": {"url": URL, "auth": {"user": "ME", "pasword": SECRET}}},
        {"endpoint": {"url": URL, "auth": {"user": "ME", "password": 12, "token": SECRET}}},
        {"endpoint": {"url": URL, "auth": {"kind": SECRET}}},
        {"endpoint": {"url": URL, "headers": {"X-Api-Key": SECRET}}},
        {"endpoint": {"url": URL, "headers": f"X-Api-Key: {SECRET}"}},
        {"endpoint": {"url": URL, "password": SECRET}},
        {"endpoint": [URL, SECRET]},
        {"endpoint": URL, "auth": {"token": SECRET}},
        {"endpoint": URL, "password": SECRET},
        {"rdf": "a.ttl", "endpoint": {"url": URL, "auth": {"token": SECRET}}},
    ],
)
def test_a_secret_in_the_wrong_place_is_refused_and_never_shown(
    tmp_path: Path, entry: dict[str, object]
) -> None:
    """Neither in the message nor in the errors behind it, which a log of the whole traceback would show."""
    told = mistakes(tmp_path, **entry)
    assert "datasets.museum." in told and SECRET not in told


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"auth": {"user": "U"}}, ".auth: basic needs password, the names of environment variables"),
        ({"auth": {"kind": "bearer", "user": "U"}}, ".auth: bearer needs token"),
        ({"auth": {"user": "U", "password": "P", "token": "T"}}, ".auth: bearer takes no user and password"),
        ({"auth": {"token": "$TOKEN"}}, ".auth.token: the name of an environment variable stands here without"),
        ({"auth": {"token": "museum_token"}}, ".auth.token: not the name of an environment variable in capitals"),
        ({"auth": {"kind": "ntlm"}}, ".auth.kind: input should be 'basic', 'digest' or 'bearer'"),
        ({"headers": {"X Key": "KEY"}}, ".headers.X Key: not the name of an HTTP header"),
        ({"headers": {"User-Agent": "ME"}}, ".headers.User-Agent: who asks is said by `contact`"),
        ({"headers": {"accept": "A"}}, ".headers.accept: this header belongs to each request itself"),
        (
            {"auth": {"token": "T"}, "headers": {"Authorization": "A"}},
            ": `auth` and a header Authorization stand both",
        ),
        ({"default_graphs": ["g"]}, ".default_graphs[0]: 'g' is not an absolute IRI"),
        ({"default_graphs": ["urn:g"], "graphs": "all"}, ": `default_graphs` make up the default graph, which"),
        ({"contact": "Zoë"}, ".contact: it goes into an HTTP header"),
        ({"contact": "a\nX-Key: b"}, ".contact: it goes into an HTTP header"),
        ({"requests": {"pause_second": 1}}, ".requests.pause_second: unknown key (found 1). Did you mean pause_seconds?"),
        ({"requests": {"pause_seconds": -1}}, ".requests.pause_seconds: input should be greater than or equal"),
        ({"requests": {"parallel": 0}}, ".requests.parallel: input should be greater than or equal to 1"),
        ({"requests": {"timeout_seconds": "long"}}, ".requests.timeout_seconds: input should be a valid number"),
        ({"grahps": "all"}, ".grahps: unknown key. Did you mean graphs?"),
    ],
)  # fmt: skip
def test_a_mistake_within_an_endpoint_names_its_key(
    tmp_path: Path, keys: dict[str, object], told: str
) -> None:
    assert f"datasets.museum.endpoint{told}" in mistakes(tmp_path, endpoint={"url": URL, **keys})


def test_a_key_of_an_endpoint_beside_it_is_sent_below_it(tmp_path: Path) -> None:
    told = mistakes(tmp_path, endpoint=URL, graphs="all")
    assert "datasets.museum.graphs: unknown key" in told and "It stands under `endpoint`." in told


def test_an_endpoint_without_an_address_is_told_so(tmp_path: Path) -> None:
    assert "endpoint.url: required, but missing" in mistakes(tmp_path, endpoint={"graphs": "all"})


def test_a_token_means_bearer_and_else_basic_is_meant(tmp_path: Path) -> None:
    kinds = [endpoint(tmp_path, auth=auth).auth for auth in ({"token": "T"}, {"user": "U", "password": "P"})]
    assert [kind.kind for kind in kinds if kind] == ["bearer", "basic"]


def test_own_requests_stand_in_for_the_methods_and_no_others_can_be_set(tmp_path: Path) -> None:
    own = endpoint(tmp_path, requests={"batch_entities": 50, "pause_seconds": 0})
    assert own.resolved(METHOD.requests) == METHOD.requests.model_copy(
        update={"batch_entities": 50, "pause_seconds": 0.0}
    )
    assert EndpointConfig(url=URL).resolved(METHOD.requests) == METHOD.requests
    assert set(OwnRequests.model_fields) == set(Requests.model_fields)


def test_what_a_request_needs_of_the_environment_is_listed_once(tmp_path: Path) -> None:
    found = endpoint(tmp_path, auth={"user": "U", "password": "P"}, headers={"X-A": "KEY", "X-B": "P"})
    assert found.variables() == ("U", "P", "KEY")
    assert EndpointConfig(url=URL).variables() == ()


def test_an_endpoint_is_described_in_one_line(tmp_path: Path) -> None:
    assert EndpointConfig(url=URL).described() == f"{URL} (default graph)"
    part = endpoint(tmp_path, default_graphs=["urn:a", "urn:b"])
    assert part.described() == f"{URL} (default graph of urn:a, urn:b)"
    signed = endpoint(tmp_path, graphs=["urn:a", "urn:b"], auth={"token": "T"}, headers={"X-Key": "K"})
    assert signed.described() == f"{URL} (2 named graphs, bearer authentication, header X-Key)"


def test_a_check_finds_what_cannot_be_met_here(tmp_path: Path) -> None:
    requests = {"longest_wait_seconds": 0.5}
    museum = declared(
        tmp_path, endpoint={"url": URL, "auth": {"user": "U", "password": "P"}, "requests": requests}
    )
    assert [str(one).partition(".")[0] for one in check_dataset(museum, METHOD, {"U": "x"})] == [
        "datasets"
    ] * 2
    told = "\n".join(map(str, check_dataset(museum, METHOD, {"U": SECRET, "P": " "})))
    assert "variable P is not set" in told and "longest_wait_seconds: shorter than" in told
    assert SECRET not in told and "variable U" not in told
    assert check_dataset(declared(tmp_path, endpoint=URL), METHOD, {}) == ()


def test_a_nested_entry_is_written_with_its_keys_and_read_back(tmp_path: Path) -> None:
    entry = {
        "url": URL,
        "graphs": ["urn:a,b", "http://x/#g"],
        "auth": {"kind": "digest", "user": "U", "password": "P"},
        "headers": {"On": "KEY", "X-Api-Key": "KEY"},
        "contact": "Museum: me@example.org",
        "requests": {"pause_seconds": 0.25, "parallel": 1},
    }
    path = tmp_path / "config" / "datasets.yaml"
    added = add_dataset(path, "museum", {"endpoint": entry, "languages": ["el"]})
    assert added.endpoint == EndpointConfig.model_validate(entry)
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["datasets"]["museum"]["endpoint"] == entry
    add_dataset(path, "other", {"endpoint": URL})
    assert {name: one.declared for name, one in load_datasets(path).items()} == {
        "museum": (URL,),
        "other": (URL,),
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
LEAVES = TEXTS | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.lists(TEXTS, max_size=2)
NESTED = st.recursive(LEAVES, lambda inner: st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6)


@example({"requests": {"pause_seconds": 1e-05}}, "  ")
@given(st.dictionaries(TEXTS, NESTED, max_size=3), st.sampled_from(["  ", "    "]))
def test_entries_nested_to_any_depth_read_back_as_they_were_given(
    values: dict[str, object], indent: str
) -> None:
    expected = {"museum": values or None}
    assert yaml.safe_load(entry_text("museum", values, indent)) == expected  # type: ignore[arg-type]


def test_the_example_in_the_shipped_file_is_valid(tmp_path: Path) -> None:
    """What stands there as a comment for people to copy: every data set of it."""
    lines = (default_folder() / "datasets.yaml").read_text(encoding="utf-8").splitlines()
    shown = [line.removeprefix("# ") for line in lines if line.startswith("#   ")]
    path = tmp_path / "datasets.yaml"
    path.write_text("\n".join(["datasets:", *shown]), encoding="utf-8")
    found = load_datasets(path)
    assert [bool(one.endpoint) for one in found.values()] == [False, True]
    assert found["their_museum"].endpoint == EndpointConfig(
        url=URL,
        default_graphs=["https://example.org/graph/2"],
        contact="me@example.org",
        auth={"user": "MUSEUM_USER", "password": "MUSEUM_PASSWORD"},
        headers={"X-Api-Key": "MUSEUM_KEY"},
        requests={"pause_seconds": 0.5, "parallel": 1, "batch_entities": 200},
    )
