"""The contract of the three tools, the same by every way to them: Python, HTTP, MCP, and a model that calls tools."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from crmrag_query import Client
from crmrag_query.answers.ask import Ask, stream
from crmrag_query.answers.records import answer_of
from crmrag_query.artifacts.release import Release
from crmrag_query.cli.look import graph
from crmrag_query.codec import to_json
from crmrag_query.errors import CrmRagError
from crmrag_query.llm.model import LiteLLM
from crmrag_query.retrieval.channels import find_mode
from crmrag_query.stores.records import SearchStore
from crmrag_query.stores.tools import TOOLS, StoreTools, run_tool, tool_schemas
from crmrag_query.text import as_data, printable
from tests.query.client.conftest import Calling
from tests.query.mcp.conftest import Hosted
from tests.support.model_server import calls, model_server

ASINOU = "https://example.org/troodos/church/asinou"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("graph_search", {"query": "Asinou"}),
    ("graph_search", {"query": "painters", "limit": 3, "category": "Actor"}),
    ("graph_context", {"entity": ASINOU}),
    ("graph_context", {"entity": "Asinou church", "max_hops": 1, "limit": 10}),
    ("graph_communities", {"query": "saints"}),
    ("graph_communities", {"level": 1, "limit": 2}),
)


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda one: str(one)[:40])
def test_every_way_gives_the_same(
    call: Calling, store: SearchStore, name: str, arguments: dict[str, Any]
) -> None:
    assert call(name, **arguments) == getattr(StoreTools(store, "sample"), name)(**arguments)


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda one: str(one)[:40])
def test_the_command_line_gives_the_same(
    data: Path, store: SearchStore, name: str, arguments: dict[str, Any]
) -> None:
    given = {key.removeprefix("max_"): str(value) for key, value in arguments.items()}
    words = [given.pop(key) for key in ("query", "entity") if key in given]
    options = [text for key, value in given.items() for text in (f"--{key}", value)]
    command = [name.removeprefix("graph_"), "sample", *words, *options, "--data", str(data)]
    expected = getattr(StoreTools(store, "sample"), name)(**arguments)
    told = CliRunner().invoke(graph, [*command, "--json"], catch_exceptions=False)
    assert told.output.strip() == to_json(expected)
    lines = CliRunner().invoke(graph, command, catch_exceptions=False).output
    assert lines == printable(run_tool(StoreTools(store, "sample"), name, arguments).text) + "\n"


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda one: str(one)[:40])
def test_a_scripted_agent_is_told_the_same(
    release: Release,
    store: SearchStore,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, Any],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with model_server("{}", "{}", calls(**{name: arguments}), "It is told there [1].") as script:
        model = LiteLLM("openai/scripted", script.address)
        how = Ask(model, mode=find_mode(release, "agent"), dataset="sample")
        (source, *_) = answer_of(stream(release, "What is there?", how)).sources
    result = next(one for one in script.requests[-1]["messages"] if one["role"] == "tool")["content"]
    whole = run_tool(StoreTools(store, "sample"), name, arguments).text
    assert as_data(whole)[:1000] in result  # what is long is told in part
    assert source.kind == "tool" and name in source.label


@pytest.mark.parametrize(
    "query", ["Asinou", "asinou", "Παναγία Φορβιώτισσα", "παναγια φορβιωτισσα", "ΠΑΝΑΓΊΑ ΦΟΡΒΙΏΤΙΣΣΑ"]
)
def test_an_entity_is_found_by_its_name_whatever_its_accents_and_script(call: Calling, query: str) -> None:
    found = call("graph_search", query=query, limit=5)
    assert found.entities[0].iri == ASINOU
    assert found.entities[0].category == "Thing" and "church" in found.entities[0].types
    assert "Phorviotissa" in found.entities[0].description and found.entities[0].document == ASINOU
    assert 0 < len(found.entities[0].relations) <= 10 < found.entities[0].total


def test_a_category_and_a_limit_hold(call: Calling) -> None:
    found = call("graph_search", query="church of Asinou", limit=3, category="Actor")
    assert 0 < len(found.entities) <= 3 and {one.category for one in found} == {"Actor"}


def test_communities_are_listed_by_size_or_found_by_a_query(call: Calling) -> None:
    listed = call("graph_communities", limit=50)
    assert len(listed.communities) == min(50, listed.total) and listed.levels > 1
    assert [one.size for one in listed] == sorted((one.size for one in listed), reverse=True)
    assert all(one.level == 0 and one.title and one.summary and 0 < len(one.members) <= 15 for one in listed)
    wanted = listed.communities[-1].members[0].label
    found = call("graph_communities", query=wanted, limit=3)
    assert wanted in {member.label for one in found for member in one.members}
    assert call("graph_communities", level=9).communities == ()


WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("graph_search", {"query": " "}),
    ("graph_search", {"query": "x", "limit": 51}),
    ("graph_search", {"query": "x", "category": "Boat"}),
    ("graph_search", {"query": "x" * 1001}),
    ("graph_context", {"entity": "qqqq zzzz"}),
    ("graph_context", {"entity": ASINOU, "max_hops": 4}),
    ("graph_context", {"entity": ASINOU, "limit": 0}),
    ("graph_communities", {"level": -1}),
)


@pytest.mark.parametrize(("name", "arguments"), WRONG, ids=lambda one: str(one)[:40])
def test_what_cannot_be_asked_is_refused_by_every_way(
    local: Client, over_mcp: Hosted, store: SearchStore, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(CrmRagError):
        getattr(local, name)(**arguments)
    assert over_mcp.error(name, dataset="sample", **arguments)
    reply = run_tool(StoreTools(store), name, arguments)
    assert reply.result is None and reply.text


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("drop_all", "{}", "no tool"),
        ("graph_search", "{", "no JSON"),
        ("graph_search", "[1]", "object"),
        ("graph_search", "{}", "query is missing"),
        ("graph_search", '{"query": "x", "sql": "DROP"}', "sql is unknown"),
        ("graph_context", '{"entity": 7}', "entity is not a text"),
    ],
)
def test_a_models_call_that_cannot_be_run_says_why_and_raises_nothing(
    store: SearchStore, name: str, arguments: str, why: str
) -> None:
    reply = run_tool(StoreTools(store), name, arguments)
    assert reply.result is None and why in reply.text


def test_definitions_are_those_of_openai_and_their_arguments_can_be_run(store: SearchStore) -> None:
    definitions = {one["function"]["name"]: one for one in tool_schemas()}
    assert list(definitions) == ["graph_search", "graph_context", "graph_communities"]
    for one in definitions.values():
        assert one["type"] == "function" and one["function"]["description"]
        jsonschema.Draft202012Validator.check_schema(one["function"]["parameters"])
    for name, arguments in CALLS:
        jsonschema.validate(arguments, definitions[name]["function"]["parameters"])
        assert run_tool(StoreTools(store), name, json.dumps(arguments)).result is not None
    for name, arguments in WRONG:  # what a schema can say, it says
        if arguments not in ({"query": " "}, {"query": "x", "category": "Boat"}, {"entity": "qqqq zzzz"}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(arguments, definitions[name]["function"]["parameters"])


def test_the_same_definitions_stand_in_mcp(over_mcp: Hosted) -> None:
    served = {one.name: one for one in over_mcp.run(over_mcp.client.list_tools).tools}
    for tool in TOOLS:
        assert tool.description in served[tool.name].description
        own = tool.schema()["function"]["parameters"]["properties"]
        told = served[tool.name].input_schema["properties"]
        assert {name: told[name].get("description") for name in own} == {
            name: one["description"] for name, one in own.items()
        }
