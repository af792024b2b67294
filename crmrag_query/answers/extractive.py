"""An answer without a language model: the lines that answer, or the set that a line states; never a dump of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crmrag_query.answers.evidence import Evidence
from crmrag_query.answers.naming import type_label
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.typed import of_asked_type
from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import ExtractiveConfig, LanguageLexicon
from crmrag_query.documents.documents import Line
from crmrag_query.questions.form import Form, Reading
from crmrag_query.retrieval.pipeline import Candidate

RELATIONAL = (Line.FR, Line.OUTGOING, Line.INCOMING)
SHOWN = 10  # targets named on a line of an answer, as on a line of a document
NAMED_SUBJECTS = 3  # of several lines that say the same
ANCHORED = 0.5  # share of a subject's name in the question from which a line is about what was asked


def extract_answer(
    release: Release,
    reading: Reading,
    candidates: Sequence[Candidate],
    ranked: Sequence[Evidence],
    cited: SourceList,
) -> str:
    """The text of an extractive answer; every line cites its source through ``cited``."""
    config, words = release.method.questions.extractive, release.method.questions.languages[reading.language]
    if not ranked:
        return words.none
    if reading.form is not Form.SPECIFIC:
        if (best := _best_set(release, reading, ranked, config)) is not None:
            return _stated_set(release, reading, best, cited, config, words)
        nodes = [release.documents.entity(candidate.document) for candidate in candidates]
        typed = of_asked_type(release.graph, nodes, reading)
        if typed is not None:
            return _found_set(release, reading, typed, cited, config, words)
    return _lines(release, reading, ranked, cited, config, words)


def _lines(
    release: Release,
    reading: Reading,
    ranked: Sequence[Evidence],
    cited: SourceList,
    config: ExtractiveConfig,
    words: LanguageLexicon,
) -> str:
    """The best lines, one a row, as long as they come near the best; none is given twice."""
    chosen: dict[str, Evidence] = {}
    for one in ranked:
        if one.score < config.keep_ratio * ranked[0].score or len(chosen) == config.specific_lines:
            break
        chosen.setdefault(f"{one.subject}: {_said(release, one, reading, words)}", one)
    return "\n".join(
        f"{text} [{cited.cite(one.line.entity, cited.line_triples(one.line, one.line.targets[:SHOWN]))}]"
        for text, one in chosen.items()
    )


def _said(release: Release, one: Evidence, reading: Reading, words: LanguageLexicon) -> str:
    """A line in the question's language where the data has names in it, else as the document has it."""
    if one.line.kind not in RELATIONAL or reading.language == "en":
        return one.text
    names = ", ".join(one.names[:SHOWN])
    rest = one.line.total - SHOWN
    return f"{_label(release, one, reading)}: {names}" + (
        f" {words.more.format(count=rest)}" if rest > 0 else ""
    )


def _label(release: Release, one: Evidence, reading: Reading) -> str:
    return release.method.translations.of(one.line.label, reading.language)


@dataclass(frozen=True)
class StatedSet:
    """Members of a set and, for each, the line that states it; ``lines`` say the same of one subject or of several."""

    lines: tuple[Evidence, ...]
    members: dict[int, Evidence]


def _best_set(
    release: Release, reading: Reading, ranked: Sequence[Evidence], config: ExtractiveConfig
) -> StatedSet | None:
    """The set that the best line states, of what was asked for, about something that the question names.

    A line that leads to the type that the question names counts ``config.expected_bonus`` more. Where the question names
    its subject only in part ("the Last Judgment", of which there are several), lines that say the same of others join it.
    """
    stated = [(one, *_wanted(release, reading, one)) for one in ranked if one.line.kind in RELATIONAL]
    stated = [(one, nodes, typed) for one, nodes, typed in stated if typed or len(nodes) > 1]
    anchored = [
        (one.score + config.expected_bonus * typed, one, nodes, typed)
        for one, nodes, typed in stated
        if one.mention >= ANCHORED
    ]
    if not anchored:
        return None
    score, best, nodes, typed = max(anchored, key=lambda item: item[0])
    if score < config.keep_ratio * ranked[0].score:
        return None
    members = dict.fromkeys(nodes, best)
    lines = [best]
    for one, others, also_typed in stated:
        alike = one.line.key == best.line.key and one is not best and typed and also_typed
        if alike and best.mention < 1 and best.mentioned <= one.mentioned:
            lines.append(one)
            members |= {node: one for node in others if node not in members}
    return StatedSet(tuple(lines), members)


def _wanted(release: Release, reading: Reading, one: Evidence) -> tuple[list[int], bool]:
    """Those targets of a line that are of the type that the question names, and True; all and False when none is."""
    targets = list(one.line.targets)
    typed = of_asked_type(release.graph, targets, reading)
    return typed or targets, bool(typed)


def _stated_set(
    release: Release,
    reading: Reading,
    stated: StatedSet,
    cited: SourceList,
    config: ExtractiveConfig,
    words: LanguageLexicon,
) -> str:
    """The members that lines state, or how many they are; each member is a source with the triples that lead to it."""
    first = stated.lines[0]
    subjects = [one.subject for one in stated.lines[:NAMED_SUBJECTS]] + ["…"] * (
        len(stated.lines) > NAMED_SUBJECTS
    )
    what = f"{'; '.join(dict.fromkeys(subjects))} — {_label(release, first, reading)}"
    n = cited.cite(first.line.entity, cited.line_triples(first.line, list(stated.members)[:1]))
    head = (words.counted if reading.counts else words.listed).format(count=len(stated.members), what=what)
    rows = [f"{head} [{n}]"]
    for node, one in list(stated.members.items())[: config.listed_items]:
        m = cited.cite(node, cited.line_triples(one.line, [node]))
        rows.append(f"- {release.graph.label(node, (reading.language,))} [{m}]")
    if len(stated.members) > config.listed_items:
        rows.append(words.more.format(count=len(stated.members) - config.listed_items))
    return "\n".join([*rows, words.partial])


def _found_set(
    release: Release,
    reading: Reading,
    nodes: list[int],
    cited: SourceList,
    config: ExtractiveConfig,
    words: LanguageLexicon,
) -> str:
    """The retrieved entities of the type that was asked for; each cites what says that it is of that type."""
    graph = release.graph
    head = words.found if reading.counts else words.listed
    rows = [
        head.format(
            count=len(nodes),
            what=", ".join(dict.fromkeys(type_label(graph, node, reading.language) for node in nodes)),
        )
    ]
    for node in nodes[: config.listed_items]:
        rows.append(
            f"- {graph.label(node, (reading.language,))} [{cited.cite(node, cited.type_triples(node))}]"
        )
    return "\n".join([*rows, words.partial])
