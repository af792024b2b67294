"""How read-only SPARQL is bounded; `sparql` of `service.yaml`."""

from __future__ import annotations

from pydantic import Field

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Count


class SparqlConfig(Record):
    """Bounds of a query: its `characters`, the `seconds` that it may run, the `rows` or triples that it may give. Releases of
    up to `in_memory_triples` are held in memory, larger ones on disk; `processes` run queries, each with `memory_bytes` at
    most."""

    seconds: float = Field(gt=0)
    rows: Count
    characters: Count
    in_memory_triples: Count
    processes: Count
    memory_bytes: Count
