"""The interface as a page for people, at ``/docs``: the OpenAPI document in HTML, no script, nothing of other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from crmrag_query.service.openapi import document

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
        _operation(method, path, one, schemas)
        for path, methods in whole["paths"].items()
        for method, one in methods.items()
        if tag in one["tags"]
    ]
    return f"<section><h2>{escape(tag)}</h2>{''.join(operations)}</section>" if operations else ""


def _operation(method: str, path: str, one: Plain, schemas: Plain) -> str:
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
