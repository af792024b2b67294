"""The order of a set's members, vectorised: by label, by date, by value."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.graph.graph import language_matches
from crmrag_query.graph.schema import open_table
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.world import ranges
from crmrag_query.retrieval.tokenizer import fold
from crmrag_query.sets.records import Page

_NUMBER = re.compile(r"(\d+)")
UNDATED = np.iinfo(np.int64).max


def order_of(release: Release, outcome: Outcome, page: Page, language: str) -> Longs:
    """Places of ``outcome.members`` in the order that the page asks for, int64; where it asks for none, of a ranking as it
    ranks, of others those with names first.

    Raises QuestionError for an order by value of a set that has none.
    """
    count = len(outcome.members)
    if page.sort == "label" and count > release.method.sets.limits.sorted:
        return _by_letters(release, outcome.members, page.descending)
    if page.sort == "label":
        keys = [_natural(label) for label in labels_of(release, outcome.members, language)]
        found = sorted(range(count), key=keys.__getitem__, reverse=page.descending)
        return np.array(found, np.int64)
    if page.sort == "date":
        return _by(begins_of(release, outcome.members), page.descending)
    if page.sort == "value":
        if outcome.values is None:
            raise QuestionError("The members of this set have no values.", "Sort by label or date.")
        return _by(np.asarray(outcome.values), page.descending)
    order = np.arange(count, dtype=np.int64) if outcome.values is not None else _named_first(release, outcome)
    return order[::-1] if page.descending else order


def _named_first(release: Release, outcome: Outcome) -> Longs:
    """In the order of the data, but those that the data gives a name before those called by their role or IRI."""
    unnamed = (release.graph.flags[outcome.members] & FLAG_LABELLED) == 0
    return np.argsort(unnamed, kind="stable").astype(np.int64)


def _by(values: Longs, descending: bool) -> Longs:
    """Ascending or descending, equal ones as they were, what has no value last."""
    lacking = values == UNDATED
    keys = np.where(lacking, UNDATED, -values) if descending else values
    return np.argsort(keys, kind="stable").astype(np.int64)


def _by_letters(release: Release, nodes: Ints, descending: bool) -> Longs:
    """By display label, small letters, without a look at numbers: a second for a million."""
    import pyarrow.compute as pc

    labels = pc.utf8_lower(release.graph.display_labels.take(pa.array(nodes)))
    table = pa.table({"label": labels, "place": np.arange(len(nodes))})
    keys = [("label", "descending" if descending else "ascending"), ("place", "ascending")]
    return np.asarray(pc.sort_indices(table, sort_keys=keys), np.int64)


def _natural(label: str) -> tuple[tuple[bool, str | int], ...]:
    """Mural 2 before Mural 10, letters without accents and case."""
    parts = _NUMBER.split(fold(label))
    return tuple((True, part) if at % 2 == 0 else (False, int(part[:18])) for at, part in enumerate(parts))


def labels_of(release: Release, nodes: Ints, language: str) -> list[str]:
    """Labels of many nodes, each in the language where it has one there, else its display label."""
    graph = release.graph
    shown: list[str] = graph.display_labels.take(pa.array(nodes)).to_pylist()
    if not language or len(nodes) == 0:
        return shown
    ptr, _ = release.world.names
    table = open_table(graph.folder, "labels")
    count = ptr[nodes.astype(np.int64) + 1] - ptr[nodes]
    rows = pa.array(ranges(ptr[nodes], count))
    owner = np.repeat(np.arange(len(nodes)), count)
    tags = table.column("lang").take(rows).to_pylist()
    fits = np.array([language_matches(tag, language) for tag in tags], bool)
    places, first = np.unique(owner[fits], return_index=True)
    texts = table.column("text").take(rows.filter(pa.array(fits))).take(pa.array(first)).to_pylist()
    for place, text in zip(places.tolist(), texts, strict=True):
        shown[place] = text
    return shown


def begins_of(release: Release, nodes: Ints) -> Longs:
    """First day that is known of each node, int64; ``UNDATED`` for none.

    By the relationships that date its Fundamental Category (``retrieval.dated``), the first that has one; where only
    an end is known, that.
    """
    dates, found = release.dates, np.full(len(nodes), UNDATED, np.int64)
    ordered = np.argsort(nodes, kind="stable")
    ascending = nodes[ordered]
    categories = release.graph.category_of_node[nodes]
    for name, relationships in release.method.retrieval.dated.relationships.items():
        own = categories == int(Category[name])
        for relationship in relationships if own.any() else ():
            if relationship not in dates.relationships:
                continue
            number = dates.relationships.index(relationship)
            rows = slice(int(dates.ptr[number]), int(dates.ptr[number + 1]))
            held = np.isin(dates.entity[rows], nodes)
            entity, begin, end = (column[rows][held] for column in (dates.entity, dates.begin, dates.end))
            day = np.where(begin == OPEN_BEGIN, end, begin).astype(np.int64)
            known = day != OPEN_END
            place = ordered[np.searchsorted(ascending, entity[known])]
            free = own[place] & (found[place] == UNDATED)
            found[place[free]] = day[known][free]
    return found
