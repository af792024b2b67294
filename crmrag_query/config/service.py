"""`service.yaml`: how the service bounds, admits and keeps what it is asked."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from crmrag_query.config.folders import part_file
from crmrag_query.config.reading import Record, read_part
from crmrag_query.config.sparql import SparqlConfig
from crmrag_query.config.types import Count


class Work(Record):
    """How much is done at once by one process: `reading` requests answered from the release alone, `asking` questions that
    wait for a language model. More wait, or are told to come back."""

    reading: Count
    asking: Count


class Bounds(Record):
    """What a request may be: bytes of its body, seconds in which the body must have come; requests `per_minute` and caller
    (0: any number), of which `burst` at once."""

    body_bytes: Count
    body_seconds: float = Field(gt=0)
    per_minute: int = Field(ge=0)
    burst: Count


class Kept(Record):
    """What is kept of answers and conversations: for so many days (0: for ever), and at most so many answers."""

    days: int = Field(ge=0)
    answers: Count
    turns: Count
    comment_characters: Count


class ServiceConfig(Record):
    """How the service runs. `origins`: web pages of other hosts that may call it; `heartbeat_seconds` of silence after which
    a stream says that it lives."""

    work: Work
    bounds: Bounds
    kept: Kept
    origins: tuple[str, ...]
    heartbeat_seconds: float = Field(gt=0)
    sparql: SparqlConfig


def load_service(folder: Path | str | None = None) -> ServiceConfig:
    """The configuration of the service; ConfigError names every mistake."""
    return read_part(ServiceConfig, part_file("service.yaml", folder))
