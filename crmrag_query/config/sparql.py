"""`sparql` in `service.yaml`: how much a SPARQL query may take."""

from __future__ import annotations

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Count, Positive


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
