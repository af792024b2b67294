"""An answer without a language model: the lines that answer, the set that a line states or that retrieval found tied to all
that a question names, or that the data does not tell; never a dump of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from crmrag_query.answers.facts import Facts
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import AskedTypes, individuals, is_asked_for, is_kind_word, relied_on
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import LanguageLexicon, quoted
from crmrag_query.context.evidence import (
    ANCHORED,
    Evidence,
    holds_all,
    published_label,
    unknown_words,
    untold,
)
from crmrag_query.dates import describe
from crmrag_query.documents.documents import RELATIONAL, Documents, Line
from crmrag_query.entities.details import has_things, type_label, type_nodes
from crmrag_query.graph.graph import Graph
from crmrag_query.language import LANGUAGES, language
from crmrag_query.linking import Mention
from crmrag_query.questions.form import Analysis, Form, Reading
from crmrag_query.reading.lexicon import Lexicon, vocabulary
from crmrag_query.reading.read import Parsed
from crmrag_query.retrieval.release_channels import OTHER, ReleaseChannels, coverage
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.shown import SourceTriple
from crmrag_query.text import fold, same_stem, tokenize

SHOWN_TYPES = 3
TYING = (Line.FR, Line.OUTGOING, Line.INCOMING, Line.SATELLITE)


@dataclass(frozen=True)
class TiedSet:
    """``members``: nodes in the order of their candidates; ``anchors``: what they are tied to, none of the asked types.

    ``share``: how much of what the question names they are tied to, 0..1.
    """

    members: tuple[int, ...]
    anchors: tuple[Mention, ...]
    share: float


FULL = 0.95  # of the highest share: tied to as much of what the question names as the best is


def tied_set(
    release: Release, analysis: Analysis, candidates: Sequence[Candidate], excluded: Container[int] = ()
) -> TiedSet | None:
    """What the candidates tell of that is tied to what the question names as well as the best of it is.

    Only of the types, else the categories, that are asked for, and of a period only what is dated within it, surely or
    perhaps; never what the question names itself. None where it names nothing but types and no period, or where none is left.
    """
    mentions = relied_on(release, analysis)
    asked = frozenset(analysis.types)
    anchors = tuple(
        one
        for one in mentions
        if asked.isdisjoint(_nodes(one))
        and not is_asked_for(analysis.reading, one)
        and not is_kind_word(release, analysis.reading, one)
    )
    if not anchors and analysis.period is None:
        return None
    channels, graph = release[ReleaseChannels], release[Graph]
    reading, targets = analysis.reading, analysis.targets
    ties = [channels.ties(anchor, reading.form, targets, reading.cues) for anchor in anchors]
    groups = [(anchor.entities[0].score, own) for anchor, own in zip(anchors, ties, strict=True)]
    within = None
    if analysis.period is not None:
        within = channels.dates(analysis.period, targets, reading.cues)
        groups.append((1.0, within))
    share = coverage(groups, graph.nodes)
    named = {node for mention in anchors for node in _nodes(mention)}
    tied = [
        node
        for one in candidates
        if one.tied > 0
        for node in release[Documents].told_in(one.document)
        if share[node] > 0
        and (within is None or within[node] > 0)
        and node not in named
        and node not in excluded
        and (not targets or int(graph.adjacency.categories[node]) & targets)
    ]
    facts = Facts(release, reading.language)  # no names, texts or pictures of what is asked for
    tied = [node for node in tied if not facts.is_untold(node)] or tied
    own = {release[Documents].entity(one.document) for one in candidates}
    typed = _of_types(release, analysis, tied, own)
    best = max((float(share[node]) for node in typed), default=0.0)
    members = tuple(node for node in typed if share[node] >= FULL * best)
    if not members:
        return None
    # the best there is may lack one of them
    anchors = tuple(anchor for anchor, own in zip(anchors, ties, strict=True) if (own[[*members]] > 0).any())
    return TiedSet(members, anchors, best)


def _of_types(release: Release, analysis: Analysis, nodes: list[int], own: Collection[int]) -> list[int]:
    """Those of the types that are asked for, by the data's types or by their names; all where none is of such a type.

    Of what has no document of its own, parts and notes for the most part, only what is of such a type by the data's types.

    Where the data has things of the types that are asked for, nothing else will do; but what stands where a type does may
    be a material: "which of those are of Favrile glass".
    """
    graph = release[Graph]
    asked = frozenset(analysis.types)
    typed = [node for node in nodes if not asked.isdisjoint(type_nodes(graph, node))]
    if typed or has_things(graph, asked):
        return typed
    nodes = [node for node in nodes if node in own]
    if (named_so := AskedTypes(graph, analysis.reading).of(nodes)) is not None:
        return named_so
    counted = analysis.reading.counts and analysis.reading.heads
    return [] if counted else nodes  # no persons are counted for presses


def _nodes(mention: Mention) -> tuple[int, ...]:
    return tuple(one.entity for one in mention.entities)


def tied_set_text(analysis: Analysis, found: TiedSet, cited: SourceList) -> str:
    """The set as text: what was found, a member a row with its dates where a period was asked for, and what it is worth."""
    kinds = _kinds(found.members, cited)
    named = [*dict.fromkeys(anchor.entities[0].name for anchor in found.anchors)]
    if analysis.period is not None:
        named.append(describe(analysis.period, analysis.reading.language))
    types = f"{', '.join(kinds[:SHOWN_TYPES])}{', …' if len(kinds) > SHOWN_TYPES else ''}"
    what = f"{types} — {'; '.join(named)}" if named else types

    def triples(node: int) -> Iterable[SourceTriple]:
        return [*_ties(cited.release, node, found, cited)] or cited.type_triples(node)

    return _listed(found.members, what, triples, analysis.reading, cited, analysis.period is not None)


def _kinds(nodes: Sequence[int], cited: SourceList) -> list[str]:
    """What the nodes are, each kind once."""
    graph = cited.release[Graph]
    return list(dict.fromkeys(type_label(graph, node, cited.language) for node in nodes))


def _listed(
    nodes: Sequence[int],
    what: str,
    triples: Callable[[int], Iterable[SourceTriple]],
    reading: Reading,
    cited: SourceList,
    dated: bool = False,
    stated: int = 0,
) -> str:
    """``what`` a set is and how many things are in it; the first of these, each a source by its ``triples``, with its dates
    where they are ``dated``; what the list is worth. ``stated``: the number of the source that states it whole."""
    questions = cited.release.method.questions
    words, most = questions.languages[reading.language], questions.extractive.listed_items
    counted = words.counted if stated else words.found
    head = (counted if reading.counts else words.listed).format(count=len(nodes), what=what)
    rows = [f"{head} [{stated}]" if stated else head]
    for node in nodes[:most]:
        n, dates = cited.cite(node, triples(node)), cited.details.dates(node) if dated else None
        when = f" ({dates.text})" if dates and dates.text else ""
        rows.append(f"- {cited.release[Graph].label(node, (reading.language,))}{when} [{n}]")
    if len(nodes) > most:
        rows.append(words.more.format(count=len(nodes) - most))
    return "\n".join([*rows, words.partial])


def _ties(release: Release, node: int, found: TiedSet, cited: SourceList) -> Iterator[SourceTriple]:
    """The triples of those lines of a member's document that lead to what the question names."""
    named = {one for mention in found.anchors for one in _nodes(mention)}
    document = release[Documents].document_of(node)
    if document is None:
        return
    lines = release[Documents].lines(document)
    for line in (*lines, *untold(release, lines)):
        ends = [target for target in line.targets if target in named]
        if ends and line.entity == node and line.kind in TYING:
            yield from cited.line_triples(line, ends)


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
    analysis: Analysis,
    candidates: Sequence[Candidate],
    found: Sequence[Evidence],
    ranked: Sequence[Evidence],
    cited: SourceList,
    excluded: Container[int] = (),
) -> Extracted:
    """The answer from ``ranked``, the lines ``found`` by rank, without the nodes ``excluded``; an honest refusal where
    nothing bears on the question.

    A refusal goes on with what the data does say of something that the question names, if it names anything.
    """
    release, reading = cited.release, analysis.reading
    words = release.method.questions.languages[reading.language]
    linked = {word for mention in relied_on(release, analysis) for word in tokenize(mention.text)}
    meant = linked | analysis.period_words
    unknown = tuple(word for word in unknown_words(found, reading) if word not in meant)
    notes = (words.unknown.format(words=", ".join(unknown)),) if unknown else ()
    if not ranked or len(unknown) == len(set(reading.content) - reading.cueing) > 0:
        return Extracted(words.none, True, notes)
    if _is_silent(release, reading, ranked):
        known = [one for one in ranked if one.mention >= ANCHORED]
        lines = told_lines(reading, known, cited) if known else ""
        return Extracted(f"{words.none}\n{lines}".rstrip(), True, notes)
    text = extract_answer(analysis, candidates, ranked, cited, excluded)
    return Extracted(text, text == words.none, notes)


