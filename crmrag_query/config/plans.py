"""Bounds of plans, and what tells that two entities are the same."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Count, Pattern, Properties


def _with_id(pattern: str) -> str:
    if "id" not in re.compile(pattern).groupindex:
        raise ValueError("the part that tells entries apart must be named: (?P<id>…)")
    return pattern


class PlansConfig(Record):
    """Bounds of plans and of their execution (all ours), and what identity rests on.

    `deepest`: plans within plans, an `either` counting as one; `largest`: characters of JSON that are read; `most_rows`: rows
    that a table may have (a few hundred megabytes at work); `block_rows`: rows in a block of those that stream; `kept_ways`:
    ways whose routes over a data set are kept. `same_properties`: properties between entities that are the same; `same_iris`:
    IRIs of authorities, one of which two entities share that are the same.
    """

    deepest: Count = 5
    largest: Count = 1_000_000
    most_rows: Count = 5_000_000
    block_rows: Count = 65_536
    kept_ways: Count = 1000
    same_properties: Properties = (
        "http://www.w3.org/2002/07/owl#sameAs",
        "http://www.w3.org/2004/02/skos/core#exactMatch",
        "http://schema.org/sameAs",
        "https://schema.org/sameAs",
    )
    same_iris: tuple[Annotated[Pattern, AfterValidator(_with_id)], ...] = (
        r"https?://vocab\.getty\.edu/(page/)?ulan/(?P<id>\d+)",
        r"https?://(www\.)?wikidata\.org/(entity|wiki)/(?P<id>Q\d+)",
    )
