"""Questions that ask for no set: about one thing as such ("Where is X?", "Tell me about X"), for one fact of it ("When was X
made?"), or about the data as a whole.

The first two are answered from what is told of the thing itself, never by what leads to it: what lies in a church is not
where the church is. The third is answered by what the data set holds, counted, and by its largest themes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from crmrag_query.answers.facts import (
    BESIDE,
    DIMENSION,
    PART,
    TURNS,
    Asked,
    Clause,
    Facts,
    Heard,
    Statement,
    any_known,
    order_of,
    own_words,
    roles_of,
    statements_of,
    step_code,
    step_name,
)
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import Understood, individuals, places, relied_on, understand
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Relation, Steps, sentences
from crmrag_query.dates import Interval
from crmrag_query.entities.details import Whereabouts, category_name, has_things
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, TriplesIndex
from crmrag_query.language import Language as SpokenLanguage
from crmrag_query.language import language as spoken_language
from crmrag_query.linking import Mention
from crmrag_query.ontology.load import Category
from crmrag_query.plans.profile import Profile
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import Kind
from crmrag_query.questions.form import Form
from crmrag_query.questions.lexicon import Language, Phrases, compiled
from crmrag_query.reading.items import WHOLE, as_surname
from crmrag_query.reading.lexicon import (
    ACTIVE,
    ANY,
    Lexicon,
    PhraseSpan,
    categories_of,
    relation_spans,
    verbs_of_events,
    vocabulary,
)
from crmrag_query.reading.lexicon import Kind as NounKind
from crmrag_query.reading.records import RANKING
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.text import fold, tokenize

Subject = Literal["", "itself", "whole", "themes", "greeting", "why", "happened", "compared"]
_ASKING = (
    "what", "who", "adverbs", "describing", "listing", "polite", "being", "one_verbs", "many_verbs", "everything", "articles",
)  # fmt: skip
"""Kinds of phrases that may stand around the thing that is asked about; they say no relation."""


def subject_of(release: Release, understood: Understood) -> Subject:
    """Whether a question asks about one thing that it names and says no more, about all of the data, for themes, for a
    reason, what happened to one thing, or to compare things, or is no question at all; "" for any other.

    A question that means what went before in a conversation is neither, since what it means is not in its words; but "this
    collection" is the data whatever went before.
    """
    alone = understood.follow_up.kind is Kind.STANDALONE
    reading, language = understood.own.reading, _language(release, understood)
    if greeted(reading.words):
        return "greeting"
    if Phrases(sentences().forms(reading.language).why).at(reading.words, 0):
        return "why"
    if _asks_what_happened(release, understood):
        return "happened"
    if compared(release, understood):
        return "compared"
    said = [range(*span) for span in language.forms.whole.spans(reading.words) if span[1] - span[0] > 1]
    named = tuple(  # "Worum *geht* es hier?" names no poem that has this word
        one
        for one in individuals(release, understood.own)
        if not any(one.first in span and one.last - 1 in span for span in said)
    )
    inside = places(named)
    rest = [word for at, word in enumerate(reading.words) if at not in inside]
    whole = [last - first for first, last in language.forms.whole.spans(rest)]
    # "this collection" is two words, "here" is one
    says_whole = not named and whole and (alone or max(whole) > 1)
    if says_whole and _is_said(rest, language, ("whole",), language.stop):
        return "whole"
    beside = ("beside_themes", "whole", "placed")
    # "which letters speak of such *topics*" asks for letters
    if alone and any(
        not _not_said(reading.words[:first], language, beside, language.stop)
        for first, _ in language.forms.themes.spans(reading.words)
    ):
        return "themes"
    if not alone or len(named) != 1 or reading.counts:
        return ""
    spoken = _spoken_of(release, understood)
    if not spoken.nodes:
        return ""
    at = spoken.words.index("")
    before = _without_kind(release, reading.language, spoken.words[:at], spoken.nodes)
    spans = [  # "where was *the exhibition* X" asks for no exhibition
        one for one in relation_spans(reading.language, spoken.words) if not len(before) <= one.first < at
    ]
    if _chosen(spans, spoken.words, language):
        return ""
    after = [word for word in spoken.words[at:] if word]
    asking = language.forms.describing.at(before, 0)
    opens = asking or any(getattr(language.forms, kind).at(before, 0) for kind in ("what", "who", "adverbs"))
    # what stands between a request and a name is a preposition: "parlez-moi *de* X"
    # "where is it found", but "who found it"
    placed = () if language.forms.who.at(before, 0) else ("placed",)
    bare = _is_said(before[asking:], language, placed, language.stop if asking else ())
    return "itself" if opens and bare and _is_said(after, language, placed) else ""


def _asks_what_happened(release: Release, understood: Understood) -> bool:
    """Whether a question asks what happened to one thing that it names whole, and says no more."""
    reading = understood.own.reading
    asks = Phrases(sentences().forms(reading.language).happened)
    if not asks.within(reading.words):
        return False
    spoken = _spoken_of(release, understood)
    asking = {at for first, last in asks.spans(spoken.words) for at in range(first, last)}
    rest = {word for at, word in enumerate(spoken.words) if word and at not in asking}
    return bool(asking and spoken.nodes and spoken.sure and rest <= spoken_language(reading.language).stop)


def _without_kind(release: Release, code: str, before: list[str], nodes: Sequence[int]) -> list[str]:
    """The words before a name without the noun that says what the thing is: "where is *the church of* Asinou"."""
    own, kinds = spoken_language(code), release[Lexicon].kinds(code)
    last = len(before)
    while last and before[last - 1] in own.stop:
        last -= 1
    stems = list(map(own.stem, before[:last]))
    for first in range(max(0, last - KIND_WORDS), last):
        for length, meant in kinds.at(stems, before[:last], first):
            if first + length == last and any(np.isin(nodes, one.nodes).any() for one in meant):
                return before[:first]
    return before


KIND_WORDS = 3  # of the longest noun that is looked for before a name


def compared(release: Release, understood: Understood) -> tuple[int, ...]:
    """The things that a question asks to be compared and of which it says no more, of each name the best known; nothing for
    any other question."""
    reading, own = understood.own.reading, spoken_language(understood.own.reading.language)
    words, named = reading.words, individuals(release, understood.own)
    asks = bool(words) and any("operators.compare" in roles for _, roles in own.phrases.at(words, 0))
    if not asks or not 1 < len(named) <= MOST_NAMED or understood.follow_up.kind is not Kind.STANDALONE:
        return ()
    inside = places(named)
    small = own.stop | own.roles["operators.compare"]
    if any(at not in inside and word not in small for at, word in enumerate(words)):
        return ()
    return tuple(_of_one_name(release, one, own.stop)[0] for one in named)


def theme_words(release: Release, understood: Understood) -> tuple[str, ...]:
    """What the themes that a question asks for shall be about; nothing for those of all the data."""
    language = _language(release, understood)
    kinds = ("themes", "beside_themes", "whole", "placed")
    return _not_said(understood.own.reading.words, language, kinds, language.stop)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The one thing of a question: the ``nodes`` of its name, the best known first; whether these are all that it may be;
    and the question's words, "" for those that name it, ``BESIDE`` for what it is tied to."""

    nodes: tuple[int, ...]
    sure: bool
    words: list[str]