def _is_silent(release: Release, reading: Reading, ranked: Sequence[Evidence]) -> bool:
    """Whether the verbs of a specific question ("How tall is …?") ask for lines that what it names has none of.

    Told for questions in a language of the data only: in others a cue may be missed.
    """
    if reading.form is not Form.SPECIFIC or reading.expects or not reading.cueing:
        return False
    about = [one for one in ranked if one.mention >= ANCHORED]
    return (
        bool(about)
        and speaks(release, reading.language)
        and not any(one.cued for one in (*about, *ranked[:NEAR]))
    )


def extract_answer(
    analysis: Analysis,
    candidates: Sequence[Candidate],
    ranked: Sequence[Evidence],
    cited: SourceList,
    excluded: Container[int] = (),
) -> str:
    """The text of an extractive answer; every line cites its source through ``cited``.

    A set is told by the line that states it, where the question names one thing and a line about it says what is asked for;
    else it is what retrieval found tied to all that the question names. Where nothing is dated within a period that is asked
    for, what was merely retrieved is no answer.
    """
    release, reading = cited.release, analysis.reading
    words = release.method.questions.languages[reading.language]
    if not ranked:
        return words.none
    if reading.form is Form.SPECIFIC:
        if reading.rule == POLAR:  # only the lines that hold all its words, where there are any
            asked = [word for word in reading.content if word not in reading.cueing]
            ranked = [one for one in ranked if asked and holds_all(one, asked)] or ranked
        return told_lines(reading, ranked, cited)
    types = AskedTypes(release[Graph], reading)
    best = _best_set(release, reading, ranked, types)
    tied = tied_set(release, analysis, candidates, excluded)
    named = 0
    if tied is not None:
        whole = tied.share >= OTHER
        named = len(tied.anchors if whole else individuals(release, analysis)) + (analysis.period is not None)
    if best is not None and (tied is None or (named < 2 and _says_more(release, best, tied, types))):
        return _stated_set(reading, best, cited)
    if tied is not None:
        return tied_set_text(analysis, tied, cited)
    if analysis.period is not None:
        return words.none
    told = (node for one in candidates for node in release[Documents].told_in(one.document))
    facts = Facts(release, reading.language)
    nodes = [node for node in told if node not in excluded and not facts.is_untold(node)]
    heads = {reading.words[at] for at in reading.heads}
    said = [word for word in reading.content if word not in reading.cueing and word not in heads]
    saying = {one.line.entity for one in ranked if holds_all(one, said)}  # objects from *Egypt*
    if (typed := types.of([node for node in nodes if not said or node in saying])) is not None:
        return _listed(typed, ", ".join(_kinds(typed, cited)), cited.type_triples, reading, cited)
    ranked = [one for one in ranked if not said or any(holds_all(one, [word]) for word in said)]
    return told_lines(reading, ranked, cited) if ranked else words.none


