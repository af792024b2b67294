"""The OpenAPI 3.1 document, made from the routes and records of the wire format, so that it cannot say anything else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from crmrag_query import __version__
from crmrag_query.client import wire
from crmrag_query.client.events import BY_NAME
from crmrag_query.client.problems import Problem
from crmrag_query.client.wire import Route
from crmrag_query.service import interfaces
from crmrag_query.service.examples import EXAMPLES
from crmrag_query.service.records import OWN_ROUTES, Health, Version

REFERENCE = "#/components/schemas/{model}"
OPERATIONS: tuple[tuple[str, type], ...] = (("/health", Health), ("/ready", Health), ("/version", Version))
TAGS = {
    "ask": "Asking", "retrieve": "Asking", "plan": "Sets", "set": "Sets", "facets": "Sets", "export": "Sets",
    "entity": "Entities", "neighbours": "Entities", "search": "Entities", "lineage": "Entities", "datasets": "Data sets",
    "dataset": "Data sets", "evaluations": "Data sets", "sparql": "Data sets",
}  # fmt: skip
SUMMARIES = {
    ("POST", "/ask"): "Answer a question, whole or as a stream of events",
    ("POST", "/retrieve"): "Find the documents that a question is answered from",
    ("GET", "/entity"): "Tell all of an entity",
    ("GET", "/neighbours"): "List the triples that join an entity with others",
    ("GET", "/search"): "Find entities by name or its beginning",
    ("GET", "/lineage"): "Tell where a triple comes from and where it shows",
    ("GET", "/datasets"): "List the data sets",
    ("GET", "/dataset"): "Tell a data set as a whole",
    ("POST", "/plan"): "Make a plan of a question",
    ("POST", "/plan/edit"): "Check a plan, change a part of it, add one or take one away",
    ("POST", "/plan/choices"): "List what a part of a plan may be set to",
    ("POST", "/set"): "List a page of a plan's exact set",
    ("POST", "/set/marks"): "Tell where and when the members of a plan's set were",
    ("POST", "/facets"): "Count a plan's set by facets",
    ("POST", "/export"): "Export a plan's whole set as a file",
    ("POST", "/sparql"): "Run a reading SPARQL query",
    ("GET", "/evaluations"): "List the evaluations of a data set",
    ("POST", "/conversations"): "Begin a conversation",
    ("GET", "/conversations"): "Read a conversation",
    ("POST", "/conversations/remove"): "Forget a conversation",
    ("GET", "/answers"): "Read an answer that was kept",
    ("POST", "/replay"): "Ask a kept question of the current release",
    ("POST", "/feedback"): "Say what one thinks of an answer",
}
KEPT = "Answers and conversations"


@cache
def document_json() -> str:
    """The document as JSON."""
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":"))


def document() -> dict[str, Any]:
    """The document as plain values."""
    routes = (*wire.ROUTES, *OWN_ROUTES)
    kinds = [*(kind for _, kind in OPERATIONS), Problem, *BY_NAME.values()]
    kinds += [kind for route in routes for kind in (route.request, route.result)]
    schemas, references = _schemas([*kinds, *interfaces.RECORDS])
    schemas |= interfaces.SCHEMAS
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(wire.PREFIX + route.path, {})[route.method.lower()] = _operation(route, references)
    for path, kind in OPERATIONS:
        paths[path] = {"get": _served(path, references[kind], references[Problem])}
    paths |= interfaces.paths(references, references[Problem])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "CRM-RAG",
            "version": __version__,
            "description": "Asks CIDOC-CRM knowledge graphs: answers with sources down to the triple, exact sets, entities.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"key": []}],
        "tags": [
            {"name": name} for name in dict.fromkeys([*TAGS.values(), KEPT, *interfaces.TAGS, "Operations"])
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(kinds: Iterable[type]) -> tuple[dict[str, Any], dict[type, dict[str, Any]]]:
    """The schemas of records by name, and a reference to each."""
    distinct = list(dict.fromkeys(kinds))
    inputs: list[tuple[type, Any, TypeAdapter[Any]]] = [
        (kind, "validation", TypeAdapter(kind)) for kind in distinct
    ]
    made, whole = TypeAdapter.json_schemas(inputs, ref_template=REFERENCE)
    schemas = dict(whole.get("$defs", {}))
    references: dict[type, dict[str, Any]] = {}
    for (kind, _), schema in made.items():
        if "$ref" not in schema:
            schemas[kind.__name__] = schema
            schema = {"$ref": REFERENCE.format(model=kind.__name__)}
        references[kind] = schema
    return schemas, references


def _operation(route: Route[Any, Any], references: Mapping[type, dict[str, Any]]) -> dict[str, Any]:
    name = route.path.strip("/").replace("/", "_")
    given = EXAMPLES.get((route.method, route.path), {})
    content: dict[str, Any] = {wire.JSON: {"schema": references[route.result]}}
    if route is wire.ASK:
        content[wire.EVENTS] = {"schema": {"type": "string", "description": _events()}}
    made: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{name}",
        "tags": [TAGS.get(name.partition("_")[0], KEPT)],
        "summary": _summary(route),
        "responses": {
            "200": {"description": _first_line(route.result), "content": content},
            "default": _problem(references[Problem]),
        },
    }
    if route.method == "GET" and route not in (*OWN_ROUTES, wire.EVALUATIONS):
        made["responses"]["304"] = {"description": "Nothing changed since the ETag that was sent."}
    if route.method == "POST":
        body: dict[str, Any] = {"schema": references[route.request]}
        if given:
            body["examples"] = {"example": {"value": given}}
        made["requestBody"] = {"required": True, "content": {wire.JSON: body}}
    else:
        made["parameters"] = list(_parameters(route.request, given))
    return made


def _parameters(kind: type, examples: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    hints = get_type_hints(kind)
    for one in fields(kind):
        schema: dict[str, Any] = {"type": "integer" if hints[one.name] is int else "string"}
        needed = one.default is MISSING and one.default_factory is MISSING
        if not needed and one.default not in (None, MISSING):
            schema["default"] = one.default
        made = {"name": one.name, "in": "query", "required": needed, "schema": schema}
        yield made | ({"example": examples[one.name]} if one.name in examples else {})


def _served(path: str, reference: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": path.strip("/"),
        "tags": ["Operations"],
        "summary": path.strip("/").capitalize(),
        "responses": {
            "200": {"description": "It is so.", "content": {wire.JSON: {"schema": reference}}},
            "default": _problem(problem),
        },
    }


def _problem(reference: dict[str, Any]) -> dict[str, Any]:
    return {"description": "A problem (RFC 9457)", "content": {wire.PROBLEM: {"schema": reference}}}


def _events() -> str:
    return f"Server-sent events, in JSON: {', '.join(BY_NAME)}; or error, a problem document."


def _summary(route: Route[Any, Any]) -> str:
    return SUMMARIES[route.method, route.path]


def _first_line(kind: type) -> str:
    text = (kind.__doc__ or "").strip().splitlines()
    return (
        text[0].replace("``", "") if text and not text[0].startswith(f"{kind.__name__}(") else kind.__name__
    )
