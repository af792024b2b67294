"""Ways that occur in the data between kinds of nodes, with their words: the curated relations, and chains of properties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from staged.language import language, local_words, vocabulary

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Way
from crmrag_query.plans.ways import leading_to
from crmrag_query.plans.world import Mask, World
from crmrag_query.timing import check

LONGEST = 4  # steps of a chain; longer ones are the curated relations'
HALF = 2
MOST_HALVES = 4000
MOST_CHAINS = 300
Move = tuple[str, bool]
"""A property by code or IRI, and whether it is followed from subject to object."""
Chain = tuple[Move, ...]


@dataclass(frozen=True)
class Edge:
    """A way from a head to what it is tied to, in the direction from the head.

    ``stems``: by which it is asked for; ``cost``: how unlikely it is to be meant; ``far``: mask of the categories that it
    leads to; ``value``: what it ends in; ``agent``: it ends at who carried something out.
    """

    way: Way
    name: str
    stems: frozenset[str]
    cost: float
    far: int
    value: str = "entity"
    last: str = ""
    ends: frozenset[str] = frozenset()
    relation: str = ""
    plain_last: str = ""


def step_text(move: Move) -> str:
    return move[0] if move[1] else f"^{move[0]}"


def turns(chain: Chain) -> int:
    """How often a chain goes back by a property that it came by: to what shares something, which is seldom asked for."""
    return sum((name, not ahead) in chain[at + 1 :] for at, (name, ahead) in enumerate(chain))


class Schema:
    """Which properties lead from nodes of which classes to which, counted once."""

    def __init__(self, world: World) -> None:
        self.world = world
        graph = world.graph
        ptr, classes = graph.type_rows
        size = world.size
        keys: dict[tuple[int, ...], int] = {}
        self.signature = np.zeros(size, np.int32)
        category = world.adjacency.category
        # Nodes of the same classes and category have one signature.
        rows = classes.tolist()
        starts = ptr.tolist()
        bits = category.tolist()
        for node in range(size):
            key = (int(bits[node]), *rows[starts[node] : starts[node + 1]])
            number = keys.get(key)
            if number is None:
                number = keys[key] = len(keys)
            self.signature[node] = number
        self.keys = list(keys)
        count = len(keys)
        self.sizes = np.bincount(self.signature, minlength=count)
        labelled = (graph.flags & FLAG_LABELLED) != 0
        self.labelled = np.bincount(self.signature, weights=labelled, minlength=count) / np.maximum(
            self.sizes, 1
        )
        self.category = np.array([key[0] for key in self.keys], np.int64)
        self.codes = [tuple(graph.class_code(number) for number in key[1:]) for key in self.keys]
        dated = np.bincount(self.signature, weights=world.dated, minlength=count)
        self.dated = dated > 0
        self.moves: dict[int, list[tuple[Move, int, int]]] = {}
        found: dict[tuple[int, Move, int], int] = {}
        for prop in range(len(graph.property_codes)):
            subjects, objects = world.adjacency.forward.pairs(prop)
            if not len(subjects):
                continue
            code = graph.property_code(prop)
            a, b = self.signature[subjects].astype(np.int64), self.signature[objects].astype(np.int64)
            pairs, times = np.unique(a * count + b, return_counts=True)
            forward = self._move(code, graph.property_iri(prop))
            for pair, n in zip(pairs.tolist(), times.tolist(), strict=True):
                low, high = divmod(pair, count)
                found[low, forward, high] = found.get((low, forward, high), 0) + n
                back = (forward[0], not forward[1])
                found[high, back, low] = found.get((high, back, low), 0) + n
        for (low, move, high), n in found.items():
            self.moves.setdefault(low, []).append((move, high, n))
        self._halves: dict[tuple[frozenset[int], int], dict[Chain, frozenset[int]]] = {}

    def _move(self, code: str, iri: str) -> Move:
        ontology = self.world.ontology
        if code in ontology.properties:
            inverse = ontology.inverse(code)
            if inverse and code.endswith("i") and inverse != code:
                return inverse, False
            return code, True
        return iri, True

    def passes(self, signature: int) -> float:
        """What it costs to lead through a node of a signature; above 9: never."""
        category = int(self.category[signature])
        if category in (int(Category.Concept), int(Category.Time), int(Category.Place)):
            return 10.0
        if category == int(Category.Event):
            return 0.0
        codes = self.codes[signature]
        named = float(self.labelled[signature])
        if category == int(Category.Actor):
            return 1.2
        if any(
            self.world.ontology.is_a(code, "E41") or self.world.ontology.is_a(code, "E54")
            for code in codes
            if code in self.world.ontology.classes
        ):
            return 0.3
        return 0.15 + 0.55 * named

    def halves(self, signatures: frozenset[int]) -> dict[Chain, frozenset[int]]:
        """Chains of up to HALF steps from nodes of these signatures, with the signatures where they end."""
        key = (signatures, HALF)
        found = self._halves.get(key)
        if found is not None:
            return found
        found = {(): signatures}
        frontier: dict[Chain, frozenset[int]] = {(): signatures}
        for _ in range(HALF):
            grown: dict[Chain, set[int]] = {}
            for chain, ends in frontier.items():
                check()
                for at in ends:
                    if chain and self.passes(at) > 9:
                        continue
                    for move, to, _ in self.moves.get(at, ()):
                        if (
                            chain
                            and move[0] == chain[-1][0]
                            and move[1] != chain[-1][1]
                            and self._single(chain[-1])
                        ):
                            continue
                        grown.setdefault((*chain, move), set()).add(to)
            frontier = {chain: frozenset(ends) for chain, ends in list(grown.items())[:MOST_HALVES]}
            found |= frontier
        if len(self._halves) > 500:
            self._halves.clear()
        self._halves[key] = found
        return found

    def _single(self, move: Move) -> bool:
        """Whether going back by a property leads home: a production has one work."""
        return move[0] in ("P108", "P98", "P100", "P94", "P1", "P102", "P4", "P43", "P190")

    def chains(
        self, heads: frozenset[int], ends: frozenset[int]
    ) -> list[tuple[Chain, float, frozenset[int]]]:
        """Chains from heads to ends, each with its cost and the signatures that it leads through."""
        first, second = self.halves(heads), self.halves(ends)
        by_end: dict[int, list[Chain]] = {}
        for chain, at in second.items():
            for one in at:
                by_end.setdefault(one, []).append(chain)
        found: dict[Chain, tuple[float, frozenset[int]]] = {}
        for chain, at in first.items():
            for one in at:
                inner = self.passes(one) if chain else 0.0
                for other in by_end.get(one, ()):
                    if not chain and not other:
                        continue
                    if other and chain and inner > 9:
                        continue
                    back = tuple((name, not ahead) for name, ahead in reversed(other))
                    whole = chain + back
                    if chain and other and len(chain) < HALF and len(other) > 0 and (len(whole) <= HALF):
                        continue  # found as a half already
                    if (
                        chain
                        and back
                        and chain[-1][0] == back[0][0]
                        and chain[-1][1] != back[0][1]
                        and self._single(chain[-1])
                    ):
                        continue
                    cost = (
                        0.12 * (len(whole) - 1)
                        + 0.3 * (len(whole) - len(set(whole)))
                        + 0.8 * turns(whole)
                        + (inner if chain and other else 0.0)
                    )
                    known = found.get(whole)
                    if known is None or cost < known[0]:
                        found[whole] = (cost, frozenset({one}))
        kept = sorted(found.items(), key=lambda item: (item[1][0], len(item[0]), item[0]))[:MOST_CHAINS]
        return [(chain, cost, inner) for chain, (cost, inner) in kept]

    def inner(self, heads: frozenset[int], chain: Chain) -> Iterator[frozenset[int]]:
        """The signatures that a chain leads through, step by step, its end left out."""
        at = heads
        for move in chain[:-1]:
            at = frozenset(to for one in at for step, to, _ in self.moves.get(one, ()) if step == move)
            yield at


class Ways:
    """The ways of one data set, worded in the language of a question."""

    def __init__(self, release: Release) -> None:
        self.world = release[World]
        self.schema = Schema(self.world)
        self._words: dict[tuple[str, Move], frozenset[str]] = {}
        self._reach: dict[str, tuple[frozenset[int], frozenset[int]]] = {}
        self._edges: dict[tuple[str, frozenset[int], frozenset[int]], list[Edge]] = {}

    @classmethod
    def from_release(cls, release: Release) -> Ways:
        return cls(release)

    def signatures(self, nodes: Ints | Mask) -> frozenset[int]:
        return frozenset(np.unique(self.schema.signature[nodes]).tolist())

    def edges(self, heads: frozenset[int], ends: frozenset[int], code: str) -> list[Edge]:
        """All ways from nodes of some signatures to nodes of others, relations first."""
        key = (code, heads, ends)
        found = self._edges.get(key)
        if found is None:
            if len(self._edges) > 300:
                self._edges.clear()
            found = self._edges[key] = [*self._relations(heads, ends, code), *self._chains(heads, ends, code)]
        return found

    def reach(self, id: str) -> tuple[frozenset[int], frozenset[int]]:
        """The signatures of nodes that a relation leads from, and to; worked out once."""
        found = self._reach.get(id)
        if found is None:
            way = Way(relations=(id,))
            starts = self.signatures(leading_to(self.world, way, None))
            back = way.model_copy(update={"inverse": True})
            found = self._reach[id] = (
                starts,
                self.signatures(leading_to(self.world, back, None)) if starts else starts,
            )
        return found

    def _mask(self, signatures: frozenset[int]) -> int:
        found = 0
        for one in signatures:
            found |= int(self.schema.category[one])
        return found

    def _relations(self, heads: frozenset[int], ends: frozenset[int], code: str) -> Iterator[Edge]:
        own = vocabulary(code)
        near, far = self._mask(heads), self._mask(ends)
        for id, relation in self.world.relations.items():
            if not (relation.paths or relation.relationships) or relation.value != "entity":
                continue
            domain = sum(int(Category[name]) for name in relation.domain)
            range_ = sum(int(Category[name]) for name in relation.range)
            noun = own.ends.get(id, frozenset())
            cost = UNLIKELY.get(id, 0.0)
            last = relation.paths[0] if relation.paths else ()
            first_back = f"^{last[0].rstrip('!*')}" if last else ""
            steps = sum(not step.endswith("*") for step in last)
            cost += 0.1 * max(steps - 1, 0)
            tail = next((step for step in reversed(last) if not step.endswith("*")), "")
            starts, reached = self.reach(id)
            if near & domain and far & range_ and heads & starts and ends & reached:
                stems = own.relations.get((id, True), frozenset()) | noun
                yield Edge(
                    Way(relations=(id,)),
                    id,
                    stems,
                    cost,
                    range_,
                    last=tail,
                    relation=id,
                    plain_last=tail.rstrip("!*"),
                )
            if near & range_ and far & domain and heads & reached and ends & starts:
                stems = own.relations.get((id, False), frozenset())
                yield Edge(
                    Way(relations=(id,), inverse=True),
                    f"^{id}",
                    stems,
                    cost + 0.02,
                    domain,
                    ends=noun,
                    relation=f"^{id}",
                    plain_last=first_back,
                )

    def _chains(self, heads: frozenset[int], ends: frozenset[int], code: str) -> Iterator[Edge]:
        for chain, cost, _ in self.schema.chains(heads, ends):
            if any(move[0] == "P2" for move in chain[:-1]) or len(chain) > LONGEST:
                continue
            stems = self.chain_stems(heads, chain, code)
            way = Way(paths=(tuple(map(step_text, chain)),))
            yield Edge(
                way,
                " ".join(map(step_text, chain)),
                stems,
                0.2 + cost,
                self._mask(ends),
                last=step_text(chain[-1]),
                plain_last=step_text(chain[-1]),
            )

    def chain_stems(self, heads: frozenset[int], chain: Chain, code: str) -> frozenset[str]:
        own = vocabulary(code)
        found: set[str] = set()
        for move in chain:
            found |= self.move_stems(move, code)
        for at in self.schema.inner(heads, chain):
            for signature in at:
                for name in self.schema.codes[signature]:
                    found |= own.classes.get(name, frozenset())
        return frozenset(found)

    def move_stems(self, move: Move, code: str) -> frozenset[str]:
        """The words of one step: of the ontology table, of the ontology's labels, of the data's, of its local name."""
        key = (code, move)
        known = self._words.get(key)
        if known is not None:
            return known
        own, spoken = vocabulary(code), language(code)
        name, ahead = move
        found = set(own.properties.get((name, ahead), ()))
        term = self.world.ontology.properties.get(name)
        if term is not None:
            other = self.world.ontology.inverse(name)
            shown = term if ahead or not other else self.world.ontology.properties.get(other, term)
            label = shown.labels.get(code) or shown.labels.get("en") or ""
            if not found:
                ends = (self.world.ontology.label(one, code, "class") for one in (shown.domain, shown.range))
                found |= (
                    spoken.stems(label.replace("_", " ")) - spoken.stems(" ".join(ends)) - self._plain(code)
                )
        number = self.world.property_numbers.get(name)
        if number is not None:
            label = self.world.graph.property_label(number, not ahead, code)
            found |= spoken.stems(label or "") | spoken.stems(local_words(name))
        result = frozenset(found)
        self._words[key] = result
        return result

    def _plain(self, code: str) -> frozenset[str]:
        """Words of the most general classes: they say nothing of a property that speaks of them."""
        ontology, spoken = self.world.ontology, language(code)
        names = (
            "E1",
            "E2",
            "E5",
            "E7",
            "E18",
            "E19",
            "E22",
            "E28",
            "E39",
            "E52",
            "E53",
            "E55",
            "E70",
            "E71",
            "E77",
        )
        return spoken.stems(
            " ".join(ontology.label(one, code, "class") for one in names if one in ontology.classes)
        )

    # dates

    def dates(self, heads: frozenset[int], code: str) -> list[Edge]:
        """Ways from heads to dates."""
        own, schema = vocabulary(code), self.schema
        near = self._mask(heads)
        found = []
        for id, relation in self.world.relations.items():
            if relation.value != "date" or not relation.paths:
                continue
            if near & sum(int(Category[name]) for name in relation.domain):
                stems = own.relations.get((id, True), frozenset()) | own.ends.get(id, frozenset())
                found.append(
                    Edge(
                        Way(relations=(id,)),
                        id,
                        stems,
                        UNLIKELY.get(id, 0.0),
                        int(Category.Time),
                        "date",
                        relation=id,
                    )
                )
        ends = frozenset(np.flatnonzero(schema.dated).tolist())
        for chain, cost, _ in schema.chains(heads, ends)[:200]:
            if len(chain) > 3 or any(move[0] == "P2" for move in chain):
                continue
            way = Way(paths=(tuple(map(step_text, chain)),))
            found.append(
                Edge(
                    way,
                    " ".join(map(step_text, chain)),
                    self.chain_stems(heads, chain, code),
                    0.25 + cost,
                    int(Category.Time),
                    "date",
                )
            )
        return found

    def leads(self, edge: Edge, heads: Mask, ends: Ints | None) -> Mask:
        """The heads that lead by the edge to any of the ends."""
        found = leading_to(self.world, edge.way, ends, heads)
        return np.asarray(found & heads)


UNLIKELY = {
    "during": 0.3,
    "event_part": 0.2,
    "refers_to": 0.3,
    "reference": 0.3,
    "description": 0.3,
    "web_page": 0.4,
    "image": 0.4,
    "collection": 0.1,
    "identifier": 0.3,
    "rights": 0.3,
    "same_as": 0.5,
    "active_on": 0.1,
    "production": 0.1,
    "type": 0.15,
    "influenced_by": 0.1,
    "formerly_owned_by": 0.05,
    "modified_on": 0.1,
    "acquired_on": 0.05,
    "exhibited_on": 0.1,
    "creation_began": 0.1,
    "creation_ended": 0.1,
}
"""What makes a relation less likely to be meant where no word says it: those that say little of what they tie."""