def _says_more(release: Release, stated: StatedSet, tied: TiedSet, types: AskedTypes) -> bool:
    """Whether a line states more of what is asked for than retrieval found.

    It does where the question's words ask for its relationship, unless that is one that others specialise ("has met"), or
    where it leads to more of the type that is asked for.
    """
    first = stated.lines[0]
    precise = first.cued and published_label(release, first.line) not in release[ReleaseChannels].vague
    of_type = types.of(list(stated.members))
    if of_type is None:
        return precise and types.of(list(tied.members)) is None
    return precise or len(of_type) >= len(tied.members)


def told_lines(reading: Reading, ranked: Sequence[Evidence], cited: SourceList) -> str:
    """The best lines, one a row, as long as they come near the best; one that adds nothing to those before is left out."""
    release, questions = cited.release, cited.release.method.questions
    config, words = questions.extractive, questions.languages[reading.language]
    rows: list[str] = []
    told: dict[int, set[str]] = {}
    known = release.method.relations
    pointing = {path[0] for id in POINTING if id in known for path in known[id].paths}
    ranked = [one for one in ranked if not _says_little(one, pointing)] or ranked
    for one in ranked[:NEAR]:
        if one.score < config.keep_ratio * ranked[0].score or len(rows) == config.specific_lines:
            break
        said = _said(release, one, reading, words)
        new = set(tokenize(said.partition(": ")[2]))
        before = told.setdefault(one.line.entity, set())
        if rows and new <= before:
            continue
        before |= new
        triples = cited.line_triples(one.line, one.line.targets[:SHOWN])
        n = cited.cite(one.line.entity, triples, snippet=one.text)
        rows.append(f"{one.subject}: {said} [{n}]")
    return "\n".join(rows)


