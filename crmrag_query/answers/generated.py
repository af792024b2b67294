"""An answer written by a language model from numbered sources; data and instructions are kept apart."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from crmrag_query.answers.records import WARN_BELOW, Citation, Restart, Token
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.support import (
    SET,
    Ground,
    Renumberer,
    SetLines,
    Support,
    Written,
    check_support,
    listed_in,
    numbers_in,
    split_sentences,
    told_words,
    without_citations,
)
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import ContextConfig, Method
from crmrag_query.context.context import Context, ContextLine, ContextSource, Finding, Kind, KnownSet
from crmrag_query.errors import ModelError
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import CUT, Message, Model, bare, within
from crmrag_query.notes import Note
from crmrag_query.questions.form import Reading
from crmrag_query.sets.describe import misstated
from crmrag_query.sets.records import AnswerSet
from crmrag_query.text import fold, plain, tokens

WHOLE_CHARACTERS = 20_000  # of an answer: a model that goes on and on is cut off
EVIDENCE_LINES = 3  # lines of a cited source whose triples are its evidence, those nearest to what was said
_AGAIN = "Ask again, or choose another model."


def messages_for(
    release: Release, reading: Reading, context: Context, history: Sequence[str]
) -> list[Message]:
    """The prompt: instructions apart from the data, then the data, then the question after the earlier ones."""
    turns, prompts = release.method.context.history_turns, release.method.prompts
    earlier = [f"Earlier question: {turn}" for turn in (history[-turns:] if turns else ())]
    asked = "\n".join([*earlier, f"Question: {reading.question}"])
    return [
        {"role": "system", "content": f"{prompts.answer}{getattr(prompts, reading.form.value)}"},
        {"role": "user", "content": f"{context.render()}\n\n{asked}"},
    ]


# tokens of a window that are left to the answer, and to the question with earlier ones
REPLY, ASKED = 1_500, 1_000
LEAST = 500  # tokens of a context, however small the window


def fitted(config: ContextConfig, model: Model, prompt: str) -> ContextConfig:
    """The bounds of a context within the window of the model, where that is known, beside the instructions in ``prompt``."""
    window: int | None = getattr(bare(model), "window", None)
    if not window:
        return config
    room = max(LEAST, window - tokens(prompt) - ASKED - REPLY)
    return config.model_copy(update={"tokens": min(config.tokens, room)})


def most_documents(config: ContextConfig, model: Model) -> int | None:
    """How many documents a model is given at most; None for as many as were found."""
    if not config.capped:
        return None
    name, table = model.name.rpartition("/")[2], config.documents_per_model
    known = [one for one in table if name.startswith(one)]
    return table[max(known, key=len)] if known else table.get("default")


def lines_of_set(known: KnownSet, made: AnswerSet) -> SetLines:
    """What may be said of the set that a context tells."""
    sizes = {made.size, made.total, made.identity.entities, made.identity.distinct or 0}
    left_out = [one.label for excluded in made.excluded for one in excluded.members]
    # The name of a line is what stands before the first of the joints that it is written with.
    each = [(re.split(r" — | – |: ", line.text, maxsplit=1)[0], line.text) for line in known.lines]
    names = [name for name, _ in each]
    # The sentence that names the first members says nothing of all: each has a line of its own.
    own = (made.text[one.first : one.last] for one in split_sentences(made.text))
    own = (one for one in own if made.title in one or not any(name in one for name in names))
    told = [line.text for line in known.head if line.text != plain(made.text)]
    whole = [made.title, *own, *told, *left_out, " ".join(map(str, sorted(sizes)))]
    return SetLines(whole, each, made.size)


def counts_of(context: Context) -> SetLines | None:
    """What may be said of the whole data set: of each count that a sentence names its number."""
    heads, each = list[str](), list[tuple[str, str]]()
    for line in context.counts:
        head, _, items = line.text.partition(": ")
        heads.append(head)
        each += [(re.split(r" (?=\d)", item)[0], item) for item in items.split("; ")]
    return SetLines(heads, each) if heads else None


def corrected(said: str, known: AnswerSet, method: Method, told: Sequence[str]) -> str:
    """A text without the sentences that claim another size of a set than its own; the set's own sentence stands for the first
    of them.

    How many items a list has, and what the lines ``told`` of the whole set say, is no other size of it.
    """
    pieces = split_sentences(said, frozenset(map(fold, method.sets.answers.abbreviations)))
    others = {int(number) for line in told for number in numbers_in(line) if number.isdecimal()}
    wrong = misstated(said, known, method, others.union(listed_in(said, pieces).values()))
    if not wrong:
        return said
    own = "".join(known.text[one.first : one.last] for one in split_sentences(known.text)[:1])
    kept, replaced = list[str](), False
    for piece in pieces:
        whole = said[piece.start : piece.end]
        if not any(piece.first < one.end and one.start < piece.last for one in wrong):
            kept.append(whole)
        elif not replaced:
            kept.append(f"{own}{whole[len(whole.rstrip()) :]}")
            replaced = True
    return "".join(kept).strip() if len(kept) > 1 else known.text


def stream_answer(
    model: Model,
    release: Release,
    reading: Reading,
    context: Context,
    messages: Sequence[Message],
    cited: SourceList,
    known: AnswerSet | None = None,
) -> Iterator[Token | Restart | Written]:
    """The model's answer to ``messages`` as it comes, then its end, which tells what is not supported. Where it claims
    another size than that of the exact set, it comes again without those sentences.

    ``known``: the set that the context tells.

    Citations are renumbered in order of appearance and collected in ``cited`` with the triples of those lines that come
    nearest to what was said; citations of no source are dropped. Raises ModelError when the model fails, says nothing, or
    takes longer than ``answers`` allows: what came until then is no answer.
    """
    numbered: dict[int, ContextSource] = {}

    def number(given: int) -> int | None:
        source = context.source(given)
        if source is None:
            return None
        n = cited.cite(source.about)
        numbered[n] = source
        return n

    renumberer = Renumberer(number, known is not None)
    said = yield from _say(model, messages, renumberer, release)
    note: Note | None = None
    told = [line.text for line in context.known.head] if context.known is not None else []
    right = corrected(said, known, release.method, told) if known is not None and known.exhaustive else said
    if right != said:
        wrong = f"The model {model.name} stated another number than the set's; that sentence was replaced."
        note = Note(wrong, "number")
        said = right
        yield Restart(note)
        yield Token(said)
    written = _written(release, reading, context, said, numbered, cited, renumberer.dropped, known)
    yield replace(written, notes=(note, *written.notes)) if note else written


def _say(
    model: Model, messages: Sequence[Message], renumberer: Renumberer, release: Release
) -> Generator[Token, None, str]:
    """The model's text as it comes, its citations renumbered; returns it whole. Raises ModelError as ``stream_answer``."""
    config, said = release.method.answers, ""
    for piece in within(model.complete(messages), model.name, config.first_seconds, config.whole_seconds):
        # A question mark for each half of a surrogate pair, which JSON can hold and no encoding writes.
        for text in renumberer.feed(piece.encode("utf-8", "replace").decode("utf-8")):
            said += text
            yield Token(text)
        if len(said) > WHOLE_CHARACTERS:
            raise ModelError(f"The model {model.name} went on beyond {WHOLE_CHARACTERS} characters.", _AGAIN)
    for text in renumberer.end():
        said += text
        yield Token(text)
    if not said.strip(CUT + " "):
        raise ModelError(f"The model {model.name} gave an empty answer.", _AGAIN)
    return said


