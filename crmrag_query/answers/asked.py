"""What an answer is asked to tell: the analysis of a question with what a follow-up leaves out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from crmrag_query.config.query import Conversation
from crmrag_query.linking.records import Mention
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.followup import ConversationState, FollowUp, Kind
from crmrag_query.questions.form import Reading
from crmrag_query.questions.references import ref_words
from crmrag_query.retrieval.tokenizer import tokenize

Read = Callable[[str], Analysis]


def asked_for(
    own: Analysis,
    told: FollowUp,
    state: ConversationState,
    config: Conversation,
    read: Read,
    focus: Mention | None = None,
) -> Analysis:
    """``own``, the analysis of the question by itself, with what a follow-up stands for.

    A follow-up that asks for something itself ("where was he born?") gets the names of what it refers to (``focus``); one
    that does not ("any more?"), or refers to nothing, what its topic last asked, as ``read`` analyses that, without the names
    there when it names something else ("and in Nikitari?"). Words that only ask for more are nothing that sources hold.
    """
    asked = replace(own, reading=without_more(own.reading, config))
    if told.contextual is None:
        return asked
    names = tuple(word for one in told.focus for word in tokenize(one.label))
    before = last_asked(state, config, read)
    if before is not None and not (names and _asks(asked.reading, content=True)):
        asked = completed(asked, before, aside=bool(names or named_words(asked)))
    reading = asked.reading
    added = (word for word in names if word not in reading.stop)
    content = tuple(dict.fromkeys((*reading.content, *added)))
    mentions = asked.mentions if focus is None else (focus, *asked.mentions)
    return replace(
        asked, reading=replace(reading, words=(*reading.words, *names), content=content), mentions=mentions
    )


def last_asked(state: ConversationState, config: Conversation, read: Read) -> Analysis | None:
    """What the topic last asked, each question completed by those before it until something is asked for; None for nothing.

    Requests for more, and follow-ups without content, ask for what was asked before them.
    """
    found: Analysis | None = None
    for turn in reversed(state.topic):
        if turn.kind in (Kind.MORE, Kind.VAGUE):
            continue
        one = read(turn.resolved)
        one = replace(one, reading=without_more(one.reading, config))
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
    out = named_words(before) if aside else frozenset()
    return replace(
        own,
        reading=_joined(own.reading, _without(before.reading, out)),
        targets=own.targets or before.targets,
        contexts=own.contexts or before.contexts,
        mentions=(*own.mentions, *rest),
        period=own.period or before.period,
        period_words=own.period_words | before.period_words,
        types=own.types or before.types,
    )


def named_words(analysis: Analysis) -> frozenset[int]:
    """Positions of the words that name individuals, no types."""
    return frozenset(
        position
        for mention in analysis.mentions
        if mention.entities[0].entity not in analysis.types
        for position in range(mention.first, mention.last)
    )


def without_more(reading: Reading, config: Conversation) -> Reading:
    """The reading without words such as "what else", "any others" and pronouns among those of content and those asked for."""
    words, forms = reading.words, ref_words(config, reading.language)
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


def _without(reading: Reading, out: Collection[int]) -> Reading:
    """The reading without the words at these positions, but those that are asked for."""
    kept = [i for i in range(len(reading.words)) if i not in out or i in reading.heads]
    words = tuple(reading.words[i] for i in kept)
    heads = tuple(kept.index(i) for i in reading.heads)
    content = tuple(word for word in reading.content if word in words)
    return replace(reading, words=words, content=content, heads=heads)


def _joined(own: Reading, before: Reading) -> Reading:
    asks = _asks(own)
    asked = own if asks else before
    shift = 0 if asks else len(own.words)
    return replace(
        own,
        form=asked.form,
        counts=asked.counts,
        rule=asked.rule,
        expects=asked.expects,
        heads=tuple(position + shift for position in asked.heads),
        words=(*own.words, *before.words),
        content=tuple(dict.fromkeys((*own.content, *before.content))),
        cues=own.cues or before.cues,
        cueing=own.cueing | before.cueing,
    )
