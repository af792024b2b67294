"""Ties to a thing that is named, of a kind, or both: which relations may be meant, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Choice, Ground
from crmrag_query.parsing.binding.kinds import is_anything, of_kind
from crmrag_query.parsing.binding.meanings import (
    best_kind,
    is_loose,
    is_whole,
    same_name,
    sureness_of,
    types_of,
)
from crmrag_query.parsing.binding.named import to_named
from crmrag_query.parsing.binding.places import in_names
from crmrag_query.parsing.binding.texts import as_text, to_words
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.plans.records import Among, Anchor, Plan, Related, Way
from crmrag_query.plans.world import Mask

Inner = Callable[[Node], Plan]
"""The plan of a thing within a thing."""


def to_thing(
    ground: Ground, node: Node, link: Link, anchor: Node, mask: Mask, inner: Inner
) -> Iterator[Choice]:
    """By being it, by a relation, and by words of its name where no relation joins anything."""
    bare = not (link.explicit or link.loose)
    if anchor.named and link.negated and bare and node.categories & anchor.categories:
        others = Among(iris=ground.iris(same_name(ground, anchor.mentions)), negated=True)
        yield ground.choice(others, ground.scores.loose * sureness_of(ground, anchor), mask)
    if anchor.kinds and not link.explicit and not anchor.links:
        yield from of_kind(ground, link, anchor, mask)
    if anchor.named and not anchor.kinds and is_loose(anchor):
        yield from to_words(ground, node, link, as_text(anchor), mask)
    joined = False
    for choice in _related(ground, node, link, anchor, mask, inner):
        joined = joined or choice.kept > 0
        yield choice
    known = anchor.categories & int(Category.Place) and is_whole(anchor)
    if anchor.named and not known and not link.inverse:
        yield from in_names(ground, node, link, anchor.text.split(), mask)
    sure = is_loose(anchor) or (link.explicit and is_whole(anchor))
    if anchor.named and not joined and not link.inverse and not sure:
        yield from to_words(ground, node, link, as_text(anchor), mask)


def _related(
    ground: Ground, node: Node, link: Link, anchor: Node, mask: Mask, inner: Inner
) -> Iterator[Choice]:
    """By relations in groups of falling likelihood, up to the first group of which any joins anything."""
    seen: set[Way] = set()
    for score, ids in _relations(ground, node, link, anchor):
        joined = False
        for way, sure in _inside(ground, node, link, anchor):
            for choice in _by_way(ground, way, link, anchor, sure, mask, inner):
                joined = joined or choice.kept > 0
                yield choice
            if joined:
                return
        for way in ground.ways(node, link, anchor.may_be, ids):
            if way in seen or len(seen) >= ground.config.limits.tries:
                continue
            seen.add(way)
            for choice in _by_way(ground, way, link, anchor, score, mask, inner):
                joined = joined or choice.kept > 0
                yield choice
        if joined:
            return


def _inside(ground: Ground, node: Node, link: Link, anchor: Node) -> Iterator[tuple[Way, float]]:
    """ "in", "on", "at" between two things: everything that puts one in the other; also turned round where no word says."""
    if link.explicit or (link.loose and not set(link.loose) & set(ground.config.inside)):
        return
    way = ground.inside(node, anchor)
    if way is None:
        return
    yield way, ground.scores.loose if link.loose else ground.scores.side
    if not link.loose:
        yield way.model_copy(update={"inverse": True}), ground.scores.side


def _relations(ground: Ground, node: Node, link: Link, anchor: Node) -> Iterator[tuple[float, Sequence[str]]]:
    """Relations that may be meant, in groups of falling likelihood: said; said by the nouns themselves ("painters"); by small
    words; of the same happening; any."""
    know, config, scores = ground.know, ground.config, ground.scores
    nouns = tuple(dict.fromkeys((*node.far, *anchor.far)))
    if link.explicit and link.inverse:  # "the price of": nothing else will do
        yield scores.explicit, link.explicit
        yield scores.loose, know.kin(link.explicit)
        return
    if link.explicit:
        own = tuple(id for id in link.loose if id in node.far and id not in link.explicit)
        yield (
            scores.explicit,
            own,
        )  # "artists represented by works": what the noun asked for says goes before the verb
        said = tuple(id for id in know.kin(link.explicit) if id in link.loose)
        yield (
            scores.explicit,
            (*(id for id in link.explicit if id in link.loose), *said),
        )  # "painted *in* Delft"
        yield scores.explicit, link.explicit
        yield scores.side, nouns
        covered = {id for id in link.explicit if know.ranges[id] & anchor.categories}
        kin = [id for id in know.kin(link.explicit) if not (covered and know.ranges[id] & anchor.categories)]
        yield scores.loose, kin  # not who gave it where nothing tells who got it
        others = {id for ids in config.happenings.values() for id in ids}
        about = 0  # what the verb is said of: "painted on ivory", of things
        for id in link.explicit:
            about |= know.domains[id] & (node.categories or know.domains[id])
        same = [id for id in link.loose if id not in others and know.domains[id] & about]
        yield scores.near, same
        yield scores.unsure, link.loose  # "showed in Paris" is not born there
    else:
        loose = sorted(
            link.loose, key=lambda id: id not in config.inside
        )  # "in": where it is, then where it was made
        yield scores.loose, tuple(id for id in loose if id in nouns)
        if not link.loose or anchor.kinds:
            yield scores.loose, nouns
        yield scores.loose, loose
    rest = tuple(id for id in know.relations if id not in config.said_only)
    if link.explicit or link.loose:
        yield scores.unsure, rest
    else:
        yield scores.near if anchor.named and not link.negated else scores.side, rest


def _by_way(
    ground: Ground, way: Way, link: Link, anchor: Node, score: float, mask: Mask, inner: Inner
) -> Iterator[Choice]:
    """By one way: to what has the name, to what is of the kind, or both."""
    if anchor.named and anchor.links and not anchor.kinds:
        nested = Related(way=way, to=Anchor(plan=inner(anchor)), negated=link.negated)
        yield ground.choice(nested, score * ground.scores.nested, mask)
        return
    if anchor.named:
        yield from to_named(ground, way, link, anchor, score, mask)
    if anchor.kinds or anchor.links or anchor.earlier or (anchor.categories and not anchor.named):
        yield _to_kind(ground, way, link, anchor, score, mask, inner)


def _to_kind(
    ground: Ground, way: Way, link: Link, anchor: Node, score: float, mask: Mask, inner: Inner
) -> Choice:
    """To a type itself where the way leads to concepts, else to what is of the kind."""
    kind = best_kind(anchor.kinds)
    typed = kind is not None and bool(kind.types)
    end = ground.know.end(way.relations, way.inverse)
    if typed and end & int(Category.Concept) and not anchor.links:
        to = Anchor(iris=ground.iris(types_of(anchor.kinds)))
        return ground.choice(Related(way=way, to=to, negated=link.negated), score, mask)
    plan = inner(anchor)
    own = not typed and bool(set(way.relations) & set(anchor.far))
    bare = not anchor.links and not anchor.named
    if kind is not None and bare and (own or (kind.generic and (link.negated or is_anything(kind)))):
        return ground.choice(ground.any_of(way, link.negated), score, mask)
    return ground.choice(Related(way=way, to=Anchor(plan=plan), negated=link.negated), score, mask)
