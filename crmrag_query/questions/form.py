"""What a question asks for, read from its words: the form of the answer and the language to give it in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from crmrag_query.config.models import QuestionLexicon
from crmrag_query.ontology.categories import Category
from crmrag_query.retrieval.tokenizer import tokenize


class Form(Enum):
    """The three query types of the method (facts: method, Query)."""

    SPECIFIC = "specific"
    ENUMERATION = "enumeration"
    AGGREGATION = "aggregation"


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as understood from its words.

    ``words``: its folded tokens in order; ``content``: those that are no stop words; ``counts``: a number is asked for;
    ``expects``: mask of the categories that question words such as "who" ask for, 0 when none does; ``cues``: labels of
    relationships and codes of properties that its verbs and nouns ask for; ``stop``: the stop words of its language;
    ``cueing``: its words that are cues.
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


def read_question(question: str, lexicon: QuestionLexicon, languages: Sequence[str] = ()) -> Reading:
    """Form and language of ``question``; ``languages`` are preferred in ties, the lexicon's first is the last resort."""
    words = tuple(tokenize(question))
    language = _language(words, lexicon, languages)
    entry = lexicon.languages[language]
    stop = _folded(entry.stop)
    counts = _contains(words, entry.count)
    if counts or _contains(words, entry.aggregation):
        form = Form.AGGREGATION
    elif _contains(words, entry.enumeration):
        form = Form.ENUMERATION
    else:
        form = Form.SPECIFIC
    content = tuple(word for word in words if word not in stop)
    expects = sum(Category[name] for name, asked in entry.expects.items() if _contains(words, asked))
    cues, cueing = _cues(words, lexicon, language)
    return Reading(question, language, form, counts, words, content, expects, cues, stop, cueing)


def _cues(
    words: Sequence[str], lexicon: QuestionLexicon, language: str
) -> tuple[frozenset[str], frozenset[str]]:
    """Labels and codes of every cue that has one of ``words`` in the language, and those words."""
    present = frozenset(words)
    cueing = {name: present & _folded(cue.words.get(language, ())) for name, cue in lexicon.cues.items()}
    called = [cue for name, cue in lexicon.cues.items() if cueing[name]]
    asked = frozenset(name for cue in called for name in (*cue.labels, *cue.properties))
    return asked, frozenset().union(*cueing.values())


def _language(words: Sequence[str], lexicon: QuestionLexicon, preferred: Sequence[str]) -> str:
    """The language most of whose stop words occur; the order of ``preferred``, then of the lexicon, breaks ties."""
    known = list(lexicon.languages)
    order = sorted(
        known,
        key=lambda code: (preferred.index(code) if code in preferred else len(preferred), known.index(code)),
    )
    scores = {code: sum(word in _folded(lexicon.languages[code].stop) for word in words) for code in order}
    return max(order, key=lambda code: scores[code])


def _folded(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset(token for phrase in phrases for token in tokenize(phrase))


def _contains(words: Sequence[str], phrases: Iterable[str]) -> bool:
    text = f" {' '.join(words)} "
    return any(f" {' '.join(tokenize(phrase))} " in text for phrase in phrases)
