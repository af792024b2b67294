"""What the nouns and names of a question mean in the data, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.config.questions import Scores
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.parsing.binding.ground import Ground
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.pieces import WHOLE
from crmrag_query.parsing.tree import Node
from crmrag_query.text import fold

_HOW = ("type", "lexicon", "like", "class", "head", "category")
"""How nouns are matched, the likeliest meaning first."""


def best_kind(kinds: Sequence[KindMatch]) -> KindMatch | None:
    """What a noun most likely stands for: a type of the data, then a class, then a category; a generic noun stays generic."""
    generic = next((kind for kind in kinds if kind.generic), None)
    return generic or min(kinds, key=lambda kind: _HOW.index(kind.how), default=None)


def types_of(kinds: Sequence[KindMatch]) -> tuple[int, ...]:
    """The types that a noun stands for: those of its name and those that the lexicon knows; of a part of their names only
    where there are none of these."""
    if any(kind.generic for kind in kinds):
        return ()
    named = [kind for kind in kinds if kind.types]
    exact = [kind for kind in named if kind.how != "head"]
    return tuple(dict.fromkeys(n for kind in exact or named for n in kind.types))


def meanings(ground: Ground, mention: Mention) -> list[list[int]]:
    """What a name may mean, best first: all entities of the same name are one meaning."""
    groups: dict[tuple[str, bool], list[int]] = {}
    names: dict[tuple[str, bool], str] = {}
    for one in mention.entities:
        long = one.how not in WHOLE and len(one.name.split()) > ground.config.limits.name_words
        if long or is_statement(ground, one.entity):
            continue  # a text, not a name
        key = (_words_of(one), one.how in WHOLE)
        groups.setdefault(key, []).append(one.entity)
        names.setdefault(key, one.name)
    said = " ".join(sorted(mention.text.split()))
    order = sorted(groups, key=lambda key: key[0] != said)
    return [list(dict.fromkeys([*groups[key], *ground.namesakes(names[key])])) for key in order]


def _words_of(one: LinkedEntity) -> str:
    """The words of a name in one order: "Weston, Edward" is "Edward Weston"."""
    return " ".join(sorted(fold(one.name).replace(",", " ").split()))


def same_name(ground: Ground, mentions: Sequence[Mention]) -> list[int]:
    """The entities of the best meaning of each name."""
    return [n for mention in mentions for n in next(iter(meanings(ground, mention)), [])]


def is_statement(ground: Ground, node: int) -> bool:
    """Whether it is a text that says something of a thing: its "name" is what it says."""
    graph, statements = ground.world.graph, ground.config.statements
    return any(graph.class_code(int(n)) in statements for n in graph.types(node))


def is_merged(ground: Ground, node: int) -> bool:
    """Whether its names have so little in common that it may be several things: four museums with one IRI. Numbers, which
    are identifiers, are no names."""
    by_language: dict[str, list[set[str]]] = {}
    for label in ground.world.graph.labels(node):
        words = {word for word in fold(label.text).split() if len(word) > 3 and word.isalpha()}
        if words:
            by_language.setdefault(label.lang, []).append(words)
    return any(_apart(names) >= ground.config.limits.names_apart for names in by_language.values())


def _apart(names: Sequence[set[str]]) -> int:
    """How many of the names share at most half of their words with any other of these, taken in order."""
    found: list[set[str]] = []
    for name in names:
        if all(2 * len(name & one) <= min(len(name), len(one)) for one in found):
            found.append(name)
    return len(found)


def sureness(mention: Mention, scores: Scores, chosen: Sequence[int] = (), alive: int = 1) -> float:
    """How sure it is that a name means what was ``chosen``: 1 for a whole name, less for a part, the more of its meanings are
    ``alive``: fit what is said."""
    how = {one.how for one in mention.entities if not chosen or one.entity in chosen}
    if how & WHOLE:
        return 1.0
    fits_one = alive <= 1 if "similar" in how else alive == 1
    return scores.partial if fits_one else scores.ambiguous


def sureness_of(ground: Ground, node: Node) -> float:
    """How sure the least sure of a thing's names is."""
    return min((sureness(mention, ground.scores) for mention in node.mentions), default=1.0)


def is_loose(anchor: Node) -> bool:
    """Whether words are at best a part of some name and not written as one: "bronze" of "Bronze Horse"."""
    return not anchor.capital and all(mention.entities[0].how == "partial" for mention in anchor.mentions)


def is_whole(anchor: Node) -> bool:
    """Whether all names are whole names of something."""
    return all(mention.entities[0].how in WHOLE for mention in anchor.mentions)
