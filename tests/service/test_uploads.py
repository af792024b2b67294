"""Documents are sent by who may, bounded and known by their content, and what becomes of them is told."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from crmrag_query.client.local import open_engine
from crmrag_query.service.uploads import LOOKED
from tests.support.builds import Project, build_all
from tests.support.pdf import pdf
from tests.support.service import application, served, until
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
    other = {"note": (None, "first"), "file": ('Žák "one".pdf', pdf(f"{TEXT} Again."), "application/pdf")}
    told = http.post("/documents/upload", files=other, headers=KEY).json()
    assert told["name"] == 'Žák "one".pdf'
    assert told["id"] == hashlib.sha256(pdf(f"{TEXT} Again.")).hexdigest()[:32], "no byte is lost"


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


FORM = "multipart/form-data; boundary=b"


def form(head: str, content: bytes = b"", end: str = "\r\n--b--\r\n") -> bytes:
    return f"--b\r\n{head}\r\n\r\n".encode() + content + end.encode()


def nested(depth: int) -> bytes:
    """Forms within forms."""
    return b"".join(
        f"--b{'b' * (n % 60)}{n}\r\nContent-Type: multipart/mixed; boundary=b{'b' * ((n + 1) % 60)}{n + 1}\r\n\r\n".encode()
        for n in range(depth)
    )


DISPOSITION = "Content-Disposition: form-data; name=file; filename"
FORMS: dict[str, tuple[str, bytes, int]] = {
    "a path": (FORM, form(f'{DISPOSITION}="../../x.pdf"', pdf(TEXT)), 400),
    "an encoded path": (FORM, form(f"{DISPOSITION}*=utf-8''..%2F..%2Fx.pdf", pdf(TEXT)), 400),
    "a hidden name": (FORM, form(f"{DISPOSITION}*=utf-8''%E2%80%AE%E2%80%8B%00", pdf(TEXT)), 400),
    "a form without an end": (FORM, form(f'{DISPOSITION}="x.pdf"', pdf(TEXT)[:300], ""), 400),
    "no boundary": ("multipart/form-data", form(f'{DISPOSITION}="x.pdf"', pdf(TEXT)), 400),
    "another charset": (f"{FORM}; charset=none", form(f'{DISPOSITION}="x.exe"', b"MZ\x90\0"), 415),
    "forms in forms": ("multipart/form-data; boundary=b0", nested(5000), 400),
    "many parts": (FORM, b"--b\r\n\r\n\r\n" * 60_000, 400),
    "many headers": (FORM, form("\r\n".join(f"X-{n}: y" for n in range(50_000))), 400),
    "an encoding": (
        FORM,
        form(f'{DISPOSITION}="x.pdf"\r\nContent-Transfer-Encoding: base64', b"!!" * 999),
        415,
    ),
}


@pytest.mark.parametrize("which", FORMS)
def test_a_form_that_is_made_to_do_harm_is_refused(
    untouched: Project, refusing: httpx.Client, which: str
) -> None:
    kind, body, status = FORMS[which]
    began = time.monotonic()
    sent = refusing.post("/documents/upload", content=body, headers={**KEY, "Content-Type": kind})
    assert sent.status_code == status and inbox(untouched) == []
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("address", ["/documents/upload", "/api/v1/documents?dataset=churches&name=x.pdf"])
def test_a_document_without_an_announced_length_is_cut_off(
    untouched: Project, refusing: httpx.Client, address: str
) -> None:
    taken = 0

    def pieces() -> Iterator[bytes]:
        nonlocal taken
        yield b"%PDF-1.7"
        while taken < 500:  # MiB
            taken += 1
            yield bytes(1 << 20)

    with suppress(httpx.WriteError):  # the connection may be closed before all is sent
        assert refusing.post(address, content=pieces(), headers={**KEY, **PDF}).status_code == 413
    assert taken < 200 and inbox(untouched) == []


def test_a_document_that_drips_is_not_waited_for(untouched: Project) -> None:
    app = application(
        open_engine(str(untouched.data)),
        uploading=("sender",),
        uploads={"datasets": ("churches",)},
        bounds={"body_seconds": 1},
    )
    with served(app) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(
                f"POST /documents/upload HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer sender\r\n"
                "Content-Type: application/pdf\r\nContent-Length: 100000\r\n\r\n%PDF-1.7".encode()
            )
            assert b" 408 " in connection.recv(200)
    assert inbox(untouched) == []


def test_a_name_that_deceives_is_told_plainly(http: httpx.Client) -> None:
    told = send(http, pdf(TEXT), "heron\u202efdp.exe\u200b <img src=q onerror=alert(1)>\n.pdf").json()
    assert told["name"] == "heronfdp.exe <img src=q onerror=alert(1)> .pdf"


def test_few_documents_are_looked_at_at_once_and_questions_are_answered_meanwhile(
    refusing: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, most, go = 0, 0, threading.Event()

    def look(path: Path, pages: int) -> str:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        go.wait(30)
        inside -= 1
        return "it is of no use"

    monkeypatch.setattr(
        "crmrag_query.service.uploads._entry", lambda name: look if name == "inspect" else None
    )
    with ThreadPoolExecutor(12) as threads:
        sent = [threads.submit(send, refusing, pdf(f"{TEXT} {n}")) for n in range(12)]
        until(lambda: inside > 0)
        assert refusing.get("/api/v1/datasets", headers=OTHER).status_code == 200
        go.set()
        assert {one.result().status_code for one in sent} == {400}
    assert most <= LOOKED


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


def test_without_configuration_nothing_can_be_sent(untouched: Project) -> None:
    with (
        served(application(open_engine(str(untouched.data)))) as address,
        httpx.Client(base_url=address) as client,
    ):
        sent = client.post(
            "/api/v1/documents", params={"dataset": "churches"}, content=pdf(TEXT), headers=PDF
        )
        assert sent.status_code == 401
        assert client.get("/api/v1/documents", params={"dataset": "churches"}).status_code == 404


def test_what_cannot_be_read_is_refused_at_once_where_the_building_side_is_installed(
    refusing: httpx.Client,
) -> None:
    sent = send(refusing, pdf(TEXT)[:900])
    assert sent.status_code == 400 and "cut off" in sent.json()["detail"]
    sent = send(refusing, pdf(*["a page"] * 21))
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
