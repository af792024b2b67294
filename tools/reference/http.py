"""`docs/reference/http.md`: every endpoint with its fields, from the OpenAPI document that the service gives."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from crmrag_query.client import wire
from crmrag_query.service.openapi import document
from crmrag_query.service.responses import OWN_ROUTES
from tools.reference.text import cell, code, notes, plain, summary, table, value

HEAD = """\
# HTTP: all endpoints

What `/openapi.json` says, to read. [The HTTP API](../http.md) explains it with examples; what a field means in Python
it means here. Errors are a [Problem](#problem), with a status from 400 on. `dataset` may be left out where there is
only one, or a default."""
_SEE = re.compile(r"see `(crmrag_query(?:\.\w+)+)\.(\w+)`")
Schema = Mapping[str, Any]
REQUESTS = {(one.method, wire.PREFIX + one.path): one.request for one in (*wire.ROUTES, *OWN_ROUTES)}


def page() -> str:
    """The page."""
    whole = document()
    schemas: Mapping[str, Schema] = whole["components"]["schemas"]
    lines = [HEAD]
    for tag in whole["tags"]:
        operations = list(_operations(whole["paths"], tag["name"]))
        if operations:
            lines += ["", f"## {tag['name']}"]
        for method, path, operation in operations:
            lines += ["", f"### {method.upper()} {path}", "", *_operation(method, path, operation, schemas)]
    lines += [
        "",
        "## Records",
        "",
        "What requests and results are made of. A field without a default is always there.",
    ]
    requests = {kind.__name__ for kind in REQUESTS.values()}
    for name in sorted(set(schemas) - requests, key=_title):
        lines += ["", f"### {_title(name)}", "", *_record(schemas[name])]
    return "\n".join(lines).rstrip() + "\n"


def _operations(paths: Mapping[str, Any], tag: str) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            if tag in operation.get("tags", ()):
                yield method, path, operation


def _operation(method: str, path: str, operation: Schema, schemas: Mapping[str, Schema]) -> Iterator[str]:
    yield cell(operation.get("summary", "").rstrip(".") + ".")
    if told := operation.get("description"):
        yield from ("", plain(told))
    if parameters := operation.get("parameters"):
        told_of = notes(_own_docstring(REQUESTS.get((method.upper(), path))))
        rows = [
            [
                code(one["name"]), "" if one["in"] == "query" else one["in"], _kind(one.get("schema", {})),
                "needed" if one.get("required") else value(one.get("schema", {}).get("default")),
                cell(plain(one.get("description")) or told_of.get(one["name"], "")),
            ]
            for one in parameters
        ]  # fmt: skip
        yield from ("", *table(("parameter", "in", "type", "default", "what"), rows))
    if body := operation.get("requestBody"):
        yield from _body(body["content"], schemas)
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield from ("", *_result(answer, schemas))


def _body(content: Mapping[str, Any], schemas: Mapping[str, Schema]) -> Iterator[str]:
    for kind, media in content.items():
        schema = media["schema"]
        yield from ("", f"Body, `{kind}`:", "")
        yield from _record(schemas[_name(schema)] if "$ref" in schema else schema, "needed")
        for example in media.get("examples", {}).values():
            shown = json.dumps(example["value"], ensure_ascii=False)
            yield from ("", "Example: " + code(shown))


def _result(answer: Schema, schemas: Mapping[str, Schema]) -> Iterator[str]:
    for kind, media in answer.get("content", {}).items():
        schema = media.get("schema", {})
        made = _kind(schema) or "text"
        held = schemas[_name(schema)].get("properties", {}) if "$ref" in schema else {}
        told = cell(plain(schema.get("description")))
        fields = " – " + ", ".join(map(code, held)) if held else f" – {told}" if told else ""
        yield from (f"Result, `{kind}`: {made}{fields}", "")


def _record(schema: Schema, without: str = "") -> Iterator[str]:
    docstring = _whole(schema.get("description", ""))
    fields, needed, told = schema.get("properties", {}), schema.get("required", ()), notes(docstring)
    if text := summary(docstring):
        yield from (_prose(text), "")
    rows = [
        [
            code(name), _kind(one), without if name in needed else _default(one),
            cell(plain(one.get("description")) or told.get(name, "")),
        ]
        for name, one in fields.items()
    ]  # fmt: skip
    yield from table(("field", "type", "default", "what"), rows)


def _own_docstring(kind: type | None) -> str:
    """A docstring that somebody wrote: a dataclass without one has its signature."""
    told = kind.__doc__ or "" if kind else ""
    return "" if kind and told.startswith(f"{kind.__name__}(") else told


def _whole(docstring: str) -> str:
    """A docstring with that of the record to which it refers the reader."""
    if not (match := _SEE.search(docstring.replace("``", "`"))):
        return docstring
    module, name = match.groups()
    base = getattr(importlib.import_module(module), name).__doc__
    return re.sub(r": see `[^`]+`; ", ": ", docstring.replace("``", "`")) + "\n\n" + str(base)


def _prose(text: str) -> str:
    return re.sub(r"<(?=\w)", r"\\<", text)


def _default(schema: Schema) -> str:
    nullable = any(one.get("type") == "null" for one in (schema, *schema.get("anyOf", ())))
    return value(schema.get("default")) or ("none" if nullable else "empty")


def _name(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _title(name: str) -> str:
    """A record's name; of one that shares it, with the module: `crmrag_query__sets__records__AnswerSet`."""
    parts = name.removeprefix("crmrag_query__").split("__")
    return parts[0] if len(parts) == 1 else f"{parts[-1]} ({'.'.join(parts[:-1])})"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _kind(schema: Schema) -> str:
    """A schema's type in a word or two, records as links."""
    if "$ref" in schema:
        title = _title(_name(schema))
        return f"[{title}](#{_anchor(title)})"
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(str(one)) if one else '`""`' for one in schema["enum"])
    if many := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_kind(one) for one in many if one.get("type") != "null"))
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items") or schema.get("prefixItems", [{}])[0]
        return f"list of {_kind(items)}" if _kind(items) else "list"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"object of {_kind(inner)}" if isinstance(inner, dict) and _kind(inner) else "object"
    return {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false"}.get(
        str(kind), ""
    )
