"""Columns of a set that one may choose: what relations lead to from its members, as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Plan, Way, read_plan
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import World
from crmrag_query.sets.build import Reader
from crmrag_query.sets.records import TELLING, AnswerSet, Columns, SetColumn
from crmrag_query.timing import check

BETWEEN = "; "


def columns(release: Release, plan: Plan, language: str = "en", name: str = "") -> Columns:
    """The columns that a plan's members can have, those that most tell first; ``name``: of the data set.

    Raises QuestionError as `execute`.
    """
    members = members_of(release[World], plan)
    return Columns(len(members), offered(release, members, language), release.id, name)


def with_columns(release: Release, made: AnswerSet, keys: Sequence[str]) -> AnswerSet:
    """A set whose members have the columns of these keys, or `TELLING` for those that tell the whole set's members apart."""
    graph = release[Graph]
    whole = members_of(release[World], read_plan(made.plan)) if TELLING in keys else np.empty(0, np.int32)
    chosen = ColumnReader(Reader(release, made.language), whole, tuple(keys))
    nodes = [node for one in made.members if (node := graph.node(one.iri)) is not None]
    members = (
        replace(one, columns=texts) for one, texts in zip(made.members, chosen.texts(nodes), strict=True)
    )
    return replace(made, members=tuple(members), chosen=chosen.labels)


def offered(release: Release, members: Ints, language: str) -> tuple[SetColumn, ...]:
    """Columns that any of the first members has a value of: those of the configured order, then by how many have one."""
    config, relations = release.method.sets.columns, release.method.relations
    looked_at = members[: config.members]
    present = np.bitwise_or.reduce(release[Graph].category_of_node[looked_at], initial=0)
    found: list[SetColumn] = []
    for key, relation in relations.items():
        reaches = relation.paths or relation.relationships
        if (
            key in config.hidden
            or not reaches
            or not any(int(Category[c]) & int(present) for c in relation.domain)
        ):
            continue
        owner, cell = _led_to(release, key, looked_at)
        if len(cell):
            label = relation.label(language) or key
            found.append(SetColumn(key, label, len(np.unique(owner)), len(np.unique(cell))))
    first = {key: at for at, key in enumerate(config.order)}
    found.sort(key=lambda one: (first.get(one.key, len(first)), -one.members, one.key))
    chosen = [
        one.key
        for one in found
        if one.key in first and one.values > 1 and one.members >= config.share * len(looked_at)
    ][: config.first]
    return tuple(replace(one, telling=one.key in chosen) for one in found)


@dataclass
class ColumnReader:
    """Reads the chosen columns of members; ``keys``: of columns, or `TELLING` for those that tell ``members`` apart.

    Raises QuestionError for a key that is no relation.
    """

    reader: Reader
    members: Ints
    keys: tuple[str, ...]
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        release, language = self.reader.release, self.reader.language
        if TELLING in self.keys:
            telling = [one.key for one in offered(release, self.members, language) if one.telling]
            given = [key for key in self.keys if key != TELLING]
            self.keys = tuple(dict.fromkeys([*telling, *given]))
        relations = release.method.relations
        unknown = next((key for key in self.keys if key not in relations), None)
        if unknown is not None:
            raise QuestionError(
                f"There is no column {unknown[:60]!r}.",
                "client.columns, or `crmrag set` with --columns list, tells those that this set has.",
            )
        self.labels = tuple(relations[key].label(language) or key for key in self.keys)

    def texts(self, nodes: Sequence[int]) -> list[tuple[str, ...]]:
        """For each node the text of each column, several values with "; " between them."""
        rows: list[list[str]] = [[] for _ in nodes]
        many = np.array(nodes, np.int32)
        for key in self.keys:
            check()
            values: list[dict[str, None]] = [{} for _ in nodes]
            owner, cell = _led_to(self.reader.release, key, many)
            for at, number in zip(owner.tolist(), cell.tolist(), strict=True):
                values[at][self.reader.cell(number).label] = None
            for row, found in zip(rows, values, strict=True):
                row.append(BETWEEN.join(found))
        return [tuple(row) for row in rows]


def _led_to(release: Release, key: str, nodes: Ints) -> tuple[Longs, Longs]:
    """(place of the node, cell) of what a relation leads to; nothing where it is more than is walked at once."""
    try:
        found = pairs(release[World], Way(relations=(key,), direct=True), nodes)
    except QuestionError:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return found.index, found.cell
