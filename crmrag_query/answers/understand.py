"""A question read within its conversation: what it names, what it asks for, what is searched for, and what is left out: taken
out of the lines and the context that an answer is made from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from unicodedata import category

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Mode
from crmrag_query.context.context import Context, ContextLine, ContextSource, Finding, measured
from crmrag_query.context.context import Kind as LineKind
from crmrag_query.context.evidence import ANCHORED, Evidence, written
from crmrag_query.documents.documents import RELATIONAL
from crmrag_query.entities.details import type_nodes
from crmrag_query.errors import ModelUnreachable, QuestionError
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.language import language
from crmrag_query.linking import LinkedEntity, Mention, plain_words
from crmrag_query.llm.model import Model
from crmrag_query.notes import Note, NoteKind
from crmrag_query.ontology.load import Category
from crmrag_query.plans.records import Plan
from crmrag_query.plans.within import Scope, according
from crmrag_query.questions.followup import ConversationState, FollowUp, Kind, follow
from crmrag_query.questions.form import Analysis, Form, Reading, read_question
from crmrag_query.questions.lexicon import chunks_of, ref_words
from crmrag_query.questions.model import analyse_with_model, rewrite_with_model
from crmrag_query.reading.items import WHOLE, analysis_of, named
from crmrag_query.reading.lexicon import Lexicon, PhraseSpan
from crmrag_query.retrieval.channels import channel_of, default_mode, has_channel
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels, telling
from crmrag_query.text import as_data, plain, same_stem, tokenize
from crmrag_query.timing import Clock

Read = Callable[[str], Analysis]


def asked_for(
    own: Analysis,
    follow_up: FollowUp,
    state: ConversationState,
    read: Read,
    focus: Mention | None = None,
) -> Analysis:
    """``own``, the analysis of the question by itself, with what a follow-up stands for.

    A follow-up that asks for something itself ("where was he born?") gets the names of what it refers to (``focus``); one
    that does not ("any more?"), or refers to nothing, what its topic last asked, as ``read`` analyses that, without the names
    there when it names something else ("and in Nikitari?"). Words that only ask for more are nothing that sources hold.
    """
    asked = replace(own, reading=without_more(own.reading))
    if follow_up.contextual is None:
        return asked
    names = tuple(word for one in follow_up.focus for word in tokenize(one.label))
    before = _last_asked(state, read)
    if before is not None and not (names and _asks(asked.reading, content=True)):
        asked = completed(asked, before, aside=bool(names or named_words(asked)))
    reading = asked.reading
    added = (word for word in names if word not in reading.stop)
    content = tuple(dict.fromkeys((*reading.content, *added)))
    mentions = asked.mentions if focus is None else (focus, *asked.mentions)
    return replace(
        asked, reading=replace(reading, words=(*reading.words, *names), content=content), mentions=mentions
    )


def _last_asked(state: ConversationState, read: Read) -> Analysis | None:
    """What the topic last asked, each question completed by those before it until something is asked for; None for nothing.

    Requests for more, and follow-ups without content, ask for what was asked before them.
    """
    found: Analysis | None = None
    for turn in reversed(state.topic):
        if turn.kind in (Kind.MORE, Kind.VAGUE):
            continue
        one = read(turn.resolved)
        one = replace(one, reading=without_more(one.reading))
        found = one if found is None else completed(found, one, aside=bool(named_words(found)))
        if _asks(found.reading):
            break
    return found


def completed(own: Analysis, before: Analysis, aside: bool) -> Analysis:
    """``own`` with the words, entities, categories and period of ``before``; what it does not ask for itself is asked for as
    before. ``aside``: without the individuals that ``before`` names.
    """
    known = {one.entity for mention in own.mentions for one in mention.entities}
    rest = (
        replace(mention, first=0, last=0)  # its positions are those of other words
        for mention in before.mentions
        if known.isdisjoint(one.entity for one in mention.entities)
        and (not aside or mention.entities[0].entity in before.types)
    )
    return replace(
        own,
        reading=_joined(own.reading, before.reading, named_words(before) if aside else frozenset()),
        targets=own.targets or before.targets,
        contexts=own.contexts or before.contexts,
        mentions=(*own.mentions, *rest),
        period=own.period or before.period,
        period_words=own.period_words | before.period_words,
        types=own.types or before.types,
    )


def named_words(analysis: Analysis) -> frozenset[int]:
    """Positions of the words that name individuals, no types."""
    named = (one for one in analysis.mentions if one.entities[0].entity not in analysis.types)
    return frozenset(places(named))


def places(spans: Iterable[Mention] | Iterable[PhraseSpan]) -> set[int]:
    """Positions of the words of names or phrases."""
    return {at for one in spans for at in range(one.first, one.last)}


def without_more(reading: Reading) -> Reading:
    """The reading without words such as "what else", "any others" and pronouns among those of content and those asked for."""
    words, forms = reading.words, ref_words(reading.language)
    out = {
        i
        for at in range(len(words))
        for phrases in (forms.more, forms.pronouns)
        for i in range(at, at + phrases.at(words, at))
    }
    kept = {word for i, word in enumerate(words) if i not in out}
    return replace(
        reading,
        content=tuple(word for word in reading.content if word in kept),
        heads=tuple(i for i in reading.heads if i not in out),
    )


def _asks(reading: Reading, content: bool = False) -> bool:
    """Whether words ask for something: a kind of thing, a relationship, with ``content`` any word that says something."""
    return bool(reading.expects or reading.cues or reading.heads or (content and reading.content))


def _joined(own: Reading, before: Reading, out: Collection[int]) -> Reading:
    """``own`` with the words of ``before`` but those at the positions ``out`` (what is asked for stays)."""
    kept = [i for i in range(len(before.words)) if i not in out or i in before.heads]
    words = tuple(before.words[i] for i in kept)
    content = (word for word in before.content if word in words)
    asks = _asks(own)
    asked = own if asks else before
    heads = own.heads if asks else tuple(kept.index(i) + len(own.words) for i in before.heads)
    return replace(
        own,
        form=asked.form,
        counts=asked.counts,
        rule=asked.rule,
        expects=asked.expects,
        heads=heads,
        words=(*own.words, *words),
        content=tuple(dict.fromkeys((*own.content, *content))),
        cues=own.cues or before.cues,
        cueing=own.cueing | before.cueing,
    )


@dataclass
class AskedTypes:
    """Which of some nodes are of the type that a question names; each node, class and type is looked at once.

    A type is named by its head, the last word of its name ("monastery church"); only where that finds nothing, by any
    word of it ("mural painting"), but where things are counted: "plants" are no plant hunters. The cost is bounded by the
    distinct types, not by the nodes.
    """

    graph: Graph
    reading: Reading
    _known: dict[bool, dict[int, bool]] = field(default_factory=lambda: {False: {}, True: {}})
    _types: dict[tuple[int, bool], bool] = field(default_factory=dict)
    _classes: dict[tuple[int, bool], bool] = field(default_factory=dict)

    def of(self, nodes: Sequence[int]) -> list[int] | None:
        """Those whose class or type (P2) the question names, in order; None when it names none of them."""
        for whole, known in self._known.items():
            if whole and self.reading.counts:
                continue
            if new := [node for node in nodes if node not in known]:
                known.update(
                    zip(new, self._are_asked(np.asarray(new, np.int32), whole).tolist(), strict=True)
                )
            if chosen := [node for node in nodes if known[node]]:
                return chosen
        return None

    def _are_asked(self, nodes: Ints, whole: bool) -> npt.NDArray[np.bool_]:
        chosen = np.fromiter((self._of_class(node, whole) for node in nodes.tolist()), bool, len(nodes))
        for prop in self.graph.adjacency.by_code.get("P2", ()):
            origin, types = self.graph.adjacency.forward.expand(prop, nodes)
            named = [self._is_asked(one, whole) for one in types.tolist()]
            chosen[origin[np.array(named, bool)]] = True
        return chosen

    def _is_asked(self, type_node: int, whole: bool) -> bool:
        if (type_node, whole) not in self._types:
            labels = (label.text for label in self.graph.labels(type_node))
            self._types[type_node, whole] = any(_names(label, self.reading, whole) for label in labels)
        return self._types[type_node, whole]

    def _of_class(self, node: int, whole: bool) -> bool:
        numbers = [int(number) for number in self.graph.types(node)]
        for number in numbers:
            if (number, whole) not in self._classes:
                self._classes[number, whole] = _names(self.graph.class_label(number), self.reading, whole)
        return any(self._classes[number, whole] for number in numbers)


def _names(label: str, reading: Reading, whole: bool) -> bool:
    """Whether what is asked for (its nouns, else all content words) is a form of the label's head, or of any word of it."""
    words = tokenize(label)
    asked = tuple(reading.words[i] for i in reading.heads) or reading.content
    return any(same_stem(word, one) for word in (words if whole else words[-1:]) for one in asked)


