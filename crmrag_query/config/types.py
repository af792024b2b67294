"""Value types that several parts of the configuration share."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

FORBIDDEN_IN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
"""What the production IRIREF of SPARQL 1.1 and of N-Triples excludes."""

CategoryName = Literal["Thing", "Actor", "Place", "Event", "Concept", "Time"]

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Codes = tuple[str, ...]
"""Codes of classes or properties: `E22`, `P108i`."""
Properties = tuple[str, ...]
"""Codes of CRM properties, or IRIs of other vocabularies' properties; their order is their priority."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]
