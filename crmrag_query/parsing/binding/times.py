"""Ties to a period, and to anything at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crmrag_query.dates import Interval
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Choice, Ground, category_names
from crmrag_query.parsing.binding.texts import said_in, with_singular
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.plans.records import Anchor, Compute, Dated, Either, Measure, Related, Way
from crmrag_query.plans.world import Mask
from crmrag_query.questions.lexicon import Number


def in_period(ground: Ground, node: Node, link: Link, period: Interval, mask: Mask) -> Iterator[Choice]:
    """By the relations of dates that are said, by those that a bare period is usually of, by any date."""
    know, scores = ground.know, ground.scores
    said = [id for id in (*link.explicit, *link.loose) if know.value(id) == "date"]
    names = category_names(node.categories or int(Category.Thing))
    usual = [id for name in names for id in ground.config.dates.get(name, ())]
    certain = not period.approximate
    for score, ids in ((scores.explicit, said), (scores.unsure if link.explicit else scores.loose, usual)):
        for id in dict.fromkeys(ids):
            if id in know.relations and know.fits(id, node.categories, int(Category.Time))[0]:
                when = Dated(
                    way=Way(relations=(id,)), begin=period.begin, end=period.end, edge=link.edge or "span",
                    certain=certain, negated=link.negated,
                )  # fmt: skip
                yield ground.choice(when, score, mask)
    own = Dated(begin=period.begin, end=period.end, certain=certain, negated=link.negated)
    yield ground.choice(own, scores.unsure, mask)


def to_anything(ground: Ground, node: Node, link: Link, mask: Mask) -> Iterator[Choice]:
    """By any of the relations said, to whatever they lead to."""
    know, sure = ground.know, ground.scores.explicit
    if link.negated and link.explicit in ground.config.happenings.values():
        # of a birth nothing is known: no place and no date
        ids = [id for id in link.explicit if not node.categories or node.categories & know.domains[id]]
        told = tuple(ground.any_of(Way(relations=(id,))) for id in ids)
        if told:
            yield ground.choice(Either(of=told, negated=link.negated), sure, mask)
            return
    for id in link.explicit:
        if know.value(id) == "text" and link.words:
            said = list(said_in(ground, node, link, id, with_singular(link.words), sure, mask))
            yield from said
            if any(one.kept for one in said):
                continue
        if not node.categories or node.categories & know.domains[id]:
            yield ground.choice(ground.any_of(Way(relations=(id,)), link.negated), sure, mask)
        if node.categories & know.ranges[id]:
            way = Way(relations=(id,), inverse=True)
            yield ground.choice(Related(way=way, negated=link.negated), sure, mask)


def date_way(ground: Ground, node: Node, ids: tuple[str, ...], mask: Mask) -> tuple[Way | None, float]:
    """The way to the dates of a thing: that of the relations named; where none is named, of the first usual one that any
    member has."""
    know = ground.know

    def fitting(ids: Iterable[str]) -> list[str]:
        return [
            one
            for one in ids
            if one in know.relations and know.fits(one, node.categories, int(Category.Time))[0]
        ]

    named = fitting(id for id in ids if know.value(id) == "date")
    usual = fitting(
        id for name in category_names(node.categories) for id in ground.config.dates.get(name, ())
    )
    for id in dict.fromkeys(named or usual):  # no other date stands in for one that is asked for
        way = Way(relations=(id,))
        if ground.holds(way, Anchor(), mask):
            return way, 1.0
    return None, 0.0


def first_of(ground: Ground, node: Node, mask: Mask) -> Compute | None:
    """The ranking by date of a superlative within a question; None where no date is known."""
    rank = node.rank
    assert rank is not None and rank.kind in ("earliest", "latest")
    way, _ = date_way(ground, node, (), mask)
    if way is None:
        return None
    measure = Measure(kind="earliest" if rank.kind == "earliest" else "latest", way=way)
    many = any(kind.number is Number.MANY for kind in node.kinds)
    first = rank.first or (ground.config.limits.many if many else 1)
    return Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "earliest")
