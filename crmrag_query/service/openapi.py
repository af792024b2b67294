"""The OpenAPI 3.1 document: FastAPI writes it from the routes and records of the wire format, so that it says nothing else.

Besides, what others have defined (OpenAI's, Prometheus's and MCP's interfaces), and requests to begin with, which the bundled
sample answers.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from shlex import quote
from typing import Annotated, Any, Literal, cast, get_type_hints
from urllib.parse import urlencode

from fastapi import APIRouter, Body, Depends
from fastapi.openapi.utils import get_openapi
from fastapi.params import Param
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from crmrag_query.answers.records import BY_NAME
from crmrag_query.client import wire
from crmrag_query.client.wire import Route
from crmrag_query.codec import Problem
from crmrag_query.service.responses import (
    FILES,
    OWN_ROUTES,
    PAGE,
    Chat,
    ChatFailure,
    ChatModel,
    ChatModels,
    ChatReply,
    GetDocuments,
    GetFile,
    GetPage,
    Health,
    PutDocument,
    Version,
    is_tagged,
)
from crmrag_query.service.uploads import UPLOADS, AllSent, Sent
from crmrag_query.sets.exports import FORMATS
from crmrag_query.version import __version__

CHAT = {
    "model": "sample",
    "messages": [{"role": "user", "content": "Which churches were built before 1200?"}],
}
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "ask", "arguments": {"question": "Which churches were built before 1200?", "dataset": "sample"}},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class McpMessage:
    """A request or, without id, a notification of JSON-RPC 2.0."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | None = None
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class McpError:
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class McpReply:
    """The result, or an error of JSON-RPC 2.0."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    result: dict[str, Any] | None = None
    error: McpError | None = None


SAMPLE = {"dataset": "sample"}
BASE = "https://example.org/troodos/"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
ASINOU = f"{BASE}church/asinou"
QUESTION = "Which churches were built before 1200?"
BEFORE_1200: Mapping[str, Any] = {
    "target": {"types": [f"{BASE}type/church"]},
    "where": [
        {"kind": "dated", "way": {"relations": ["created_on"]}, "end": 437925}
    ],  # days since the year 1
}
PLAN: dict[str, Any] = {"plan": BEFORE_1200}
CHANGE = {"path": "where.0", "years": {"begin": 1100, "end": 1199}}
KEPT, FRONT_ENDS, MODELS, OPERATIONS = (
    "Answers and conversations", "Chat front ends", "Language models", "Operations",
)  # fmt: skip
ROUTES: Mapping[str, Mapping[str, tuple[str, dict[str, Any] | None]]] = {
    "Asking": {
        "ask": ("Answer a question, whole or as a stream of events", {"question": QUESTION}),
        "retrieve": (
            "Find the documents that a question is answered from",
            {"question": "Who paid for the first paintings of Asinou?", "k": 5},
        ),
    },
    "Sets": {
        "plan": ("Make a plan of a question", {"question": QUESTION}),
        "edit_plan": ("Check a plan, change a part of it, add one or take one away", PLAN | {"change": CHANGE}),
        "choices": (
            "List what a part of a plan may be set to", PLAN | {"path": "target.types", "what": "kinds"},
        ),
        "set": ("List a page of a plan's exact set", PLAN | {"limit": 10, "sort": "date"}),
        "marks": ("Tell where and when the members of a plan's set were", PLAN),
        "columns": ("List the columns that a plan's set can have", PLAN),
        "facets": ("Count a plan's set by facets", PLAN),
        "export": ("Export a plan's whole set as a file", PLAN | {"format": "csv", "question": QUESTION}),
    },
    "Entities": {
        "entity": ("Tell all of an entity", {"iri": ASINOU}),
        "neighbours": ("List the triples that join an entity with others", {"iri": ASINOU}),
        "search": ("Find entities by name or its beginning", {"text": "Asinou"}),
        "lineage": (
            "Tell where a triple comes from and where it shows",
            {"s": ASINOU, "p": f"{CRM}P2_has_type", "o": f"{BASE}type/church"},
        ),
    },
    "Data sets": {
        "datasets": ("List the data sets", None),
        "dataset": ("Tell a data set as a whole", {}),
        "candidates": ("List what may be the same as something that was read from pages", {}),
        "evaluations": ("List the evaluations of a data set", {}),
        "modes": ("List the modes in which a data set can be asked", {}),
        "compare_modes": (
            "Answer a question in several modes, side by side",
            {"question": QUESTION, "modes": ["crm", "fulltext"]},
        ),
        "themes": ("List what belongs together in a data set", {"limit": 5}),
        "sparql": (
            "Run a reading SPARQL query",
            {"query": "SELECT ?thing ?class WHERE { ?thing a ?class } LIMIT 5"},
        ),
    },
    "Tools of language models": {
        "graph_search": ("Find entities by meaning, words and name", {"query": "wall paintings"}),
        "graph_context": (
            "Tell what an entity is connected to, within some hops", {"entity": ASINOU, "max_hops": 2},
        ),
        "graph_communities": ("Find communities of what belongs together", {"query": "painters"}),
    },
    KEPT: {
        "begin_conversation": ("Begin a conversation", {}),
        "conversation": ("Read a conversation", None),
        "remove_conversation": ("Forget a conversation", None),
        "answer": ("Read an answer that was kept", None),
        "replay": ("Ask a kept question of the current release", None),
        "feedback": ("Say what one thinks of an answer", None),
    },
}  # fmt: skip
"""By tag and name what a route does, and a request to begin with (of the sample); None where it needs something kept."""
EXAMPLES = {
    name: example | SAMPLE
    for routes in ROUTES.values()
    for name, (_, example) in routes.items()
    if example is not None
}
REFERENCE = "#/components/schemas/{model}"
PROBLEM: dict[str, Any] = {"schema": {"$ref": REFERENCE.format(model="Problem")}}


@cache
def document_json() -> str:
    """The document as JSON."""
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":"))


def document() -> dict[str, Any]:
    """The document as plain values."""
    router = APIRouter()
    for route in (*wire.ROUTES, *OWN_ROUTES):
        _add_route(router, route)
    _add_interfaces(router)
    made = get_openapi(
        title="CRM-RAG",
        version=__version__,
        openapi_version="3.1.0",
        description="Asks CIDOC-CRM knowledge graphs: answers with sources down to the triple, exact sets, entities.",
        license_info={"name": "MIT", "identifier": "MIT"},
        servers=[{"url": "/"}],
        tags=[{"name": name} for name in (*ROUTES, FRONT_ENDS, MODELS, OPERATIONS)],
        routes=router.routes,
        separate_input_output_schemas=False,
    )
    kinds: list[type] = [Problem, ChatFailure, McpReply, *BY_NAME.values()]
    more: list[tuple[type, Any, TypeAdapter[Any]]] = [
        (kind, "validation", TypeAdapter(kind)) for kind in kinds
    ]
    found, whole = TypeAdapter.json_schemas(more, ref_template=REFERENCE)
    schemas = made["components"]["schemas"]
    schemas |= whole.get("$defs", {})
    schemas |= {kind.__name__: schema for (kind, _), schema in found.items() if "$ref" not in schema}
    made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return made | {"security": [{}, {"key": []}]}


def _add_route(router: APIRouter, route: Route[Any, Any]) -> None:
    """A route of the wire format; what it takes is read by ``wire``, as strictly as the document says."""
    example = EXAMPLES.get(route.name, {})
    given = Depends(_resolved(route.request)) if route.method == "GET" else _body(example)
    tag = next(tag for tag, routes in ROUTES.items() if route.name in routes)
    operation = _operation(route.name, tag, ROUTES[tag][route.name][0], route.result)
    if route is wire.ASK:
        events = f"Server-sent events, in JSON: {', '.join(BY_NAME)}; or error, a problem document."
        stream = {"schema": {"type": "string", "description": events}}
        operation["responses"][200] = {"content": {wire.EVENTS: stream}}
    if is_tagged(route):
        operation["responses"][304] = {"description": "Nothing changed since the ETag that was sent."}
    path = wire.PREFIX + route.path
    router.add_api_route(path, _taking(Annotated[route.request, given]), methods=[route.method], **operation)
    if route.method == "GET":
        (taken,) = cast(
            APIRoute, router.routes[-1]
        ).dependant.dependencies  # the record's fields, as parameters
        for parameter in taken.query_params:
            if parameter.name in example:
                cast(Param, parameter.field_info).example = example[parameter.name]


def _add_interfaces(router: APIRouter) -> None:
    """Files, what tells of the service itself, and what others have defined."""
    for path, format in FILES.items():
        file = _operation(f"set_{format}", "Sets", f"Download a plan's whole set as {format}", None)
        media = FORMATS[format][0].partition(";")[0]
        file["responses"][200] = {
            "description": "The file",
            "content": {media: {"schema": {"type": "object" if media.endswith("json") else "string"}}},
        }
        taking = _taking(Annotated[GetFile, Depends(GetFile)])
        router.add_api_route(wire.PREFIX + path, taking, response_class=Response, methods=["GET"], **file)
    page = _operation("page_image", "Entities", "Show the image of a page of a document", None)
    page["responses"][200] = {
        "description": "The image",
        "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
    }
    page["responses"][304] = {"description": "Nothing changed since the ETag that was sent."}
    taking = _taking(Annotated[GetPage, Depends(GetPage)])
    router.add_api_route(wire.PREFIX + PAGE, taking, response_class=Response, methods=["GET"], **page)
    listed = _operation(
        "documents",
        "Data sets",
        "Tell what became of documents that were sent; of one also as events",
        AllSent,
    )
    listed["response_model"] = AllSent | Sent
    router.add_api_route(
        UPLOADS[0], _taking(Annotated[GetDocuments, Depends(GetDocuments)]), methods=["GET"], **listed
    )
    file = {"schema": {"type": "string", "format": "binary"}}
    form = {"schema": {"type": "object", "properties": {"file": file["schema"]}}}
    body = {"required": True, "content": {"application/octet-stream": file, "multipart/form-data": form}}
    for name, path in zip(("send_document", "upload_document"), UPLOADS, strict=True):
        sending = _operation(name, "Data sets", "Send a document of pages to a data set", Sent)
        sending["description"] = "Needs a key with the role upload, and a data set that takes documents."
        sending |= {"status_code": 202, "openapi_extra": {"requestBody": body}}
        taking = _taking(Annotated[PutDocument, Depends(PutDocument)])
        router.add_api_route(path, taking, methods=["POST"], **sending)
    for name, told in (("health", Health), ("ready", Health), ("version", Version)):
        router.add_api_route(f"/{name}", _nothing, **_operation(name, OPERATIONS, name.capitalize(), told))
    metrics = _operation("metrics", OPERATIONS, "Metrics, in Prometheus's text format", None)
    router.add_api_route("/metrics", _nothing, response_class=PlainTextResponse, **metrics)

    failed = {
        "description": "An error, as OpenAI's API tells it; one of the service as a whole is a problem (RFC 9457).",
        "content": {
            wire.JSON: {"schema": {"$ref": REFERENCE.format(model="ChatFailure")}},
            wire.PROBLEM: PROBLEM,
        },
    }
    chunks = {"schema": {"type": "string", "description": "chat.completion.chunk objects, then [DONE]."}}
    models = _operation("get_models", FRONT_ENDS, "List the models", ChatModels)
    model = _operation("get_model", FRONT_ENDS, "Tell of a model", ChatModel)
    asking = "Answer as OpenAI's chat completions do, whole or as a stream of chunks"
    chat = _operation("post_chat_completions", FRONT_ENDS, asking, ChatReply)
    for operation in (models, model, chat):
        operation["responses"]["default"] = failed
    chat["responses"][200] = {"content": {wire.EVENTS: chunks}}
    router.add_api_route("/v1/models", _nothing, **models)
    router.add_api_route("/v1/models/{name}", _named, **model)
    taking = _taking(Annotated[Chat, _body(CHAT)])
    router.add_api_route("/v1/chat/completions", taking, methods=["POST"], **chat)

    mcp = _operation(
        "post_mcp", MODELS, "Speak the Model Context Protocol (streamable HTTP, without sessions)", McpReply
    )
    mcp["description"] = (
        "For the clients of language models. There where the service has the extra mcp: see /version."
    )
    reply = {"schema": {"$ref": REFERENCE.format(model="McpReply")}}
    mcp["responses"] = {
        202: {"description": "A notification was taken."},
        "default": {
            "description": "An error of JSON-RPC 2.0, or a problem (RFC 9457)",
            "content": {wire.JSON: reply, wire.PROBLEM: PROBLEM},
        },
    }
    router.add_api_route("/mcp", _taking(Annotated[McpMessage, _body(CALL)]), methods=["POST"], **mcp)


def _operation(name: str, tag: str, summary: str, result: type[Any] | None) -> dict[str, Any]:
    described = (result.__doc__ or "").strip().partition("\n")[0].replace("``", "") if result else summary
    problem = {"description": "A problem (RFC 9457)", "content": {wire.PROBLEM: PROBLEM}}
    return {
        "operation_id": name, "tags": [tag], "summary": summary, "response_model": result,
        "response_description": described, "responses": {"default": problem},
    }  # fmt: skip


def _body(example: Mapping[str, Any]) -> Any:
    return Body(openapi_examples={"example": {"value": example}} if example else None)


def _resolved(kind: type[Any]) -> Callable[..., Any]:
    """What makes a record, its parameters with their types: those that a record of another module has stand there as names,
    which FastAPI does not look up."""

    def make(**given: Any) -> Any:
        return kind(**given)

    hints, found = get_type_hints(kind, include_extras=True), inspect.signature(kind)
    parameters = [one.replace(annotation=hints[name]) for name, one in found.parameters.items()]
    cast(Any, make).__signature__ = found.replace(parameters=parameters)
    return make


def _taking(kind: Any) -> Callable[..., None]:
    """An endpoint to be documented, which takes a ``kind``."""

    def endpoint(asked: object) -> None: ...

    endpoint.__annotations__ = {"asked": kind, "return": None}
    return endpoint


def _nothing() -> None: ...


def _named(name: str) -> None: ...


Plain = Mapping[str, Any]


@cache
def docs_page() -> str:
    """The page: operations by tag, each with what it takes, what it gives and an example."""
    whole = document()
    schemas = whole["components"]["schemas"]
    sections = "".join(_section(tag["name"], whole, schemas) for tag in whole["tags"])
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The interface – CRM-RAG</title><link rel="icon" href="/static/favicon.svg">
<link rel="stylesheet" href="/static/style/base.css">
<link rel="stylesheet" href="/static/style/docs.css"></head>
<body class="docs"><main><p><a href="/">CRM-RAG {escape(whole["info"]["version"])}</a></p><h1>The interface</h1>
<p>{escape(whole["info"]["description"])}
What this page tells stands in <a href="/openapi.json">/openapi.json</a> for programs.</p>
{sections}</main></body></html>
"""


