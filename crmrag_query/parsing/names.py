"""The names of a question, as its plan needs them: no longer than what is one thing, and with all that have the name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import Mention, NameIndex, link, plain_words, stop_words
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.lexicon import PhraseSpan
from crmrag_query.parsing.pieces import WHOLE
from crmrag_query.questions.lexicon import Language
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize


@dataclass
class Namesakes:
    """All entities that have a name; the linker gives the first few."""

    release: Release
    _known: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __call__(self, name: str) -> Sequence[int]:
        if name not in self._known:
            method = self.release.method
            words = sorted(tokenize(name))
            found = link(
                self.release[NameIndex], tokenize(name), stop_words(method.questions),
                plain_words(method.questions), method.parsing.limits.namesakes,
            )  # fmt: skip
            self._known[name] = tuple(
                one.entity
                for mention in found
                for one in mention.entities
                if one.how in WHOLE and sorted(tokenize(one.name)) == words
            )
        return self._known[name]


def refined(
    release: Release,
    mentions: Sequence[Mention],
    heard: Asked,
    kinds: Sequence[KindMatch],
    spans: Sequence[PhraseSpan],
    language: Language,
) -> list[Mention]:
    """Mentions cut where a name that is matched in part only runs over words of the question that are no part of a name.

    A letter before an apostrophe belongs to the name after it (O'Keeffe).
    """
    found: list[Mention] = []
    for mention in mentions:
        if mention.entities and mention.entities[0].how in WHOLE:
            found.append(mention)
        else:
            breaks = _breaks(mention, heard, kinds, spans, language)
            found += _relinked(release, heard, mention, breaks) if breaks else [mention]
    kept = ((mention, _without_statements(release, mention, heard)) for mention in found)
    return [_widened(now, heard) for was, now in kept if now.entities or _is_phrase(was)]


def _is_phrase(mention: Mention) -> bool:
    """Whether a statement was quoted whole: "oil on canvas" is one thing to look for."""
    return mention.last - mention.first > 1 and mention.entities[0].how in WHOLE


def _without_statements(release: Release, mention: Mention, heard: Asked) -> Mention:
    """The mention without texts that say something of a thing, unless it is quoted."""
    quoted = {i for chunk in heard.chunks if chunk.quoted for i in range(chunk.first, chunk.last)}
    if all(i in quoted for i in range(mention.first, mention.last)):
        return mention
    graph, statements = release[Graph], release.method.parsing.statements
    return replace(
        mention,
        entities=tuple(
            one
            for one in mention.entities
            if not any(graph.class_code(int(number)) in statements for number in graph.types(one.entity))
        ),
    )


def _breaks(
    mention: Mention,
    heard: Asked,
    kinds: Sequence[KindMatch],
    spans: Sequence[PhraseSpan],
    language: Language,
) -> set[int]:
    """Tokens within the mention that are a word of the question: small words, nouns, verbs, a new clause."""
    inside = range(mention.first, mention.last)
    capitals = {i for chunk in heard.chunks if chunk.capital for i in range(chunk.first, chunk.last)}
    plain = {i for i in inside if i not in capitals or not language.capitals_name}
    said = {i for kind in kinds for i in range(kind.first, kind.last)}
    said |= {i for span in spans for i in range(span.first, span.last)}
    said |= {i for i in inside if heard.words[i] in language.stop}
    return plain & said if len(inside) > 1 else set()


def _relinked(release: Release, heard: Asked, mention: Mention, breaks: set[int]) -> list[Mention]:
    """The names in what is left of a mention between its breaks."""
    method = release.method
    found: list[Mention] = []
    first = None
    for at in range(mention.first, mention.last + 1):
        stops = at == mention.last or at in breaks or (at in heard.starts and at > mention.first)
        if stops and first is not None:
            words = heard.words[first:at]
            stop, plain = stop_words(method.questions), plain_words(method.questions)
            for one in link(release[NameIndex], words, stop, plain):
                found.append(replace(one, first=one.first + first, last=one.last + first))
            first = None
        if at < mention.last and at not in breaks and first is None:
            first = at
    return found


def _widened(mention: Mention, heard: Asked) -> Mention:
    """With letters before it that are written with it: "O'*Keeffe*"."""
    chunk = next((one for one in heard.chunks if one.first <= mention.first < one.last), None)
    if chunk is None or not chunk.capital or chunk.first == mention.first:
        return mention
    lead = heard.words[chunk.first : mention.first]
    return replace(mention, first=chunk.first) if all(len(word) == 1 for word in lead) else mention
