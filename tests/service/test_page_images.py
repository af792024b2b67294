"""The images of pages over HTTP: those of the release, and nothing else of the machine."""

from __future__ import annotations

import io
from collections.abc import Iterator

import httpx
import pytest
from PIL import Image

from crmrag_query.client.local import open_engine
from tests.support.regulation import build_regulation
from tests.support.service import application, served
from tests.support.shared import made_once

PAGE = "urn:pages:regulation.pdf_p002"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    engine = open_engine(str(made_once(tmp_path_factory, "regulation", build_regulation) / "data"))
    with served(application(engine)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_the_page_that_a_source_names_is_an_image(http: httpx.Client) -> None:
    told = http.post("/api/v1/ask", json={"question": "Jaká teplota musí být v depozitáři?"}).json()
    pages = [page["iri"] for one in told["sources"] for page in one["pages"]]
    assert PAGE in pages
    found = http.get("/api/v1/page.png", params={"iri": PAGE, "dataset": "churches"})
    assert (found.status_code, found.headers["content-type"]) == (200, "image/png")
    with Image.open(io.BytesIO(found.content)) as image:
        assert image.size == (1240, 1755)
    again = http.get("/api/v1/page.png", params={"iri": PAGE}, headers={"If-None-Match": "nothing"})
    assert again.status_code == 200
    known = http.get(
        "/api/v1/page.png", params={"iri": PAGE}, headers={"If-None-Match": again.headers["etag"]}
    )
    assert known.status_code == 304


@pytest.mark.parametrize(
    "iri",
    ["urn:pages:regulation.pdf_p004", "urn:pages:regulation.pdf", "../../manifest.json", "/etc/passwd", ""],
)
def test_no_other_file_is_given(http: httpx.Client, iri: str) -> None:
    assert http.get("/api/v1/page.png", params={"iri": iri}).status_code in (400, 404)


def test_a_question_over_http_leaves_out_what_a_machine_read(http: httpx.Client) -> None:
    def asked(**more: object) -> list[bool]:
        told = http.post("/api/v1/ask", json={"question": "What does 12/1987 amend?", **more}).json()
        return [one["read"] for one in told["sources"]]

    assert any(asked())
    assert not any(asked(within={"read": False}))
