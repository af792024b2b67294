"""What a language model is told beside the question: what of the data set its plan may name, within a budget of tokens.

The words are the reader's own: names and nouns as the likeliest ways to cut the question have them, kinds and relations of
the data's lexicon. Only what occurs is told, with how often.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from crmrag_query.artifacts.release import Release
from crmrag_query.entities.details import type_nodes
from crmrag_query.graph.graph import Graph
from crmrag_query.language import LANGUAGES, language
from crmrag_query.linking import NameIndex, latin, link, plain_words, stop_words
from crmrag_query.ontology.load import Category
from crmrag_query.plans.profile import Profile, PropertyProfile
from crmrag_query.plans.records import Plan, Target
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState
from crmrag_query.questions.form import Analysis
from crmrag_query.questions.lexicon import asked
from crmrag_query.reading.earlier import plan_of
from crmrag_query.reading.items import Exonyms, analysed, cut, items_of, phrases
from crmrag_query.reading.lexicon import Lexicon, Stems, local_words, said_of, vocabulary
from crmrag_query.reading.plan_json import for_model
from crmrag_query.reading.records import Item
from crmrag_query.reading.ties import Ties
from crmrag_query.text import fold, plain, positions, same_stem, shorten, tokenize, tokens, unmarked

SHARES = {
    "relations": 0.3, "relationships": 0.15, "classes": 0.1, "types": 0.25, "properties": 0.15, "graphs": 0.05,
}  # fmt: skip
"""Most of the tokens that a section takes while others have rows left; what is free then goes to them in this order."""
LABEL = 80  # characters of a name or an example from the data
MENTIONED = 5  # choices told for one name or noun, best first
LISTED = 4  # IRIs of a choice that are told one by one; a longer list has a name that stands for all of it
TYPES_OF = 2  # types told of an entity
EARLIER_TURNS = 3  # of the conversation that are told
MANY = 4  # categories that say no more than "anything"; ours
CUTS = 3  # ways to cut a question of which names and nouns are told
SHORTEST = 4  # letters of a part of a compound


@dataclass(frozen=True, slots=True)
class Told:
    """``message``: JSON of the user's message, in which all is that people and data said; ``groups``: the IRIs for which
    names in it stand; ``offered``: IRIs of entities and types in it."""

    message: dict[str, Any]
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    offered: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A turn of the conversation: what was asked, the plan of its answer and how many it found, where these are known."""

    question: str
    plan: Plan | None = None
    size: int | None = None


def earlier_of(state: ConversationState) -> tuple[Earlier, ...]:
    """The turns of a conversation's topic, oldest first; where there is no plan, what an answer showed stands for its set."""
    return tuple(Earlier(turn.resolved, plan_of(turn)) for turn in state.topic)


def catalogue(
    release: Release,
    question: str,
    earlier: Sequence[Earlier] = (),
    shares: Mapping[str, float] = SHARES,
) -> Told:
    """The question with what may stand in its plan, at most ``planner.tokens`` beside the question (estimated from above).

    Earlier turns and what the question names come first; then of each section that has ``shares`` the rows nearest to the
    question's words, the most used first, up to its share; what is free then goes to the sections in their order. A list that
    was cut says how much more there is.
    """
    analysis, told = analysed(release, question), Told({"question": plain(question)})
    values = {"earlier": _earlier(earlier)} | _Named(release, analysis, told).sections()
    for key, rows in _rows(release, question, analysis.reading.language).items():
        if key in shares:
            values[key] = [row.text for row in rows]
    counts, free = dict.fromkeys(values, 0), release.method.planner.tokens
    for most in (shares, {}):
        total = free
        for key, ones in values.items():
            budget = min(free, int(total * most.get(key, 1.0)))
            while counts[key] < len(ones) and (cost := _cost(ones[counts[key]])) <= budget:
                budget, free, counts[key] = budget - cost, free - cost, counts[key] + 1
    told.message.update(
        {key: _cut(ones[: counts[key]], len(ones)) for key, ones in values.items() if counts[key]}
    )
    told.offered.extend(row.split(": ", 1)[0] for row in values["types"][: counts["types"]])
    return told