POINTING = ("same_as", "homepage", "web_page", "image")
"""Relations that lead out of the data, of which a line says nothing but where to."""


def _says_little(one: Evidence, pointing: Collection[str]) -> bool:
    """Whether a line but names or identifies its subject or points out of the data, names its class, or an event or text
    called after it, "Production of X" of X, and not what is asked for, its date."""
    if one.line.kind == Line.TYPE:
        return one.line.label == "Class"
    if one.line.key in ("names", "identifiers") or one.line.key in pointing:
        return not one.cued
    names = [fold(name) for name in one.names]
    return (
        bool(names)
        and not one.expected
        and all(fold(one.subject) in name and fold(one.subject) != name for name in names)
    )


def _said(release: Release, one: Evidence, reading: Reading, words: LanguageLexicon) -> str:
    """A line in the question's language where the data has names in it, else as the document has it."""
    if one.line.kind not in RELATIONAL or reading.language == "en":
        return one.text
    rest = one.line.total - SHOWN
    more = f" {words.more.format(count=rest)}" if rest > 0 else ""
    return f"{_label(release, one, reading)}: {', '.join(one.names[:SHOWN])}{more}"


def _label(release: Release, one: Evidence, reading: Reading) -> str:
    return release.method.translations.of(published_label(release, one.line), reading.language)


@dataclass(frozen=True)
class StatedSet:
    """Members of a set and, for each, the line that states it; ``lines`` say the same of one subject or of several."""

    lines: tuple[Evidence, ...]
    members: dict[int, Evidence]


def _best_set(
    release: Release, reading: Reading, ranked: Sequence[Evidence], types: AskedTypes
) -> StatedSet | None:
    """The set that the best line states, of what was asked for, about something that the question names.

    A line that leads to the type that the question names goes before all that do not. Where the question names its subject
    only in part ("the Last Judgment", of which there are several), lines that say the same of others join it.
    """
    config = release.method.questions.extractive
    several = not (reading.counts and reading.heads)  # things of another type are not what is to be counted
    stated, facts = [], Facts(release, reading.language)
    for one in ranked:
        targets = list(one.line.targets) if one.line.kind in RELATIONAL else []
        targets = [node for node in targets if not facts.is_untold(node)]
        of_type = types.of(targets)
        if of_type or (several and len(targets) > 1):
            stated.append((one, of_type or targets, bool(of_type)))
    anchored = [found for found in stated if found[0].mention >= ANCHORED]
    if not anchored:
        return None
    best, nodes, typed = max(anchored, key=lambda found: (found[2], found[0].score))
    if best.score < config.keep_ratio * ranked[0].score:
        return None
    members = dict.fromkeys(nodes, best)
    lines = [best]
    for one, others, also_typed in stated:
        alike = one.line.key == best.line.key and one is not best and typed and also_typed
        if alike and best.mention < 1 and best.mentioned <= one.mentioned:
            lines.append(one)
            members |= {node: one for node in others if node not in members}
    return StatedSet(tuple(lines), members)