def _written(
    release: Release,
    reading: Reading,
    context: Context,
    said: str,
    numbered: dict[int, ContextSource],
    cited: SourceList,
    dropped: int,
    known: AnswerSet | None,
) -> Written:
    lines: dict[int, list[str]] = {}  # its names, its lines in the context, and Wikidata's of it
    for n, source in numbered.items():
        names = names_of(release, source)
        told = [line.text for line in (*source.lines, *context.wikidata) if line.n == source.n]
        lines[n] = [*names, *told]
    cited_here = {source.n for source in numbered.values()}
    near = {
        source.n: [*_by_thing(source, context.wikidata)]
        for source in context.sources
        if source.n not in cited_here
    }
    of_set = lines_of_set(context.known, known) if known is not None and context.known is not None else None
    words = release.method.sets.answers
    support = check_support(said, lines, reading, words, dropped, counts_of(context), of_set, near)
    support = _with_attributed(support, context, numbered, cited)
    for n, source in numbered.items():
        sentences = [
            said[citation.start : citation.end] for citation in support.citations if n in citation.numbers
        ]
        best = nearest(source.lines, " ".join(sentences), reading, release)
        triples = [triple for line in best for triple in cited.trace(line)]
        own = (line for line in best if line.kind is not Kind.HEADER)
        snippet = next((line.text for line in own), best[0].text if best else "")
        cited.cite(source.about, triples, entities=source.entities, snippet=snippet)
    return Written(said, support, tuple(_notes(said, support, dropped)))


