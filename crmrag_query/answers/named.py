"""The smallest parts of an answer: an entity by name, and a triple in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceTriple:
    """A triple that supports an answer, as IRIs (or a literal's text) and as words; ``graphs``: who says so."""

    s: str
    p: str
    o: str
    s_label: str
    p_label: str
    o_label: str
    graphs: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = f"  [{', '.join(self.graphs)}]" if self.graphs else ""
        return f"{self.s_label} — {self.p_label} — {self.o_label}{said}"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity by IRI and label."""

    iri: str
    label: str
