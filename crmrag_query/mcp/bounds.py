"""How much one call of a tool gives: what a language model can take in. All are ours.

How long whole results are is configuration (``mcp`` of ``service.yaml``), as models differ in what they take in. These are
not: they keep a single name, line or list from filling a result, whichever the model.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

SNIPPET = 300  # characters of a line of a document
LABEL = 160  # … of a name
PLAN = 4_000  # … of a plan; a larger one stands in the structured result alone
SPARQL = 4_000  # … of a plan's SPARQL query
CELL = 500  # … of a cell of a SPARQL result
STEP = 200  # … of a triple
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