def written(value: object) -> str:
    """JSON on one line, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(kept: Sequence[Any], of: int) -> list[Any]:
    return [*kept, f"… {of - len(kept)} more"] if of > len(kept) else list(kept)


def _cost(value: object) -> int:
    """Tokens of a value as it is written, with the comma after it."""
    return tokens(written(value)) + 1


def _earlier(turns: Sequence[Earlier]) -> list[dict[str, Any]]:
    """The last turns, oldest first; of a long list of members only how many they are."""
    found = []
    for turn in turns[-EARLIER_TURNS:]:
        told: dict[str, Any] = {"question": shorten(plain(turn.question), 4 * LABEL)}
        if turn.plan is not None:
            told["plan"] = _abridged(for_model(turn.plan))
        if turn.size is not None:
            told["size"] = turn.size
        found.append(told)
    return found


def _abridged(told: Any) -> Any:
    """A plan's JSON with no more than so many IRIs in a list."""
    if isinstance(told, list):
        return _cut([_abridged(one) for one in told[:MENTIONED]], len(told))
    return {key: _abridged(one) for key, one in told.items()} if isinstance(told, dict) else told


# What the question names


@lru_cache(maxsize=len(LANGUAGES))
def _said(code: str) -> tuple[Stems, Stems]:
    """Stems of verbs that say relations, and of nouns for what these lead to and from."""
    relations, none = vocabulary(code).relations.values(), frozenset[str]()
    ends = (one.ends | one.starts for one in relations)
    return none.union(*(one.says for one in relations)), none.union(*ends)


