"""Questions made from what a release holds, by a seed: names, kinds, places, years, free words, in the forms that people use.

They are not tuned to what the software understands: whatever the seed draws is asked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.linking import stop_words
from crmrag_query.ontology.load import Category
from crmrag_query.plans.profile import Profile
from crmrag_query.text import words

MADE_OF = {"E22", "E24", "E19", "E18", "E84", "E78", "E36"}  # classes whose types are kinds of objects
NAMES = 400  # of each category that are drawn
LONGEST_NAME = 8  # words
TRIES = 20  # for each question: a small data set has no more to ask
FORMS = (
    "Who is {actor}?", "What is told of {thing}?", "Which {kind} did {actor} make?", "Which works are by {actor}?",
    "Who made {thing}?", "When was {thing} made?", "Where was {actor} born?", "Which {kind} are from {place}?",
    "What is there from {place}?", "How many {kind} are there?", "How many {kind} were made in {year}?",
    "Which {kind} were made between {year} and {later}?", "Who were the makers of {kind} of {place}?",
    "{words}", "{words}", "{words} {kind}", "Which works show {words}?", "Is there anything about {words}?",
    "Which {kind} by {actor} are in {place}?", "What happened in {year}?", "Which works mention {words} or {actor}?",
)  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """What questions are made of."""

    names: dict[str, list[str]]
    kinds: list[str]
    texts: list[str]


def questions(release: Release, count: int, seed: int) -> list[str]:
    """``count`` different questions, fewer of a small data set; the same for the same release and seed."""
    chance = random.Random(seed)
    drawn = _draw(release, chance)
    stop = stop_words(release.method.questions)
    made: dict[str, None] = {}
    for form in islice(cycle(FORMS), TRIES * count):
        made[_ask(form, drawn, stop, chance)] = None
        if len(made) == count:
            break
    return list(made)


def _draw(release: Release, chance: random.Random) -> Drawn:
    documents, names = release[Documents], dict[str, list[str]]()
    order = chance.sample(range(documents.count), documents.count)
    for category in (Category.Actor, Category.Place, Category.Thing):
        named = (documents.label(i) for i in order if documents.category(i) == category)
        names[str(category.name)] = list(islice(filter(_is_name, named), NAMES)) or ["it"]
    kinds = [
        one.label.lower()
        for one in release[Profile].types
        if any(code in MADE_OF for code, _ in one.classes[:1]) and _is_name(one.label)
    ]
    return Drawn(
        names, list(dict.fromkeys(kinds))[:NAMES] or ["works"], [documents.text(i) for i in order[:NAMES]]
    )


def _is_name(label: str) -> bool:
    parts = label.split()
    return (
        0 < len(parts) <= LONGEST_NAME and ":" not in label and sum(map(str.isalpha, label)) > len(label) // 2
    )


def _ask(form: str, drawn: Drawn, stop: frozenset[str], chance: random.Random) -> str:
    year = chance.randint(1500, 2000)
    return form.format(
        actor=chance.choice(drawn.names["Actor"]),
        thing=chance.choice(drawn.names["Thing"]),
        place=chance.choice(drawn.names["Place"]),
        kind=chance.choice(drawn.kinds),
        words=" ".join(_words(chance.choice(drawn.texts), stop, chance)),
        year=year,
        later=year + chance.choice([5, 10, 50]),
    )


def _words(text: str, stop: frozenset[str], chance: random.Random) -> Sequence[str]:
    """Two to four words of a text, none a stop word or a number, in its order."""
    found = list(dict.fromkeys(word for word in words(text) if word.isalpha() and word not in stop))
    chosen = sorted(chance.sample(range(len(found)), min(len(found), chance.randint(2, 4))))
    return [found[at] for at in chosen]
