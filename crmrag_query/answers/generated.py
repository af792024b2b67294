"""An answer written by a language model from numbered sources; data and instructions are kept apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from crmrag_query.answers.numbering import Renumberer
from crmrag_query.answers.sentences import cited_numbers, without_citations
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.support import Ground, Support, check_support, told_words
from crmrag_query.answers.trace import trace
from crmrag_query.artifacts.release import Release
from crmrag_query.context.records import Context, ContextLine, ContextSource, Kind
from crmrag_query.context.text import as_data
from crmrag_query.errors import ModelError
from crmrag_query.llm.faults import within
from crmrag_query.llm.model import CUT, Message, Model
from crmrag_query.questions.form import Reading
from crmrag_query.sets.records import AnswerSet


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text as it streams; its citations have their final numbers."""

    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """The end of a streamed answer: its whole text, what its check found, and what the reader should know.

    The text is that of the tokens together.
    """

    text: str
    support: Support
    notes: tuple[str, ...] = ()


def messages_for(
    release: Release,
    reading: Reading,
    context: Context,
    history: Sequence[str],
    known: AnswerSet | None = None,
) -> list[Message]:
    """The prompt: instructions apart from the data, then the data, then the question after the earlier ones.

    ``known``: the exact set that answers the question, told before the sources.
    """
    turns, prompts = release.method.context.history_turns, release.method.prompts
    earlier = [f"Earlier question: {turn}" for turn in (history[-turns:] if turns else ())]
    exactly = f"<set>\n{as_data(known.text)}\n</set>\n" if known is not None else ""
    asked = "\n".join([*earlier, f"Question: {reading.question}"])
    return [
        {"role": "system", "content": f"{prompts.answer}{getattr(prompts, reading.form.value)}"},
        {"role": "user", "content": f"{exactly}{context.render()}\n\n{asked}"},
    ]


def stream_answer(
    model: Model,
    release: Release,
    reading: Reading,
    context: Context,
    history: Sequence[str],
    cited: SourceList,
    known: AnswerSet | None = None,
) -> Iterator[Token | Written]:
    """The model's answer as it comes, then its end, which tells what is not supported.

    Citations are renumbered in order of appearance and collected in ``cited`` with the triples of those lines that come
    nearest to what was said; citations of no source are dropped. Raises ModelError when the model fails, says nothing, or
    takes longer than ``answers`` allows: what came until then is no answer.
    """
    config = release.method.answers
    numbered: dict[int, ContextSource] = {}

    def number(given: int) -> int | None:
        source = context.source(given)
        if source is None:
            return None
        n = cited.cite(source.entity)
        numbered[n] = source
        return n

    renumberer, said = Renumberer(number), ""
    pieces = model.complete(messages_for(release, reading, context, history, known))
    for piece in within(pieces, model.name, config.first_seconds, config.whole_seconds):
        for text in renumberer.feed(_writable(piece)):
            said += text
            yield Token(text)
        if len(said) > config.whole_characters:
            raise ModelError(
                f"The model {model.name} went on beyond {config.whole_characters} characters.", _AGAIN
            )
    for text in renumberer.end():
        said += text
        yield Token(text)
    if not said.strip(CUT + " "):
        raise ModelError(f"The model {model.name} gave an empty answer.", _AGAIN)
    yield _written(release, reading, context, said, numbered, cited, renumberer.dropped)


def _writable(piece: str) -> str:
    """The piece with a question mark for each half of a surrogate pair, which JSON can hold and no encoding writes."""
    return piece.encode("utf-8", "replace").decode("utf-8")


_AGAIN = "Ask again, or choose another model."


def _written(
    release: Release,
    reading: Reading,
    context: Context,
    said: str,
    numbered: Mapping[int, ContextSource],
    cited: SourceList,
    dropped: int,
) -> Written:
    config = release.method.answers
    lines = {n: source_lines(release, context, source) for n, source in numbered.items()}
    support = check_support(said, lines, reading, config, dropped, [line.text for line in context.counts])
    for n, source in numbered.items():
        sentences = [
            said[citation.start : citation.end] for citation in support.citations if n in citation.numbers
        ]
        best = nearest(source.lines, " ".join(sentences), reading, release)
        triples = [triple for line in best for triple in trace(release, line, cited)]
        own = (line for line in best if line.kind is not Kind.HEADER)
        snippet = next((line.text for line in own), best[0].text if best else "")
        cited.cite(source.entity, triples, entities=source.entities, snippet=snippet)
    return Written(said, support, tuple(_notes(said, support, dropped, config.warn_below)))


def source_lines(release: Release, context: Context, source: ContextSource) -> list[str]:
    """What a source of the context says, for the check: its names, its lines, and Wikidata's of it."""
    names = [label.text for label in release.graph.labels(source.entity)]
    told = [line.text for line in (*source.lines, *context.wikidata) if line.n == source.n]
    return [*names, *told]


def nearest(lines: Sequence[ContextLine], said: str, reading: Reading, release: Release) -> list[ContextLine]:
    """The lines that share most words with what was said, at most ``evidence_lines``; the first where none does."""
    words = told_words(without_citations(said), reading, release.method.answers)
    shared = {at: sum(map(Ground([line.text]).has_word, words)) for at, line in enumerate(lines)}
    best = sorted((at for at in shared if shared[at]), key=lambda at: (-shared[at], at)) or list(shared)[:1]
    return [lines[at] for at in best[: release.method.answers.evidence_lines]]


def _notes(said: str, support: Support, dropped: int, warn_below: float) -> Iterator[str]:
    if said.endswith(CUT):
        yield "The model's answer was cut at its length limit."
    if dropped:
        yield f"{dropped} citation{'s' if dropped > 1 else ''} of the model led to no source and were left out."
    if not cited_numbers(said) and not support.refused:
        yield "The model cited none of its sources."
    if support.unsupported:
        yield f"Not supported by what they cite: {len(support.unsupported)} of the answer's sentences."
    if support.quality.score < warn_below:
        yield f"The quality of this answer is low ({support.quality.score:.2f}, of 1)."
