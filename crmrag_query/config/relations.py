"""Relations as questions speak of them ("born in", "made of"): how data states each, and what it is called.

A relation leads from a *domain* end to a *range* end: works *painted by* a painter. What a data set's model looks like is
a matter of its paths, which are alternatives. By which words it is asked for stands in `config/words`; a relation of a
project's own may hold `words` by language.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from crmrag_query.config.reading import CategoryName, Record

Value = Literal["entity", "date", "number", "text"]


def _steps(value: Any) -> Any:
    """The steps of a text; relationships were once written with a bar between them."""
    return [step for step in value.split() if step != "|"] if isinstance(value, str) else value


Step = Annotated[str, StringConstraints(pattern=r"^\^?[^\s^*]+\*?$")]
"""One step of a path; `crmrag_query.relationships.catalogue` tells how it is written."""
Path = Annotated[tuple[Step, ...], BeforeValidator(_steps), Field(min_length=1)]
"""Steps of a path; in the file between blanks: ``P108i P14``."""


class LiteralEnds(Record):
    """Steps after any of the relation's paths to the literals that a person reads, alternatives, the first is preferred.

    Of a date: where its span begins and ends. ``shown`` tells which of both is the date of a list, a table or an order: a
    birth's is its begin, a death's its end. Of what has a number or a text: ``value``; of a quantity also its ``unit``.
    """

    begin: tuple[Path, ...] = ()
    end: tuple[Path, ...] = ()
    value: tuple[Path, ...] = ()
    unit: tuple[Path, ...] = ()
    shown: Literal["begin", "end", "value"] = "value"


class Relation(Record):
    """One relation; ``labels`` read from the domain, ``inverse`` from the range, by language.

    ``paths`` of a date lead to the node that holds it (the time-span), those of a text or number to the node or literal.
    ``relationships`` are ids of Fundamental Relationships that say just this, in any set. The range end is of one of
    ``classes`` (codes or IRIs, with their sub-classes) or has one of ``types`` (P2: IRIs, or names as the type's label or the
    last part of its IRI says them), and is of none of ``not_classes``, where these are given. A relation without paths
    and relationships is known in words only.
    """

    domain: tuple[CategoryName, ...] = Field(min_length=1)
    range: tuple[CategoryName, ...] = ()
    value: Value = "entity"
    paths: tuple[Path, ...] = ()
    relationships: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    not_classes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    literals: LiteralEnds = LiteralEnds()
    labels: dict[str, str]
    inverse: dict[str, str]
    words: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def label(self, language: str, inverse: bool = False) -> str:
        """What it is called from its domain, or ``inverse`` from its range, in a language, else in English; "" for none."""
        labels = self.inverse if inverse else self.labels
        return labels.get(language) or labels.get("en", "")

    @property
    def direct(self) -> tuple[Path, ...]:
        """The paths without last steps that gather what lies around the end: the birthplace, not its country too."""
        found = []
        for path in self.paths:
            kept = len(path)
            while kept > 1 and path[kept - 1].endswith("*"):
                kept -= 1
            found.append(path[:kept])
        return tuple(dict.fromkeys(found))

    def literal_paths(
        self, which: Literal["begin", "end", "value", "unit", "shown"] = "shown"
    ) -> tuple[Path, ...]:
        """Whole paths to the literals, the preferred way of ending first."""
        return tuple((*path, *tail) for tail in self.literal_tails(which) for path in self.direct)

    def literal_tails(
        self, which: Literal["begin", "end", "value", "unit", "shown"] = "shown"
    ) -> tuple[Path, ...]:
        """Paths from what the relation leads to on to its literals, the preferred one first."""
        chosen = self.literals.shown if which == "shown" else which
        tails: tuple[Path, ...] = getattr(self.literals, chosen)
        return tails


WITH_IRIS = ("paths", "classes", "not_classes", "types", "literals")


class RelationsPart(Record):
    """`relations.yaml`: relations by id; an earlier one is preferred where phrases and data tell no difference.

    ``prefixes`` shorten IRIs of paths in the file only: `rdf:value`.
    """

    prefixes: dict[str, str] = Field(default_factory=dict)
    relations: dict[str, Relation]

    @model_validator(mode="before")
    @classmethod
    def _whole_iris(cls, values: Any) -> Any:
        prefixes = values.get("prefixes") if isinstance(values, dict) else None
        relations = values.get("relations") if isinstance(values, dict) else None
        if not isinstance(prefixes, dict) or not isinstance(relations, dict):
            return values
        written = re.compile(r"(?<!\S)(\^?)(" + "|".join(map(re.escape, prefixes)) + r"):(?=[^/])")

        def whole(value: Any) -> Any:
            if isinstance(value, list):
                return [whole(item) for item in value]
            if isinstance(value, dict):
                return {key: whole(item) for key, item in value.items()}
            return written.sub(lambda m: m[1] + prefixes[m[2]], value) if isinstance(value, str) else value

        def expanded(entry: Any) -> Any:
            if not isinstance(entry, dict):
                return entry
            return {key: whole(value) if key in WITH_IRIS else value for key, value in entry.items()}

        return {**values, "relations": {id: expanded(entry) for id, entry in relations.items()}}