@dataclass(frozen=True)
class Exclusion:
    """The excluded ``nodes``, and whatever has one of the ``types``; ``node in exclusion`` asks for one."""

    release: Release
    nodes: frozenset[int] = frozenset()
    types: frozenset[int] = frozenset()
    _known: dict[int, bool] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.types)

    def __contains__(self, node: object) -> bool:
        if not isinstance(node, int):
            return False
        if node in self.nodes or not self.types:
            return node in self.nodes
        if node not in self._known:
            self._known[node] = not self.types.isdisjoint(type_nodes(self.release[Graph], node))
        return self._known[node]

    def of_lines(self, found: Sequence[Evidence], reading: Reading) -> tuple[list[Evidence], bool]:
        """The lines without what is excluded, and whether nothing is left of a set that was asked for.

        Such a set is stated by a line about something that the question names: when all its members of the type that is
        asked for are excluded, its other targets are no answer either, and the line is left out.
        """
        if not self:
            return list(found), False
        types = AskedTypes(self.release[Graph], reading)
        kept: list[Evidence] = []
        others_left = exhausted = False
        for one in found:
            left = self._of_line(one, reading)
            anchored = bool(reading.heads) and one.mention >= ANCHORED and one.line.kind in RELATIONAL
            typed = types.of(list(one.line.targets)) if anchored else None
            if left is not one and typed and all(node in self for node in typed):
                exhausted = True
                continue
            others_left = others_left or bool(typed)
            if left is not None:
                kept.append(left)
        return kept, exhausted and not others_left

    def _of_line(self, one: Evidence, reading: Reading) -> Evidence | None:
        """The line without what is excluded; None where nothing of it is left."""
        line = one.line
        targets = tuple(node for node in line.targets if node not in self)
        gone = len(line.targets) - len(targets)
        if line.entity in self:
            return None
        if not gone:
            return one
        if not targets or line.kind not in RELATIONAL:
            return None
        shown = targets[: len(one.names)]
        names = tuple(self.release[Graph].label(node, (reading.language,)) for node in shown)
        kept = replace(line, targets=targets, total=line.total - gone)
        return replace(one, line=kept, names=names, text=written(kept, names))

    def of_context(self, context: Context) -> Context:
        """The context without what is excluded; its counts are over the whole data set and stay."""
        if not self:
            return context
        sources = tuple(
            replace(
                source,
                lines=tuple(self._of_context_lines(source.lines)),
                entities=tuple(node for node in source.entities if node not in self),
            )
            for source in context.sources
            if source.entity not in self and not any(node in self for node in _rests_on(source))
        )
        wikidata = tuple(line for line in context.wikidata if line.entities[0] not in self)
        return measured(replace(context, sources=sources, wikidata=wikidata))

    def _of_context_lines(self, lines: Sequence[ContextLine]) -> Iterator[ContextLine]:
        for line in lines:
            if line.entities and line.entities[0] in self:
                continue
            shown = tuple(node for node in line.shown if node not in self)
            if line.kind is LineKind.HEADER or len(shown) == len(line.shown):
                yield line
            elif shown and line.line is not None and line.line.kind in RELATIONAL:
                total = line.line.total - (len(line.shown) - len(shown))
                names = [plain(self.release[Graph].label(node)) for node in shown]
                text = written(replace(line.line, total=total), names)
                # the budget was paid for the line as it was
                if len(as_data(text)) <= len(as_data(line.text)):
                    yield replace(line, text=text, entities=(line.entities[0], *shown))


