"""What a question speaks of: names, kinds, dates, numbers and small words, each with the stretch of words that says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import yaml
from staged.language import LANGUAGES, ROOT, Language, language
from staged.ways import Ways

from crmrag_query.artifacts.release import Release
from crmrag_query.config.questions import KindEntry
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import NameIndex, link, plain_words, stop_words
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import KindMatch, Kinds
from crmrag_query.plans.execute import targeted
from crmrag_query.plans.records import Target
from crmrag_query.plans.world import World
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize

HOMONYMS = 300


@dataclass(frozen=True)
class Meaning:
    """What a name or noun may stand for in the data: a target or some nodes; ``cost``: how unlikely."""

    target: Target | None
    iris: tuple[str, ...]
    nodes: Ints
    signatures: frozenset[int]
    cost: float
    named: bool
    number: str = ""
    role: str = ""
    category: int = 0
    any: bool = False

    def key(self) -> tuple[object, ...]:
        return (self.target, self.iris)


@dataclass(frozen=True)
class Item:
    """A stretch of the question; ``kind``: name, noun, date, number, text, op; ``value``: a number, a period."""

    first: int
    last: int
    kind: str
    score: float
    text: str = ""
    value: object = None
    meanings: tuple[Meaning, ...] = ()
    stems: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return self.last - self.first


def items_of(release: Release, ways: Ways, analysis: Analysis, heard: Asked, spoken: Language) -> list[Item]:
    """All stretches that may be read as something, overlapping ones too."""
    words = heard.words
    found: list[Item] = []
    found += names(release, ways, analysis, heard, spoken)
    found += nouns(release, ways, words, spoken)
    typed = {(item.first, item.last): item for item in found if item.kind == "noun"}
    found = [
        item
        for item in found
        if not (item.kind == "name" and is_type_of(item, typed.get((item.first, item.last))))
    ]
    found += operators(words, spoken, heard)
    found += whole(release, words, spoken)
    if analysis.period is not None:
        found += periods(analysis, words)
    for at, word in enumerate(words):
        value = spoken.numbers.get(word)
        if value is None and word.isdigit() and len(word) < 6:
            value = int(word)
        if value is not None:
            found.append(Item(at, at + 1, "number", 0.3, word, value))
    return found


def is_type_of(name: Item, noun: Item | None) -> bool:
    """Whether a name is but the type that a noun stands for."""
    if noun is None or any(one.category != int(Category.Concept) for one in name.meanings):
        return False
    types = {iri for one in noun.meanings if one.target is not None for iri in one.target.types}
    return any(set(one.iris) & types for one in name.meanings)


def periods(analysis: Analysis, words: Sequence[str]) -> Iterator[Item]:
    best, start = (0, 0), None
    for at in range(len(words) + 1):
        inside = at < len(words) and words[at] in analysis.period_words
        if inside and start is None:
            start = at
        if not inside and start is not None:
            best = max(best, (at - start, -start))
            start = None
    length, first = best[0], -best[1]
    if length:
        yield Item(
            first,
            first + length,
            "date",
            1.6 + 0.5 * length,
            " ".join(words[first : first + length]),
            analysis.period,
        )


def operators(words: Sequence[str], language: Language, heard: Asked) -> Iterator[Item]:
    """Question words and operators; a stretch has all the roles that its words may play."""
    for at in range(len(words)):
        by_length: dict[int, set[str]] = {}
        for length, role in language.phrases.at(words, at):
            if role.startswith(("questions.", "operators.")) and role not in IDLE:
                by_length.setdefault(length, set()).add(role)
        for length, roles in by_length.items():
            text = " ".join(words[at : at + length])
            if text in language.roles["prepositions.agent"] or text in language.roles["prepositions.place"]:
                roles.discard("operators.per")
            if not roles:
                continue
            score = 0.45 * length + 0.3 * (length - 1)
            yield Item(
                at, at + length, "op", score, " ".join(words[at : at + length]), roles=frozenset(roles)
            )


def whole(release: Release, words: Sequence[str], language: Language) -> Iterator[Item]:
    """Words for the data as a whole, which say nothing of what is asked for: "in the collection"."""
    nouns = {word for noun in language.raw["whole"]["nouns"] for word in [tuple(tokenize(noun))]}
    title = tuple(tokenize(release.manifest.title))
    for at in range(len(words)):
        for phrase in {*nouns, title}:
            if phrase and tuple(words[at : at + len(phrase)]) == phrase:
                low = at
                while low > 0 and words[low - 1] in language.stop:
                    low -= 1
                if phrase == title or low < at:
                    text = " ".join(words[low : at + len(phrase)])
                    yield Item(
                        at, at + len(phrase), "op", 0.9 + 0.6 * len(phrase), text, roles=frozenset({"whole"})
                    )


IDLE = {"operators.every", "operators.both", "operators.either", "operators.only", "operators.compare"}


def names(
    release: Release, ways: Ways, analysis: Analysis, heard: Asked, language: Language
) -> Iterator[Item]:
    """Names of individuals and of types, with all who bear them."""
    method, graph = release.method, release[Graph]
    words = heard.words
    mentions = link(
        release[NameIndex],
        analysis.reading.question,
        stop_words(method.questions),
        plain_words(method.questions),
        HOMONYMS,
    )
    categories = release[World].adjacency.category
    for mention in mentions:
        first, last = mention.first, min(mention.last, len(words))
        if last <= first or not mention.entities:
            continue
        chunk_capital = any(
            c.capital and c.first < last and c.last > first and not (c.opens and c.first == 0)
            for c in heard.chunks
        )
        quoted = any(c.quoted and c.first < last and c.last > first for c in heard.chunks)
        best = mention.entities[0].score
        whole = [e for e in mention.entities if e.how in ("label", "alternative", "identifier")]
        tiers = [
            (whole, 0.0),
            (
                [e for e in mention.entities if e not in whole and e.score >= 0.8 * best],
                0.25 if whole else 0.1,
            ),
        ]
        meanings: list[Meaning] = []
        for tier, cost in tiers:
            grouped: dict[int, list[int]] = {}
            for one in tier:
                grouped.setdefault(int(categories[one.entity]), []).append(one.entity)
            for category, nodes in grouped.items():
                array = np.array(sorted(set(nodes)), np.int32)
                person = int(Category.Actor) in grouped and category != int(Category.Actor)
                more = 0.35 * (person and not whole) + 0.05 * (
                    len(grouped) > 1 and category not in (int(Category.Actor), int(Category.Place))
                )
                meanings.append(
                    Meaning(
                        None,
                        tuple(graph.iri(int(n)) for n in array),
                        array,
                        ways.signatures(array),
                        cost + more,
                        True,
                        category=category,
                    )
                )
        if not meanings:
            continue
        content = sum(word not in language.stop for word in words[first:last])
        score = best * (1.1 * content) - 0.3 + 0.4 * chunk_capital + 0.7 * quoted + (0.5 if whole else -0.2)
        if (
            not chunk_capital
            and not quoted
            and content <= 1
            and meanings[0].category != int(Category.Concept)
        ):
            score -= 0.7 if language.raw["capitals"] == "names" else 0.3
        yield Item(first, last, "name", score, " ".join(words[first:last]), meanings=tuple(meanings))


class SixLanguages:
    """The kinds of a data set by the words of six languages."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds

    @classmethod
    def from_release(cls, release: Release) -> SixLanguages:
        method = release.method
        known = yaml.safe_load((ROOT / "kinds.yaml").read_text())["kinds"]
        part = method.kinds.model_copy(
            update={
                "kinds": {id: KindEntry.model_validate(entry) for id, entry in known.items()},
                "inflections": {code: tuple(language(code).raw["plurals"]) for code in LANGUAGES},
            }
        )
        return cls(Kinds(release[World], part, method.profile.broader_properties))


