"""A set in sentences, without a language model: its size, the first few of it, what was left out. No other number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from crmrag_query.config.sets import Counted, SetLimits, SetsPart, SetWords
from crmrag_query.context.text import plain, shorten
from crmrag_query.sets.records import AnswerSet, Cell, Row

Cite = Callable[[str], str]
"""IRI -> what stands after the name of that entity, such as `` [1]``."""


def prose(made: AnswerSet, sets: SetsPart, cite: Cite = lambda iri: "") -> str:
    """The set told in its language: sentences with one blank between them.

    Names of the data are on one line each and shortened; ``cite`` may add a citation after each.
    """
    words = sets.words(made.language)
    return " ".join(sentence for sentence in _sentences(made, sets, words, cite) if sentence)


def sentence_of(words: SetWords, reason: str, count: int) -> str:
    """How many are left out and why."""
    return words.excluded.get(reason, words.excluded_other).of(count).replace("{n}", str(count))


def _sentences(made: AnswerSet, sets: SetsPart, words: SetWords, cite: Cite) -> Iterator[str]:
    yield from _said(made, sets.limits, words, cite)
    if made.identity.distinct is not None and made.identity.distinct != made.identity.entities:
        yield words.distinct.replace("{n}", str(made.identity.distinct))
    yield from (one.text for one in made.excluded)
    if made.unknown:
        quoted = (f"“{_name(word, sets.limits)}”" for word in made.unknown)
        yield words.unknown.replace("{first}", ", ".join(quoted))
    if not made.exhaustive:
        yield words.not_exhaustive


def _said(made: AnswerSet, limits: SetLimits, words: SetWords, cite: Cite) -> Iterator[str]:
    rows = made.value if isinstance(made.value, tuple) else ()
    match made.kind:
        case "ask" if made.size == 0:
            yield _filled(words.nothing, 0, made.title)
        case "ask":
            yield _filled(words.some.of(made.size), made.size, made.title)
            yield _members(made, limits, words, cite)
        case "group":
            yield _counted(words.groups, made.total, made.title)
            yield _listed([_row(row, limits, cite) for row in rows[: limits.named]], made.total, words)
        case "table" | "pairs":
            yield _counted(words.rows, made.total, made.title)
            yield _listed([_row(row, limits, cite) for row in rows[: limits.named]], made.total, words)
        case "rank":
            yield _counted(words.size, made.size, made.title)
            yield _ranked(rows, made, limits, words, cite)
        case "compare":
            yield " ".join(f"{_row(row, limits, cite, ': ')}." for row in rows)
            if made.common is not None:
                yield _counted(words.common, made.common, "")
        case _:
            yield _counted(words.size, made.size, made.title)
            if made.kind == "list":
                yield _members(made, limits, words, cite)


def _filled(template: str, number: int, what: str) -> str:
    """The template with a number and the plan's words; braces in these are themselves."""
    said = template.replace("{n}", str(number)).replace("{what}", plain(what))
    return said[:1].upper() + said[1:]


def _counted(sentences: Counted, number: int, what: str) -> str:
    return _filled(sentences.of(number), number, what)


def _members(made: AnswerSet, limits: SetLimits, words: SetWords, cite: Cite) -> str:
    names = [f"{_name(one.label, limits)}{cite(one.iri)}" for one in made.members[: limits.named]]
    if not names:
        return ""
    whole = len(names) == made.size and made.offset == 0
    template = words.all_shown if whole else words.shown
    return template.replace("{first}", "; ".join(names))


def _listed(items: Sequence[str], total: int, words: SetWords) -> str:
    if not items:
        return ""
    left = total - len(items)
    more = [words.more.of(left).replace("{n}", str(left))] if left > 0 else []
    return f"{'; '.join([*items, *more])}."


def _row(row: Row, limits: SetLimits, cite: Cite, last: str = " – ") -> str:
    """``label (number)`` of two cells the second of which is a number, else the cells in order."""
    told = (one for at, one in enumerate(row) if one.label != (row[at - 1].label if at else ""))
    labels = [_cell(one, limits, cite) for one in told]  # a date beside its time-span says nothing new
    if len(row) == 2 and not row[1].iri and row[1].number is not None:
        return f"{labels[0]}{last}{labels[1]}" if last != " – " else f"{labels[0]} ({labels[1]})"
    return last.join(labels)


def _ranked(rows: Sequence[Row], made: AnswerSet, limits: SetLimits, words: SetWords, cite: Cite) -> str:
    """``A (12); B (9, tied); C (9, tied)``."""
    values = [row[-1].label for row in rows]
    said = []
    for at, row in enumerate(rows[: limits.named]):
        tied = values[at] in values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
        value = words.tied.replace("{first}", values[at]) if tied else values[at]
        said.append(f"{_cell(row[0], limits, cite)} ({value})")
    left = made.size - len(said)
    more = [words.more.of(left).replace("{n}", str(left))] if left > 0 and made.offset == 0 else []
    return f"{'; '.join([*said, *more])}." if said else ""


def _cell(cell: Cell, limits: SetLimits, cite: Cite) -> str:
    name = _name(cell.label, limits)
    return f"{name}{cite(cell.iri)}" if cell.iri else name


def _name(text: str, limits: SetLimits) -> str:
    return shorten(plain(text), limits.name_characters)
