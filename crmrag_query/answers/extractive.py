"""An answer without a language model: the lines that answer, or the set that a line states; never a dump of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crmrag_query.answers.naming import type_label
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.tied_set import TiedSet, tied_set, tied_set_text
from crmrag_query.answers.typed import AskedTypes
from crmrag_query.answers.understand import individuals, relied_on
from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import LanguageLexicon
from crmrag_query.context.evidence import ANCHORED, Evidence, holds_all, unknown_words
from crmrag_query.documents.documents import Line
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Form, Reading
from crmrag_query.retrieval.pipeline import Candidate
from crmrag_query.retrieval.tokenizer import tokenize

RELATIONAL = (Line.FR, Line.OUTGOING, Line.INCOMING)
SHOWN = 10  # targets named on a line of an answer, as on a line of a document
NAMED_SUBJECTS = 3  # of several lines that say the same
POLAR = "yes/no"  # the rule by which such a question is read (questions.grammar)
NEAR = 25  # of the best lines that are looked at for an answer in lines


@dataclass(frozen=True, slots=True)
class Extracted:
    """An extractive answer; ``refused``: it says that the data does not say; ``notes``: what the reader should know."""

    text: str
    refused: bool = False
    notes: tuple[str, ...] = ()


def extract(
    release: Release,
    analysis: Analysis,
    candidates: Sequence[Candidate],
    found: Sequence[Evidence],
    ranked: Sequence[Evidence],
    cited: SourceList,
) -> Extracted:
    """The answer from ``ranked``, the lines ``found`` by rank; an honest refusal where nothing bears on the question.

    A refusal goes on with what the data does say of something that the question names, if it names anything.
    """
    reading = analysis.reading
    words = release.method.questions.languages[reading.language]
    linked = {word for mention in relied_on(release, analysis) for word in tokenize(mention.text)}
    meant = linked | analysis.period_words
    unknown = tuple(word for word in unknown_words(found, reading) if word not in meant)
    notes = (words.unknown.format(words=", ".join(unknown)),) if unknown else ()
    if not ranked or len(unknown) == len(set(reading.content) - reading.cueing) > 0:
        return Extracted(words.none, True, notes)
    if _is_silent(release, reading, ranked):
        known = [one for one in ranked if one.mention >= ANCHORED]
        lines = _lines(release, reading, known, cited) if known else ""
        return Extracted(f"{words.none}\n{lines}".rstrip(), True, notes)
    text = extract_answer(release, analysis, candidates, ranked, cited)
    return Extracted(text, text == words.none, notes)


def _is_silent(release: Release, reading: Reading, ranked: Sequence[Evidence]) -> bool:
    """Whether the verbs of a specific question ("How tall is …?") ask for lines that what it names has none of.

    Told for questions in a language of the data only: in others a cue may be missed.
    """
    if reading.form is not Form.SPECIFIC or reading.expects or not reading.cueing:
        return False
    about = [one for one in ranked if one.mention >= ANCHORED]
    of_the_data = reading.language in release.manifest.languages
    return bool(about) and of_the_data and not any(one.cued for one in (*about, *ranked[:NEAR]))


def extract_answer(
    release: Release,
    analysis: Analysis,
    candidates: Sequence[Candidate],
    ranked: Sequence[Evidence],
    cited: SourceList,
) -> str:
    """The text of an extractive answer; every line cites its source through ``cited``.

    A set is told by the line that states it, where the question names one thing and a line about it says what is asked for;
    else it is what retrieval found tied to all that the question names. Where nothing is dated within a period that is asked
    for, what was merely retrieved is no answer.
    """
    reading = analysis.reading
    words = release.method.questions.languages[reading.language]
    if not ranked:
        return words.none
    if reading.form is Form.SPECIFIC:
        return _lines(release, reading, _bearing(reading, ranked), cited)
    types = AskedTypes(release.graph, reading)
    best, tied = _best_set(release, reading, ranked, types), tied_set(release, analysis, candidates)
    named = 0
    if tied is not None:
        whole = tied.share >= release.method.retrieval.reach.other
        named = len(tied.anchors if whole else individuals(release, analysis)) + (analysis.period is not None)
    if best is not None and (tied is None or (named < 2 and _says_more(release, best, tied, types))):
        return _stated_set(release, reading, best, cited)
    if tied is not None:
        return tied_set_text(release, analysis, tied, cited, words)
    if analysis.period is not None:
        return words.none
    nodes = [release.documents.entity(candidate.document) for candidate in candidates]
    if (typed := types.of(nodes)) is not None:
        return _found_set(release, reading, typed, cited)
    return _lines(release, reading, ranked, cited)


def _says_more(release: Release, stated: StatedSet, tied: TiedSet, types: AskedTypes) -> bool:
    """Whether a line states more of what is asked for than retrieval found.

    It does where the question's words ask for its relationship, unless that is one that others specialise ("has met"), or
    where it leads to more of the type that is asked for.
    """
    first = stated.lines[0]
    precise = first.cued and first.line.label not in release.channels.vague
    of_type = types.of(list(stated.members))
    if of_type is None:
        return precise and types.of(list(tied.members)) is None
    return precise or len(of_type) >= len(tied.members)


def _bearing(reading: Reading, ranked: Sequence[Evidence]) -> Sequence[Evidence]:
    """Of a yes/no question only the lines that hold all its words, where there are any: they are what it asks about."""
    if reading.rule != POLAR:
        return ranked
    asked = [word for word in reading.content if word not in reading.cueing]
    return [one for one in ranked if asked and holds_all(one, asked)] or ranked


def _lines(release: Release, reading: Reading, ranked: Sequence[Evidence], cited: SourceList) -> str:
    """The best lines, one a row, as long as they come near the best; one that adds nothing to those before is left out."""
    config, words = release.method.questions.extractive, release.method.questions.languages[reading.language]
    rows: list[str] = []
    told: dict[int, set[str]] = {}
    for one in ranked[:NEAR]:
        if one.score < config.keep_ratio * ranked[0].score or len(rows) == config.specific_lines:
            break
        said = _said(release, one, reading, words)
        new = set(tokenize(said.partition(": ")[2]))
        before = told.setdefault(one.line.entity, set())
        if rows and new <= before:
            continue
        before |= new
        rows.append(f"{one.subject}: {said} [{_cite_line(cited, one)}]")
    return "\n".join(rows)


def _cite_line(cited: SourceList, one: Evidence) -> int:
    return cited.cite(one.line.entity, cited.line_triples(one.line, one.line.targets[:SHOWN]), [one.line])


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
    release: Release, reading: Reading, ranked: Sequence[Evidence], types: AskedTypes
) -> StatedSet | None:
    """The set that the best line states, of what was asked for, about something that the question names.

    A line that leads to the type that the question names counts ``config.expected_bonus`` more. Where the question names
    its subject only in part ("the Last Judgment", of which there are several), lines that say the same of others join it.
    """
    config = release.method.questions.extractive
    stated = [(one, *_wanted(types, one)) for one in ranked if one.line.kind in RELATIONAL]
    several = not (reading.counts and reading.heads)  # things of another type are not what is to be counted
    stated = [(one, nodes, typed) for one, nodes, typed in stated if typed or (several and len(nodes) > 1)]
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


def _wanted(types: AskedTypes, one: Evidence) -> tuple[list[int], bool]:
    """Those targets of a line that are of the type that the question names, and True; all and False when none is."""
    targets = list(one.line.targets)
    typed = types.of(targets)
    return typed or targets, bool(typed)


def _stated_set(release: Release, reading: Reading, stated: StatedSet, cited: SourceList) -> str:
    """The members that lines state, or how many they are; each member is a source with the triples that lead to it."""
    config, words = release.method.questions.extractive, release.method.questions.languages[reading.language]
    first = stated.lines[0]
    subjects = [one.subject for one in stated.lines[:NAMED_SUBJECTS]] + ["…"] * (
        len(stated.lines) > NAMED_SUBJECTS
    )
    what = f"{'; '.join(dict.fromkeys(subjects))} — {_label(release, first, reading)}"
    n = cited.cite(first.line.entity, cited.line_triples(first.line, list(stated.members)[:1]), [first.line])
    head = (words.counted if reading.counts else words.listed).format(count=len(stated.members), what=what)
    rows = [f"{head} [{n}]"]
    for node, one in list(stated.members.items())[: config.listed_items]:
        m = cited.cite(node, cited.line_triples(one.line, [node]))
        rows.append(f"- {release.graph.label(node, (reading.language,))} [{m}]")
    if len(stated.members) > config.listed_items:
        rows.append(words.more.format(count=len(stated.members) - config.listed_items))
    return "\n".join([*rows, words.partial])


def _found_set(release: Release, reading: Reading, nodes: list[int], cited: SourceList) -> str:
    """The retrieved entities of the type that was asked for; each cites what says that it is of that type."""
    config, words = release.method.questions.extractive, release.method.questions.languages[reading.language]
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
