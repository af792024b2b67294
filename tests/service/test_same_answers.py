"""However one asks, the answer is the same: our client in process and over HTTP, the official clients of OpenAI and of MCP.

The service and the MCP servers are processes of their own, as people run them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client.stdio import stdio_client

from crmrag_query import AsyncClient, Done
from crmrag_query.answers.records import Answer
from tests.query.mcp.conftest import Hosted, hosted
from tests.query.mcp.conftest import command as mcp_command
from tests.support.service import openai_client, process

if TYPE_CHECKING:
    from openai import OpenAI

pytestmark = pytest.mark.slow

SUITE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Which churches were built before 1200?", ()),
    ("How many churches are in the Troodos mountains?", ()),
    ("When was the church of Asinou built?", ()),
    ("Who paid for the first paintings of Asinou?", ()),
    ("Who painted it?", ("When was the church of Asinou built?",)),
    ("Which church has the most paintings?", ()),
    ("Was Asinou built before 1200?", ()),
    ("How many submarines are there?", ()),
    ("What is the phone number of the bishop?", ()),
    ("Welche Kirchen wurden vor 1200 gebaut?", ()),
    ("Quelles églises ont été construites avant 1200 ?", ()),
    ("Ποιες εκκλησίες χτίστηκαν πριν το 1200;", ()),
)
REFUSED = frozenset({"How many submarines are there?", "What is the phone number of the bishop?"})


@dataclass(frozen=True)
class Said:
    """What every interface tells of an answer; ``cited``: IRIs of the cited sources, by number."""

    text: str
    size: int | None
    cited: tuple[str, ...]
    exhaustive: bool
    refused: bool


Way = Callable[[str, tuple[str, ...]], Said]


def of_ours(answer: Answer) -> Said:
    return Said(
        answer.text, None if answer.set is None else answer.set.size,
        tuple(source.iri for source in answer.sources if source.cited), answer.exhaustive, answer.refused,
    )  # fmt: skip


def of_openai(content: str, reply: Any) -> Said:
    """The text stands before the sources and notes."""
    text = content.partition("\n\nSources:\n")[0].partition("\n\nNote: ")[0]
    told = reply.crmrag
    return Said(text, told["set_size"], tuple(reply.citations), told["exhaustive"], told["refused"])


def of_mcp(view: dict[str, Any]) -> Said:
    return Said(
        view["text"], None if view["set"] is None else view["set"]["size"],
        tuple(source["iri"] for source in view["sources"] if source["cited"]), view["exhaustive"], view["refused"],
    )  # fmt: skip


def by_ours(portal: Any, client: AsyncClient) -> tuple[Way, Way]:
    """Asking for a whole answer, and for a stream."""

    async def streamed(question: str, earlier: tuple[str, ...]) -> Answer:
        [answer] = [one.answer async for one in client.stream(question, earlier) if isinstance(one, Done)]
        return answer

    def ask(question: str, earlier: tuple[str, ...]) -> Said:
        return of_ours(portal.call(client.ask, question, earlier))

    def stream(question: str, earlier: tuple[str, ...]) -> Said:
        return of_ours(portal.call(streamed, question, earlier))

    return ask, stream


def by_openai(client: OpenAI) -> tuple[Way, Way]:
    """The same."""

    def messages(question: str, earlier: tuple[str, ...]) -> list[Any]:
        return [{"role": "user", "content": text} for text in (*earlier, question)]

    def ask(question: str, earlier: tuple[str, ...]) -> Said:
        reply: Any = client.chat.completions.create(model="sample", messages=messages(question, earlier))
        return of_openai(reply.choices[0].message.content, reply)

    def stream(question: str, earlier: tuple[str, ...]) -> Said:
        asked = messages(question, earlier)
        chunks: list[Any] = list(client.chat.completions.create(model="sample", messages=asked, stream=True))
        content = "".join(one.choices[0].delta.content or "" for one in chunks)
        return of_openai(content, chunks[-1])

    return ask, stream


def by_mcp(host: Hosted) -> Way:
    return lambda question, earlier: of_mcp(host.found("ask", question=question, earlier=list(earlier)))


@pytest.fixture(scope="module")
def ways(data: Path, forked: Path) -> Iterator[dict[str, Way]]:
    """Every way to ask, by name."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        address = stack.enter_context(process(data, "--no-history", forked=forked)).address

        def opened(target: Path | str) -> AsyncClient:
            return stack.enter_context(portal.wrap_async_context_manager(AsyncClient(target)))

        def connected(transport: Any) -> Way:
            return by_mcp(stack.enter_context(hosted(transport)))

        here, there = by_ours(portal, opened(data)), by_ours(portal, opened(address))
        chat = stack.enter_context(openai_client(address))
        whole, streamed = by_openai(chat)
        yield {
            "in process": here[0],
            "in process, streamed": here[1],
            "over HTTP": there[0],
            "over HTTP, streamed": there[1],
            "OpenAI's client": whole,
            "OpenAI's client, streamed": streamed,
            "MCP over HTTP": connected(f"{address}/mcp"),
            "MCP over stdio, of the data": connected(stdio_client(mcp_command(str(data)))),
            "MCP over stdio, of the service": connected(stdio_client(mcp_command(address))),
        }


@pytest.mark.parametrize(("question", "earlier"), SUITE, ids=[question for question, _ in SUITE])
def test_every_interface_gives_the_same_answer(
    ways: dict[str, Way], question: str, earlier: tuple[str, ...]
) -> None:
    """Text, size of the set, cited sources, and whether it is a whole set or a refusal."""
    found = {name: way(question, earlier) for name, way in ways.items()}
    wanted = found["in process"]
    assert {name: said for name, said in found.items() if said != wanted} == {}
    assert wanted.text and wanted.refused is (question in REFUSED)


def test_the_suite_asks_for_what_there_is(ways: dict[str, Way]) -> None:
    """So that it does not agree on nothing: sets with and without members, facts with sources, refusals, four languages."""
    found = {question: ways["in process"](question, earlier) for question, earlier in SUITE}
    assert {said.size for said in found.values()} >= {None, 1, 4, 23}
    assert sum(bool(said.cited) for said in found.values()) >= 7
    assert sum(said.exhaustive for said in found.values()) >= 5
    before_1200 = [said for question, said in found.items() if said.size == 4 and said.exhaustive]
    assert len({said.text for said in before_1200}) == 4 and len({said.cited for said in before_1200}) == 1
