"""When the data does not tell: what is asked for is understood and stated nowhere, or is not understood at all."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.artifacts.release import Release
from crmrag_query.context.evidence import ANCHORED, Evidence
from crmrag_query.parsing.occurring import occurrences
from crmrag_query.parsing.parse import Parsed
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Form
from crmrag_query.questions.lexicon import compiled
from crmrag_query.retrieval.tokenizer import same_stem, tokenize

LOOKED_AT = 10  # lines of evidence in which a word that was not understood may stand; ours


def refusal(release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]) -> str:
    """What to say where the data does not tell, in the question's language; "" where it may.

    A relation that was asked for of something known, and that nothing states, is told by its name; so are words that say what
    is asked for, are not understood, and stand in none of the lines that were found.
    """
    if parsed.tree.several or parsed.plan is None:
        return ""
    words = release.method.sets.words(analysis.reading.language)
    if parsed.tree.form != "ask" and (told := _absent(release, parsed, analysis, ranked)):
        return words.absent.replace("{what}", told)
    lost = unheard(release, parsed, analysis, ranked)
    if analysis.form is Form.SPECIFIC and (unnamed := nothing_of(release, parsed, analysis, ranked)):
        return unnamed
    if lost and _asks_of_something(parsed):
        quoted = ", ".join(f"“{word}”" for word in lost)
        return words.not_told.replace("{words}", quoted)
    return ""


def nothing_of(release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]) -> str:
    """That nothing was found of the names that name nothing here; "" where there are none."""
    words = release.method.sets.words(analysis.reading.language)
    unnamed = ", ".join(f"“{name}”" for name in _unnamed(parsed, ranked))
    return words.not_told.replace("{words}", unnamed) if unnamed else ""


def _absent(release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]) -> str:
    """The labels of relations that nothing states: of one thing, or, for any question, in all of the data."""
    language = analysis.reading.language
    one = (
        analysis.form is Form.SPECIFIC
        and not parsed.unknown
        and len(parsed.plan.where if parsed.plan else ()) < 2
    )
    one = one and not _told_of_a_part(release, analysis, ranked)
    ids = [id for id in parsed.absent if one or not occurrences(release.world, id)]
    for piece in parsed.pieces:
        said = piece.relations("forward", "backward", "ends")
        if (
            said
            and not piece.roles
            and not piece.kinds
            and not any(occurrences(release.world, id) for id in said)
        ):
            ids += [id for id in said[:1] if id not in ids]
    relations = release.method.relations
    return ", ".join(f"“{relations[id].labels.get(language, relations[id].labels['en'])}”" for id in ids)


def _told_of_a_part(release: Release, analysis: Analysis, ranked: Sequence[Evidence]) -> bool:
    """Whether one of the best lines tells what is asked for of something in the document of what is named: the painter of
    the church's mural."""
    named = {one.entity for mention in analysis.mentions for one in mention.entities[:1]}
    return any(
        line.cued
        and line.expected
        and line.mention >= ANCHORED
        and line.line.entity not in named
        and release.documents.entity(line.line.document) in named
        for line in ranked[:LOOKED_AT]
    )


def unheard(
    release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]
) -> tuple[str, ...]:
    """Words that no lexicon knows, that name nothing, and that stand in none of the best lines; none where the data is in
    other languages than the question, or where the question asks to be told about something."""
    reading = analysis.reading
    if reading.language not in release.manifest.languages or reading.rule.startswith("tell"):
        return ()
    telling = compiled(release.method.questions).languages[reading.language].forms.telling
    said = {word for one in ranked[:LOOKED_AT] for word in tokenize(one.match)}
    lost = [
        word
        for piece in parsed.pieces
        if piece.unknown and not piece.capital and not piece.quoted
        for word in piece.words
        if len(word) > 2 and not telling.at((word,), 0)
    ]
    return tuple(
        word for word in dict.fromkeys(lost) if not any(word == one or same_stem(one, word) for one in said)
    )


def _unnamed(parsed: Parsed, ranked: Sequence[Evidence]) -> list[str]:
    """Words written as names that name nothing here and stand in none of the best lines."""
    said = {word for one in ranked[:LOOKED_AT] for word in tokenize(one.match)}
    return [
        piece.raw
        for piece in parsed.pieces
        if piece.unknown
        and (piece.capital or piece.quoted)
        and not piece.opens
        and not said & set(piece.words)
    ]


def _asks_of_something(parsed: Parsed) -> bool:
    """Whether the question is about something that it names."""
    root = parsed.tree.root
    return root is not None and (root.named or any(map(_names, root.links)))


def _names(link: Link) -> bool:
    return isinstance(link.anchor, Node) and (link.anchor.named or any(map(_names, link.anchor.links)))