FIRST = ConversationState()
BY_WORDS = "Documents were found without the question's meaning, by its words alone."
MODEL_STAGES = frozenset({"rewriting", "model analysis"})
"""Stages that are a language model's time."""
ZERO_WIDTH_SPACE = "\u200b"


def _rests_on(source: ContextSource) -> tuple[int, ...]:
    """The entities without which a source would not be: of a finding all that it tells of."""
    return source.about.entities if isinstance(source.about, Finding) else ()


@dataclass(frozen=True)
class Understood:
    """A question as analysed within its conversation.

    ``analysis``: with what went before, from which it is answered; ``own``: by its words alone; ``queries``: what is searched
    for, one or two (with what went before, then by itself), whose rankings are interleaved; ``excluded``: what must not come
    back; ``alone``: whether ``own`` is the whole question as it was asked; ``notes``: what the reader
    should know; ``timings``: milliseconds by stage; ``unmet``: whether nothing in the data has to do with it; ``scope``: the
    part of the data that it is asked of, None for all; ``given``: the question as it was asked, of which ``question`` leaves
    out where its answer is to be from.
    """

    question: str
    analysis: Analysis
    own: Analysis
    queries: tuple[Query, ...]
    follow_up: FollowUp
    excluded: Exclusion
    alone: bool = False
    notes: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    unmet: bool = False
    scope: Scope | None = None
    given: str = ""


