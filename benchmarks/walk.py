"""Time of all Fundamental Relationships of a synthetic museum, against one NumPy sort of its triples.

    python benchmarks/walk.py [--entities 100000] [--triples 1500000] [--set fr76] [--chunks 1]

The museum is skewed as museums are: few places, types, materials and actors take most of the links, places and
concepts form trees, some objects have thousands of parts.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_query.config import load_relationships
from crmrag_query.graph.arrays import FLAG_ENTITY, Adjacency, Ints, rows_from_triples
from crmrag_query.ontology.load import Category, load_ontology
from crmrag_query.relationships.engine import from_set, make_plan, walk_blocks

SHARES = {
    Category.Thing: 0.5,
    Category.Event: 0.3,
    Category.Actor: 0.1,
    Category.Concept: 0.06,
    Category.Place: 0.04,
}
LINKS = (  # property, from, to, share of the triples, skew of the targets
    ("P108i", Category.Thing, Category.Event, 0.05, 0.0),
    ("P2", Category.Thing, Category.Concept, 0.18, 1.4),
    ("P2", Category.Event, Category.Concept, 0.06, 1.4),
    ("P2", Category.Actor, Category.Concept, 0.03, 1.4),
    ("P45", Category.Thing, Category.Concept, 0.07, 1.3),
    ("P14", Category.Event, Category.Actor, 0.06, 0.9),
    ("P7", Category.Event, Category.Place, 0.06, 1.2),
    ("P53", Category.Thing, Category.Place, 0.05, 1.2),
    ("P55", Category.Thing, Category.Place, 0.04, 1.3),
    ("P46", Category.Thing, Category.Thing, 0.05, 0.8),
    ("P62", Category.Thing, Category.Thing, 0.02, 1.0),
    ("P67", Category.Thing, Category.Thing, 0.04, 0.7),
    ("P138", Category.Thing, Category.Actor, 0.03, 1.0),
    ("P129", Category.Thing, Category.Concept, 0.05, 1.2),
    ("P130", Category.Thing, Category.Thing, 0.01, 0.5),
    ("P12", Category.Event, Category.Thing, 0.05, 0.8),
    ("P16", Category.Event, Category.Thing, 0.05, 0.8),
    ("P24", Category.Event, Category.Thing, 0.03, 0.3),
    ("P22", Category.Event, Category.Actor, 0.02, 1.2),
    ("P25", Category.Event, Category.Thing, 0.01, 0.5),
    ("P9", Category.Event, Category.Event, 0.01, 0.6),
    ("P107i", Category.Actor, Category.Actor, 0.01, 1.0),
    ("P74", Category.Actor, Category.Place, 0.01, 1.2),
    ("P127", Category.Concept, Category.Concept, 0.005, 1.0),
    ("P89", Category.Place, Category.Place, 0.005, 1.0),
)


@dataclass(frozen=True)
class Museum:
    adjacency: Adjacency
    triples: int


def skewed(random: np.random.Generator, nodes: Ints, size: int, skew: float) -> Ints:
    """Nodes drawn with weights 1/rank**skew."""
    weights = 1.0 / np.arange(1, len(nodes) + 1) ** skew
    cumulated = np.cumsum(weights)
    drawn: Ints = nodes[np.searchsorted(cumulated, random.random(size) * cumulated[-1])]
    return drawn


def museum(entities: int, triples: int, seed: int = 7) -> Museum:
    """The synthetic graph; each triple once, so that there are somewhat fewer than asked for."""
    random = np.random.default_rng(seed)
    kinds = random.choice([int(c) for c in SHARES], size=entities, p=list(SHARES.values())).astype(np.uint8)
    nodes = {category: np.flatnonzero(kinds == int(category)).astype(np.int32) for category in SHARES}
    codes = tuple(sorted({code for code, *_ in LINKS}))
    parts = []
    for code, here, there, share, skew in LINKS:
        size = int(triples * share)
        source, target = random.choice(nodes[here], size), skewed(random, nodes[there], size, skew)
        if here == there:
            source, target = _upwards(code, source, target)
        parts.append(np.stack([np.full(len(source), codes.index(code), np.int32), source, target]))
    prop, source, target = np.unique(np.concatenate(parts, axis=1), axis=1)
    adjacency = Adjacency(
        forward=rows_from_triples(prop, source, target, len(codes)),
        backward=rows_from_triples(prop, target, source, len(codes)),
        codes=codes,
        category=kinds,
        categories=kinds,
        flags=np.full(entities, FLAG_ENTITY, np.uint8),
    )
    return Museum(adjacency, len(prop))


def _upwards(code: str, source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Trees for what has one parent: parts of their lowest whole, all links from higher to lower numbers."""
    upwards = source > target
    source, target = source[upwards], target[upwards]
    if code == "P46":  # from the whole to its parts
        _, first = np.unique(source, return_index=True)
        return target[first], source[first]
    if code in ("P9", "P89", "P127"):
        _, first = np.unique(source, return_index=True)
        return source[first], target[first]
    return source, target


def sort_seconds(adjacency: Adjacency) -> float:
    """Seconds that NumPy takes to put the graph's triples in order, once."""
    rows = adjacency.forward
    prop = np.repeat(np.arange(len(adjacency.codes)), np.diff(rows.ptr[rows.prop])).astype(np.int32)
    source = np.repeat(rows.row, np.diff(rows.ptr))
    shuffle = np.random.default_rng(1).permutation(len(rows.val))
    prop, source, target = prop[shuffle], source[shuffle], rows.val[shuffle]
    begin = time.perf_counter()
    np.lexsort((target, source, prop))
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--triples", type=int, default=1_500_000)
    parser.add_argument("--set", default="fr76")
    parser.add_argument("--chunks", type=int, default=1, help="walk the sources in this many calls")
    options = parser.parse_args()
    made = museum(options.entities, options.triples)
    ontology, catalogue = load_ontology(), from_set(options.set, load_relationships()[options.set])
    sources: list[npt.NDArray[np.int32]] = np.array_split(
        np.arange(made.adjacency.nodes, dtype=np.int32), options.chunks
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    plan = make_plan(made.adjacency, ontology, catalogue)
    planned = time.perf_counter() - begin
    matches = sum(
        len(part)
        for some in sources
        for part in walk_blocks(made.adjacency, ontology, catalogue, some, plan=plan)
    )
    walked = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sort = sort_seconds(made.adjacency)
    print(
        f"{made.adjacency.nodes:,} entities, {made.triples:,} triples, {options.set}, {options.chunks} call(s)"
    )
    print(f"plan {planned:.2f} s, walk {walked:.2f} s, {matches:,} matches, {matches / walked / 1e6:.1f} M/s")
    print(f"one sort of the triples {sort:.2f} s: ratio {walked / sort:.1f}")
    print(f"peak memory {after / 1024:.0f} MiB, of which the walk added {(after - before) / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