class _Named:
    """Names and nouns of a question with what they may mean, and names that nothing in the data has.

    ``marked``: positions of words that are written as names: with a capital where it is none of a small word, or in quotes.
    """

    def __init__(self, release: Release, analysis: Analysis, told: Told) -> None:
        self.release, self.graph, self.told = release, release[Graph], told
        self.analysis, self.own = analysis, language(analysis.reading.language)
        self.languages = release.manifest.languages
        heard = self.heard = asked(analysis.reading.question, self.own.capitals_name)
        self.words, self.stems = heard.words, tuple(map(self.own.stem, heard.words))
        self.usual = plain_words(release.method.questions)
        self.opening = {chunk.first for chunk in heard.chunks if chunk.opens}
        self.quoted = positions(one for one in heard.chunks if one.quoted)
        opens = {at for at in self.opening if self._is_usual(at) or self.stems[at] in _said(self.own.code)[0]}
        self.marked = (heard.capitals - opens) | self.quoted
        items = items_of(release, release[Lexicon], analysis, heard, self.own, self.stems)
        cuts = [chosen for _, chosen in cut(self.words, items, self.own, CUTS)] or [()]
        every = {(one.first, one.last, one.sort): one for chosen in cuts for one in chosen}
        read = sorted(every.values(), key=lambda one: one.first)
        self.nouns = [one for one in read if one.sort == "noun"]
        names: list[Item] = []
        for one in (*cuts[0], *read, *items):
            if one.sort == "name" and not any(_overlap(one, other) for other in names) and self._is_name(one):
                names.append(one)
        taken = {at: one for one in (*cuts[0], *names) for at in range(one.first, one.last)}
        self.lost = self._unmatched(taken)
        gone = {at for run in self.lost for at in run}
        self.names = sorted(
            (one for one in names if gone.isdisjoint(range(one.first, one.last))), key=lambda one: one.first
        )

    def sections(self) -> dict[str, list[Any]]:
        """What is told, by section."""
        named = [(" ".join(self.words[one.first : one.last]), self._nodes(one)) for one in self.names]
        told = [(words, self._choices(nodes)) for words, nodes in (*named, *self._compounds())]
        holding = [(self._as_written(run), self._holding(run)) for run in self.lost]
        return {
            "named": [
                *({"words": plain(words), "may be": choices} for words, choices in told if choices),
                *({"words": words, "in names": names} for words, names in holding if names),
            ],
            "kinds": list(self._kinds()),
            "no match": [words for words, names in holding if not names],
        }

    def _is_usual(self, at: int) -> bool:
        """Whether a word is a small one, a number, part of a date, or one that names nothing by itself."""
        word, own = self.words[at], self.own
        known = (own.stop, own.numbers, self.usual, self.analysis.period_words)
        return word.isdigit() or any(word in words for words in known) or any(own.phrases.at(self.words, at))

    def _is_name(self, item: Item) -> bool:
        """Whether a stretch is a name: marked as one, or a whole name of a concept, with a digit or of several words, or,
        after a preposition or where the question has no capitals, any that is no word of relations or kinds."""
        content = [at for at in range(item.first, item.last) if at in self.quoted or not self._is_usual(at)]
        if not content or (self.marked.intersection(content) and (self.own.capitals_name or item.score > 0)):
            return bool(content)
        verbs, nouns = _said(self.own.code)
        after = self._is_after_preposition(item.first)
        if not after and all(self.stems[at] in verbs for at in content):
            return False
        digits = any(map(str.isdigit, "".join(self.words[at] for at in content)))
        if item.whole and (len(content) > 1 or digits or item.meanings[0].category == int(Category.Concept)):
            return True
        told = all(self.stems[at] in verbs | nouns for at in content)
        kind = any(_overlap(item, noun) for noun in self.nouns)
        return (after or not self.heard.capitals) and not (told or kind)

    def _is_after_preposition(self, at: int) -> bool:
        before, roles = self.words[at - 1] if at else "", self.own.roles
        said = any(before in words for role, words in roles.items() if role.startswith("prepositions."))
        return said and before not in roles["verbs.have"] and before not in roles["prepositions.to"]

    def _nodes(self, item: Item) -> Iterator[int]:
        """What a name may mean, as linking ranks it; no kind of the same words."""
        stop, words = stop_words(self.release.method.questions), self.words[item.first : item.last]
        linked = link(self.release[NameIndex], words, stop, frozenset())
        every = (one.entity for mention in linked for one in mention.homonyms)
        rank = {entity: at for at, entity in enumerate(every)}
        same = (noun for noun in self.nouns if (noun.first, noun.last) == (item.first, item.last))
        kinds = {iri for noun in same for one in noun.meanings if one.target for iri in one.target.types}
        for meaning in item.meanings:
            nodes = sorted(meaning.nodes.tolist(), key=lambda node: (rank.get(node, len(rank)), node))
            yield from (node for node in nodes if self.graph.iri(node) not in kinds)

    def _compounds(self) -> Iterator[tuple[str, list[int]]]:
        """What the first part of a compound names in the data: "Marmor" of "Marmorstatuen"."""
        table, named = phrases(self.own.code), positions(self.names)
        for at, word in enumerate(self.words):
            if self.own.raw.get("compounds") == "true" and at not in named and not self._is_usual(at):
                heads = (word[:end] for end in range(len(word) - SHORTEST, SHORTEST - 1, -1))
                ids = next((ids for head in heads for ids in [table.get((self.own.stem(head),))] if ids), ())
                nodes = [one.entity for id in ids for one in self.release[Exonyms].of(id)]
                yield word, nodes

    def _choices(self, nodes: Iterable[int]) -> list[Any]:
        """Entities by name and category, best first: homonyms are one choice."""
        alike: dict[tuple[str, int], list[int]] = {}
        for node in dict.fromkeys(nodes):
            label = fold(plain(self.graph.label(node, self.languages)))
            key = (label, int(self.graph.adjacency.categories[node]))
            alike.setdefault(key, []).append(node)
        return _cut(list(map(self._choice, islice(alike.values(), MENTIONED))), len(alike))

    def _choice(self, nodes: Sequence[int]) -> dict[str, Any]:
        category = _categories(int(self.graph.adjacency.categories[nodes[0]]))
        told = self._listed("iris", tuple(map(self.graph.iri, nodes)), nodes[0]) | {"category": category}
        kinds = [self._label(kind) for kind in islice(type_nodes(self.graph, nodes[0]), TYPES_OF)]
        return told | ({"types": kinds} if kinds else {})

    def _label(self, node: int) -> str:
        return _shown(self.graph.label(node, self.languages))

    def _listed(self, key: str, iris: tuple[str, ...], first: int | None) -> dict[str, Any]:
        """IRIs with the label of the first; a long list with a name that stands for all of it."""
        self.told.offered.extend(iris)
        told: dict[str, Any] = {key: _cut(iris[:LISTED], len(iris))}
        if len(iris) > LISTED:
            told["all"] = f"@{len(self.told.groups) + 1}"
            self.told.groups[told["all"]] = iris
        return told | ({} if first is None else {"label": self._label(first)})

    def _kinds(self) -> Iterator[dict[str, Any]]:
        """Nouns with the kinds of things that they may mean, and how many there are."""
        for noun in self.nouns:
            told: list[dict[str, Any]] = []
            for meaning in noun.meanings[:2]:
                target = meaning.target or Target()
                if not len(meaning.nodes) or (told and not target.types):
                    continue
                one = {key: list(ones) for key in ("categories", "classes") if (ones := getattr(target, key))}
                if target.types:
                    one = self._listed("types", target.types, self.graph.node(target.types[0]))
                told.append(one | {"entities": len(meaning.nodes)})
            if told:
                yield {"words": plain(" ".join(self.words[noun.first : noun.last])), "may be": told}

    def _unmatched(self, taken: Mapping[int, Item]) -> list[list[int]]:
        """Where words are written as names that nothing in the data is called; a name that is but a part of some thing's,
        such as "Paul", is none beside another word that is not. Where all nouns have capitals: several words or one after
        "by"; else none that opens the question."""
        runs, title = list[list[int]](), tokenize(self.release.manifest.title)  # which names the data itself
        starts = {chunk.first for chunk in self.heard.chunks} | self.quoted
        for at in sorted(self.marked):
            if self._is_part(taken.get(at)) and (at in self.quoted or not self._is_usual(at)):
                if runs and runs[-1][-1] == at - 1 and at in starts:
                    runs[-1].append(at)
                else:
                    runs.append([at])
        agents, nouns = self.own.roles["prepositions.agent"], not self.own.capitals_name
        return [
            run
            for run in runs
            if any(at not in taken and self.words[at] not in title for at in run)
            and (
                len(run) > 1
                or run[0] in self.quoted
                or (self.words[run[0] - 1] in agents if nouns else run[0] not in self.opening)
            )
        ]

    def _is_part(self, item: Item | None) -> bool:
        """Whether words are taken for nothing, or for what is called more than they say."""
        if item is None or item.sort != "name":
            return item is None
        label = tokenize(self.graph.label(int(item.meanings[0].nodes[0]), self.languages))
        return {*self.words[item.first : item.last]} < {word for word in label if word not in self.own.stop}

    def _holding(self, run: Sequence[int]) -> int:
        """How many names hold all these words: too many for linking to name one of them."""
        index = self.release[NameIndex]
        numbers = [index.number(latin(self.words[at])) for at in run]
        bags = [set(index.bags_of(one).tolist()) if one is not None else set[int]() for one in numbers]
        return len(set.intersection(*bags))

    def _as_written(self, run: Sequence[int]) -> str:
        chunks = [plain(one.text) for one in self.heard.chunks if one.last > run[0] and one.first <= run[-1]]
        return unmarked(" ".join(chunks))[:LABEL]