def checked(question: str, limit: int) -> str:
    """The question on one line, without signs that are not seen (controls, marks of direction, halves of surrogate pairs).

    Raises QuestionError when it is empty, says nothing, or is longer than ``limit`` characters.
    """
    if len(question) > limit:
        raise QuestionError(f"The question has {len(question)} characters.", f"Ask in at most {limit}.")
    shown = (
        # What joins or directs what is around it goes; any other sign that is not seen is a space.
        sign if sign.isprintable() else "" if category(sign) == "Cf" and sign != ZERO_WIDTH_SPACE else " "
        for sign in question
    )
    question = " ".join("".join(shown).split())
    if not any(character.isalnum() for character in question):
        what = f"The question has no words: {question[:40]!r}." if question else "The question is empty."
        raise QuestionError(what, "Ask in words, such as: which churches are in Cyprus?")
    return question


def understand(
    release: Release,
    question: str,
    state: ConversationState = FIRST,
    model: Model | None = None,
    mode: Mode | None = None,
    within: Plan | None = None,
) -> Understood:
    """Read ``question`` after ``state``; with a model, by one structured call and, in a conversation, its rewriting.

    Without a model, or when it fails (told in ``notes``), by words; so is a question that nothing in the data meets
    (``is_unmet``, in ``mode``, None for the default). ``within``: the plan whose members alone it is asked of. Raises
    QuestionError; see ``checked``.
    """
    method, clock, notes = release.method, Clock(), []
    given = checked(question, method.retrieval.question_characters)
    said = according(release, given)
    asked = question = given if said is None else said.question
    if said is not None:
        within = said.plan if within is None else Scope.of(release, within).restrict(said.plan)
    scope = None
    if within is not None:
        with clock("within"):
            scope = Scope.of(release, within)
    with clock("meeting"):
        nothing = scope is not None and not scope.members
        unmet = nothing or is_unmet(release, question, state, mode or default_mode(release))
    model = None if unmet else model
    if model is not None and state.turns:
        with clock("rewriting"):
            rewritten = rewrite_with_model(model, question, state, method.prompts, method.conversation)
        asked = rewritten or question
    with clock("linking"):
        mentions = named(release, asked)
    with clock("analysis"):
        follow_up = _followed(release, asked, state, mentions)
        analysis = analysis_of(release, follow_up.raw, follow_up.mentions)
        focus = tuple(
            LinkedEntity(node, 1.0, one.label, "label")
            for one in follow_up.focus
            if (node := release[Graph].node(one.iri)) is not None
        )
        # What is in focus is one mention: any of it may be meant by "those".
        meant = Mention(0, 0, ", ".join(one.name for one in focus), focus) if focus else None
        whole = asked_for(analysis, follow_up, state, lambda text: analysis_of(release, text), meant)
    if model is not None:
        with clock("model analysis"):
            whole, note = analyse_with_model(
                model, follow_up.contextual or follow_up.raw, whole, method.prompts
            )
        notes += [note] if note else []
    with clock("encoding"):
        texts = [follow_up.contextual] if follow_up.contextual else []
        if follow_up.kind is not Kind.VAGUE or not texts:
            texts.append(follow_up.raw)
        read = {follow_up.contextual: whole, follow_up.raw: analysis if follow_up.contextual else whole}
        try:
            vectors = [release[QueryEncoder].of_question(text) for text in texts]
        except ModelUnreachable as error:  # what needs no vector still answers
            vectors = [np.zeros(release[QueryEncoder].settings.dimension, np.float32) for _ in texts]
            notes.append(Note(f"{error} {BY_WORDS}", "meaning"))
        inside = None if scope is None else scope.documents
        queries = tuple(
            Query.of(read[text], vector, relied_on(release, read[text]), text, inside)
            for text, vector in zip(texts, vectors, strict=True)
        )
    withheld = release[QueryEncoder].withheld
    notes += [Note(withheld, "meaning", passing=False)] if withheld else []
    if said is not None:
        words = method.sets.words(analysis.reading.language)
        labels = ", ".join(said.titles) or words.read
        kind: NoteKind = "left_out" if said.left_out else "only"
        notes.append(
            Note(f"{words.left_out if said.left_out else words.only}: {labels}.", kind, labels=labels)
        )
    nodes = (release[Graph].node(iri) for iri in follow_up.excluded)
    excluded = Exclusion(
        release, frozenset(node for node in nodes if node is not None), frozenset(follow_up.excluded_types)
    )
    alone = follow_up.raw == question and follow_up.mentions == mentions
    return Understood(
        question,
        whole,
        analysis,
        queries,
        follow_up,
        excluded,
        alone,
        tuple(notes),
        clock.spent,
        unmet,
        scope,
        given,
    )


