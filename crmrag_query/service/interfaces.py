"""What the OpenAPI document tells of interfaces that others have defined: OpenAI's, Prometheus's, MCP's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmrag_query.client import wire
from crmrag_query.service.openai.records import Chat, ChatFailure, ChatModel, ChatModels, ChatReply

RECORDS: tuple[type, ...] = (Chat, ChatReply, ChatModels, ChatModel, ChatFailure)
TAGS = ("Chat front ends", "Language models")
CHAT = {
    "model": "sample",
    "messages": [{"role": "user", "content": "Which churches were built before 1200?"}],
}
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "ask", "arguments": {"question": "Which churches were built before 1200?", "dataset": "sample"}},
}  # fmt: skip
ID: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
MESSAGE: dict[str, Any] = {
    "type": "object",
    "description": "A request or, without id, a notification of JSON-RPC 2.0.",
    "required": ["jsonrpc", "method"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": ID,
        "method": {"type": "string"},
        "params": {"type": "object"},
    },
}
REPLY: dict[str, Any] = {
    "type": "object",
    "description": "The result, or an error of JSON-RPC 2.0.",
    "required": ["jsonrpc"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"anyOf": [*ID["anyOf"], {"type": "null"}]},
        "result": {"type": "object"},
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
        },
    },
}
SCHEMAS: Mapping[str, dict[str, Any]] = {"McpMessage": MESSAGE, "McpReply": REPLY}


def paths(references: Mapping[type, dict[str, Any]], problem: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The operations by path and method; ``problem``: the schema of a problem document."""
    failed = {
        "description": "An error, as OpenAI's API tells it; one of the service as a whole is a problem (RFC 9457).",
        "content": {
            wire.JSON: {"schema": references[ChatFailure]},
            wire.PROBLEM: {"schema": problem},
        },
    }

    def chat(name: str, summary: str, told: dict[str, Any], description: str) -> dict[str, Any]:
        return {
            "operationId": name, "tags": [TAGS[0]], "summary": summary,
            "responses": {"200": {"description": description, "content": told}, "default": failed},
        }  # fmt: skip

    def record(kind: type) -> dict[str, Any]:
        return {wire.JSON: {"schema": references[kind]}}

    named = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    streamed = {"schema": {"type": "string", "description": "chat.completion.chunk objects, then [DONE]."}}
    asking = chat(
        "post_chat_completions", "Answer as OpenAI's chat completions do, whole or as a stream of chunks",
        record(ChatReply) | {wire.EVENTS: streamed}, "The reply",
    )  # fmt: skip
    asking["requestBody"] = _body(references[Chat], CHAT)
    one = chat("get_model", "Tell of a model", record(ChatModel), "The model")
    return {
        "/v1/models": {"get": chat("get_models", "List the models", record(ChatModels), "The models")},
        "/v1/models/{name}": {"get": one | {"parameters": [named]}},
        "/v1/chat/completions": {"post": asking},
        "/metrics": {"get": _metrics(problem)},
        "/mcp": {"post": _mcp(problem)},
    }


def _body(schema: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    content = {wire.JSON: {"schema": schema, "examples": {"example": {"value": example}}}}
    return {"required": True, "content": content}


def _metrics(problem: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "metrics",
        "tags": ["Operations"],
        "summary": "Metrics, in Prometheus's text format",
        "responses": {
            "200": {
                "description": "Counters and histograms",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            "default": {
                "description": "A problem (RFC 9457)",
                "content": {wire.PROBLEM: {"schema": problem}},
            },
        },
    }


def _mcp(problem: dict[str, Any]) -> dict[str, Any]:
    reply = {"$ref": "#/components/schemas/McpReply"}
    return {
        "operationId": "post_mcp",
        "tags": [TAGS[1]],
        "summary": "Speak the Model Context Protocol (streamable HTTP, without sessions)",
        "description": "For the clients of language models. There where the service has the extra mcp: see /version.",
        "requestBody": _body({"$ref": "#/components/schemas/McpMessage"}, CALL),
        "responses": {
            "200": {"description": "The reply to a request", "content": {wire.JSON: {"schema": reply}}},
            "202": {"description": "A notification was taken."},
            "default": {
                "description": "An error of JSON-RPC 2.0, or a problem (RFC 9457)",
                "content": {wire.JSON: {"schema": reply}, wire.PROBLEM: {"schema": problem}},
            },
        },
    }
