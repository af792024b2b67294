"""Questions that ask for no set: about one thing as such ("Where is X?", "Tell me about X"), for one fact of it ("When was X
made?"), or about the data as a whole.

The first two are answered from what is told of the thing itself, never by what leads to it: what lies in a church is not
where the church is. The third is answered by what the data set holds, counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from crmrag_query.answers.facts import Facts
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import Understood, individuals
from crmrag_query.artifacts.release import Release
from crmrag_query.config.relations import Relation
from crmrag_query.config.sentences import sentences
from crmrag_query.entities.named import category_name
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.language import Language as SpokenLanguage
from crmrag_query.language import language as spoken_language
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.profile import Profile
from crmrag_query.questions.form import Form
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.state import Kind
from crmrag_query.questions.words import Phrases
from crmrag_query.reading.exonyms import WHOLE
from crmrag_query.reading.lexicon import PhraseSpan, relation_spans
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.text import fold, tokenize

Subject = Literal["", "itself", "whole", "greeting", "why"]
_ASKING = (
    "what", "who", "adverbs", "describing", "listing", "polite", "being", "one_verbs", "many_verbs", "everything", "articles",
)  # fmt: skip
"""Kinds of phrases that may stand around the thing that is asked about; they say no relation."""


def subject_of(release: Release, understood: Understood) -> Subject:
    """Whether a question asks about one thing that it names and says no more, about all of the data, or for a reason, or is
    no question at all; "" for any other.

    A question that means what went before in a conversation is neither, since what it means is not in its words; but "this
    collection" is the data whatever went before.
    """
    alone = understood.follow_up.kind is Kind.STANDALONE
    reading = understood.own.reading
    language = compiled(release.method.questions).languages[reading.language]
    if greeted(reading.words):
        return "greeting"
    if Phrases(sentences().forms(reading.language).why).at(reading.words, 0):
        return "why"
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
    spoken = _spoken_of(release, understood, language)
    if not spoken.nodes:
        return ""
    spans = relation_spans(reading.language, spoken.words)
    if _chosen(spans, spoken.words, language):
        return ""
    at = spoken.words.index("")
    before = spoken.words[:at]
    after = [word for word in spoken.words[at:] if word]
    asking = language.forms.describing.at(before, 0)
    opens = asking or any(getattr(language.forms, kind).at(before, 0) for kind in ("what", "who", "adverbs"))
    # what stands between a request and a name is a preposition: "parlez-moi *de* X"
    placed = (
        () if language.forms.who.at(before, 0) else ("placed",)
    )  # "where is it found", but "who found it"
    bare = _is_said(before[asking:], language, placed, language.stop if asking else ())
    return "itself" if opens and bare and _is_said(after, language, placed) else ""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The one thing of a question: the ``nodes`` of its name, the best known first; whether these are all that it may be;
    and the question's words, "" for those that name it, ``BESIDE`` for what it is tied to."""

    nodes: tuple[int, ...]
    sure: bool
    words: list[str]


BESIDE = "\0"
"""Stands for a word of a name that only says more of the thing that a question is about: *van Gogh's* Irises."""


