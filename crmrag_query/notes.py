"""Notes for the reader of an answer that say what they are of, so that a page can tell them in its own language."""

from __future__ import annotations

from typing import Literal, Self

NoteKind = Literal[
    "model", "plan", "query", "tools", "themes", "steps", "analysis", "meaning", "search", "time",
    "stopped", "uncalled", "cut", "dropped", "uncited", "unsupported", "quality", "number", "unknown", "merged", "read",
    "only", "left_out",
]  # fmt: skip
"""``model``: the answer was made without it; ``plan``, ``query``, ``tools``, ``themes``, ``steps``, ``analysis``: what else a
language model did not do; ``meaning``: the encoder failed; ``search``: a channel did; ``time``: a step took too long;
``stopped``: a model that called tools; ``uncalled``: one that called none; ``cut``, ``dropped``, ``uncited``,
``unsupported``, ``number``, ``quality``: what is wrong with what it wrote; ``unknown``: words that it did not understand;
``merged``: what may be several things under one IRI; ``read``: what a machine read from pages; ``only``, ``left_out``: what
the question says that it is asked of, or not."""
PASSING: frozenset[NoteKind] = frozenset(
    {"model", "plan", "query", "tools", "themes", "steps", "analysis", "meaning", "search", "time"}
)
"""Of what failed and may succeed at another time."""


class Note(str):
    """A note in English, whole, with its ``kind`` and the ``values`` that a sentence of that kind tells in any language;
    ``passing``: the same question may be answered without it at another time."""

    kind: NoteKind
    values: dict[str, str]
    passing: bool

    def __new__(cls, text: str, kind: NoteKind, passing: bool | None = None, **values: object) -> Self:
        made = super().__new__(cls, text)
        made.kind, made.values = kind, {name: str(value) for name, value in values.items()}
        made.passing = kind in PASSING if passing is None else passing
        return made
