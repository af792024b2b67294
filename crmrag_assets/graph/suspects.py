"""Suspected merges: IRIs that stand for many things at once, because the id in them was empty or reused.

Three rules, with the constants of ``method.suspects``:

1. *reused*: more than ``single_values`` distinct values of a property that a thing has once (a birth, a production);
2. *empty id*: the IRI has an empty segment, and either carries at least ``empty_id_triples`` triples among which some
   property has unlike values, or has unlike values of a property that a thing has once;
3. *same empty id*: the IRI continues the inner empty segment (``…/object//``) of one found by the second rule.

A type, a museum or a place is pointed at by many and may end in ``/``, but has one name and one date: it is not found.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.vocabulary import Vocabulary
from crmrag_query.config.build import Suspects
from crmrag_query.graph.arrays import Ints, Longs

INNER_EMPTY = (
    r"^([A-Za-z][A-Za-z0-9+.-]*://[^/]+/(?:.*?[^:/]/)??/)"  # up to the first "//" that is no scheme's
)


@dataclass(frozen=True, slots=True)
class Suspect:
    """One suspected merge and why; ``triples`` counts its outgoing triples and literals."""

    node: int
    iri: str
    rule: str
    reason: str
    triples: int

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "node"}


def find_suspects(core: Core, vocabulary: Vocabulary, constants: Suspects) -> list[Suspect]:
    """All suspects in order of their IRIs."""
    outgoing = out_degrees(core)
    values = _values(core, vocabulary, constants)
    single = values.filter(pl.col("single"))
    found: dict[int, tuple[str, str]] = {}
    for node, prop, count in _worst(single.filter(pl.col("values") > constants.single_values)):
        found[node] = ("reused", _reason(count, core.terms.properties[prop]))
    empty = re.compile(constants.empty_id)
    many = values.filter(among("node", np.flatnonzero(outgoing >= constants.empty_id_triples)))
    for node, prop, count in _worst(pl.concat([many, single])):
        if empty.match(core.terms.nodes[node]):
            found[node] = ("empty id", _reason(count, core.terms.properties[prop]))
    _spread(core, found)
    return [
        Suspect(node, core.terms.nodes[node], *found[node], int(outgoing[node])) for node in sorted(found)
    ]


def out_degrees(core: Core) -> Longs:
    """Outgoing triples of each node with literals, without types; int64 [n]."""
    links = np.bincount(np.repeat(core.forward.row, np.diff(core.forward.ptr)), minlength=core.nodes)
    return links + np.bincount(core.literals["subject"].to_numpy(), minlength=core.nodes)


def _values(core: Core, vocabulary: Vocabulary, constants: Suspects) -> pl.DataFrame:
    """How many unlike values (more than one) a node has of a property: columns node, property, values, single.

    Literals count by language; values that are nodes only for properties that a thing has once.
    """
    single = vocabulary.properties_with(constants.single_valued, constants.single_valued)
    literals = (
        core.literals[_several(core.literals)]
        .lazy()
        .group_by("subject", "property", "lang")
        .agg(values=pl.col("value").n_unique())
        .group_by(node="subject", property="property")
        .agg(pl.col("values").max())
        .filter(pl.col("values") > 1)
        .collect()
    )
    rows = core.forward
    prop = np.repeat(np.arange(len(rows.prop) - 1, dtype=np.int32), np.diff(rows.prop))
    count = np.diff(rows.ptr).astype(np.uint32)
    keep = (count > 1) & np.isin(prop, single)
    links = pl.DataFrame({"node": rows.row[keep], "property": prop[keep], "values": count[keep]})
    both = pl.concat([literals.cast(links.schema), links])
    return both.with_columns(single=among("property", single)).sort("node", "property")


def _several(literals: pl.DataFrame) -> Longs:
    """Rows of literals that are not the only one of their subject and property; sorted by both."""
    subject, prop = literals["subject"].to_numpy(), literals["property"].to_numpy()
    as_before = np.append(False, (subject[1:] == subject[:-1]) & (prop[1:] == prop[:-1]))[: len(subject)]
    return np.flatnonzero(as_before | np.append(as_before[1:], False)[: len(subject)])


def _worst(values: pl.DataFrame) -> list[tuple[int, int, int]]:
    """Node, property and number of its most numerous unlike values, once for each node."""
    ordered = values.sort(["node", "values", "property"], descending=[False, True, False])
    return (
        ordered.unique("node", keep="first", maintain_order=True).select("node", "property", "values").rows()
    )


def _reason(count: int, iri: str) -> str:
    return f"{count} unlike values of {iri}"


def _spread(core: Core, found: dict[int, tuple[str, str]]) -> None:
    """Add the nodes that share an inner empty segment with one found by its empty id."""
    empty = [node for node, (rule, _) in found.items() if rule == "empty id"]
    prefixes = core.terms.nodes[sorted(empty)].str.extract(INNER_EMPTY).drop_nulls().unique().sort()
    for prefix in prefixes.to_list():
        for node in nodes_below(core.terms.nodes, prefix).tolist():
            found.setdefault(node, ("same empty id", f"continues {prefix}"))


def nodes_below(iris: pl.Series, prefix: str) -> Ints:
    """Numbers of the sorted IRIs that start with ``prefix``."""
    low = int(iris.search_sorted(prefix))
    high = int(iris.search_sorted(prefix + "\U0010ffff"))
    return np.arange(low, high, dtype=np.int32)