def _spoken_of(release: Release, understood: Understood, language: Language) -> _Spoken:
    """The one thing that a question is about: that it names, or that its pronoun means in a conversation; of several names
    the one whose facts lead to all others. Without nodes where there is none."""
    words = list(understood.own.reading.words)
    named = individuals(release, understood.own)
    kind, focus = understood.follow_up.kind, understood.follow_up.focus
    if kind is Kind.REFERENCE and len(focus) == 1 and not named:
        node = release[Graph].node(focus[0].iri)
        references = list(language.forms.one_refs.spans(words))
        for first, last in references:
            words[first:last] = [""] * (last - first)
        return _Spoken((node,) if node is not None and references else (), True, words)
    if len(named) > 1:  # "dimensions" says what is asked for, though a type has this name
        asked = {(one.first, one.last) for one in relation_spans(understood.own.reading.language, words)}
        named = tuple(one for one in named if (one.first, one.last) not in asked) or named
    if kind is not Kind.STANDALONE or not 0 < len(named) <= MOST_NAMED:
        return _Spoken((), False, words)
    stop = _small_words(release, language)
    alike = [_of_one_name(release, mention, stop) for mention in named]
    main, nodes, beside = (0, alike[0], named) if len(named) == 1 else _leading(release, named, alike)
    if main is None:
        return _Spoken((), False, words)
    for at, mention in enumerate(named):
        if at == main or mention in beside:
            first, last = _extended(release, mention, alike[at][:1], words, language)
            words[first:last] = ["" if at == main else BESIDE] * (last - first)
    names = {fold(one.name) for one in named[main].entities}
    written = {fold(word) for word in re.findall(r"\w+", understood.question) if word[:1].isupper()}
    as_name = not written.isdisjoint(tokenize(named[main].text))  # "never" is no slip of "Neuere Gedichte"
    after = named[main].last
    while after < len(words) and len(words[after]) == 1:  # an initial
        after += 1
    beside_it = {words[at] for at in (named[main].first - 1, after) if 0 <= at < len(words)}
    more = written & beside_it - language.stop  # "Edward Curtis" is no Edward Biddle
    alone = not more or not spoken_language(understood.own.reading.language).capitals_name
    sure = _is_whole(named[main]) or (len(names) == 1 and as_name and alone)
    return _Spoken(nodes, sure, words)


def _small_words(release: Release, language: Language) -> frozenset[str]:
    """The stop words of the question's language and of those of the data, in which names stand."""
    known = compiled(release.method.questions).languages
    return language.stop.union(*(known[code].stop for code in release.manifest.languages if code in known))


def _is_whole(mention: Mention) -> bool:
    """Whether a whole name is written, of anything that it may mean."""
    return any(one.how in WHOLE for one in mention.entities)


def _of_one_name(release: Release, mention: Mention, stop: Collection[str]) -> tuple[int, ...]:
    """The things that have the name as it was written, but for small words, else the name of what it most likely means."""
    names = {one.name: frozenset(tokenize(one.name)).difference(stop) for one in mention.entities}
    written = frozenset(tokenize(mention.text)).difference(stop)
    chosen = written if written in names.values() else names[mention.entities[0].name]
    return things_of(release, [one.entity for one in mention.entities if names[one.name] == chosen])


def _leading(
    release: Release, named: Sequence[Mention], alike: Sequence[tuple[int, ...]]
) -> tuple[int | None, tuple[int, ...], Sequence[Mention]]:
    """Which of several names is of things with facts that lead to all others, and these things; else the only one whose whole
    name is written, without the others, whose words are then no names."""
    facts = Facts(release, "")
    for at, nodes in enumerate(alike):
        others = [{one.entity for one in other.entities} for other in named if other is not named[at]]
        reached = {node: facts.reached(node) for node in nodes[:MOST_ALIKE]}
        near = tuple(node for node in reached if all(not reached[node].isdisjoint(other) for other in others))
        if near:
            return at, near, named
    whole = [at for at, mention in enumerate(named) if _is_whole(mention)]
    main = whole[0] if len(whole) == 1 else None
    return main, () if main is None else alike[main], ()


def _extended(
    release: Release, mention: Mention, nodes: Sequence[int], words: Sequence[str], language: Language
) -> tuple[int, int]:
    """Where a name stands, with what else of it stands beside what was linked: "*The* Two Friends"."""
    own = {word for node in nodes for label in release[Graph].labels(node) for word in tokenize(label.text)}
    first, last = mention.first, mention.last
    while first > 0 and words[first - 1] in own and not language.forms.of.at(words, first - 1):
        first -= 1
    while last < len(words) and words[last] in own:
        last += 1
    return first, last


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
    return not _not_said(words, language, also, small)


def _not_said(
    words: Sequence[str], language: Language, also: tuple[str, ...], small: Collection[str]
) -> tuple[str, ...]:
    """The words that are none of these."""
    found, at = dict[str, None](), 0
    while at < len(words):
        length = max(getattr(language.forms, kind).at(words, at) for kind in (*_ASKING, *also))
        if not length and words[at] not in small:
            found[words[at]] = None
        at += length or 1
    return tuple(found)


