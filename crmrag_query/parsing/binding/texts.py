"""Ties to words that name nothing known: in titles and names, in texts, in names of what a relation leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Choice, Ground, category_names
from crmrag_query.parsing.binding.places import in_names
from crmrag_query.parsing.tree import Link, Node, Text
from crmrag_query.plans.records import Anchor, Member, Plan, Related, Target, Texted, Way
from crmrag_query.plans.world import Mask


def in_title(ground: Ground, link: Link, anchor: Node | Text, mask: Mask) -> Choice:
    """A title or name that holds the words of the anchor."""
    texts = with_singular((anchor.raw or anchor.text).split())
    score = ground.scores.side if link.judged else ground.scores.explicit
    return ground.choice(Texted(texts=texts, whole=True, negated=link.negated), score, mask)


def with_singular(words: Sequence[str]) -> tuple[str, ...]:
    """The words as a phrase, and with a plural's ending off the last."""
    text = " ".join(words)
    return (text, text[:-1]) if text.endswith("s") and len(text) > 4 else (text,)


def as_text(anchor: Node) -> Text:
    """A named thing as words: as it was written, or, named in another language than the data's, as the data calls it."""
    words = tuple(anchor.mentions[0].text.split())
    return Text(words, anchor.capital, anchor.raw if set(words) & set(anchor.text.split()) else "")


_PROPER = int(Category.Actor) | int(Category.Place) | int(Category.Event)
"""What a word in a text is not: it only mentions it."""


def to_words(ground: Ground, node: Node, link: Link, text: Text, mask: Mask) -> Iterator[Choice]:
    """By the relations that are said; where none is, words that are not written as a name in any text."""
    if not text.text.strip():
        return
    know, scores = ground.know, ground.scores
    words = (text.text,)
    yield from in_names(ground, node, link, text.words, mask)
    for score, ids in ((scores.explicit, link.explicit), (scores.loose, link.loose)):
        for id in ids:
            if not text.named or link.explicit or know.value(id) != "text":
                yield from said_in(ground, node, link, id, words, score * scores.near, mask, text.named)
    if not link.explicit and not text.named:
        for id in know.relations:
            if id not in link.loose and know.value(id) == "text":
                yield from said_in(ground, node, link, id, words, scores.words, mask)
        anywhere = Texted(texts=words, whole=True, negated=link.negated)
        yield ground.choice(anywhere, scores.words / 2, mask)
    if link.explicit:
        yield from _in_statements(ground, link, text, mask)
    places = any(know.ranges[id] & int(Category.Place) for id in (*link.explicit, *link.loose))
    if places and text.named and node.categories & int(Category.Event):  # "Van Gogh, Galerie Bernheim, Paris"
        yield ground.choice(Texted(texts=words, whole=True, negated=link.negated), scores.words, mask)


def _in_statements(ground: Ground, link: Link, text: Text, mask: Mask) -> Iterator[Choice]:
    """Statements that hold a name and the verb said of it: "commissioned by William T. Walters" in a credit line."""
    letters = ground.config.limits.verb_letters
    verbs = [word for word in link.words if word not in text.words and len(word) > letters]
    if not text.named or not verbs:
        return
    stem = verbs[0][: max(letters, len(verbs[0]) - 2)]
    for relation in ground.know.relations.values():
        if relation.value != "text":
            continue
        way = Way(paths=relation.literal_paths("value") or relation.paths)
        both = Plan(where=(Texted(texts=(text.text,), way=way, whole=True), Texted(texts=(stem,), way=way)))
        choice = ground.choice(Member(plan=both, negated=link.negated), ground.scores.words, mask)
        if choice.kept:
            yield choice
            return


def said_in(
    ground: Ground,
    node: Node,
    link: Link,
    id: str,
    words: tuple[str, ...],
    score: float,
    mask: Mask,
    named: bool = False,
) -> Iterator[Choice]:
    """By a relation: to something with the words in a name, or to a text that holds them.

    Words that are not written as a name (``named``) name no person or place.
    """
    know = ground.know
    relation = know.relations[id]
    said = link.explicit or link.loose
    asked = know.far(one for one in said if not node.categories or node.categories & know.domains[one])
    if relation.value == "text" and (not node.categories or node.categories & know.domains[id]):
        paths = relation.literal_paths("value") or relation.paths
        texted = Texted(texts=words, way=Way(paths=paths), whole=True, negated=link.negated)
        yield ground.choice(texted, score, mask, mentioned=words if asked & _PROPER else ())
    proper = know.ranges[id] & (int(Category.Actor) | int(Category.Place))
    by_name = words if not know.ranges[id] & ~_PROPER else ()
    if relation.value == "entity" and (named or not proper):
        target = Target(categories=category_names(know.ranges[id]))
        to = Anchor(plan=Plan(target=target, where=(Texted(texts=words, whole=True),)))
        for way in ground.ways(node, link, know.ranges[id], (id,)):
            related = Related(way=way, to=to, negated=link.negated)
            yield ground.choice(related, score, mask, mentioned=by_name)
