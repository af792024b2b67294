"""Questions that ask for no set: about one thing as such ("Where is X?", "Tell me about X"), for one fact of it ("When was X
made?"), or about the data as a whole.

The first two are answered from what is told of the thing itself, never by what leads to it: what lies in a church is not
where the church is. The third is answered by what the data set holds, counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import Understood, individuals
from crmrag_query.artifacts.release import Release
from crmrag_query.config.questions import PlanWords
from crmrag_query.entities.named import category_name
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.lexicon import PhraseSpan, compiled_relations
from crmrag_query.plans.profile import Profile
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.state import Kind
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.text import fold, tokenize

Subject = Literal["", "itself", "whole"]
_ASKING = (
    "what", "who", "adverbs", "describing", "listing", "polite", "being", "one_verbs", "many_verbs", "everything", "articles",
)  # fmt: skip
"""Kinds of phrases that may stand around the thing that is asked about; they say no relation."""


def subject_of(release: Release, understood: Understood) -> Subject:
    """Whether a question asks about one thing that it names and says no more, or about all of the data; "" for any other.

    A question that means what went before in a conversation is neither, since what it means is not in its words; but "this
    collection" is the data whatever went before.
    """
    alone = understood.follow_up.kind is Kind.STANDALONE
    reading = understood.own.reading
    language = compiled(release.method.questions).languages[reading.language]
    named = individuals(release, understood.own)
    inside = {at for mention in named for at in range(mention.first, mention.last)}
    rest = [word for at, word in enumerate(reading.words) if at not in inside]
    whole = [last - first for first, last in language.forms.whole.spans(rest)]
    says_whole = (
        not named and whole and (alone or max(whole) > 1)
    )  # "this collection" is two words, "here" is one
    if says_whole and _is_said(rest, language, ("whole",), language.stop):
        return "whole"
    if not alone or len(named) != 1 or reading.counts:
        return ""
    before, after = reading.words[: named[0].first], reading.words[named[0].last :]
    openings = (getattr(language.forms, kind) for kind in ("what", "who", "adverbs", "describing"))
    opens = any(phrases.at(before, 0) for phrases in openings)
    bare = _is_said(before, language, ("placed",)) and _is_said(after, language, ("placed",))
    return "itself" if opens and bare else ""


def named_alone(release: Release, understood: Understood) -> int | None:
    """The one entity that a question about a thing as such names."""
    named = individuals(release, understood.own)
    return named[0].entities[0].entity if len(named) == 1 else None


def _is_said(
    words: Sequence[str], language: Language, also: tuple[str, ...] = (), small: Collection[str] = ()
) -> bool:
    """Whether words are nothing but a request, forms of to be, articles, phrases of kinds ``also``, and ``small`` words."""
    at = 0
    while at < len(words):
        length = max(getattr(language.forms, kind).at(words, at) for kind in (*_ASKING, *also))
        if not length and words[at] not in small:
            return False
        at += length or 1
    return True


MOST_ALIKE = 5  # entities of one name of which a fact is told; of more, a list is the answer
_OF_CATEGORY = {"Time": "date", "Place": "Place", "Actor": "Actor"}
"""What question words ask for (when, where, who), as the value or the range of a relation."""


@dataclass(frozen=True, slots=True)
class AskedFact:
    """A fact of one thing: the entities of its name, and the relations that may tell it, the likeliest first."""

    nodes: tuple[int, ...]
    relations: tuple[str, ...]


def fact_of(release: Release, understood: Understood) -> AskedFact | None:
    """The one fact that a question asks for, where every word of it is understood: a thing that it names, or that a
    conversation speaks of, one phrase of a relation, and a question word. None for any other question."""
    reading, method = understood.own.reading, release.method
    if reading.counts or reading.rule.startswith("yes/no"):
        return None
    language = compiled(method.questions).languages[reading.language]
    nodes, words = _spoken_of(release, understood, language)
    if not nodes or not words:
        return None
    denying = {word for one in _plan_words(release, reading.language).negation for word in tokenize(one)}
    if denying.intersection(words):
        return None
    spans = compiled_relations(method.relations, reading.language).spans(words)
    for span in sorted(spans, key=lambda one: -len(one)):
        if span.role not in ("forward", "backward", "ends"):
            continue
        rest = [word for at, word in enumerate(words) if word and not span.first <= at < span.last]
        opening = span.role == "ends" or any(
            getattr(language.forms, kind).at(rest, 0) for kind in ("what", "who", "adverbs", "describing")
        )
        if not opening or not _is_said(rest, language, ("placed",), language.stop):
            continue
        said = {
            id: None
            for one in spans
            if (one.first, one.last) == (span.first, span.last)
            for id in one.relations
        }
        relations = _fitting(release, tuple(said), reading.expects, nodes)
        if relations and not _is_turned(release, relations, span, words, nodes):
            return AskedFact(nodes, relations)
    return None


def _spoken_of(
    release: Release, understood: Understood, language: Language
) -> tuple[tuple[int, ...], list[str]]:
    """The entities of the one name in a question, or the one that its pronoun means, and its words, "" for those."""
    words = list(understood.own.reading.words)
    named = individuals(release, understood.own)
    kind, focus = understood.follow_up.kind, understood.follow_up.focus
    if kind is Kind.REFERENCE and len(focus) == 1 and not named:
        node = release[Graph].node(focus[0].iri)
        for first, last in language.forms.one_refs.spans(words):
            words[first:last] = [""] * (last - first)
        return (() if node is None else (node,)), words
    if kind is not Kind.STANDALONE or len(named) != 1:
        return (), words
    words[named[0].first : named[0].last] = [""] * (named[0].last - named[0].first)
    best = named[0].entities[0]
    alike = tuple(
        one.entity for one in named[0].entities if fold(one.name) == fold(best.name) and one.how == best.how
    )
    if best.how in ("partial", "similar") and len({fold(one.name) for one in named[0].entities}) > 1:
        return (), words
    return (alike if len(alike) <= MOST_ALIKE else ()), words


def _fitting(
    release: Release, said: tuple[str, ...], expects: int, nodes: tuple[int, ...]
) -> tuple[str, ...]:
    """Of the relations said, and of those that tell of the same event, those that things of this kind have and that lead to
    what the question word asks for."""
    relations = release.method.relations
    categories = {category_name(release[Graph], node) for node in nodes}
    known = {id: relations[id] for id in said if id in relations}
    wanted = next((_OF_CATEGORY[one] for one in _OF_CATEGORY if expects & int(Category[one])), "")
    if wanted:
        events = {path[:-1] for one in known.values() for path in one.direct if len(path) > 1}
        for id, one in relations.items():
            if any(path[:-1] in events for path in one.direct):
                known.setdefault(id, one)
    return tuple(
        id
        for id, one in known.items()
        if categories & set(one.domain)
        and (
            not wanted
            or (one.value == "date" if wanted == "date" else wanted in one.range and one.value == "entity")
        )
    )


def _is_turned(
    release: Release, relations: Sequence[str], span: PhraseSpan, words: Sequence[str], nodes: tuple[int, ...]
) -> bool:
    """Whether the thing stands at the far end of what is said: "What depicts X?" asks for no fact of X."""
    first = release.method.relations[relations[0]]
    categories = {category_name(release[Graph], node) for node in nodes}
    if first.value != "entity" or not categories & set(first.range) or span.role == "ends":
        return False
    before = "" in words[: span.first]
    return before if span.role == "backward" else not before


def _plan_words(release: Release, language: str) -> PlanWords:
    return release.method.parsing.languages.get(language, PlanWords())


SHOWN = ("Thing", "Actor", "Place", "Event", "Concept")
"""Categories in the order in which they are told; times say little by themselves."""
NAMED = 3  # entities of a category that are named: the ones of highest PageRank


def overview(release: Release, language: str, cited: SourceList) -> str:
    """The data set in a sentence or two a category, those that it has nothing of left out; the entities named are cited."""
    words, graph = release.method.sets.words(language), release[Graph]
    told = [f"{release.manifest.title}:"]
    for category in SHOWN:
        count = known.entities if (known := release[Profile].coverage.get(category)) else 0
        if not count:
            continue
        what = words.categories[category]
        told.append(words.size.of(count).format(what=what[:1].upper() + what[1:], n=f"{count:,}"))
        best = [
            f"{graph.label(node, (language,))} [{cited.cite(node, cited.type_triples(node))}]"
            for one in release[Aggregation].top(category, NAMED)
            if (node := graph.node(one.iri)) is not None
        ]
        if best:
            told.append(words.shown.format(first="; ".join(best)))
    return " ".join(told)