MOST_NAMED = 3  # names in a question about one thing
PHRASES = 4  # phrases of relations in a question about one thing: "What is X *made of*, and who *gave* it?"
SAYING = ("forward", "backward", "ends")
OPENINGS = ("what", "which", "which_one", "who", "adverbs", "inversion", "describing", "listing", "being")
MOST_ALIKE = 5  # entities of one name of which a fact is told; of more, a list is the answer
_OF_CATEGORY = {"Time": "date", "Place": "Place", "Actor": "Actor"}
"""What question words ask for (when, where, who), as the value or the range of a relation."""


@dataclass(frozen=True, slots=True)
class AskedFacts:
    """Facts of one thing that are asked for: the entities of its name; for each fact the relations that may tell it, the
    likeliest first; the words of which nothing was made; and whether it is asked to be told about the thing."""

    nodes: tuple[int, ...]
    relations: tuple[tuple[str, ...], ...]
    unknown: tuple[str, ...] = ()
    telling: bool = False


def facts_of(release: Release, understood: Understood) -> AskedFacts | None:
    """The facts of one thing that a question asks for: a thing that it names, or that a conversation speaks of, phrases of
    relations, and question words. None for a question of another kind."""
    reading, method = understood.own.reading, release.method
    if reading.counts or reading.rule.startswith("yes/no"):
        return None
    language = compiled(method.questions).languages[reading.language]
    spoken = _spoken_of(release, understood, language)
    nodes, words = spoken.nodes, spoken.words
    if not nodes or not spoken.sure or len(nodes) > MOST_ALIKE:
        return None
    own = spoken_language(reading.language)
    spans = relation_spans(reading.language, words)
    phrases = {
        at for one in spans if len(one) > 1 for at in range(one.first, one.last)
    }  # "est né" denies nothing
    if any(
        "operators.not" in roles
        for at in range(len(words))
        if words[at] and at not in phrases
        for _, roles in own.phrases.at(words, at)
    ):
        return None
    filler = own.roles["verbs.empty"] | frozenset(map(fold, own.raw["whole"]["nouns"]))
    nouns = {(one.first, one.last) for one in spans if one.role == "ends"}
    if reading.expects:
        # "quando è stato *realizzato*" has the stem of a noun, but a question word asks of a verb
        nouns -= {
            (one.first, one.last)
            for one in spans
            if one.role in ("forward", "backward")
            and not (one.first and language.forms.articles.at(words, one.first - 1))
        }
    heads = {  # "which *works*" is no verb
        at for at in reading.heads if at and reading.words[at - 1] in own.roles["questions.what"]
    }
    chosen = [
        one
        for one in _chosen(spans, words, language)
        if not (
            filler.issuperset(words[one.first : one.last])
            if (one.first, one.last) in nouns
            else heads.issuperset(range(one.first, one.last))
        )
    ]
    if len(chosen) > PHRASES or _is_chain(release, chosen, words, nodes):
        return None
    held = {at for one in chosen for at in range(one.first, one.last)}
    loose = {words[at] for one in spans if one.role == "loose" for at in range(one.first, one.last)}
    rest = [word for at, word in enumerate(words) if word and word != BESIDE and at not in held]
    asks = bool(reading.expects) or any(getattr(language.forms, kind).within(rest) for kind in OPENINGS)
    if not asks and not any((one.first, one.last) in nouns for one in chosen):
        return None
    small = language.stop | loose | filler | _kind_words(release, nodes)
    unknown = _not_said(rest, language, ("placed", *OPENINGS), small)
    asked: dict[tuple[str, ...], None] = {}
    verbs = [one for one in chosen if (one.first, one.last) not in nouns]
    ends = [_said_by(spans, one) for one in chosen if (one.first, one.last) in nouns]
    after = 0
    for span in verbs:
        said = _said_by(spans, span)
        # What a question word asks for it asks of the verb behind it: "what is it made of, and *who* gave it?"
        expects = _expected(own, language, words[after : span.first]) if len(verbs) > 1 else reading.expects
        after = span.last
        with_noun = [tuple(id for id in said if id in noun) for noun in ends]
        ends = [noun for noun, both in zip(ends, with_noun, strict=True) if not both]
        for both in filter(None, with_noun):  # "What *material* is X *made of*?"
            asked.update(dict.fromkeys(_fitting(release, both, 0, nodes, True)))
        if any(with_noun) and not expects:
            continue  # the noun says which of what the verb may ask for is meant
        for fitting in _fitting(release, said, expects, nodes, _is_measured(release, said)):
            if not _is_turned(release, fitting, span, words, nodes):
                asked[fitting] = None
    if verbs and (more := _expected(own, language, words[after:])):  # "who painted it, and *in which city*?"
        for fitting in _fitting(release, _said_by(spans, verbs[-1]), more, nodes, False):
            asked[fitting] = None
        unknown = tuple(word for word in unknown if not _category(language, word))
    asked.update(dict.fromkeys(one for said in ends for one in _fitting(release, said, 0, nodes, True)))
    # Else a list is asked for, which what is not understood may restrict, unless it is of what a relation leads to.
    listed = bool(reading.heads) and held.issuperset(reading.heads) and bool(asked)
    of_one = reading.form is Form.SPECIFIC or listed
    if not (asked and not unknown) and not (of_one and unknown):
        return None
    telling = bool(language.forms.describing.at(reading.words, 0))
    return AskedFacts(nodes, tuple(asked), unknown, telling)


