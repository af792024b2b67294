"""What a question asks for, read from its words: the form of the answer and the language to give it in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.questions.grammar import Decision, Form, decide
from crmrag_query.questions.lexicon import Compiled, Language, compiled
from crmrag_query.questions.words import Asked, asked, chunks_of

POSSESSIVE = "s"

__all__ = ["Form", "Reading", "read", "read_question"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as understood from its words.

    ``words``: its folded tokens in order; ``content``: those that are no stop words; ``counts``: a number is asked for;
    ``expects``: mask of the categories that question words such as "who" ask for, 0 when none does; ``cues``: labels of
    relationships and codes of properties that its verbs and nouns ask for; ``stop``: the stop words of its language;
    ``cueing``: its words that are cues; ``rule``: which rule gave the form; ``heads``: positions of the nouns asked for.
    """

    question: str
    language: str
    form: Form
    counts: bool
    words: tuple[str, ...]
    content: tuple[str, ...]
    expects: int = 0
    cues: frozenset[str] = frozenset()
    stop: frozenset[str] = frozenset()
    cueing: frozenset[str] = frozenset()
    rule: str = ""
    heads: tuple[int, ...] = ()


def read_question(
    question: str, lexicon: QuestionLexicon, languages: Sequence[str] = (), names: Collection[int] = ()
) -> Reading:
    """Form and language of ``question``; ``languages`` are preferred in ties, the lexicon's first is the last resort.

    ``names``: positions of tokens that belong to names, from which no form is read.
    """
    return read(question, compiled(lexicon), languages, names)[0]


def read(
    question: str, lexicon: Compiled, languages: Sequence[str] = (), names: Collection[int] = ()
) -> tuple[Reading, Asked]:
    """The reading, and the words that it was read from."""
    chunks = chunks_of(question)
    plain = asked(question, True, names, chunks)
    language = _language(plain, lexicon, languages)
    heard = plain if language.capitals_name else asked(question, False, names, chunks)
    decision = decide(heard, language)
    return _reading(question, heard, language, decision), heard


def _reading(question: str, heard: Asked, language: Language, decision: Decision) -> Reading:
    words = heard.words
    present = frozenset(words)
    called = [cue for cue in language.cues if present & cue.words]
    return Reading(
        question=question,
        language=language.code,
        form=decision.form,
        counts=decision.counts,
        words=words,
        content=tuple(word for word in words if word not in language.stop),
        expects=sum(mask for mask, phrases in language.expects if phrases.within(words)),
        cues=frozenset(name for cue in called for name in cue.asked),
        stop=language.stop,
        cueing=frozenset().union(*(present & cue.words for cue in called)),
        rule=decision.rule,
        heads=decision.heads,
    )


def _language(heard: Asked, lexicon: Compiled, preferred: Sequence[str]) -> Language:
    """The language whose stop and question words weigh most, those outside of names before any other.

    The order of ``preferred``, then of the lexicon, breaks ties.
    """
    known = list(lexicon.languages)
    order = sorted(
        known,
        key=lambda code: (preferred.index(code) if code in preferred else len(preferred), known.index(code)),
    )
    endings = {chunk.last - 1 for chunk in heard.chunks if chunk.last - chunk.first > 1}
    ends = {at for at in endings if heard.words[at] == POSSESSIVE}  # "Adams's": no French word
    plain = [word for at, word in enumerate(heard.visible) if word and at not in ends]
    every = [word for at, word in enumerate(heard.words) if at not in ends]

    def score(code: str) -> tuple[int, int]:
        signs = lexicon.languages[code].signs
        return sum(signs.get(word, 0) for word in plain), sum(word in signs for word in every)

    return lexicon.languages[max(order, key=score)]
