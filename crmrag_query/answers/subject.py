"""Questions that ask for no set: about one thing as such ("Where is X?", "Tell me about X"), or about the data as a whole.

The first are answered from what is told of the thing itself, never by what leads to it: what lies in a church is not where
the church is. The second are answered by what the data set holds, counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import Understood, individuals
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.profile import Profile
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.state import Kind
from crmrag_query.retrieval.aggregation import Aggregation

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