def _stated_set(reading: Reading, stated: StatedSet, cited: SourceList) -> str:
    """The members that lines state, or how many they are; each member is a source with the triples that lead to it."""
    first = stated.lines[0]
    subjects = [one.subject for one in stated.lines[:NAMED_SUBJECTS]]
    subjects += ["…"] * (len(stated.lines) > NAMED_SUBJECTS)
    what = f"{'; '.join(dict.fromkeys(subjects))} — {_label(cited.release, first, reading)}"
    leading = cited.line_triples(first.line, list(stated.members)[:1])
    n = cited.cite(first.line.entity, leading, snippet=first.text)

    def triples(node: int) -> Iterable[SourceTriple]:
        return cited.line_triples(stated.members[node].line, [node])

    return _listed(list(stated.members), what, triples, reading, cited, stated=n)


LOOKED_AT = 10  # lines of evidence in which a word that was not understood may stand


def speaks(release: Release, code: str) -> bool:
    """Whether we and the data speak a language: only then does a word that nothing has tell that nothing is recorded."""
    return code in LANGUAGES and release[Lexicon].speaks(code, release.manifest.languages)


def refusal(release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]) -> str:
    """What to say where the data does not tell, in the question's language; "" where it may.

    That needs evidence: a name that the question has is in no document, or something that it names was found, what is asked
    of it is said by words that no reading says, and none of the lines that were found says them; of a list, no document of
    the data. A relation that these words ask for is told by its name.
    """
    if parsed.plan is None or parsed.certain:
        return ""
    words, words_of = release.method.sets.words(analysis.reading.language), release[SparseIndex].terms
    named = (word for name in parsed.unnamed for word in tokenize(name))
    nowhere = speaks(release, analysis.reading.language) and not any(map(words_of, named))
    unnamed = nothing_of(release, parsed, analysis, ranked)
    if unnamed and (analysis.form is Form.SPECIFIC or nowhere):
        return unnamed
    lost = lost_words(release, parsed, analysis, ranked)
    by_relation = bool(parsed.absent) and len(lost) == len(parsed.unknown) == 1  # our own words for it
    foreign = not by_relation and not speaks(release, analysis.reading.language)
    if not lost or foreign or analysis.reading.rule.startswith("yes/no"):
        return ""
    tied_by_words = bool(parsed.plan.where) and not parsed.guessed
    asking = language(analysis.reading.language).roles_within(analysis.reading.words)
    # One word aside, of something named: "What can *visitors* see in room 3?", but "How much did X *cost* to build?"
    told = tied_by_words and not parsed.empty and len(lost) == 1 and AMOUNTS.isdisjoint(asking)
    asked_of_one = analysis.form is Form.SPECIFIC and (parsed.guessed or (parsed.named and not told))
    # Who *went* there may be told by another verb.
    if len(lost) == 1 and _is_first_verb(analysis.reading, lost[0]):
        asked_of_one = False
    # "What did it *cost*", of which no number is recorded, whatever else is; but "which wrecks cost the most *lives*".
    relations, verbs = release.method.relations, vocabulary(analysis.reading.language).relations
    stems = set(map(language(analysis.reading.language).stem, lost))
    amounts = [id for id in parsed.absent[:1] if relations[id].value == "number" and stems & verbs[id].says]
    unmeasured = (
        bool(amounts) and analysis.reading.expects == 0 and parsed.plan.compute.kind in ("list", "count")
    )
    asked, tied = _asked_or_tied(analysis.reading, lost)
    # One word aside, what is said of a list is understood, and told; a number would be another one.
    restricts = bool(parsed.plan.where) and not parsed.empty and parsed.plan.compute.kind != "count"
    strangers = [word for word in tied if not words_of(word)]
    # "How many *visitors*", of which no document has any.
    uncounted = any(not words_of(word) for word in asked)
    strange = parsed.guessed and len(strangers) > restricts
    if analysis.form is not Form.SPECIFIC and restricts:
        strange = False  # what is understood of a list is told, with the words that are not
    # Of something named, what is said by several words that no document has: its "relative humidity"; two are an aside
    # where others say what ties it.
    strange |= bool(parsed.named) and sum(not words_of(word) for word in lost) > 1 + tied_by_words
    absent = unmeasured or bool(parsed.absent and parsed.empty)
    if not asked_of_one and not uncounted and not strange and not absent:
        return ""  # what lines tell of a list is told with the words that are not, and readings are offered beside it
    if by_relation:
        code = analysis.reading.language
        labels = (relations[id].label(code) for id in parsed.absent[:1])
        return words.absent.replace("{what}", quoted(labels, code))
    return words.not_told.replace("{words}", quoted(lost, analysis.reading.language))


