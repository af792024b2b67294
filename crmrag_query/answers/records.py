"""The answer as a record: what is said, from which sources, by which triples. The same in Python, JSON and on screen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


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
class Source:
    """A numbered source: an entity of the graph and the triples that the answer rests on."""

    n: int
    iri: str
    label: str
    category: str
    triples: tuple[SourceTriple, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: ``text`` cites ``sources`` as [n].

    ``mode``: the composition that retrieved; ``release``: the id of the release answered from; ``exhaustive``: the text
    states a whole set, not the best of a ranking; ``written_by``: the model, or "extractive"; ``notes``: what the reader
    should know, such as a model that failed.
    """

    question: str
    text: str
    sources: tuple[Source, ...]
    mode: str
    release: str
    exhaustive: bool
    written_by: str
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
