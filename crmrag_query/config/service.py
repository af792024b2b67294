"""`service.yaml`: how the service bounds, admits and keeps what it is asked, and how much a SPARQL query may take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from crmrag_query.config.reading import Count, NotNegative, Positive, Record, part_file, read_part


class SparqlConfig(Record):
    """Bounds of SPARQL queries.

    `seconds` that one may run, and wait for a free process; `rows` of a result, which is also the default; `characters` of a
    query, `depth` of its brackets, `result_characters` of all that it gives. `processes` run at once, one query each, with
    `memory_bytes` for it besides the data. Releases of up to `in_memory_triples` are held in memory by each process; for
    larger ones a store is built on disk, of which the `stores` that were opened last are kept.
    """

    seconds: Positive
    rows: Count
    characters: Count
    depth: Count
    result_characters: Count
    processes: Count
    memory_bytes: Count
    in_memory_triples: Count
    stores: Count


HOST = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]")


def _host(text: str) -> str:
    if not HOST.fullmatch(text.lower()):
        raise ValueError("no name of a host: without scheme, port and path, as in museum.example or [::1]")
    return text.lower()


Host = Annotated[str, AfterValidator(_host)]


class Work(Record):
    """How much is done at once by one process: `reading` requests answered from the release alone, `asking` questions that
    wait for a language model, `exporting` exports that are made or sent, `querying` SPARQL queries that run or wait for a
    process. More wait, or are told to come back. `seconds`: of a request in which no language model has a part, exports
    apart. `answer_seconds`: for which the answer to a question is given to the same question again (0: never)."""

    reading: Count
    asking: Count
    exporting: Count
    querying: Count
    seconds: Positive
    answer_seconds: NotNegative = 300


class Connections(Record):
    """How long a connection may take: `head_seconds` for a request's line and headers, `idle_seconds` until the next
    request, `write_seconds` in which who is sent something must take some of it; `grace_seconds` in which answers that have
    begun may end when the service does."""

    head_seconds: Positive
    idle_seconds: Count
    write_seconds: Positive
    grace_seconds: Count


class Bounds(Record):
    """What a request may be: bytes of its body, seconds in which the body must have come; characters of an export that it
    asks for; requests `per_minute` and caller (0: any number), of which `burst` at once; the `callers` whose rates are
    remembered."""

    body_bytes: Count
    body_seconds: Positive
    export_characters: Count
    per_minute: int = Field(ge=0)
    burst: Count
    callers: Count


class Kept(Record):
    """What is kept of answers and conversations: for so many days (0: for ever), at most so many answers, and of each so many
    `comments`. A writer waits `wait_seconds` for another one; what is too old is looked for every `sweep_seconds`."""

    days: int = Field(ge=0)
    answers: Count
    turns: Count
    comments: Count
    comment_characters: Count
    wait_seconds: Positive
    sweep_seconds: Positive


class McpConfig(Record):
    """How much a tool gives a language model at once: `sources` of an answer (all that are cited, and others up to so many),
    characters of an answer, of an entity's document, of all rows or triples of a SPARQL result."""

    sources: Count
    answer_characters: Count
    document_characters: Count
    table_characters: Count


class UploadsConfig(Record):
    """Documents that may be sent: to which `datasets`, of at most so many `megabytes` and `pages`; at most so many lie in an
    inbox (`waiting`). `build`: a build is started here for each; else a watch, or a person, takes them up."""

    datasets: tuple[str, ...] = ()
    megabytes: Positive = 50
    pages: Count = 2000
    waiting: Count = 1000
    build: bool = False


class ServiceConfig(Record):
    """How the service runs. `hosts` that it answers for (none: those of this machine where it listens on a loopback address,
    else any); `origins`: web pages of other hosts that may call it; `heartbeat_seconds` of silence after which a stream says
    that it lives."""

    hosts: tuple[Host, ...]
    origins: tuple[str, ...]
    heartbeat_seconds: Positive
    work: Work
    connections: Connections
    bounds: Bounds
    kept: Kept
    mcp: McpConfig
    sparql: SparqlConfig
    uploads: UploadsConfig = UploadsConfig()


def load_service(folder: Path | str | None = None) -> ServiceConfig:
    """The configuration of the service; ConfigError names every mistake."""
    return read_part(ServiceConfig, part_file("service.yaml", folder))