def _spoken_of(release: Release, understood: Understood) -> _Spoken:
    """The one thing that a question is about: that it names, or that its pronoun means in a conversation; of several names
    the one whose facts lead to all others. Without nodes where there is none."""
    reading, language = understood.own.reading, _language(release, understood)
    own, words = spoken_language(reading.language), list(reading.words)
    named = tuple(as_surname(release, one) for one in individuals(release, understood.own))
    kind, focus = understood.follow_up.kind, understood.follow_up.focus
    if kind is Kind.REFERENCE and len({one.label for one in focus}) == 1 and not named:
        known = (release[Graph].node(one.iri) for one in focus)
        nodes = tuple(node for node in known if node is not None)
        references = list(language.forms.one_refs.spans(words))
        for first, last in references:
            words[first:last] = [""] * (last - first)
        return _Spoken(nodes if references else (), True, words)
    if len(named) > 1:  # "dimensions" says what is asked for, though a type has this name
        asked = {(one.first, one.last) for one in relation_spans(reading.language, words)}
        named = tuple(one for one in named if (one.first, one.last) not in asked) or named
        which = own.roles["questions.what"]
        # "in which trench" names none, though one is called so
        asked_of = (one for one in named if _is_whole(one) or words[max(one.first - 1, 0)] not in which)
        named = tuple(asked_of) or named
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
    if own.roles_within(reading.words[:1]):
        written.difference_update(reading.words[:1])  # "Oldest" at the beginning is no name
    as_name = not written.isdisjoint(tokenize(named[main].text))  # "never" is no slip of "Neuere Gedichte"
    after = named[main].last
    while after < len(words) and len(words[after]) == 1:  # an initial
        after += 1
    beside_it = {words[at] for at in (named[main].first - 1, after) if 0 <= at < len(words)}
    more = written & beside_it - language.stop  # "Edward Curtis" is no Edward Biddle
    alone = not more or not own.capitals_name
    sure = _is_whole(named[main]) or (len(names) == 1 and as_name and alone)
    return _Spoken(_of_time(release, nodes, understood.own.period), sure, words)


def _of_time(release: Release, nodes: tuple[int, ...], period: Interval | None) -> tuple[int, ...]:
    """Of several things of one name those whose dates may fall within a period, "the saddle *from around 1855*"; all where
    none do."""
    if period is None or len(nodes) < 2:
        return nodes
    begins, ends = release[Whereabouts].dates(np.array(nodes, np.int32))
    first = OPEN_BEGIN if period.begin is None else period.begin
    last = OPEN_END if period.end is None else period.end
    dated = (begins != OPEN_BEGIN) | (ends != OPEN_END)
    within = dated & (begins <= last) & (ends >= first)
    return tuple(node for node, fits in zip(nodes, within.tolist(), strict=True) if fits) or nodes


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
    alike = [  # "Sappho" may be "Sappho (play)", but "Short score of Ran's Hall" is no "Ran's Hall"
        one
        for one in mention.entities
        if names[one.name] == chosen or (one.how in WHOLE and written <= names[one.name])
    ]
    return things_of(release, [one.entity for one in alike])


def _leading(
    release: Release, named: Sequence[Mention], alike: Sequence[tuple[int, ...]]
) -> tuple[int | None, tuple[int, ...], Sequence[Mention]]:
    """Which of several names is of things with facts that lead to the others, those that are whole names all of them; these
    things, and the names that are led to. Else the only one whose whole name is written, and no others: their words are then
    no names."""
    facts = Facts(release, "")
    best: tuple[int, tuple[int, ...], Sequence[Mention]] = (0, (), ())
    for at, nodes in enumerate(alike):
        reached = facts.reached(nodes[:MOST_LED])
        ends = {one: {meant.entity for meant in one.entities} for one in named if one is not named[at]}
        beside = [one for one in ends if any(map(ends[one].intersection, reached.values()))]
        near = tuple(node for node in reached if all(ends[one] & reached[node] for one in beside))
        if near and len(beside) > len(best[2]) and all(one in beside or not _is_whole(one) for one in ends):
            best = at, near, beside
    if best[2]:
        return best
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
    return _spoken_of(release, understood).nodes


def _language(release: Release, understood: Understood) -> Language:
    """The forms of questions in the language of this one."""
    return compiled(release.method.questions).languages[understood.own.reading.language]