def _followed(
    release: Release, question: str, state: ConversationState, mentions: Sequence[Mention]
) -> FollowUp:
    """What a question that names ``mentions`` means after ``state``."""
    graph, categories = release[Graph], release[Graph].adjacency.categories
    return follow(
        question, state, mentions, release.method.questions,
        graph.iri, lambda node: int(categories[node]), release.manifest.languages,
    )  # fmt: skip


def is_unmet(release: Release, question: str, state: ConversationState, mode: Mode) -> bool:
    """Whether nothing in the data has to do with a question by itself: no channel of the default mode, or of its own, finds
    its words that say something, what it names or asks for or, at last, a document nearer to it than any is to nonsense.

    A question without such words ("and then?"), or one that goes on with what went before, is none of these. What costs most
    is looked at last: nearly all questions are met by their words.
    """
    reading = read_question(question, release.method.questions, release.manifest.languages)
    if not reading.content:
        return False
    channels = release[ReleaseChannels]
    names = dict.fromkeys((*default_mode(release).channels, *mode.channels))
    searched = [channel_of(name) for name in names if has_channel(release, name)]

    def meets(query: Query) -> bool:
        return any(channel.is_met(channels, query) for channel in searched)

    nowhere = np.zeros(0, np.float32)
    words = " ".join(reading.content)
    if meets(Query(words, nowhere)):
        return False
    own = analysis_of(release, question)
    if state.turns and _followed(release, question, state, own.mentions).kind is not Kind.STANDALONE:
        return False
    if meets(Query.of(own, nowhere, relied_on(release, own), words)):
        return False
    try:
        vector = release[QueryEncoder].of_question(question)
    except ModelUnreachable:
        return False
    return not meets(Query(words, vector))


def relied_on(release: Release, analysis: Analysis) -> tuple[Mention, ...]:
    """The mentions of an analysed question that can be relied on (see ``retrieval.pipeline.telling``).

    Not a type that only says what something else that is named is: "the *church* of Panagia Phorbiotissa".
    """
    method, asked = release.method, frozenset(analysis.types)
    mentions = telling(analysis, plain_words(method.questions))
    concepts = [m for m in mentions if _is_concept(release, m)]
    heads = {
        tokenize(label.text)[-1:][0]
        for mention in mentions
        if mention not in concepts
        for kind in type_nodes(release[Graph], mention.entities[0].entity)
        for label in release[Graph].labels(kind)
        if tokenize(label.text)
    }
    return tuple(
        mention
        for mention in mentions
        if mention not in concepts
        or not asked.isdisjoint(_nodes(mention))
        or not any(same_stem(head, word) for head in heads for word in tokenize(mention.text)[-1:])
    )


def individuals(release: Release, analysis: Analysis) -> tuple[Mention, ...]:
    """Those of the mentions that can be relied on that name individuals: no types, no words for kinds of things, and not the
    noun that is asked for."""
    return tuple(
        mention
        for mention in relied_on(release, analysis)
        if not _is_concept(release, mention)
        and not is_asked_for(analysis.reading, mention)
        and not is_kind_word(release, analysis.reading, mention)
    )


def is_kind_word(release: Release, reading: Reading, mention: Mention) -> bool:
    """Whether a mention is but a word for a kind of things that is a part of names as well: of "where were the *coins* found"
    no book on coins; written as names are, it may be one: "Potter"."""
    own, words = language(reading.language), tokenize(mention.text)
    if len(words) != 1 or mention.entities[0].how in WHOLE:
        return False
    written = (one for one in chunks_of(reading.question) if one.capital and not one.opens)
    if own.capitals_name and any(words[0] in tokenize(one.text) for one in written):
        return False
    return bool(release[Lexicon].kinds(own.code).at([*map(own.stem, words)], words, 0))


def is_asked_for(reading: Reading, mention: Mention) -> bool:
    """Whether a mention is but the noun that is asked for: of "which *films*" not a company with films in its name."""
    asked = {reading.words[at] for at in reading.heads} if reading.form is not Form.SPECIFIC else set()
    return asked.issuperset(tokenize(mention.text))


def _is_concept(release: Release, mention: Mention) -> bool:
    categories = release[Graph].adjacency.categories
    return all(int(categories[node]) == Category.Concept for node in _nodes(mention))


def _nodes(mention: Mention) -> tuple[int, ...]:
    return tuple(one.entity for one in mention.entities)