_ASKED_BY = {
    "questions.who": Category.Actor,
    "questions.where": Category.Place,
    "questions.when": Category.Time,
}


def _expected(own: SpokenLanguage, language: Language, words: Sequence[str]) -> int:
    """The categories that question words ask for, and nouns behind "which": "in which *city*"."""
    found = 0
    for at in range(len(words)):
        for _, roles in own.phrases.at(words, at) if words[at] else ():
            found |= sum(int(_ASKED_BY[role]) for role in roles if role in _ASKED_BY)
        if at and words[at - 1] in own.roles["questions.what"]:
            found |= _category(language, words[at])
    return found


def _category(language: Language, word: str) -> int:
    """Place, time or actor, where a noun means only one of these."""
    noun = language.nouns.get(word)
    mask = noun.categories if noun is not None else 0
    return mask if mask in (int(Category.Place), int(Category.Time), int(Category.Actor)) else 0


def _is_chain(
    release: Release, chosen: Sequence[PhraseSpan], words: Sequence[str], nodes: Sequence[int]
) -> bool:
    """Whether a fact of a fact is asked for, "the birthplace of the *creator* of X": what the thing itself cannot have."""
    if len(chosen) < 2 or chosen[-1].role != "ends" or "" not in words or words.index("") < chosen[-1].last:
        return False
    relations = release.method.relations
    categories = {category_name(release[Graph], node) for node in nodes}
    inner = {name for id in chosen[-1].relations if id in relations for name in relations[id].range}
    outer = [relations[id] for id in chosen[-2].relations if id in relations]
    return (
        bool(outer)
        and not any(categories & set(one.domain) for one in outer)
        and any(inner & set(one.domain) for one in outer)
    )


def _chosen(spans: Sequence[PhraseSpan], words: Sequence[str], language: Language) -> list[PhraseSpan]:
    """The phrases that say a relation, the longest of those that overlap, in their order; not those that do no more than to
    ask ("*give* me", "tell me *about*"), or to say that something is somewhere."""
    chosen: list[PhraseSpan] = []
    for span in sorted(spans, key=lambda one: -len(one)):
        if span.role in SAYING and all(span.last <= one.first or one.last <= span.first for one in chosen):
            chosen.append(span)
    forms = language.forms
    asking = {
        at
        for phrases in (forms.listing, forms.describing, forms.polite, forms.placed)
        for first, last in phrases.spans(words)
        for at in range(first, last)
    }
    small = {
        one.first for one in chosen if len(one) == 1 and words[one.first] in language.stop
    }  # but "est né"
    saying = (
        one for one in chosen if one.first not in small and not asking.issuperset(range(one.first, one.last))
    )
    return sorted(saying, key=lambda one: one.first)


