"""Documents are sent by who may, bounded and known by their content, and what becomes of them is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from crmrag_query.client.local import open_engine
from tests.support.builds import Project, build_all
from tests.support.pdf import pdf
from tests.support.service import application, served
from tests.support.shared import own_inbox

TEXT = "The heron of Kestrel Rock nests in the lantern of the tower every spring."
KEY, OTHER = {"Authorization": "Bearer sender"}, {"Authorization": "Bearer reader"}
PDF = {"Content-Type": "application/pdf"}


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Project:
    return own_inbox(tmp_path_factory, tmp_path)


@pytest.fixture
def http(project: Project) -> Iterator[httpx.Client]:
    with taking(project) as client:
        yield client


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A museum of which no test sends what is taken."""
    return own_inbox(tmp_path_factory, tmp_path_factory.mktemp("untouched"))


@pytest.fixture(scope="module")
def refusing(untouched: Project) -> Iterator[httpx.Client]:
    with taking(untouched) as client:
        yield client


@contextmanager
def taking(project: Project) -> Iterator[httpx.Client]:
    """A client of a service that takes documents from who has a key of its own."""
    app = application(
        open_engine(str(project.data)),
        keys=("reader",),
        uploading=("sender",),
        uploads={"datasets": ("churches",), "megabytes": 1, "waiting": 3, "pages": 20},
    )
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def send(http: httpx.Client, content: bytes, name: str = "heron.pdf", **headers: str) -> httpx.Response:
    where = {"dataset": "churches", "name": name}
    return http.post("/api/v1/documents", params=where, content=content, headers={**KEY, **PDF, **headers})


def inbox(project: Project) -> list[str]:
    folder = project.data / "inbox" / "churches"
    return sorted(one.name for one in folder.iterdir() if one.is_file()) if folder.is_dir() else []


def test_a_document_is_sent_built_and_asked(project: Project, http: httpx.Client) -> None:
    sent = send(http, pdf(TEXT), "The bulletin of spring.pdf")
    assert sent.status_code == 202
    told = sent.json()
    assert (told["state"], told["name"]) == ("waiting", "The bulletin of spring.pdf")
    where = {"dataset": "churches", "id": told["id"]}
    states = []
    with http.stream(
        "GET", "/api/v1/documents", params=where, headers={**KEY, "Accept": "text/event-stream"}
    ) as events:
        for line in events.iter_lines():
            if line.startswith("data: "):
                states.append(json.loads(line.removeprefix("data: "))["state"])
                if states == ["waiting"]:
                    build_all(project.context())
    assert states == ["waiting", "there"]
    answer = http.post(
        "/api/v1/ask", json={"question": "Where does the heron nest?", "mode": "fulltext"}, headers=OTHER
    ).json()
    assert "lantern" in answer["text"]
    (page,) = answer["sources"][0]["pages"]
    assert page["label"] == "The bulletin of spring, p. 1"
    image = http.get("/api/v1/page.png", params={"iri": page["iri"]}, headers=OTHER)
    assert image.headers["content-type"] == "image/png"


def test_the_published_address_takes_a_form(project: Project, http: httpx.Client) -> None:
    file = {"file": ("heron.pdf", pdf(TEXT), "application/pdf")}
    sent = http.post("/documents/upload", files=file, headers=KEY)
    assert sent.status_code == 202 and inbox(project) == [f"{sent.json()['id']}.pdf"]
    again = http.post("/documents/upload", files=file, headers=KEY)
    assert again.json()["id"] == sent.json()["id"] and len(inbox(project)) == 1, "the same is kept once"
    assert http.post("/documents/upload", data={"a": "b"}, headers=KEY).status_code in (400, 415)


@pytest.mark.parametrize(
    ("name", "content", "headers", "status"),
    [
        ("large.pdf", b"%PDF-1.7" + bytes(1 << 20), KEY, 413),
        ("larger.pdf", b"%PDF-1.7" + bytes(3 << 20), KEY, 413),
        ("program.pdf", b"MZ\x90\0" + bytes(100), KEY, 415),
        ("page.html", b"<html><script>alert(1)</script>", KEY, 415),
        ("../../heron.pdf", pdf(TEXT), KEY, 400),
        ("..\\heron.pdf", pdf(TEXT), KEY, 400),
        ("heron.pdf", pdf(TEXT), {"Authorization": "Bearer wrong"}, 401),
        ("heron.pdf", pdf(TEXT), {"Authorization": ""}, 401),
        ("heron.pdf", pdf(TEXT), OTHER, 403),
    ],
)
def test_what_may_not_be_sent_is_refused_and_nothing_is_kept(
    untouched: Project,
    refusing: httpx.Client,
    name: str,
    content: bytes,
    headers: dict[str, str],
    status: int,
) -> None:
    assert send(refusing, content, name, **headers).status_code == status
    assert inbox(untouched) == []


def test_an_inbox_holds_only_so_much_and_other_data_sets_take_nothing(
    project: Project, http: httpx.Client
) -> None:
    statuses = [send(http, pdf(f"{TEXT} {number}")).status_code for number in range(5)]
    assert statuses == [202, 202, 202, 507, 507]
    elsewhere = http.post(
        "/api/v1/documents", params={"dataset": "../x"}, content=pdf(TEXT), headers={**KEY, **PDF}
    )
    assert elsewhere.status_code == 404
    assert http.get("/api/v1/documents", params={"dataset": "other"}, headers=KEY).status_code == 404
    listed = http.get("/api/v1/documents", params={"dataset": "churches"}, headers=OTHER).json()
    assert listed["total"] == 3 and {one["state"] for one in listed["documents"]} == {"waiting"}


def test_without_configuration_nothing_can_be_sent(project: Project) -> None:
    with (
        served(application(open_engine(str(project.data)))) as address,
        httpx.Client(base_url=address) as client,
    ):
        sent = client.post(
            "/api/v1/documents", params={"dataset": "churches"}, content=pdf(TEXT), headers=PDF
        )
        assert sent.status_code == 401
        assert client.get("/api/v1/documents", params={"dataset": "churches"}).status_code == 404


def test_what_cannot_be_read_is_refused_at_once_where_the_building_side_is_installed(
    http: httpx.Client,
) -> None:
    sent = send(http, pdf(TEXT)[:900])
    assert sent.status_code == 400 and "cut off" in sent.json()["detail"]
    sent = send(http, pdf(*["a page"] * 21))
    assert sent.status_code == 413 and "21 pages, and 20 are allowed" in sent.json()["detail"]


def test_a_build_tells_why_a_document_is_left_out(
    project: Project, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "crmrag_query.service.uploads.entry_points", lambda **_: ()
    )  # nothing looks at it before
    told = send(http, pdf(TEXT)[:900]).json()
    build_all(project.context())
    after = http.get(
        "/api/v1/documents", params={"dataset": "churches", "id": told["id"]}, headers=KEY
    ).json()
    assert after["state"] == "refused" and "cut off" in after["why"]
