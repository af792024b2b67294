"""A client that `openapi-python-client` makes of the service's document has every operation, and loses nothing of it."""

from __future__ import annotations

import compileall
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crmrag_query.client import wire
from crmrag_query.service import openapi
from crmrag_query.service.openapi import BEFORE_1200, CALL, CHAT, EXAMPLES, QUESTION, SAMPLE
from tests.support.service import PATIENCE, await_sparql

DOCUMENT = json.loads(openapi.document_json())
OPERATIONS = {
    told["operationId"]: (method.upper(), path, told)
    for path, methods in DOCUMENT["paths"].items()
    for method, told in methods.items()
}
PLAN_FILE = {"plan": json.dumps(BEFORE_1200), "question": QUESTION} | SAMPLE
GIVEN: dict[str, dict[str, Any]] = {
    "get_model": {"name": "sample"}, "post_chat_completions": CHAT, "post_mcp": CALL,
    "set_csv": PLAN_FILE, "set_json": PLAN_FILE, "set_jsonld": PLAN_FILE, "set_geojson": PLAN_FILE,
}  # fmt: skip
"""What operations are asked of which the document has no example."""
OF_DOCUMENTS = ("page_image", "documents", "send_document", "upload_document")
"""Operations on documents, which the service of the sample does not take."""
PACKAGE = "crmrag_generated"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package that is made of the document, without a word of what could not be made, and compiles."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(openapi.document_json(), encoding="utf-8")
    overrides = {
        "content_type_overrides": {"image/png": "application/octet-stream"}
    }  # as docs/http.md has it
    (folder / "config.yaml").write_text(json.dumps(overrides), encoding="utf-8")
    words = [
        "generate",
        "--config",
        "config.yaml",
        "--path",
        "openapi.json",
        "--output-path",
        PACKAGE,
        "--meta",
        "none",
        "--fail-on-warning",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *words], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},  # it runs ruff
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert compileall.compile_dir(folder / PACKAGE, quiet=1)
    sys.path.insert(0, str(folder))
    yield folder / PACKAGE
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def client(generated: Path, address: str) -> Iterator[Any]:
    await_sparql(address)
    made = importlib.import_module(f"{PACKAGE}.client").Client(base_url=address, timeout=PATIENCE)
    with made:
        yield made


@pytest.fixture(scope="module")
def kept(client: Any) -> dict[str, dict[str, Any]]:
    """What the operations on kept answers and conversations are asked of: those of one that was begun here."""
    begun = given(client, "begin_conversation", SAMPLE).parsed
    thread = {"thread": begun.id, "key": begun.key}
    given(client, "ask", {"question": QUESTION, **SAMPLE, **thread})
    answer = given(client, "ask", {"question": QUESTION, **SAMPLE}).parsed  # no part of what is removed
    return {
        "conversation": {"id": begun.id},
        "answer": {"id": answer.id},
        "replay": {"id": answer.id},
        "feedback": {"answer": answer.id, "verdict": "good", "comment": "Right."},
        "remove_conversation": {"id": begun.id, "key": begun.key},
    }


def given(client: Any, name: str, request: dict[str, Any]) -> Any:
    """The response to an operation, as a user of the generated client calls it."""
    method, _, told = OPERATIONS[name]
    call = operation(name).sync_detailed
    if method == "POST":
        schema = told["requestBody"]["content"][wire.JSON]["schema"]["$ref"].rpartition("/")[2]
        body = getattr(importlib.import_module(f"{PACKAGE}.models"), schema)
        return call(client=client, body=body.from_dict(request))
    named = {one["name"]: one["name"] for one in told.get("parameters", ())}
    path = [request[one] for one in named if f"{{{one}}}" in OPERATIONS[name][1]]
    return call(*path, client=client, **{key: value for key, value in request.items() if value not in path})


def operation(name: str) -> ModuleType:
    tag = OPERATIONS[name][2]["tags"][0].lower().replace(" ", "_")
    module = f"{name}_" if name == "set" else name
    return importlib.import_module(f"{PACKAGE}.api.{tag}.{module}")


def test_every_operation_has_a_module(generated: Path) -> None:
    made = {file.stem.rstrip("_") for file in (generated / "api").glob("*/*.py")} - {"__init"}
    assert made == set(OPERATIONS) and len(OPERATIONS) > 30


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in OF_DOCUMENTS])
def test_an_operation_is_called_and_nothing_of_its_result_is_lost(
    client: Any, kept: dict[str, dict[str, Any]], name: str
) -> None:
    told = OPERATIONS[name][2]
    response = given(client, name, GIVEN.get(name) or kept.get(name) or EXAMPLES.get(name, {}))
    assert response.status_code == 200, response.content
    if wire.JSON not in told["responses"]["200"].get("content", {}):
        assert response.content
        return
    assert type(response.parsed).__name__ not in ("Problem", "ChatFailure"), response.content
    assert response.parsed.to_dict() == json.loads(response.content)


@pytest.mark.parametrize("name", OF_DOCUMENTS)
def test_an_operation_on_documents_tells_where_there_are_none(
    client: Any, generated: Path, name: str
) -> None:
    request: dict[str, Any] = {"dataset": "sample"}
    if name == "page_image":
        request["iri"] = "https://example.org/none"
    if OPERATIONS[name][0] == "POST":
        request["body"] = importlib.import_module(f"{PACKAGE}.types").File(payload=BytesIO(b"%PDF-"))
    told = operation(name).sync_detailed(client=client, **request).parsed
    assert type(told).__name__ == "Problem" and told.status in (401, 404) and told.remedy


def test_a_refusal_is_a_problem_with_its_remedy(client: Any) -> None:
    told = given(client, "dataset", {"dataset": "nothing"}).parsed
    assert type(told).__name__ == "Problem" and told.status == 404 and told.remedy


def test_an_answer_is_read_field_by_field(client: Any) -> None:
    answer = given(client, "ask", {"question": QUESTION, **SAMPLE}).parsed
    assert answer.set_.size == 4 and answer.exhaustive
    cited = {number for citation in answer.citations for number in citation.numbers}
    assert cited and cited == {source.n for source in answer.sources if source.cited}