def _is_said(
    words: Sequence[str], language: Language, also: tuple[str, ...], small: Collection[str] = ()
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
MOST_LED = 20  # entities of one name of which it is looked at what they lead to and what is known of them
MOST_ALIKE = 5  # entities of one name of which a fact is told; of more, a list is the answer
_OF_CATEGORY = {"Time": "date", "Place": "Place", "Actor": "Actor"}
"""What question words ask for (when, where, who), as the value or the range of a relation."""


@dataclass(frozen=True, slots=True)
class AskedFacts:
    """Facts of one thing that are asked for: the entities of its name; the facts, in their order; the words of which nothing
    was made; whether it is asked to be told about the thing; the categories that parts ask for of which nothing was made,
    None where there are none, with the words of these parts; and whether what its verb says is not what is asked for."""

    nodes: tuple[int, ...]
    asked: tuple[Asked, ...]
    unknown: tuple[str, ...] = ()
    telling: bool = False
    expects: int | None = None
    rest: tuple[str, ...] = ()
    besides: bool = False


def facts_of(release: Release, understood: Understood) -> AskedFacts | None:
    """The facts of one thing that a question asks for: a thing that it names, or that a conversation speaks of, phrases of
    relations, words of what the graph states of it, and question words. None for a question of another kind."""
    reading = understood.own.reading
    own = spoken_language(reading.language)
    # what counts and nothing else asks for no fact, but "what is its shelfmark, and *how many* leaves does it have" does
    if (reading.counts and len(_askers(own, reading.words)) < 2) or reading.rule.startswith("yes/no"):
        return None
    language = _language(release, understood)
    spoken = _spoken_of(release, understood)
    nodes, words = spoken.nodes, spoken.words
    if not nodes or not spoken.sure or len(nodes) > MOST_LED:
        return None
    spans = relation_spans(reading.language, words)
    ends = own.roles["prepositions.to"]
    spans = tuple(  # "what did it cost *to build*" asks for no builder
        one
        for one in spans
        if not (one.first and words[one.first - 1] in ends and any(two.last < one.first for two in spans))
    )
    # "est né" denies nothing
    phrases = places(one for one in spans if len(one) > 1)
    if any(
        "operators.not" in roles
        for at in range(len(words))
        if words[at] and at not in phrases
        for _, roles in own.phrases.at(words, at)
    ):
        return None
    which = own.roles["questions.what"]
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
    leading = own.roles["prepositions.place"] | own.roles["prepositions.from"] | own.roles["prepositions.to"]
    first = next((word for word in reading.words if word not in leading - which), "")
    listed = reading.form is not Form.SPECIFIC and first in which  # "*in which* letters"
    heads = {  # "which *works*", "which of her *works*" is no verb
        at for at in reading.heads if at and (listed or reading.words[at - 1] in which)
    }
    # What only a number of the data's own states is told with what is stated of the thing.
    relations, counted = release.method.relations, set(release[Lexicon].numbers.values())
    elsewhere = {id for id in counted if id and not relations[id].paths}
    chosen = [
        one
        for one in _chosen(spans, words, language)
        if not elsewhere.issuperset(one.relations)
        and not (listed and one.first in reading.heads and _is_kind_of_thing(release, own, words, one))
        and not (
            filler.issuperset(words[one.first : one.last])
            if (one.first, one.last) in nouns
            else heads.issuperset(range(one.first, one.last))
        )
    ]
    # "What did he die of?" asks for no place or date, which is all that the verb says.
    bare = (
        not reading.expects
        and bool(language.forms.what.at(words, 0))
        and "" in words
        and own.stop.issuperset(words[1 : words.index("")])
    )
    if (
        bare
        and chosen
        and all((one.first, one.last) not in nouns and _is_whereabouts(release, one) for one in chosen)
    ):
        lost = tuple(word for one in chosen for word in words[one.first : one.last])
        return AskedFacts(nodes, (), lost, besides=True)
    if len(chosen) > PHRASES or _is_chain(release, chosen, words, nodes):
        return None
    asking = _Asking(
        release, own, language, nodes, words, reading.words, spans, frozenset(nouns), reading.form
    )
    if asking.chooses:
        return None
    told_where = reading.expects & (int(Category.Place) | int(Category.Time))
    naming = [
        one
        for one in chosen
        if asking.names_kind(one) or asking.states(one) or (told_where and asking.names_event(one))
    ]
    chosen = [one for one in chosen if one not in naming]
    loose = {words[at] for at in places(one for one in spans if one.role == "loose")}
    small = language.stop | loose | filler | _kind_words(release, nodes) | asking.kinds
    small = small.union(*(words[one.first : one.last] for one in naming))
    found = list(asking.of_clauses(chosen, small, reading.expects))
    held = places(chosen).union(*(said for _, said, _ in found))
    held |= {  # "over the years"
        at + i
        for at in range(len(words))
        for length, roles in own.phrases.at(words, at)
        if roles & {"operators.aside", "operators.altogether"}
        for i in range(length)
    }
    rest = [word for at, word in enumerate(words) if word and word != BESIDE and at not in held]
    asks = bool(reading.expects) or any(getattr(language.forms, kind).within(rest) for kind in OPENINGS)
    if not asks and not any((one.first, one.last) in nouns for one in chosen):
        return None
    unknown, expects = _not_said(rest, language, ("placed", *OPENINGS), small | asking.describing), None
    silent = list[str]()
    if found:  # "… and *to which pueblo did she belong*", of which nothing was made
        told = {first for _, _, first in found}
        silent = [words[at] for one in asking.clauses() if one[0] not in told for at in range(*one)]
        said = [word for word in silent if word not in ("", BESIDE)]
        lost = _not_said(said, language, ("placed", *OPENINGS), small)
        expects = _expected(own, language, silent) if lost else None
        unknown = tuple(dict.fromkeys((*unknown, *lost)))
    if any(one.expects for one, *_ in found):  # "who painted it, and in which *city*?"
        unknown = tuple(word for word in unknown if not _category(own, language, word))
    asked = tuple(dict.fromkeys(one for one, *_ in found))
    # "the canvas from the 1840s: who painted it?", but not who painted it in the 1840s
    asker, after = asking.asker(0)
    before = set(reading.words[:asker]) if after > asker else set[str]()
    if asked and not before.isdisjoint(understood.own.period_words):
        unknown = tuple(word for word in unknown if word not in understood.own.period_words)
        when = asking.whereabouts(int(Category.Time), when=True)
        asked += tuple(one for one in when if any_known(release, nodes, [one]))
    # Else a list is asked for, which what is not understood may restrict, unless it is of what a relation leads to.
    if reading.form is not Form.SPECIFIC and not held.issuperset(reading.heads) and spoken.words[0] in which:
        return None  # "which *plays* about Sappho were published …"
    told_by_noun = bool(reading.heads) and held.issuperset(reading.heads) and bool(asked)
    of_one = reading.form is Form.SPECIFIC or told_by_noun or (len(asking.clauses()) > 1 and bool(asked))
    if not (asked and not unknown) and not (of_one and unknown):
        return None
    if len(nodes) > MOST_ALIKE:  # of many of one name those of which any of it is known
        nodes = tuple(node for node in nodes if any_known(release, [node], asked))
        if not nodes:
            return None
    telling = bool(language.forms.describing.at(reading.words, 0))
    return AskedFacts(nodes, asked, unknown, telling, expects, tuple(silent))


def _is_kind_of_thing(release: Release, own: SpokenLanguage, words: Sequence[str], span: PhraseSpan) -> bool:
    """Whether a phrase names a kind of things in the data as well: in which *letters* something is mentioned."""
    if DIMENSION in span.relations:  # "which *dimensions* does X have"
        return False
    found = release[Lexicon].kinds(own.code).at(list(map(own.stem, words)), words, span.first)
    targets = (one.target for length, some in found if length == len(span) for one in some)
    own_kinds = (one for one in targets if not one.categories)
    return any(categories_of(release[World], one) & ~ANY == int(Category.Thing) for one in own_kinds)


def _is_whereabouts(release: Release, span: PhraseSpan) -> bool:
    """Whether the relations of a phrase lead to places and dates alone."""
    relations = (release.method.relations[id] for id in span.relations)
    return all(one.value == "date" or tuple(one.range) == ("Place",) for one in relations)


def facts_of_found(release: Release, understood: Understood, asked: AskedFacts) -> AskedFacts | None:
    """The facts that the rest of a question asks for of what its first part asks for, "who made X, and when did *he* die";
    None where it asks for none, or the first part leads to several."""
    facts = Facts(release, understood.own.reading.language)
    found = dict.fromkeys(
        end
        for one in asked.asked
        for node in asked.nodes
        if (fact := one.of(facts, node)) is not None
        for end in fact.nodes
        if one.expects & int(release[Graph].category(end))
    )
    person = list(_language(release, understood).forms.one_refs.spans(asked.rest))
    if not 0 < len(found) <= MOST_FOUND or len(person) != 1:
        return None
    [(first, last)], asks = person, list[AskedFacts]()
    for end in found:
        words = [*asked.rest[:first], facts.name(end), *asked.rest[last:]]
        own = facts_of(release, understand(release, " ".join(words)))
        if own is not None and own.nodes == (end,) and not own.unknown:
            asks.append(own)
    known = [own for own in asks if any_known(release, own.nodes, own.asked)]
    return known[0] if len(known) == 1 else asks[0] if asks and not known else None


MOST_FOUND = 3  # makers of one thing, a school or nationality among them, of which "he" may mean one


def concept_of(release: Release, understood: Understood) -> AskedFacts | None:
    """The type, material or technique that a question asks about as such, "What is damask?", and recorded facts of it that
    it asks for, "How big is braid?". None for another question, and for "Tell me about watercolors", which asks for things.
    """
    reading, stop = understood.own.reading, spoken_language(understood.own.reading.language).stop
    named = [one for one in relied_on(release, understood.own) if _is_whole(one)]
    alone = understood.follow_up.kind is Kind.STANDALONE and not reading.counts
    if not alone or len(named) != 1 or individuals(release, understood.own):
        return None
    nodes = _of_one_name(release, named[0], stop)[:MOST_ALIKE]
    words = list(reading.words)
    words[named[0].first : named[0].last] = [""] * (named[0].last - named[0].first)
    language = _language(release, understood)
    chosen = _chosen(relation_spans(reading.language, words), words, language)
    asked = tuple(Asked(_said_by(chosen, one)) for one in chosen)
    held = places(chosen)
    rest = [word for at, word in enumerate(words) if word and at not in held]
    telling = bool(language.forms.describing.at(rest, 0))
    if not all(any_known(release, nodes, [one]) for one in asked):
        return None
    if not _is_said(rest, language, OPENINGS, stop if asked or telling else ()):
        return None
    if telling and has_things(release[Graph], nodes):
        return None
    return AskedFacts(nodes, asked, telling=telling)


NOUN_WORDS = 4
"""Words behind "which" at most that say what is asked for, before a form of to be or to have."""
KINDS_ASKED = frozenset(f"questions.{role}" for role in ("what", "kind", "how_many", "how_much", "how_long"))
"""Roles of words behind which a noun says what is asked for."""
ASKERS = frozenset(
    f"questions.{role}"
    for role in (
        "what",
        "kind",
        "who",
        "whose",
        "where",
        "when",
        "why",
        "how",
        "how_many",
        "how_much",
        "how_long",
    )
)
"""Roles of the words with which a part of a question begins that asks for one fact."""
TIMES = ("date", "year", "decade", "century")
"""Roles of nouns for a time."""


def _length(own: SpokenLanguage, words: Sequence[str], at: int, roles: frozenset[str]) -> int:
    """Words of the longest phrase at a position that has one of the roles."""
    found = own.phrases.at(words, at) if words[at] else ()
    return max((length for length, said in found if said & roles), default=0)


def _askers(own: SpokenLanguage, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words stand that ask for one fact each."""
    found, at = list[tuple[int, int]](), 0
    while at < len(words):
        length = _length(own, words, at, ASKERS)
        if length:
            found.append((at, at + length))
        at += length or 1
    return found


@dataclass(frozen=True)
class _Asking:
    """The words of a question about one thing (``nodes``, those of its name), "" where they name it, which ``written`` has
    as well; and the phrases of relations among them, of which those at ``nouns`` are no verbs. What is stated of the thing is
    found once for all parts of a question (``_heard``)."""

    release: Release
    own: SpokenLanguage
    language: Language
    nodes: tuple[int, ...]
    words: Sequence[str]
    written: Sequence[str]
    spans: Sequence[PhraseSpan]
    nouns: frozenset[tuple[int, int]]
    form: Form
    _heard: dict[int, Heard] = field(default_factory=dict)

    @cached_property
    def of_one(self) -> bool:
        """Whether facts of one thing are asked for, and no list or number; several parts that ask are no list."""
        return self.form is Form.SPECIFIC or len(self.clauses()) > 1

    @property
    def heard(self) -> dict[int, Heard]:
        """What is stated of each of the things, where facts of one are asked for."""
        release = self.release
        for node in self.nodes if self.of_one and not self._heard else ():
            self._heard[node] = Heard(release, self.own.code, node, statements_of(release, node))
        return self._heard if self.of_one else {}

    @cached_property
    def describing(self) -> frozenset[str]:
        """Words by which the thing may be described: of what is stated of it."""
        graph = self.release[Graph]
        return frozenset[str]().union(*(own_words(graph, one.statements) for one in self.heard.values()))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The words of nouns that may mean the thing: "*Probe* LIG-4404" of a sample, but not "his *pupils*"."""
        if not self.of_one:
            return frozenset()
        return frozenset(
            word
            for at in range(len(self.words))
            if self.words[at] not in ("", BESIDE)
            and (not at or self.words[at - 1] not in self.own.roles["pronouns.own"])
            for length, kinds in self._kinds_at(at)
            if any(one.nodes.size and np.isin(self.nodes, one.nodes).any() for one in kinds)
            for word in self.words[at : at + length]
        )

    def _category(self, at: int) -> int:
        return _category(self.own, self.language, self.words[at])

    def _is_noun(self, span: PhraseSpan) -> bool:
        return (span.first, span.last) in self.nouns

    def _verbs(self, spans: Sequence[PhraseSpan]) -> list[PhraseSpan]:
        return [one for one in spans if not self._is_noun(one)]

    def _kinds_at(self, at: int) -> list[tuple[int, list[NounKind]]]:
        """The kinds that a noun at a position means, with its length in words."""
        return self.release[Lexicon].kinds(self.own.code).at(self._stems, self.words, at)

    @cached_property
    def _stems(self) -> list[str]:
        return [self.own.stem(word) if word else "" for word in self.words]

    @cached_property
    def _own_nouns(self) -> frozenset[str]:
        """The stems by which properties of the data's own that lead from the thing say what they lead to."""
        found = set[str]()
        for step in {one.steps[0] for heard in self.heard.values() for one in heard.statements}:
            kin = self.release[Lexicon].kin(step_name(self.release, step))
            if kin is not None:
                words = vocabulary(self.own.code).relations[kin.relation]
                found |= words.starts if kin.inverse else words.ends
        return frozenset(found)

    def _length(self, at: int, roles: frozenset[str]) -> int:
        return _length(self.own, self.words, at, roles)

    def names_kind(self, span: PhraseSpan) -> bool:
        """Whether words only say what the thing is: "the *painting* The Studio"."""
        kind = self.kinds.issuperset(self.words[span.first : span.last])
        return kind and bool(span.first and self.language.forms.articles.at(self.words, span.first - 1))

    def names_event(self, span: PhraseSpan) -> bool:
        """Whether a verb only says what the event is: "where was the exhibition X *shown*"."""
        return not self._is_noun(span) and all(
            self.own.stem(word) in self._happens for word in self.words[span.first : span.last]
        )

    @cached_property
    def _happens(self) -> frozenset[str]:
        """The stems of what happens in the thing, where it is an event."""
        schema, code = self.release[Lexicon].schema, self.own.code
        if self._categories != {"Event"}:
            return frozenset()
        kinds = schema.kinds(np.array(self.nodes, np.int32))
        found = self.release[Lexicon].class_stems(kinds, code)
        return found | verbs_of_events(found, code)

    def states(self, span: PhraseSpan) -> bool:
        """Whether a noun right before the name says what the name is, "the copy with the *shelfmark* K 19.20"."""
        if not self._is_noun(span) or self.words[span.last : span.last + 1] != [""]:
            return False
        facts = Facts(self.release, self.own.code)
        found = (facts.of(node, id) for node in self.nodes for id in span.relations)
        values = (tokenize(value) for fact in found if fact is not None for value in fact.values)
        return any(list(self.written[span.last : span.last + len(value)]) == value for value in values)

    @cached_property
    def chooses(self) -> bool:
        """Whether one of many is asked for: "the *oldest letter* of X to Y" is no letter of that name."""
        return any(
            roles & RANKING and at + length < len(self.words) and self.words[at + length] in self.kinds
            for at in range(len(self.words))
            if self.words[at]
            for length, roles in self.own.phrases.at(self.words, at)
        )

    @cached_property
    def of_another(self) -> bool:
        """Whether the name is said to tell which of another kind is meant, "the *coin of* Philip", that is no part of it."""
        at = self.words.index("") if "" in self.words else 0
        while at and self.words[at - 1] in self.own.stop - self.own.roles["prepositions.of"]:
            at -= 1
        if at < 2 or self.words[at - 1] not in self.own.roles["prepositions.of"]:
            return False
        kinds = [one for _, some in self._kinds_at(at - 2) for one in some if not one.generic]
        said = any(span.first <= at - 2 < span.last for span in self.spans if span.role in SAYING)
        near = {one.end for heard in self.heard.values() for one in heard.statements if len(one.steps) == 1}
        own = np.array([*self.nodes, *near], np.int32)
        return bool(kinds) and not said and not any(np.isin(own, one.nodes).any() for one in kinds)

    @cached_property
    def _prepositions(self) -> frozenset[str]:
        roles = self.own.roles.items()
        return frozenset[str]().union(*(words for role, words in roles if role.startswith("prepositions.")))

    @cached_property
    def _within_nouns(self) -> frozenset[int]:
        """Where the further words of nouns stand, that ask nothing: the accession "*number of* X" counts nothing."""
        nouns = filter(self._is_noun, self.spans)
        return frozenset(at for one in nouns for at in range(one.first + 1, one.last))

    def clauses(self) -> list[tuple[int, int]]:
        """Where each part of the question begins and ends that asks by a word of its own: "*who* bought it, *from whom*"."""
        starts, joining = list[int](), self.own.roles["operators.and"] | self._prepositions
        for first, _ in _askers(self.own, self.words):
            if first in self._within_nouns:
                continue
            while first and self.words[first - 1] in joining:
                first -= 1
            starts.append(first)
        bounds = [0, *(start for start in starts[1:] if start), len(self.words)]
        found = list[tuple[int, int]]()
        for first, last in pairwise(bounds):
            alone = len(found) == 1 and not any(self._says(at) for at in range(*found[0]))
            if alone and "" not in self.words[slice(*found[0])]:  # "*When and* where was it made?"
                found[-1] = (found[-1][0], last)
            else:
                found.append((first, last))
        return found

    def _says(self, at: int) -> bool:
        return self.words[at] not in ("", BESIDE) and self.words[at] not in self.own.stop

    def of_clauses(
        self, chosen: Sequence[PhraseSpan], small: Collection[str], expects: int
    ) -> Iterator[tuple[Asked, frozenset[int], int]]:
        """What each clause asks for, the positions of the words by which what is stated says it, and where it begins."""
        clauses, before = self.clauses(), frozenset[int]()
        verbs: list[PhraseSpan] = []
        for first, last in clauses:
            if apart := self._asked_apart(first, last):
                taken = {at for begin, end in apart for at in range(begin, end)}
                rest = [one for one in chosen if taken.isdisjoint(range(one.first, one.last))]
                for begin, end in apart:
                    others = taken.difference(range(begin, end))
                    words = [BESIDE if at in others else word for at, word in enumerate(self.words)]
                    alone = replace(self, words=words).of_clauses(rest, small, 0)
                    yield from ((asked, said, first) for asked, said, _ in alone)
                continue
            says = (at for at in range(first, last) if self._says(at) or not self.words[at])
            opens = next((at for at in says if not self._category(at)), last)
            own_words = self.words[first : opens if len(clauses) == 1 else last]  # "*when and where* was"
            wanted = _expected(self.own, self.language, own_words) | (expects if len(clauses) == 1 else 0)
            wanted |= self._kind_asked(first, last)
            own = [one for one in chosen if first <= one.first < last and not self._describes(one, first)]
            # what "the treatment of X *cost*" asks of no treatment
            sums = list(filter(self._is_number, self._verbs(own)))
            own = sums or own
            carried = bool(wanted) and not self._verbs(own)
            if carried and (verbs or before):  # "and in what *year*" asks of the verb before
                own = [one for one in own if not self._is_kind(one)]
            what = self.asker(first, frozenset({"questions.what"}))[1]
            of_what = first < what <= last
            asking = self._relations([*verbs[-1:], *own] if carried else own, wanted, of_what)
            if paid := self._sums(first, last, own):  # "how much did X *pay* for it"
                asking = iter([paid])
            if self._asks_for_noun(first, last, wanted):  # "in which *town* was he born" asks for no date
                asking = (tuple(filter(self._is_undated, ids)) for ids in asking)
            relations = [Asked(ids, expects=wanted) for ids in asking if ids]
            itself = any(map(self.names_event, self.spans))
            placed = len(clauses) > 1 and self.language.forms.placed.within(self.words[first:last])
            # "the show X: *when was it*, who curated it"
            nothing_said = first == clauses[0][0] and not any(
                map(self._says, range(self.asker(first)[1], last))
            )
            if wanted and (itself or placed or nothing_said) and all(map(self._is_kind, own)):
                relations = list(self.whereabouts(wanted, itself or nothing_said)) or relations
            verbs = self._verbs(own) or verbs
            if (
                own and not relations
            ):  # "how tall" of whom nothing is measured: what is asked for is not recorded
                asked = (_said_by(self.spans, one) for one in own)
                relations = [Asked(ids) for ids in asked if _is_measured(self.release, ids)]
            if own and all(map(self._is_kind, own)) and self._has_unknown(first, last, own, small):
                relations = []  # in what *year* it "had its premiere", which need not be when it was made
            stated, said, strength = dict[int, tuple[Statement, ...]](), frozenset[int](), 0
            for what in _each(wanted):  # "*where and when*" was it first performed
                found, by, strong = self._stated(first, last, what, small, before, own)
                for node, some in found.items():
                    stated[node] = tuple(dict.fromkeys((*stated.get(node, ()), *some)))
                said, strength = said | by, max(strength, strong)
            bare = self.of_one and not stated and all(map(self._is_kind, own))
            if bare and (other := self._by_preposition(first, last, wanted)) is not None:
                yield other, frozenset(), first
                continue
            if self.of_one and self._asks_for_unknown(first, last, own, said, small):
                continue
            known = any_known(self.release, self.nodes, relations)
            doing = places(self._verbs(own))
            if wanted & int(Category.Actor) and doing and doing.isdisjoint(said):
                stated = {}  # who wrote on the murals did not pay for them
            stated = self._ahead(stated, own, first, last)
            verbal = places(own)
            # What says both verbs, who "paid for" the "paintings", says more than relations that say one each.
            at_once = len(own) > 1 and said >= verbal
            if stated and (
                not known
                or at_once
                or strength > len(verbal)
                or self._is_of_kind_said(stated, said, relations)
                or self._in_role(stated, said)
            ):
                before = frozenset(mid for some in stated.values() for one in some for mid in one.through)
                yield Asked(statements=tuple(stated.items()), expects=wanted), said, first
            else:
                before = self._through(relations) if known else before
                yield from ((one, frozenset(), first) for one in relations)

    def _asked_apart(self, first: int, last: int) -> list[tuple[int, int]]:
        """Where the words stand by which a clause asks one verb for several things, "*when* and *from whom* did they buy it";
        none for any other, and for bare adverbs, "when and where", which relations know together."""
        found, at = list[tuple[int, int]](), first
        joining, small = self.own.roles["operators.and"], self._prepositions
        while at < last:
            length = self._length(at, ASKERS)
            if length:
                found.append((at - (at > first and self.words[at - 1] in small), at + length))
                if self.words[at] in self.own.roles["questions.what"]:  # "in which *part of Vienna* was"
                    behind = range(at + length, min(last, at + length + NOUN_WORDS))
                    verb = next(
                        (one for one in behind if self.words[one] in self.own.auxiliaries), at + length
                    )
                    noun = at + length < last and (self._category(at + length) or self._kinds_at(at + length))
                    length = max(verb, at + length + bool(noun)) - at
                    found[-1] = (found[-1][0], at + length)
            elif self.words[at] not in joining | small:
                break
            at += length or 1
        return found if len(found) > 1 and any(end - begin > 1 for begin, end in found) else []

    def whereabouts(self, wanted: int, when: bool) -> Iterator[Asked]:
        """Where the thing is, or was, and when, if that is asked for and to be told."""
        orders = [order_of(self.release, node) for node in self.nodes]
        known = self.release.method.relations
        if wanted & int(Category.Place) and (
            where := tuple(dict.fromkeys(id for one in orders for id in one.where))
        ):
            yield Asked(where, expects=int(Category.Place))
        if when and wanted & int(Category.Time):
            dates = (id for one in orders for id in one.head if known[id].value == "date")
            yield Asked(tuple(dict.fromkeys(dates)), expects=int(Category.Time))

    def _sums(self, first: int, last: int, own: Sequence[PhraseSpan]) -> tuple[str, ...]:
        """The relations to numbers among those that phrases may say, where a clause asks how much."""
        asks, after = self.asker(first, frozenset({"questions.how_much"}))
        if asks >= min(after, last):
            return ()
        said = (
            span for span in self.spans if any(span.first < one.last and one.first < span.last for one in own)
        )
        known = self.release.method.relations
        return tuple(id for span in said for id in span.relations if known[id].value == "number")

    def _is_number(self, span: PhraseSpan) -> bool:
        """Whether words ask for nothing but a number."""
        known = self.release.method.relations
        return all(known[id].value == "number" for id in _said_by(self.spans, span) if id in known)

    def _asks_for_noun(self, first: int, last: int, wanted: int) -> bool:
        """Whether a noun that is no time stands right behind "which": "which *town*"."""
        at = self.asker(first, frozenset({"questions.what", "questions.kind"}))[1]
        return first < at < last and self._says(at) and not wanted & int(Category.Time)

    def _is_undated(self, relation: str) -> bool:
        return self.release.method.relations[relation].value != "date"

    def _describes(self, span: PhraseSpan, first: int) -> bool:
        """Whether an adjective stands in what is said of the thing before anything is asked: "The *big* gong: who …"."""
        return (
            not self._is_noun(span)
            and span.last <= self.asker(first)[0]
            and "" in self.words[: span.last + 1]
        )

    def asker(self, first: int, asking: frozenset[str] = ASKERS) -> tuple[int, int]:
        """Where the first words that ask stand from a position on; twice the position where none does."""
        for at in range(first, len(self.words)):
            if at not in self._within_nouns and (length := self._length(at, asking)):
                return at, at + length
        return first, first

    def _asks_for_unknown(
        self, first: int, last: int, own: Sequence[PhraseSpan], said: Collection[int], small: Collection[str]
    ) -> bool:
        """Whether a clause asks for something of which nothing is known: "how big a *reward*", "who was the *thief* that"."""
        at = after = self.asker(first, KINDS_ASKED)[1]
        whose = after == first  # "who" asks for the noun behind its verb alone
        if whose:
            at = after = self.asker(first, frozenset({"questions.who"}))[1]
        while at < last and self.words[at] in self.own.stop:
            at += 1
        if after in (first, last) or at >= last or self.words[at] in ("", BESIDE) or self.words[at] in small:
            return False
        held = places(own).union(said)
        if whose and (at + 1 in held or not self.language.forms.articles.at(self.words, at - 1)):
            return False  # "who was the *first* owner", "who *went*"
        return at not in held and not self._category(at)

    def _kind_asked(self, first: int, last: int) -> int:
        """Actors or places, where the noun behind "which" means nothing else: "which *painter*"."""
        at = self.asker(first, KINDS_ASKED)[1]
        if not self.of_one or at == first or at >= last or not self._says(at):
            return 0
        kinds = [one for _, some in self._kinds_at(at)[:1] for one in some]
        masks = {
            int(Category[one.target.categories[0]])
            if one.target.categories
            else categories_of(self.release[World], one.target) & ~ANY
            for one in kinds
        }
        return next(iter(masks)) if masks in ({int(Category.Actor)}, {int(Category.Place)}) else 0

    def _by_preposition(self, first: int, last: int, wanted: int) -> Asked | None:
        """What only a preposition says: "and *on* what?" of a material, "who is *in* it?" of what a thing shows."""
        words = set(self.words[first:last])
        asks = self.asker(first, frozenset({"questions.what"}))[1] > first
        of_what = not self.own.roles["prepositions.material"].isdisjoint(self.words[first + 1 : first + 2])
        if not wanted and asks and first and of_what:
            return Asked(("made_of", "medium_note"))
        before = self.words.index("") - 1 if "" in words else 0
        inside = before > first and self.words[before] in self.own.roles["prepositions.place"]
        if wanted == int(Category.Actor) and inside and self._categories == {"Thing"}:
            return Asked(("depicts",), expects=wanted)
        return None

    def _through(self, relations: Sequence[Asked]) -> frozenset[int]:
        """The nodes through which what relations lead to is stated."""
        facts = Facts(self.release, self.own.code)
        found = set[int]()
        for node, heard in self.heard.items():
            ends = {
                end for one in relations if (fact := one.of(facts, node)) is not None for end in fact.nodes
            }
            found.update(mid for one in heard.statements if one.end in ends for mid in one.through)
        return frozenset(found)

    def _is_of_kind_said(
        self,
        stated: Mapping[int, Sequence[Statement]],
        said: Collection[int],
        relations: Sequence[Asked],
    ) -> bool:
        """Whether words name the type of an event that statements lead through, and relations lead through none of that type:
        when a church was *painted*, and not when it was built."""
        stems = {self.own.stem(self.words[at]) for at in said}
        through = {node: {mid for one in some for mid in one.through} for node, some in stated.items()}

        def are_called(node: int, events: Iterable[int]) -> bool:
            graph, heard = self.release[Graph], self.heard[node]
            return any(graph.category(one) == Category.Event and stems & heard.typed(one) for one in events)

        known = self._through(relations)
        return any(
            are_called(node, events) and not are_called(node, known) for node, events in through.items()
        )

    def _ahead(
        self,
        stated: Mapping[int, tuple[Statement, ...]],
        own: Sequence[PhraseSpan],
        first: int,
        last: int,
    ) -> dict[int, tuple[Statement, ...]]:
        """What is stated, without what leads back to who does what a verb says of the thing: "what does X *show*" asks not by
        what X is shown, unless a form of "to be" stands there."""
        if any(word in self.own.roles["verbs.be"] for word in self.words[first:last]):
            return dict(stated)
        ontology, relations = self.release[World].ontology, self.release.method.relations
        ids = {id for one in self._verbs(own) for id in one.relations}
        paths = (path for id in ids & ACTIVE for path in relations[id].direct)
        back = {ontology.inverse(path[0]) for path in paths if len(path) == 1}
        kept = {
            node: tuple(
                one for one in some if len(one.steps) > 1 or step_code(self.release, one.steps[0]) not in back
            )
            for node, some in stated.items()
        }
        return {node: some for node, some in kept.items() if some}

    def _has_unknown(self, first: int, last: int, own: Sequence[PhraseSpan], small: Collection[str]) -> bool:
        """Whether a clause has words of content that no phrase has and nothing that is stated of the thing says."""
        held = places(own)
        rest = (self.words[at] for at in range(first, last) if at not in held)
        known = {"", BESIDE, *self.describing}
        return any(
            word not in known for word in _not_said(list(rest), self.language, ("placed", *OPENINGS), small)
        )

    def _is_kind(self, span: PhraseSpan) -> bool:
        """Whether words only say what kind of thing is asked for: "in what *year*"."""
        return all(self._category(at) for at in range(span.first, span.last))

    def _behind(self, own: Sequence[PhraseSpan]) -> dict[int, frozenset[Steps]]:
        """For ``Clause.behind``."""
        relations = self.release.method.relations
        return {
            at: frozenset(path[1:] for id in span.relations for path in relations[id].direct if len(path) > 2)
            for span in own
            for at in range(span.first, span.last)
        }

    def _stated(
        self,
        first: int,
        last: int,
        wanted: int,
        small: Collection[str],
        before: Collection[int],
        own: Sequence[PhraseSpan],
    ) -> tuple[dict[int, tuple[Statement, ...]], frozenset[int], int]:
        """What is stated of each of the things that a clause asks for, the positions of the words that say so, and how many
        of them say it alone."""
        silent = {
            at
            for at in range(first, last)
            if self.words[at] in self.kinds
            or (
                wanted
                and self._category(at)
                and self._stems[at] not in self._own_nouns  # "who were his *pupils*"
            )
        }
        if wanted & int(Category.Time):  # "*until* when"
            silent.update(range(*self.asker(first)))
        placed = frozenset(
            at for begin, end in self.language.forms.placed.spans(self.words) for at in range(begin, end)
        )
        # "where is it *found*", but "who *found* it", and where it was, if that is stated
        if wanted & int(Category.Place) and not self._is_of_event(first, last, wanted, placed):
            silent.update(placed)
        words = tuple(
            word if first <= at < last and at not in silent else BESIDE for at, word in enumerate(self.words)
        )
        roles = {
            role
            for at in range(first, last)
            if words[at]
            for _, some in self.own.phrases.at(words, at)
            for role in some
        }
        optional = frozenset(at for at, word in enumerate(words) if word in small or word in self.describing)
        begin = max(first, self.asker(first)[0] - 1)
        edges = {word for word in (*words[begin : begin + 2], words[last - 1]) if word}
        others = self.own.roles["prepositions.agent"] | self.own.roles["prepositions.of"]
        if self.own.roles["verbs.be"].isdisjoint(words[first:last]):
            others = frozenset()  # "*von wem bekam* das Museum", in no passive
        turn = frozenset(
            prop
            for role, props in TURNS.items()
            if wanted not in (0, int(Category.Time)) and not (self.own.roles[role] - others).isdisjoint(edges)
            for prop in props
        )
        # "*how many* leaves has it", but not "what is the accession *number of* X"
        many = self.asker(first, frozenset({"questions.how_many"}))
        counts = many[0] < many[1] <= last and many == self.asker(first)
        number = counts or bool(roles & {"questions.how_much", "questions.how_long"})
        ranking = {
            at: sign
            for role, sign in (("operators.earliest", -1), ("operators.latest", 1))
            for at in range(first, last)
            if words[at] in self.own.roles[role]
        }
        heard = frozenset(filter(None, self._stems[first:last]))
        clause = Clause(words, wanted, number, turn, optional, self._behind(own), ranking, heard)
        if not self.of_one or self.of_another:
            return {}, frozenset(), 0
        found = {node: heard.best(clause, before) for node, heard in self.heard.items()}
        stated = {node: one.statements for node, one in found.items() if one is not None}
        said = frozenset[int]().union(*(one.said for one in found.values() if one is not None))
        return stated, said, max((one.strength for one in found.values() if one is not None), default=0)

    def _is_of_event(self, first: int, last: int, wanted: int, placed: Collection[int]) -> bool:
        """Whether words for where something is say as well what befell it, and the data state where that was."""
        if not self.of_one or not placed:
            return False
        words = tuple(word if first <= at < last else BESIDE for at, word in enumerate(self.words))
        found = (heard.best(Clause(words, wanted)) for heard in self.heard.values())
        graph = self.release[Graph]
        return any(
            best is not None
            and not best.said.isdisjoint(placed)
            and any(graph.category(mid) == Category.Event for one in best.statements for mid in one.through)
            for best in found
        )

    def _in_role(self, stated: Mapping[int, Sequence[Statement]], said: Collection[int]) -> bool:
        """Whether words name the role in which those took part who are stated: "who *conducted* it"."""
        stems, graph = {self.own.stem(self.words[at]) for at in said}, self.release[Graph]
        return any(
            next(roles_of(graph, mid), None) is not None and stems & self.heard[node].typed(mid)
            for node, some in stated.items()
            for one in some
            for mid in one.through
        )

    def _relations(
        self, chosen: Sequence[PhraseSpan], wanted: int, of_what: bool
    ) -> Iterator[tuple[str, ...]]:
        """The relations that phrases ask for, for each fact those that may tell it; ``of_what``: "what" asks for it, which is
        never somebody, somewhere or some time: "de *qué* está hecho"."""
        asked, after, verbs = dict[tuple[str, ...], None](), 0, self._verbs(chosen)
        ends = [_said_by(self.spans, one) for one in chosen if self._is_noun(one)]
        for span in verbs:
            said = _said_by(self.spans, span)
            # What a question word asks for it asks of the verb behind it.
            before = self.words[after : span.first]
            expects = _expected(self.own, self.language, before) if len(verbs) > 1 else wanted
            with_noun = [tuple(id for id in said if id in noun) for noun in ends]
            ends = [noun for noun, both in zip(ends, with_noun, strict=True) if not both]
            for both in filter(None, with_noun):  # "What *material* is X *made of*?"
                asked.update(dict.fromkeys(self._fitting(both, 0, True)))
            if any(with_noun) and not expects:
                continue  # the noun says which of what the verb may ask for is meant
            fittings = tuple(self._fitting(said, expects, _is_measured(self.release, said)))
            if fittings or not expects:
                after = span.last  # "*when* and in which part of Vienna was X *born*" asks of the second
            if of_what and not expects:
                things = (tuple(id for id in one if not self._leads_elsewhere(id)) for one in fittings)
                fittings = tuple(filter(None, things)) or fittings
            asked.update(dict.fromkeys(one for one in fittings if not self._is_turned(one, span, expects)))
        asked.update(dict.fromkeys(one for said in ends for one in self._fitting(said, 0, True)))
        yield from asked

    def _leads_elsewhere(self, relation: str) -> bool:
        """Whether a relation leads to somebody, somewhere or some time."""
        known = self.release.method.relations[relation]
        return any(_leads_to(known, what) for what in _OF_CATEGORY.values())

    @cached_property
    def _categories(self) -> set[str]:
        """Names of the categories of the things."""
        return {category_name(self.release[Graph], node) for node in self.nodes}

    def _fitting(self, said: tuple[str, ...], expects: int, plain: bool) -> Iterator[tuple[str, ...]]:
        """Of the relations said, and of those that tell of the same event, those that things of this kind have and that lead
        to what a question word asks for, for each that does; without such words those said, where these say it by themselves
        (``plain``)."""
        relations, categories = self.release.method.relations, self._categories
        own = [id for id in said if id in relations and categories & set(relations[id].domain)]
        wanted = [_OF_CATEGORY[one] for one in _OF_CATEGORY if expects & int(Category[one])]
        events = {  # of the parts of a thing other relations tell what this one does not
            path[:-1]
            for id in said
            if id in relations
            for path in relations[id].direct
            if not all(step.startswith(PART) for step in path[:-1])
        }
        near = [
            id
            for id, one in relations.items()
            if categories & set(one.domain) and any(path[:-1] in events for path in one.direct)
        ]
        for what in wanted:
            told = [id for id in dict.fromkeys((*own, *near)) if _leads_to(relations[id], what)]
            if told:
                yield (*told, *(id for id in own if id in TELLING_NOTES and id not in told))
            elif what == "date":
                when = [(id,) for id in dict.fromkeys(id for one in own for id in relations[one].when)]
                known = [ids for ids in when if any_known(self.release, self.nodes, [Asked(ids)])]
                yield from known
        if plain or not wanted:
            others = tuple(
                id
                for id in own
                if not any(_leads_to(relations[id], what) for what in wanted)
                and not (wanted and relations[id].value == "text")
            )
            if others and (plain or expects == 0):
                yield others

    def _is_turned(self, relations: Sequence[str], span: PhraseSpan, expects: int) -> bool:
        """Whether the thing stands at the far end of what is said: "What depicts X?" asks for no fact of X."""
        first = self.release.method.relations[relations[0]]
        if expects and not expects & sum(int(Category[name]) for name in first.domain):
            return False  # who "sat for X" is no thing that shows anybody
        of_entities = first.value == "entity" and not first.literals.value
        if not of_entities or self._categories.isdisjoint(first.range) or span.role == "ends":
            return False
        if ("" in self.words[: span.first]) is not (span.role == "backward"):
            return False
        # Where the verb stands before its subject, "¿De qué está hecho X?", the data tells which end X is.
        facts = Facts(self.release, "")

        def leads(inverse: bool) -> bool:
            return any(facts.of(node, relations[0], inverse) is not None for node in self.nodes)

        return leads(True) or not leads(False)


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
            found |= _category(own, language, words[at])
    return found


def _each(wanted: int) -> tuple[int, ...]:
    """Each of the categories that question words ask for; 0 for none."""
    return tuple(int(one) for one in _ASKED_BY.values() if wanted & int(one)) or (wanted,)


def _category(own: SpokenLanguage, language: Language, word: str) -> int:
    """Place, time or actor, where a noun means only one of these."""
    if any(word in own.roles[f"time.{unit}"] for unit in TIMES):
        return int(Category.Time)
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
    # but "est né"
    small = {one.first for one in chosen if len(one) == 1 and words[one.first] in language.stop}
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


TELLING_NOTES = ("credit_line", "provenance_note")
"""Texts that name people, places and dates, and are told where the data states these in no other way."""


def _leads_to(relation: Relation, what: str) -> bool:
    if what == "date":
        return relation.value == "date"
    return what in relation.range and relation.value == "entity"


def greeted(words: Sequence[str]) -> str:
    """The language of words that are nothing but a greeting or a call for help, which no question has; "" for others."""
    for language, forms in sentences().languages.items():
        spans = Phrases(forms.greetings).spans(words)
        if words and sum(last - first for first, last in spans) == len(words):
            return language
    return ""


def example_questions(release: Release, language: str) -> Iterator[tuple[int, str]]:
    """A question each about a thing, a person and a place that are best known in this data, with what it is about."""
    forms, graph = sentences().forms(language), release[Graph]
    for category, example in zip(("Thing", "Actor", "Place"), forms.examples, strict=True):
        best = next(iter(release[Aggregation].top(category, 1)), None)
        node = None if best is None else graph.node(best.iri)
        if node is not None:
            yield node, example.replace("{x}", graph.label(node, (language,)))


def greeting(release: Release, understood: Understood, cited: SourceList) -> str:
    """What the data holds, and what can be asked: questions about a thing, a person and a place that are best known in it; in
    the greeting's language where questions are read in it."""
    language = greeted(understood.own.reading.words)
    language = language if language in release.method.questions.languages else understood.own.reading.language
    asking = sentences().forms(language).greeting.replace("{title}", release.manifest.title)
    lines = [f"{overview(release, language, cited)} {asking}"]
    for node, question in example_questions(release, language):
        lines.append(f"- {question} [{cited.cite(node, cited.type_triples(node))}]")
    return "\n".join(lines)


REASONS = (Asked(("caused_by",)), Asked(("purpose",)), Asked(("commissioned_by",)))
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