def _by_thing(source: ContextSource, wikidata: Sequence[ContextLine]) -> Iterator[list[str]]:
    """The lines of a source about each thing that it tells of, each time after its first, which says what it is about."""
    told: dict[tuple[int, ...], list[str]] = {}
    first = source.lines[0].text if source.lines else ""
    for line in (*source.lines, *(one for one in wikidata if one.n == source.n)):
        told.setdefault(line.entities[:1], [first]).append(line.text)
    yield from told.values()


def _with_attributed(
    support: Support, context: Context, numbered: dict[int, ContextSource], cited: SourceList
) -> Support:
    """What is borne out by a source that it does not cite, as if it cited it: that source joins those that are cited."""
    citations = {(one.start, one.end): one for one in support.citations}
    for one in support.attributed:
        source = context.source(one.n)
        assert source is not None  # the check gives numbers of the context's own sources
        n = cited.cite(source.about)
        numbered[n] = source
        before = citations.get((one.start, one.end))
        citations[one.start, one.end] = Citation(one.start, one.end, (*(before.numbers if before else ()), n))
    return replace(support, citations=tuple(sorted(citations.values(), key=lambda one: one.start)))


def names_of(release: Release, source: ContextSource) -> list[str]:
    """What a source is called: the names of its entity, or the label of a finding."""
    if isinstance(source.about, Finding):
        return [source.about.label]
    return [label.text for label in release[Graph].labels(source.about)]


def nearest(lines: Sequence[ContextLine], said: str, reading: Reading, release: Release) -> list[ContextLine]:
    """The lines that share most words with what was said, at most ``EVIDENCE_LINES``; the first where none does."""
    words = told_words(without_citations(said), reading, release.method.sets.answers)
    shared = {at: sum(map(Ground([line.text]).has_word, words)) for at, line in enumerate(lines)}
    best = sorted((at for at in shared if shared[at]), key=lambda at: (-shared[at], at)) or list(shared)[:1]
    return [lines[at] for at in best[:EVIDENCE_LINES]]


def _notes(said: str, support: Support, dropped: int) -> Iterator[Note]:
    if said.endswith(CUT):
        yield Note("The model's answer was cut at its length limit.", "cut")
    if dropped:
        told = (
            f"{dropped} citation{'s' if dropped > 1 else ''} of the model led to no source and were left out."
        )
        yield Note(told, "dropped", n=dropped)
    if not support.citations and SET not in said and not support.refused:
        yield Note("The model cited none of its sources.", "uncited")
    if lacking := len(support.unsupported):
        yield Note(
            f"Not supported by what they cite: {lacking} of the answer's sentences.", "unsupported", n=lacking
        )
    if support.quality.score < WARN_BELOW:
        score = f"{support.quality.score:.2f}"
        yield Note(f"The quality of this answer is low ({score}, of 1).", "quality", score=score)
