"""The OpenAPI document is valid, whole and true: the service does what it says, whatever is asked of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.service import openapi
from crmrag_query.service.app import PAGES
from crmrag_query.service.openapi import EXAMPLES
from crmrag_query.service.responses import OWN_ROUTES
from crmrag_query.version import __version__
from tests.support.service import PATIENCE, application, await_sparql, beside, served

DOCUMENT = json.loads(openapi.document_json())
OPERATIONS = [(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods]
SEEDED = settings(
    max_examples=8, deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
TOLD_APART = ("positive_data_acceptance",)
"""Not checked: a schema does not tell which words make a question, nor which names a data set holds."""


def operation(method: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][path][method]
    return found


def test_the_document_is_valid() -> None:
    from schemathesis.specs.openapi.definitions import (
        OPENAPI_31,
    )  # a second to load, in each process of the tests

    errors = list(jsonschema.Draft202012Validator(OPENAPI_31).iter_errors(DOCUMENT))
    assert errors == [] and DOCUMENT["openapi"].startswith("3.1")
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert name.isidentifier()


def test_every_reference_leads_somewhere() -> None:
    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (found for key, found in value.items() if key == "$ref")
            yield from (found for inner in value.values() for found in references(inner))
        elif isinstance(value, list):
            yield from (found for inner in value for found in references(inner))

    found = set(references(DOCUMENT))
    known = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert found and found <= known


def test_the_document_is_served_as_it_is_made(http: httpx.Client) -> None:
    assert http.get("/openapi.json").json() == DOCUMENT
    assert DOCUMENT["info"]["version"] == __version__ == http.get("/version").json()["version"]


def test_every_route_is_in_it() -> None:
    routes = [(route.method.lower(), wire.PREFIX + route.path) for route in (*wire.ROUTES, *OWN_ROUTES)]
    assert set(routes) <= set(OPERATIONS) and len(set(routes)) == len(routes)
    ids = [operation(*one)["operationId"] for one in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert not any(page in DOCUMENT["paths"] for page in PAGES)
    known = {tag["name"] for tag in DOCUMENT["tags"]}
    for one in OPERATIONS:
        told = operation(*one)
        done = told["responses"].get("200") or told["responses"]["202"]
        assert told["summary"] and set(told["tags"]) <= known and done["description"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_answered_by_the_sample(http: httpx.Client, name: str) -> None:
    (route,) = (one for one in (*wire.ROUTES, *OWN_ROUTES) if one.name == name)
    method, path = route.method, route.path
    told = operation(method.lower(), wire.PREFIX + path)
    if path == "/sparql":
        await_sparql(str(http.base_url))
    if method == "POST":
        body = told["requestBody"]["content"][wire.JSON]["examples"]["example"]["value"]
        response = http.post(wire.PREFIX + path, json=body)
    else:
        params = {one["name"]: one["example"] for one in told["parameters"] if "example" in one}
        response = http.get(wire.PREFIX + path, params=params)
    assert response.status_code == 200, response.text
    found = response.json()
    assert found and any(found.values())
    schema = {
        **told["responses"]["200"]["content"][wire.JSON]["schema"],
        "components": DOCUMENT["components"],
    }
    jsonschema.Draft202012Validator(schema).validate(found)
    if path == "/set":
        assert found["size"] == 4
    if path == "/lineage":
        assert found["stated"] and found["lines"]


def test_what_needs_nothing_to_begin_with_has_no_example() -> None:
    lacking = {route.name for route in wire.ROUTES} - set(EXAMPLES)
    assert lacking == {"datasets"}


def test_problems_are_as_the_document_says(http: httpx.Client) -> None:
    schema = {"$ref": "#/components/schemas/Problem", "components": DOCUMENT["components"]}
    for response in (
        http.get("/nothing"),
        http.get(f"{wire.PREFIX}/search"),
        http.post(f"{wire.PREFIX}/ask"),
    ):
        jsonschema.Draft202012Validator(schema).validate(response.json())
        assert response.headers["content-type"] == wire.PROBLEM


# Whatever is asked


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[Any]:
    """The document as Schemathesis reads it, of a service of its own."""
    import schemathesis

    app = application(beside(engine), state=tmp_path_factory.mktemp("tried"))
    with served(app) as address:
        await_sparql(address)
        yield schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.mark.filterwarnings("ignore")  # of the tool itself
@pytest.mark.parametrize(
    ("method", "path"), OPERATIONS, ids=[f"{method}{path}" for method, path in OPERATIONS]
)
def test_whatever_is_asked_nothing_fails_and_nothing_is_answered_that_is_not_documented(
    tried: Any, method: str, path: str
) -> None:
    """No 5xx, no status, type or shape of a response that the document does not tell; nothing accepted that it forbids."""
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    checks = [check for check in CHECKS.get_all() if check.__name__ not in TOLD_APART]
    strategy = tried[path][method].as_strategy()

    @SEEDED
    @given(case=strategy)
    def try_it(case: Any) -> None:
        response = case.call(timeout=PATIENCE)
        case.validate_response(response, checks=checks)

    try_it()
