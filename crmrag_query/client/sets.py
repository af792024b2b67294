"""Whole sets as the client gives them: the set of a plan, its facets, an export."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

from crmrag_query.client.shown import Row, Shown
from crmrag_query.errors import QuestionError
from crmrag_query.sets import records


class Planned(Protocol):
    """Anything that comes with a plan: the set of an answer, a facet's value, an event."""

    @property
    def plan(self) -> Mapping[str, Any]: ...


class WithSet(Protocol):
    """An answer, whose set has a plan."""

    @property
    def set(self) -> records.AnswerSet | None: ...


class Dumped(Protocol):
    """A plan as a record."""

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


PlanLike = Mapping[str, Any] | Dumped | Planned | WithSet
"""A plan as plain values or as a ``crmrag_query.plans.records.Plan``, or what has one."""


def plan_of(one: object) -> dict[str, Any]:
    """The plan as plain values. Raises QuestionError for what has none."""
    if isinstance(one, Mapping):
        return dict(one)
    dumped = getattr(one, "model_dump", None)
    if callable(dumped):
        found: dict[str, Any] = dumped(mode="json")
        return found
    for name in ("plan", "set"):
        inner = getattr(one, name, None)
        if inner is not None:
            return plan_of(inner)
    raise QuestionError(
        f"{type(one).__name__} has no plan.", "Give a plan, or the set of an answer that has one."
    )


@dataclass(frozen=True, slots=True, repr=False)
class AnswerSet(Shown, records.AnswerSet):
    """The exact set of a plan: see ``crmrag_query.sets.records.AnswerSet``; its table is the page's members."""

    COLUMNS: ClassVar[dict[str, type]] = {
        "label": str, "value": str, "date": str, "types": str, "iri": str, "image": str,
    }  # fmt: skip

    @classmethod
    def of(cls, made: records.AnswerSet) -> AnswerSet:
        """A set of the engine."""
        return cls(**{one.name: getattr(made, one.name) for one in fields(records.AnswerSet)})

    def head(self) -> str:
        return self.text

    def rows(self) -> Sequence[Row]:
        return [
            (one.label, one.shown, one.date, ", ".join(kind.label for kind in one.types), one.iri, one.image)
            for one in self.members
        ]

    def table(self) -> list[dict[str, str]]:
        """The page's rows of a ranking, groups, a table, pairs or a comparison, by column; none for other sets."""
        rows = self.value if isinstance(self.value, tuple) else ()
        names = [
            name if self.columns.index(name) == at else f"{name} {at + 1}"
            for at, name in enumerate(self.columns)
        ]
        return [{name: cell.label for name, cell in zip(names, row, strict=True)} for row in rows]


@dataclass(frozen=True, slots=True, repr=False)
class Facets(Shown, records.Facets):
    """Facets of a set: see ``crmrag_query.sets.records.Facets``; its table is their values."""

    COLUMNS: ClassVar[dict[str, type]] = {"facet": str, "value": str, "count": int, "iri": str}

    @classmethod
    def of(cls, made: records.Facets) -> Facets:
        """Facets of the engine."""
        return cls(**{one.name: getattr(made, one.name) for one in fields(records.Facets)})

    def head(self) -> str:
        return f"{len(self.facets)} facets of {self.size} members"

    def rows(self) -> Sequence[Row]:
        return [
            (facet.label, value.label, value.count, value.iri)
            for facet in self.facets
            for value in facet.values
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Choices(Shown, records.Choices):
    """What a part of a plan may be set to: see ``crmrag_query.sets.records.Choices``."""

    COLUMNS: ClassVar[dict[str, type]] = {"label": str, "kind": str, "count": int, "value": str}

    @classmethod
    def of(cls, made: records.Choices) -> Choices:
        """Choices of the engine."""
        return cls(made.choices, made.total, made.size)

    def head(self) -> str:
        return f"{self.total} choices"

    def rows(self) -> Sequence[Row]:
        return [(one.label, one.kind, one.count, one.value) for one in self.choices]


@dataclass(frozen=True, slots=True, repr=False)
class Marks(Shown, records.Marks):
    """Where and when the members of a set were: see ``crmrag_query.sets.records.Marks``; its table has a row for each."""

    COLUMNS: ClassVar[dict[str, type]] = {
        "label": str, "begin": int, "end": int, "place": str, "lat": float, "lon": float, "iri": str,
    }  # fmt: skip

    @classmethod
    def of(cls, made: records.Marks) -> Marks:
        """Marks of the engine."""
        return cls(**{one.name: getattr(made, one.name) for one in fields(records.Marks)})

    def head(self) -> str:
        more = f"; {self.left} more are not told" if self.left else ""
        return f"{self.placed} of {self.size} members have a place, {self.dated} a date{more}"

    def rows(self) -> Sequence[Row]:
        return [
            (label, begin, end, *_spot(None if at is None else self.places[at]), iri)
            for iri, label, begin, end, at in zip(
                self.iris, self.labels, self.begin, self.end, self.place, strict=True
            )
        ]


def _spot(spot: records.Spot | None) -> Row:
    return (spot.label, spot.lat, spot.lon) if spot else ("", None, None)


@dataclass(frozen=True, slots=True, repr=False)
class Export(Shown):
    """A whole set as a file: its text, its media type and a name for it."""

    text: str
    media_type: str
    name: str
    dataset: str
    release: str

    def head(self) -> str:
        return f"{self.name}: {len(self.text)} characters of {self.media_type.partition(';')[0]}"

    def save(self, path: str | os.PathLike[str] = ".") -> Path:
        """Write it to ``path``, or under its name into the folder ``path``; gives the file's path."""
        given = Path(path)
        target = given / self.name if given.is_dir() else given
        target.write_text(self.text, encoding="utf-8", newline="")
        return target


@dataclass(frozen=True, slots=True, repr=False)
class PlanFound(Shown):
    """The plan that a question becomes, None where it becomes none; ``exhaustive``: it says all that was asked; ``unknown``:
    words that it passed over."""

    plan: dict[str, Any] | None = field(hash=False)
    title: str
    chips: tuple[records.Chip, ...]
    exhaustive: bool
    unknown: tuple[str, ...]
    language: str

    COLUMNS: ClassVar[dict[str, type]] = {"part": str, "path": str, "removable": bool}

    def head(self) -> str:
        return self.title or "no plan"

    def rows(self) -> Sequence[Row]:
        return [(chip.label, chip.path, chip.removable) for chip in self.chips]


@dataclass(frozen=True, slots=True, repr=False)
class PlanEdited(Shown):
    """A plan that was checked, in words, part by part and as SPARQL; ``changed``: the path of the part that was set or
    added, "" for none."""

    plan: dict[str, Any] = field(hash=False)
    title: str
    chips: tuple[records.Chip, ...]
    sparql: str
    changed: str = ""

    COLUMNS: ClassVar[dict[str, type]] = {"part": str, "path": str, "removable": bool}

    def head(self) -> str:
        return self.title

    def rows(self) -> Sequence[Row]:
        return [(chip.label, chip.path, chip.removable) for chip in self.chips]