def nouns(release: Release, ways: Ways, words: Sequence[str], language: Language) -> Iterator[Item]:
    """Nouns for kinds of things."""
    world = release[World]
    spans: dict[tuple[int, int], list[KindMatch]] = {}
    for match in release[SixLanguages].kinds.at(words, language.code):
        spans.setdefault((match.first, match.last), []).append(match)
    for (first, last), matches in spans.items():
        meanings: list[Meaning] = []
        for match in matches:
            meaning = meaning_of(world, ways, match)
            if meaning is not None and all(meaning.key() != known.key() for known in meanings):
                meanings.append(meaning)
        if not meanings:
            continue
        if all(word in language.stop for word in words[first:last]):
            continue
        content = sum(word not in language.stop for word in words[first:last])
        score = 1.05 * content - 0.1 - 0.3 * min(one.cost for one in meanings)
        stems = frozenset(language.stem(word) for word in words[first:last] if word not in language.stop)
        yield Item(
            first, last, "noun", score, " ".join(words[first:last]), meanings=tuple(meanings), stems=stems
        )


COST_OF_HOW = {"type": 0.0, "lexicon": 0.05, "class": 0.1, "category": 0.15, "head": 0.2, "like": 0.35}


def meaning_of(world: World, ways: Ways, match: KindMatch) -> Meaning | None:
    """What a kind stands for; None where the data has nothing of it."""
    graph = world.graph
    cost = COST_OF_HOW[match.how]
    if match.types:
        types = tuple(graph.iri(node) for node in (*match.types, *match.also))
        target = Target(types=types)
    elif match.classes:
        target = Target(classes=match.classes)
    elif match.categories:
        target = Target(categories=tuple(c.name for c in Category if int(c) & match.categories and c.name))  # type: ignore[arg-type]
    else:
        return None
    nodes = np.flatnonzero(targeted(world, target) & world.entities).astype(np.int32)
    if not len(nodes) and match.role == "":
        return None
    if match.role == "maker":
        target = Target(categories=("Actor",))
        nodes = np.flatnonzero(targeted(world, target)).astype(np.int32)
        if not len(nodes):
            return None
    number = match.number.value if hasattr(match.number, "value") else str(match.number)
    return Meaning(
        target, (), nodes, ways.signatures(nodes), cost, False, str(number), match.role, any=match.generic
    )


def generic(world: World, ways: Ways, name: str, cost: float = 0.0) -> Meaning | None:
    """All of a category."""
    target = Target(categories=(name,))  # type: ignore[arg-type]
    nodes = np.flatnonzero(targeted(world, target) & world.entities).astype(np.int32)
    if not len(nodes):
        return None
    return Meaning(target, (), nodes, ways.signatures(nodes), cost, False, any=True)
