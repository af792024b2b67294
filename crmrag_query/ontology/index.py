"""`config/ontology/index.yaml`: how the tables are joined, and what they do not say."""

from __future__ import annotations

import re
from functools import cached_property

from pydantic import Field, field_validator

from crmrag_query.config.reading import Record


class Index(Record):
    """Order of the tables, namespaces of the CRM family, symmetric properties and corrected labels."""

    tables: tuple[str, ...] = ()
    namespaces: dict[str, str] = Field(default_factory=dict)
    symmetric: tuple[str, ...] = ()
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)

    @field_validator("namespaces")
    @classmethod
    def _compiles(cls, namespaces: dict[str, str]) -> dict[str, str]:
        for family, pattern in namespaces.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"the pattern of {family} is no regular expression: {error}") from None
        return namespaces

    @cached_property
    def _patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        return tuple((family, re.compile(pattern)) for family, pattern in self.namespaces.items())

    def family(self, namespace: str) -> str:
        """The family that a namespace belongs to, "" for none."""
        return next((family for family, pattern in self._patterns if pattern.fullmatch(namespace)), "")