def _overlap(one: Item, other: Item) -> bool:
    return one.first < other.last and other.first < one.last


# What the data has


@dataclass(frozen=True, slots=True)
class Row:
    """A line as told, the names by which a question may speak of it, and how often it occurs."""

    text: str
    names: tuple[str, ...]
    count: int = 0


def _rows(release: Release, question: str, code: str) -> dict[str, list[Row]]:
    """All rows by section, the most relevant first; how each is written, the prompt says."""
    graph = release[Graph]
    graphs = sorted({iri for names in graph.graph_sets for iri in names if iri})
    every: dict[str, Iterable[Row]] = {
        "relations": _relations(release, code),
        **_counted(release, release[Profile]),
        "graphs": [Row(iri, (local_words(iri),)) for iri in graphs],
    }
    stop = stop_words(release.method.questions)
    words = [word for word in tokenize(question) if word not in stop]
    return {key: by_relevance(list(rows), words) for key, rows in every.items()}


def _counted(release: Release, profile: Profile) -> dict[str, Iterable[Row]]:
    """What occurs, with how often."""
    known = ((one, profile.relationships.get(one.id)) for one in release[World].catalogue)
    return {
        "relationships": (
            Row(
                f"{one.id}: {one.label} | {_categories(int(one.domain))} > {_categories(int(one.range))} | {found.pairs}",
                (one.label,),
                found.pairs,
            )
            for one, found in known
            if found and found.pairs
        ),
        "classes": (
            Row(
                f"{name}: {_shown(one.label)} | {' or '.join(one.categories)} | {one.entities}",
                (one.label,),
                one.entities,
            )
            for name, one in profile.classes.items()
        ),
        "types": (
            Row(
                f"{one.iri}: {_quoted(one.label)} | {' or '.join(name for name, _ in one.categories)} | {one.entities}",
                (one.label, *one.labels.values()),
                one.entities,
            )
            for one in profile.types
        ),
        "properties": (
            Row(
                f"{name}: {_shown(one.label)} | {_ends(one)} | {count}",
                (one.label, local_words(one.iri)),
                count,
            )
            for name, one in profile.properties.items()
            for count in [max(one.triples, one.literals.count if one.literals else 0)]
        ),
    }