def _is_first_verb(reading: Reading, word: str) -> bool:
    """Whether a word stands right behind the "who" that opens a question."""
    phrases = language(reading.language).phrases.at(reading.words, 0)
    return any(
        "questions.who" in roles and reading.words[length] == word
        for length, roles in phrases
        if length < len(reading.words)
    )


AMOUNTS = frozenset({"questions.how_many", "questions.how_much", "questions.how_long"})
"""Roles of the words by which a question asks for an amount."""


def _asked_or_tied(reading: Reading, lost: Collection[str]) -> tuple[list[str], list[str]]:
    """Of some words those that are counted, "how many *visitors*", and those that are asked for or that something is tied to,
    "made of *marble*": the others, verbs and asides, may be missing without changing what is meant."""
    own, words = language(reading.language), list(reading.words)
    ties = frozenset().union(
        *(found for role, found in own.roles.items() if role.startswith("prepositions."))
    )
    counts, opens = own.roles["questions.how_many"], own.roles["questions.what"]
    counted, others = list[str](), list[str]()
    for at, word in enumerate(words):
        before = at - 1
        while before > 0 and words[before] in own.stop - ties - counts - opens:
            before -= 1
        if word not in lost or not at:
            continue
        behind = [" ".join(words[i:at]) for i in range(at)]
        if any(one in counts for one in behind):
            counted.append(word)
        elif words[before] in ties or any(one in opens for one in behind):
            others.append(word)
    return counted, others


def nothing_of(release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]) -> str:
    """That nothing was found of the names that name nothing here; "" where there are none."""
    words = release.method.sets.words(analysis.reading.language)
    stand = {word for one in ranked[:LOOKED_AT] for word in tokenize(one.match)}
    names = (name for name in parsed.unnamed if stand.isdisjoint(tokenize(name)))
    unnamed = quoted(names, analysis.reading.language)
    held = any(map(release[SparseIndex].terms, (word for name in parsed.unnamed for word in tokenize(name))))
    form = words.nowhere if is_denied(parsed, analysis) and not held else words.not_told
    return form.replace("{words}", unnamed) if unnamed else ""


def is_denied(parsed: Parsed, analysis: Analysis) -> bool:
    """Whether a question wants a yes or no, and all that is not understood of it is a name: then the answer is no."""
    asks = parsed.plan is not None and parsed.plan.compute.kind == "ask" and not parsed.unknown
    return asks and analysis.reading.rule.startswith("yes/no")


def lost_words(
    release: Release, parsed: Parsed, analysis: Analysis, ranked: Sequence[Evidence]
) -> tuple[str, ...]:
    """Words that no reading says and that stand in none of the best lines; none where we have no words of the question's
    language, or where it asks to be told about something."""
    reading = analysis.reading
    if reading.language not in LANGUAGES or reading.rule.startswith("tell"):
        return ()
    said = {word for one in ranked[:LOOKED_AT] for word in tokenize(one.match)}
    asides = language(reading.language).roles["verbs.asides"]
    return tuple(
        word
        for word in parsed.unknown
        if len(word) > 2
        and word not in asides
        and not any(word == one or same_stem(one, word) for one in said)
    )
