"""When the data does not tell: what is asked for is understood and stated nowhere, or is not understood at all."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.artifacts.release import Release
from crmrag_query.context.evidence import Evidence
from crmrag_query.parsing.occurring import occurrences
from crmrag_query.parsing.parse import Parsed
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.tokenizer import same_stem, tokenize

LOOKED_AT = 10  # lines of evidence in which a word that was not understood may stand; ours


def refusal(release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]) -> str:
    """What to say where the data does not tell, in the question's language; "" where it may.

    A relation that was asked for of something known, and that nothing states, is told by its name; so are words that say what
    is asked for, are not understood, and stand in none of the lines that were found.
    """
    words = release.method.sets.words(analysis.reading.language)
    if parsed.tree.form != "ask" and (told := _absent(release, parsed, analysis)):
        return words.absent.replace("{what}", told)
    lost = unheard(release, parsed, analysis, ranked)
    if lost and _asks_of_something(parsed):
        quoted = ", ".join(f"“{word}”" for word in lost)
        return words.not_told.replace("{words}", quoted)
    return ""


def _absent(release: Release, parsed: Parsed, analysis: Analysis) -> str:
    """The labels of relations that nothing states: of one thing, or, for any question, in all of the data."""
    language = analysis.reading.language
    one = analysis.form is Form.SPECIFIC or parsed.tree.when
    ids = [id for id in parsed.absent if one or not occurrences(release.world, id)]
    ids += [id for id in _asked(parsed) if id not in ids and not occurrences(release.world, id)]
    relations = release.method.relations
    return ", ".join(f"“{relations[id].labels.get(language, relations[id].labels['en'])}”" for id in ids)


def _asked(parsed: Parsed) -> list[str]:
    """Relations that were said, where every relation that the phrase may mean is stated nowhere."""
    rank = parsed.tree.rank
    return list(rank.by) if rank is not None else []


def unheard(
    release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]
) -> tuple[str, ...]:
    """Words that were not understood and stand in none of the best lines."""
    stop = analysis.reading.stop
    said = {word for one in ranked[:LOOKED_AT] for word in tokenize(one.match)}
    lost = [word for text in parsed.unknown for word in tokenize(text) if word not in stop and len(word) > 2]
    return tuple(
        word for word in dict.fromkeys(lost) if not any(word == one or same_stem(one, word) for one in said)
    )


def _asks_of_something(parsed: Parsed) -> bool:
    """Whether the question is about something that it names."""
    root = parsed.tree.root
    return root is not None and (root.named or any(map(_names, root.links)))


def _names(link: Link) -> bool:
    return isinstance(link.anchor, Node) and (link.anchor.named or any(map(_names, link.anchor.links)))