def _kind_words(release: Release, nodes: Sequence[int]) -> frozenset[str]:
    """The words of what a thing is: "the *tiepin* with the Greek coin"."""
    facts = Facts(release, "")
    return frozenset(word for node in nodes for kind in facts.kinds(node) for word in tokenize(kind))


def _is_measured(release: Release, said: Sequence[str]) -> bool:
    """Whether an adverb alone asks for it: "*how big*", but not "*how* was it *made*"."""
    first = release.method.relations.get(said[0]) if said else None
    return first is not None and bool(first.literals.value)


def _said_by(spans: Sequence[PhraseSpan], chosen: PhraseSpan) -> tuple[str, ...]:
    """The relations that a phrase says in any role."""
    same = (
        one for one in spans if (one.first, one.last) == (chosen.first, chosen.last) and one.role in SAYING
    )
    return tuple(dict.fromkeys(id for one in same for id in one.relations))


def _fitting(
    release: Release, said: tuple[str, ...], expects: int, nodes: tuple[int, ...], plain: bool
) -> Iterator[tuple[str, ...]]:
    """Of the relations said, and of those that tell of the same event, those that things of this kind have and that lead to
    what a question word asks for, for each that does; without such words those said, where these say it by themselves
    (``plain``)."""
    relations = release.method.relations
    categories = {category_name(release[Graph], node) for node in nodes}
    own = [id for id in said if id in relations and categories & set(relations[id].domain)]
    wanted = [_OF_CATEGORY[one] for one in _OF_CATEGORY if expects & int(Category[one])]
    events = {path[:-1] for id in said if id in relations for path in relations[id].direct if len(path) > 1}
    near = [
        id
        for id, one in relations.items()
        if categories & set(one.domain) and any(path[:-1] in events for path in one.direct)
    ]
    for what in wanted:
        told = [id for id in dict.fromkeys((*own, *near)) if _leads_to(relations[id], what)]
        if told:
            texts = (id for id in own if relations[id].value == "text" and id not in told)
            yield (*told, *texts)
    if plain or not wanted:
        others = tuple(
            id
            for id in own
            if not any(_leads_to(relations[id], what) for what in wanted)
            and not (wanted and relations[id].value == "text")
        )
        if others and (plain or expects == 0):
            yield others


def _leads_to(relation: Relation, what: str) -> bool:
    if what == "date":
        return relation.value == "date"
    return what in relation.range and relation.value == "entity"


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


def greeted(words: Sequence[str]) -> str:
    """The language of words that are nothing but a greeting or a call for help, which no question has; "" for others."""
    for language, forms in sentences().languages.items():
        spans = Phrases(forms.greetings).spans(words)
        if words and sum(last - first for first, last in spans) == len(words):
            return language
    return ""


def greeting(release: Release, understood: Understood, cited: SourceList) -> str:
    """What can be asked: questions about a thing, a person and a place that are best known in this data, in the greeting's
    language where questions are read in it."""
    language = greeted(understood.own.reading.words)
    language = language if language in release.method.questions.languages else understood.own.reading.language
    forms, graph = sentences().forms(language), release[Graph]
    lines = [forms.greeting.replace("{title}", release.manifest.title)]
    for category, example in zip(("Thing", "Actor", "Place"), forms.examples, strict=True):
        best = next(iter(release[Aggregation].top(category, 1)), None)
        node = None if best is None else graph.node(best.iri)
        if node is not None:
            name = graph.label(node, (language,))
            lines.append(f"- {example.replace('{x}', name)} [{cited.cite(node, cited.type_triples(node))}]")
    return "\n".join(lines)


REASONS = (("caused_by",), ("purpose",), ("commissioned_by",))
"""Relations that may tell why something is."""


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
