"""An answer without a language model: the lines that answer, or the set that a line states; never a dump of documents."""

from __future__ import annotations

from collections.abc import Sequence

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
ANCHORED = (
    0.5  # share of a subject's name in the question from which a line counts as being about what was asked
)


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
            return _stated_set(release, reading, *best, cited, config, words)
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


def _best_set(
    release: Release, reading: Reading, ranked: Sequence[Evidence], config: ExtractiveConfig
) -> tuple[Evidence, list[int]] | None:
    """The best line that states a set of what was asked for, about something that the question names.

    A line that leads to the type that the question names counts ``config.expected_bonus`` more.
    """
    best: tuple[float, Evidence, list[int]] | None = None
    for one in ranked:
        if one.line.kind not in RELATIONAL or one.mention < ANCHORED:
            continue
        targets = list(one.line.targets)
        wanted = of_asked_type(release.graph, targets, reading)
        score = one.score + (config.expected_bonus if wanted else 0.0)
        if (wanted or len(targets) > 1) and (best is None or score > best[0]):
            best = score, one, wanted or targets
    if best is None or best[0] < config.keep_ratio * ranked[0].score:
        return None
    return best[1:]


def _stated_set(
    release: Release,
    reading: Reading,
    one: Evidence,
    targets: list[int],
    cited: SourceList,
    config: ExtractiveConfig,
    words: LanguageLexicon,
) -> str:
    """The members that a line states, or how many they are; each member is a source with the triples that lead to it."""
    what = f"{one.subject} — {_label(release, one, reading)}"
    n = cited.cite(one.line.entity, cited.line_triples(one.line, targets[:1]))
    head = (words.counted if reading.counts else words.listed).format(count=len(targets), what=what)
    rows = [f"{head} [{n}]"]
    for node in targets[: config.listed_items]:
        m = cited.cite(node, cited.line_triples(one.line, [node]))
        rows.append(f"- {release.graph.label(node, (reading.language,))} [{m}]")
    if len(targets) > config.listed_items:
        rows.append(words.more.format(count=len(targets) - config.listed_items))
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
    head = words.counted if reading.counts else words.listed
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