def _section(tag: str, whole: Plain, schemas: Plain) -> str:
    operations = [
        _operation_html(method, path, one, schemas)
        for path, methods in whole["paths"].items()
        for method, one in methods.items()
        if tag in one["tags"]
    ]
    return f"<section><h2>{escape(tag)}</h2>{''.join(operations)}</section>" if operations else ""


def _operation_html(method: str, path: str, one: Plain, schemas: Plain) -> str:
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {})
    taken = schemas.get(_name(body["schema"]), {}) if body else {}
    told = escape(taken.get("description", "").replace("``", "`"))
    rows = "".join(_rows(one, taken))
    table = f"<table><tr><th>name<th>type<th>default</tr>{rows}</table>" if rows else ""
    given = _gives(one["responses"].get("200", {}))
    return (
        f'<article id="{escape(one["operationId"])}"><h3><code>{method.upper()} {escape(path)}</code></h3>'
        f"<p>{escape(one['summary'])}.</p>{table}{f'<p>{told}</p>' if told else ''}<p>Gives: {given}</p>"
        f"<pre><code>{escape(_example(method, path, one, body))}</code></pre></article>"
    )


def _rows(one: Plain, taken: Plain) -> Iterator[str]:
    needed = set(taken.get("required", ()))
    fields = [(p["name"], p["schema"], p["required"]) for p in one.get("parameters", ())]
    fields += [(name, schema, name in needed) for name, schema in taken.get("properties", {}).items()]
    for name, schema, required in fields:
        default = "required" if required else json.dumps(schema.get("default"), ensure_ascii=False)
        yield f"<tr><td><code>{escape(name)}</code><td>{escape(_type(schema))}<td>{escape(default)}</tr>"


def _type(schema: Plain) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(json.dumps(one) for one in schema["enum"])
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type") or _name(schema) or "any")


def _name(schema: Plain) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _gives(response: Plain) -> str:
    kinds = ", ".join(f"<code>{escape(kind)}</code>" for kind in response.get("content", {}))
    return f"{escape(response.get('description', ''))} {kinds}".strip()


def _example(method: str, path: str, one: Plain, body: Plain) -> str:
    if body:
        examples: list[Plain] = list(body.get("examples", {}).values())
        value = examples[0].get("value", {}) if examples else {}
        return f"curl -s localhost:8000{path} --json {quote(json.dumps(value, ensure_ascii=False))}"
    given = {p["name"]: p["example"] for p in one.get("parameters", ()) if "example" in p}
    return f"curl -s 'localhost:8000{path}{f'?{urlencode(given)}' if given else ''}'"
