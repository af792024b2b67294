"""Questions that ask for no set: about one thing as such ("Where is X?", "Tell me about X"), for one fact of it ("When was X
made?"), or about the data as a whole.

The first two are answered from what is told of the thing itself, never by what leads to it: what lies in a church is not
where the church is. The third is answered by what the data set holds, counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from crmrag_query.answers.facts import Facts
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import Understood, individuals
from crmrag_query.artifacts.release import Release
from crmrag_query.config.questions import PlanWords
from crmrag_query.entities.named import category_name
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.lexicon import PhraseSpan, compiled_relations
from crmrag_query.plans.profile import Profile
from crmrag_query.questions.lexicon import Language, compiled, folded
from crmrag_query.questions.phrases import Phrases
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
    spoken = _spoken_of(release, understood, language)
    if not alone or not spoken.nodes or reading.counts:
        return ""
    at = spoken.words.index("")
    before = spoken.words[:at]
    after = [word for word in spoken.words[at:] if word]
    asking = language.forms.describing.at(before, 0)
    opens = asking or any(getattr(language.forms, kind).at(before, 0) for kind in ("what", "who", "adverbs"))
    # what stands between a request and a name is a preposition: "parlez-moi *de* X"
    bare = _is_said(before[asking:], language, ("placed",), language.stop if asking else ())
    return "itself" if opens and bare and _is_said(after, language, ("placed",)) else ""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The one thing of a question: the ``nodes`` of its name, the best known first, whether these are all that it may be,
    and the question's words, "" for those that name it."""

    nodes: tuple[int, ...]
    sure: bool
    words: list[str]


def _spoken_of(release: Release, understood: Understood, language: Language) -> _Spoken:
    """The one thing that a question names, or that its pronoun means in a conversation; without nodes where there is none."""
    words = list(understood.own.reading.words)
    named = individuals(release, understood.own)
    kind, focus = understood.follow_up.kind, understood.follow_up.focus
    if kind is Kind.REFERENCE and len(focus) == 1 and not named:
        node = release[Graph].node(focus[0].iri)
        references = list(language.forms.one_refs.spans(words))
        for first, last in references:
            words[first:last] = [""] * (last - first)
        return _Spoken((node,) if node is not None and references else (), True, words)
    if kind is not Kind.STANDALONE or len(named) != 1:
        return _Spoken((), False, words)
    mention, best = named[0], named[0].entities[0]
    alike = [
        one.entity for one in mention.entities if fold(one.name) == fold(best.name) and one.how == best.how
    ]
    nodes = things_of(release, alike)
    part = best.how in ("partial", "similar")
    sure = not part or len({fold(one.name) for one in mention.entities}) == 1
    own = {word for label in release[Graph].labels(nodes[0]) for word in tokenize(label.text)}
    first, last = (
        mention.first,
        mention.last,
    )  # with what else of the name stands beside it: "*The* Two Friends"
    while first > 0 and words[first - 1] in own and not language.forms.of.at(words, first - 1):
        first -= 1
    while last < len(words) and words[last] in own:
        last += 1
    words[first:last] = [""] * (last - first)
    return _Spoken(nodes, sure, words)


NAMING = ("P1", "P102", "P131", "P149", "P48")
"""Properties from a thing to a node that names it."""


def things_of(release: Release, nodes: Sequence[int]) -> tuple[int, ...]:
    """The things that nodes of one name are or, where these are mere names or texts, name; the best known first."""
    facts, triples = Facts(release, ""), release[TriplesIndex]
    adjacency = release[Graph].adjacency
    things = [node for node in nodes if not facts.is_untold(node)]
    if not things:
        steps = [prop for code in NAMING for prop in adjacency.by_code.get(code, ())]
        things = [
            int(one) for node in nodes for prop in steps for one in adjacency.backward.neighbours(prop, node)
        ]
    return tuple(sorted(dict.fromkeys(things or nodes), key=lambda node: -triples.degree(node)))


def named_alone(release: Release, understood: Understood) -> tuple[int, ...]:
    """The entities of the one name in a question about a thing as such, the best known first."""
    language = compiled(release.method.questions).languages[understood.own.reading.language]
    return _spoken_of(release, understood, language).nodes


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


PHRASES = 2  # phrases of relations in a question for one fact: "What *year* was X *made*?"
SAYING = ("forward", "backward", "ends")
OPENINGS = ("what", "which", "which_one", "who", "adverbs", "inversion", "describing")
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
    spoken = _spoken_of(release, understood, language)
    nodes, words = spoken.nodes, spoken.words
    if not nodes or not spoken.sure or len(nodes) > MOST_ALIKE:
        return None
    plan_words = release.method.parsing.languages.get(reading.language, PlanWords())
    if Phrases(plan_words.negation).within(words):
        return None
    spans = compiled_relations(method.relations, reading.language).spans(words)
    chosen: list[PhraseSpan] = []
    for span in sorted(spans, key=lambda one: -len(one)):
        if span.role in SAYING and all(span.last <= one.first or one.last <= span.first for one in chosen):
            chosen.append(span)
    chosen = [one for one in chosen if not _is_said(words[one.first : one.last], language, ("placed",))]
    if not 0 < len(chosen) <= PHRASES:
        return None
    held = {at for one in chosen for at in range(one.first, one.last)}
    loose = {at for one in spans if one.role == "loose" for at in range(one.first, one.last)}
    rest = [word for at, word in enumerate(words) if word and at not in held]
    small = language.stop | {words[at] for at in loose} | folded(plan_words.filler)
    nouns = {(one.first, one.last) for one in spans if one.role == "ends"}
    asks = any(getattr(language.forms, kind).within(rest) for kind in OPENINGS)
    asks |= any((one.first, one.last) in nouns for one in chosen)
    if not asks or not _is_said(rest, language, ("placed", *OPENINGS), small):
        return None
    chosen.sort(key=lambda one: (one.first, one.last) in nouns)  # what a verb says before what a noun does
    each = [_said_by(spans, one) for one in chosen]
    common = tuple(id for id in each[0] if all(id in one for one in each))
    relations = _fitting(release, common or each[0], reading.expects, nodes)
    turned = relations and _is_turned(release, relations, chosen[0], words, nodes)
    return AskedFact(nodes, relations) if relations and not turned else None


def _said_by(spans: Sequence[PhraseSpan], chosen: PhraseSpan) -> tuple[str, ...]:
    """The relations that a phrase says in any role."""
    same = (
        one for one in spans if (one.first, one.last) == (chosen.first, chosen.last) and one.role in SAYING
    )
    return tuple(dict.fromkeys(id for one in same for id in one.relations))


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
    if (
        first.value != "entity"
        or first.literals.value
        or not categories & set(first.range)
        or span.role == "ends"
    ):
        return False
    before = "" in words[: span.first]
    return before if span.role == "backward" else not before


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