def _relations(release: Release, code: str) -> Iterator[Row]:
    """The relations that the data states of what they may be of, in the configuration's order."""
    ties, languages = release[Ties], ("en", *release.manifest.languages)
    for id, one in release[World].relations.items():
        near, reached = ties.counts(id)
        if near:
            label, back = (_in(texts, languages) for texts in (one.labels, one.inverse))
            ends, far = (_any_of(one.range), f" > {reached}") if one.value == "entity" else (one.value, "")
            told = f"{id}: {label} | {back} | {_any_of(one.domain)} > {ends} | {near}{far}"
            said = {word for known in {code, *languages} & {*LANGUAGES} for word in said_of(id, known)}
            yield Row(told, (*one.labels.values(), *one.inverse.values(), *sorted(said)))


def _any_of(categories: Sequence[str]) -> str:
    return " or ".join(categories) if 0 < len(categories) < MANY else "anything"


def _in(texts: Mapping[str, str], languages: Sequence[str]) -> str:
    return next((texts[one] for one in (*languages, *texts) if one in texts), "")


def _categories(mask: int) -> str:
    return " or ".join(str(one.name) for one in Category if mask & one)


def _ends(entry: PropertyProfile) -> str:
    """Classes of both ends of most triples, or what the literals are."""
    of = entry.literals
    if of is None:
        subject, object_, _ = entry.classes[0] if entry.classes else ("", "", 0)
        return f"{subject or 'anything'} > {object_ or 'anything'}"
    kinds = (("dates", of.dates), ("numbers", of.numbers))
    kind = next((name for name, extent in kinds if extent and 2 * extent.count > of.count), "text")
    return f"{kind}, as {_quoted(of.examples[0])}" if of.examples else kind


def _shown(text: str) -> str:
    return shorten(plain(text), LABEL)


def _quoted(text: str) -> str:
    """Text from the data, between quotation marks that do not occur within."""
    return '"' + _shown(text).replace('"', "'") + '"'


def by_relevance(rows: Sequence[Row], words: Sequence[str]) -> list[Row]:
    """Rows whose names share words with the question first, those that are named wholly before others; then the most used;
    else as they were. ``words``: folded."""
    said = frozenset(words)
    beginnings = frozenset(word[:2] for word in said)

    def likeness(name: str) -> float:
        """Share of a name's words that the question has, spelt the same but for an ending."""
        own = tokenize(name)[:12]
        near = [word for word in own if word in said or word[:2] in beginnings]
        found = sum(word in said or any(same_stem(word, one) for one in said) for word in near)
        return found / len(own) if own else 0.0

    return sorted(rows, key=lambda row: (-max(map(likeness, row.names), default=0), -row.count))
