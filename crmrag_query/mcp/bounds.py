"""How much one call of a tool gives: what a language model can take in. All are ours."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

SNIPPET = 300  # characters of a line of a document
LABEL = 160  # … of a name
ANSWER = 6_000  # … of an answer
DOCUMENT = 4_000  # … of an entity's document
PLAN = 4_000  # … of a plan; a larger one stands in the structured result alone
SPARQL = 4_000  # … of a plan's SPARQL query
CELL = 500  # … of a cell of a SPARQL result
TABLE = 20_000  # … of all rows, or triples, of a SPARQL result
STEP = 200  # … of a triple
SOURCES = 12  # sources of an answer: all that are cited, then others
TRIPLES = 4  # triples of a source; steps of the path that put a member into a set
TARGETS = 5  # entities shown of each relationship
NAMES = 10  # names of an entity
VALUES = 8  # values of a facet
FACETS = 8  # facets where none is asked for
EXAMPLES = 5  # example questions of a data set
EARLIER = 20  # earlier questions of a conversation

Offset = Annotated[int, Field(ge=0, le=10**9)]
Few = Annotated[int, Field(ge=1, le=50)]
Page = Annotated[int, Field(ge=1, le=50)]
Rows = Annotated[int, Field(ge=1, le=500)]
