"""Plans and sets in plain words, without a language model, and what a text claims of a set's size.

A plan is told part by part, each part a chip that can be taken away; a set in sentences with no number but its own. Prose
that a language model wrote is looked through for other sizes than the set's.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Claims, Method, SetLimits, SetsPart, SetWords, quoted
from crmrag_query.errors import QuestionError
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Target,
    Texted,
    Valued,
    read_plan,
)
from crmrag_query.sets.records import AnswerSet, Cell, Chip, Row
from crmrag_query.sets.wording import JOINT, STEP, Wording, compute_edits, edits_of, target_edits
from crmrag_query.text import plain, shorten
from crmrag_query.timing import check


def describe_plan(release: Release, plan: Plan, language: str = "en") -> tuple[Chip, ...]:
    """The parts of a plan in order: what is asked for, each condition, what is made of it."""
    return tuple(_chips(Wording(release, language), plan))


def title_of(release: Release, plan: Plan, language: str = "en") -> str:
    """The whole plan in one line: ``paintings · created by: Rembrandt Peale · not: made of: ivory``."""
    return _title(Wording(release, language), plan)


def without(plan: Plan, path: str) -> Plan:
    """The plan without a part that a chip named by its ``path``. Raises QuestionError for a path that leads nowhere.

    ``compute`` makes it a list; a condition goes as a whole, and so does what is asked for (``target.types``).
    """
    keys = path.split(".")
    match keys:
        case ["compute"]:
            return plan.model_copy(update={"compute": Compute()})
        case ["target", ("types" | "classes" | "categories") as name]:
            return plan.model_copy(update={"target": plan.target.model_copy(update={name: ()})})
        case ["where", number] if number.isdecimal() and int(number) < len(plan.where):
            at = int(number)
            return plan.model_copy(update={"where": plan.where[:at] + plan.where[at + 1 :]})
        case ["where", number, _, *_] if number.isdecimal():
            # an item of a list deeper down: an anchor's IRI, an alternative; the last of its kind cannot go alone
            whole: Any = plan_json(plan)
            within = whole
            with suppress(KeyError, IndexError, ValueError, TypeError, ValidationError):
                for key in keys[:-1]:
                    within = within[int(key)] if isinstance(within, list) else within[key]
                if isinstance(within, list) and len(within) > 1:
                    del within[int(keys[-1])]
                    return read_plan(whole)
    raise QuestionError(
        f"The plan has no part {path[:100]!r} that can be taken away.", "Give the path of one of its chips."
    )


def plan_json(plan: BaseModel) -> dict[str, Any]:
    """A plan as plain values, without what has its default; `read_plan` gives it back."""
    return {
        name: _plain(value)
        for name, field in type(plan).model_fields.items()
        if (value := getattr(plan, name)) != field.get_default(call_default_factory=True) or name == "kind"
    }


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return plan_json(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _title(wording: Wording, plan: Plan) -> str:
    return JOINT.join(chip.label for chip in _chips(wording, plan))


def _inner_title(wording: Wording, plan: Plan) -> str:
    """The title of a plan within another; of one that is nothing but named entities, these."""
    if plan.where and plan == Plan(where=tuple(one for one in plan.where if isinstance(one, Among))):
        return JOINT.join(chip.label for chip in _chips(wording, plan) if chip.path != "target")
    return _title(wording, plan)


def _chips(wording: Wording, plan: Plan) -> Iterator[Chip]:
    # what is asked for; where that is anything, it cannot be taken away
    for path, label in list(wording.target(plan)) or [("target", wording.words.entities)]:
        name = path.partition(".")[2]
        own = Target.model_validate({name: getattr(plan.target, name)}) if name else plan.target
        yield Chip(label, path, "target", removable=bool(name), edits=target_edits(wording, own))
    for at, one in enumerate(plan.where):
        label, path = _constraint(wording, one), f"where.{at}"
        if one.negated and not _lacking(one):
            label = wording.words.not_.format(
                what=_inner_title(wording, one.plan) if isinstance(one, Member) else label
            )
        yield Chip(label, path, one.kind, one.negated, edits=edits_of(wording, one))
    if label := _compute(wording, plan.compute):
        yield Chip(label, "compute", plan.compute.kind, edits=compute_edits(plan.compute))


NAMED = 3  # names of a list of some that are told: more are read by nobody in a chip
ALIKE = 50  # entities of such a list that are looked at for names that they share: each label is a look-up


def _lacking(one: Constraint) -> bool:
    """Whether it says that something is not stated at all."""
    if isinstance(one, Dated):
        return one.negated and one.begin is None and one.end is None
    return isinstance(one, Related) and one.negated and one.to == Anchor()


def _constraint(wording: Wording, one: Constraint) -> str:
    check()
    words = wording.words
    match one:
        case Related():
            if _lacking(one):
                # what none of several ways records is told by the first: "date of modification"
                first = one.way.model_copy(update={"relations": one.way.relations[:1]})
                return words.missing.format(what=wording.way(first))
            return _stated(words, wording.way(one.way), _anchor(wording, one.to) or words.any_)
        case Dated():
            way = wording.way(one.way) if one.way else words.dated
            if _lacking(one):
                return words.missing.format(what=way)
            way = _edge(words, one.edge, way)
            label = _stated(words, way, wording.period(one.begin, one.end) or words.any_)
            return label if one.certain else words.possibly.format(what=label)
        case Texted():
            way = wording.way(one.way) if one.way else words.name
            return words.contains.format(what=way, first=wording.any_of(map(wording.name, one.texts)))
        case Valued():
            unit = wording.unit(one.unit) if one.unit else ""
            bounds = f"{_bounds(words, one)} {unit}".rstrip()
            return _stated(words, wording.measured(one.way), bounds)
        case Among():
            # those by name where they have few names: eleven records of one painter are named once
            count = len(one.iris)
            named = wording.distinct(map(wording.node, one.iris)) if count <= ALIKE else ()
            return wording.any_of(named) if 0 < len(named) <= NAMED else words.among.of(count).format(n=count)
        case Member():
            title = _inner_title(wording, one.plan)  # of what is nothing but a kind, the kind
            return title if one.plan == Plan(target=one.plan.target) else words.same.format(what=title)
        case StatedIn():
            return words.stated_in.format(what=wording.any_of(map(wording.node, one.graphs)))
        case ReadFromPage():
            return words.read
        case Either():
            return words.or_.join(
                words.not_.format(what=_constraint(wording, each))
                if each.negated
                else _constraint(wording, each)
                for each in one.of
            )


def _anchor(wording: Wording, anchor: Anchor) -> str:
    return wording.anchor(anchor, _inner_title(wording, anchor.plan) if anchor.plan else "")


def _stated(words: SetWords, way: str, what: str) -> str:
    return words.stated.replace("{way}", way).replace("{what}", what)


def _bounds(words: SetWords, one: Valued) -> str:
    """ "more than 45", "20–30", "at least 20, less than 30"."""
    least, most = (None if bound is None else figure(bound) for bound in (one.least, one.most))
    if least is not None and most is not None and one.least_counts and one.most_counts:
        return least if least == most else f"{least}–{most}"
    above = words.at_least_number if one.least_counts else words.more_than
    below = words.at_most_number if one.most_counts else words.less_than
    told = ((above, least), (below, most))
    return ", ".join(words_.replace("{n}", bound) for words_, bound in told if bound is not None)


def figure(number: float) -> str:
    """A number as it is written: 45 and not 45.0."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _edge(words: SetWords, edge: str, way: str) -> str:
    return {"begin": words.begins, "end": words.ends}.get(edge, "{what}").format(what=way)


def _compute(wording: Wording, compute: Compute) -> str:
    words = wording.words
    match compute.kind:
        case "rank":
            return _rank(wording, compute)
        case "group":
            assert compute.way is not None
            period = words.periods.get(compute.by, "")
            way = _edge(words, compute.edge, wording.way(compute.way))
            grouped = words.grouped.format(what=f"{way} ({period})" if period else way)
            return ", ".join([grouped, *_limits(words, compute)])
        case "table":
            titles = dict.fromkeys(column.title or wording.way(column.way) for column in compute.columns)
            return words.table.format(what=", ".join(titles))
        case "pairs":
            return words.pairs.format(what=", ".join(map(wording.way, compute.ways)))
        case "compare":
            return words.compared.format(what="; ".join(_title(wording, other) for other in compute.others))
        case _:
            return ""


def _rank(wording: Wording, compute: Compute) -> str:
    words, measure = wording.words, compute.measure
    assert measure is not None
    way, to = wording.measured(measure.way), _anchor(wording, measure.to)
    what = _stated(words, way, to) if to else way
    sides = {
        "count": words.number_of,
        "earliest": words.earliest,
        "latest": words.latest,
        "value": words.lowest if compute.ascending else words.highest,
    }
    label = sides[measure.kind].format(what=what)
    if measure.kind == "count":
        most = words.fewest if compute.ascending else words.most
        whole = (words.lowest if compute.ascending else words.highest).format(what=label)
        label = most.format(what=what) if most else whole
    return ", ".join([label, *_limits(words, compute)])


def _limits(words: SetWords, compute: Compute) -> Iterator[str]:
    for number, counted in ((compute.at_least, words.at_least), (compute.first, words.first)):
        if number:
            yield counted.of(number).format(n=number)


Cite = Callable[[str], str]
"""IRI -> what stands after the name of that entity, such as `` [1]``."""


def prose(made: AnswerSet, sets: SetsPart, cite: Cite = lambda iri: "") -> str:
    """The set told in its language: sentences with one blank between them.

    Names of the data are on one line each and shortened; ``cite`` may add a citation after each.
    """
    sentences = _Prose(made, sets.words(made.language), sets.limits, cite)
    return " ".join(filter(None, [*sentences.main(), *sentences.notes()]))


def sentence_of(words: SetWords, reason: str, count: int) -> str:
    """How many are left out and why."""
    return words.excluded.get(reason, words.excluded_other).of(count).replace("{n}", str(count))


def in_words(made: AnswerSet, words: SetWords) -> str:
    """The plan of a set as a phrase: "paintings created by Ada Berg, not made of ivory". Of a relation that ends in a
    preposition no colon stands before what it leads to. What it was looked for among is told apart."""
    chips, _ = _told_apart(made)
    if any(chip.path == "target.types" for chip in chips):  # paintings are objects anyway
        chips = [chip for chip in chips if chip.path != "target.classes" or chip.label != words.objects]
    if not chips:
        return plain(made.title)
    parts = []
    for chip in chips:
        label = _bare(chip, words)
        way, colon, what = label.partition(": ")
        last = way.rstrip().rpartition(" ")[2].casefold()
        plainly = colon and chip.kind == "related" and last in words.prepositions and STEP not in way
        parts.append(f"{way.rstrip()} {what}" if plainly else label)
    joined = [chip.kind for chip in chips[:2]] == ["target", "related"] and not chips[1].negated
    if joined and ": " not in parts[1]:
        parts[:2] = [" ".join(parts[:2])]
    return plain(", ".join(parts).replace(JOINT, ", "))


def _told_apart(made: AnswerSet) -> tuple[list[Chip], list[Chip]]:
    """The chips that say what a set is, and those of plans that it was looked for among; these if there is nothing else."""
    among = [chip for chip in made.chips if chip.kind == "member" and not chip.negated]
    own = [chip for chip in made.chips if chip.path != "target" and chip not in among]
    return (own, among) if own else (among or list(made.chips), [])


def _bare(chip: Chip, words: SetWords) -> str:
    """The label of a chip, of a plan that members were looked for among without the words that say so."""
    before, _, after = words.same.partition("{what}")
    is_among = chip.kind == "member" and not chip.negated and chip.label.startswith(before)
    return chip.label.removeprefix(before).removesuffix(after) if is_among else chip.label


@dataclass(frozen=True)
class _Prose:
    """The sentences of a set; "" for one that has nothing to say."""

    made: AnswerSet
    words: SetWords
    limits: SetLimits
    cite: Cite

    def main(self) -> Iterator[str]:
        """What the set is."""
        made, words = self.made, self.words
        rows = made.value if isinstance(made.value, tuple) else ()
        whole = made.size == 1 and made.offset == 0 and len(made.members) == 1
        match made.kind:
            case "ask" if made.size == 0:
                yield self._filled(words.nothing, 0)
            case "ask":
                yield self._filled(words.some.of(made.size), made.size)
                yield self._members()
            case "group" | "table" | "pairs":
                sentences = words.groups if made.kind == "group" else words.rows
                yield self._filled(sentences.of(made.total), made.total)
                yield self._listed([self._row(row) for row in rows[: self.limits.named]], made.total)
            case "rank":
                first = made.plan["compute"].get("first", made.size)
                ties = words.with_ties if made.size > first else ""
                yield self._filled(ties or words.size.of(made.size), made.size)
                yield self._ranked(rows)
            case "compare":
                yield " ".join(f"{_capital(self._row(row))}." for row in rows)
                if made.common is not None:
                    yield self._filled(words.common.of(made.common), made.common)
            case "list" if whole and words.one:
                yield self._filled(words.one, 1, self._first())
            case _:
                yield self._filled(words.size.of(made.size), made.size)
                if made.kind == "list":
                    yield self._members()
        _, among = _told_apart(made)
        if among and words.part:
            told = "; ".join(plain(_bare(chip, words).replace(JOINT, ", ")) for chip in among)
            yield words.part.replace("{what}", told)

    def notes(self) -> Iterator[str]:
        """What else is to be known of it: identity, what is left out, what the plan does not say."""
        made, words = self.made, self.words
        if made.identity.distinct is not None and made.identity.distinct != made.identity.entities:
            yield words.distinct.replace("{n}", str(made.identity.distinct))
        yield from (one.text for one in made.excluded)
        for sentence, found in ((words.unknown, made.unknown), (words.mentioned, made.mentioned)):
            if found:
                yield sentence.replace("{first}", quoted(map(self._name, found), made.language))
        if not made.exhaustive:
            yield words.not_exhaustive

    def _filled(self, template: str, number: int, first: str = "") -> str:
        """The template with a number, the plan's words and the first members; braces in these are themselves."""
        told = {"{n}": str(number), "{first}": first, "{what}": in_words(self.made, self.words)}
        return _capital(re.sub(r"\{(?:n|first|what)\}", lambda found: told[found[0]], template))

    def _first(self) -> str:
        names = (f"{self._name(one.label)}{self.cite(one.iri)}" for one in self.made.members)
        return "; ".join(itertools.islice(names, self.limits.named))

    def _members(self) -> str:
        made, first = self.made, self._first()
        whole = made.size <= self.limits.named and len(made.members) == made.size and made.offset == 0
        template = self.words.all_shown if whole else self.words.shown
        return template.replace("{first}", first) if first else ""

    def _listed(self, items: Sequence[str], total: int) -> str:
        left = total - len(items)
        more = [self.words.more.of(left).replace("{n}", str(left))] if left > 0 else []
        return f"{'; '.join([*items, *more])}." if items else ""

    def _row(self, row: Row) -> str:
        """``label (number)`` of a group and its number, else the cells in order."""
        shown = (one for at, one in enumerate(row) if one.label != (row[at - 1].label if at else ""))
        labels = [self._cell(one) for one in shown]  # a date beside its time-span says nothing new
        if len(row) == 2 and not row[1].iri and row[1].number is not None and self.made.kind != "compare":
            return f"{labels[0]} ({labels[1]})"
        return " – ".join(labels)

    def _ranked(self, rows: Sequence[Row]) -> str:
        """``A (12); B (9, tied); C (9, tied)``."""
        values = [row[-1].label for row in rows]
        ranked = []
        for at, row in enumerate(rows[: self.limits.named]):
            tied = values[at] in values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
            value = self.words.tied.replace("{first}", values[at]) if tied else values[at]
            ranked.append(f"{self._cell(row[0])} ({value})")
        return self._listed(ranked, self.made.size if self.made.offset == 0 else 0)

    def _cell(self, cell: Cell) -> str:
        text = cell.label.replace(JOINT, ", ") if self.made.kind == "compare" else cell.label
        return f"{self._name(text)}{self.cite(cell.iri) if cell.iri else ''}"

    def _name(self, text: str) -> str:
        return shorten(plain(text), self.limits.name_characters)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# A number with its groups of three: 1,234 or 1.234 or 1 234; not a part of a word, a decimal number, or a citation's.
_DIGITS = re.compile(
    r"(?<![\w.,\[–-])\d{1,3}(?:[,.\u00a0\u202f ’']\d{3})+(?![\w,.]?\d)|(?<![\w.,])\d+(?!\w|[.,]\d)"
)
_WORD = re.compile(r"[^\W\d_]+")
_CITATION = re.compile(r"\[[\d\s,;–-]+\]")
_QUOTED = re.compile(r"“[^”\n]*”|«[^»\n]*»|„[^“\n]*“|\"[^\"\n]*\"")
_ADJECTIVES = r"(?:[^\W\d_]+[ \-]+){0,2}?"
_YEARS = range(1000, 2200)  # numbers that are years where a date may stand


@dataclass(frozen=True, slots=True)
class Misstated:
    """``text[start:end]`` claims ``number``, which is none of the set's."""

    start: int
    end: int
    number: int


def misstated(
    text: str, made: AnswerSet, method: Method, listed: Collection[int] = ()
) -> tuple[Misstated, ...]:
    """Where a text claims a size that is none of the set's, in order; empty for a text that may stand.

    ``listed``: how many items the text's lists have, which it may tell. Numbers within names of the set, quotations and
    citations claim nothing, nor do years, the numbers of the plan itself (the first 5) and parts of the set (three examples,
    5 of the 462). Read as English and as the set's language.
    """
    flat = _masked(_flat(text), made)
    allowed = {int(number) for number in made.numbers if float(number).is_integer()} | set(
        map(int, re.findall(r"\d{1,15}", made.title))
    )
    allowed |= set(listed)
    found: dict[int, Misstated] = {}
    asked = [chip.label for chip in made.chips if chip.kind == "target"]
    words = [word for label in asked for word in _WORD.findall(_flat(label)) if len(word) > 3]
    # words of what is asked for: ``paintings`` and, read as a beginning, ``painting``
    nouns = tuple(
        dict.fromkeys(form for word in words for form in (word, word.removesuffix("s"), f"{word}s"))
    )
    for name in dict.fromkeys((made.language, "en")):
        if name not in method.sets.claims:
            continue
        pattern = _compiled(method.sets.claims[name], nouns)
        spoken = list(_spoken(flat, method.sets.answers.numbers))
        told = min((start for number, start, _ in spoken if number == made.size), default=len(flat))
        for number, start, end in spoken:
            same = any(n == made.size and _one_sentence(flat, start, at) for n, at, _ in spoken)
            if number < made.size and (told < start or same):
                continue  # "35 works, of which I list 16": the size is told, and a part of it
            if _is_code(text, start, end) or number in allowed:
                continue
            if _claims_size(flat, number, start, end, pattern):
                found.setdefault(start, Misstated(start, end, number))
        if made.size > 0:
            for match in pattern.none.finditer(flat):
                if 0 not in allowed:
                    found.setdefault(match.start(), Misstated(match.start(), match.end(), 0))
    return tuple(found[start] for start in sorted(found))


@dataclass(frozen=True, slots=True)
class _Pattern:
    before: re.Pattern[str]
    after: re.Pattern[str]
    sample_before: re.Pattern[str]
    sample_after: re.Pattern[str]
    dates: re.Pattern[str]
    none: re.Pattern[str]


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether a number is a part of an identifier (MK 0193), or one end of a range (583–602)."""
    coded = re.search(r"(?<![^\W\d_])[A-Z]{2,}[ .-]?$", text[max(0, start - 12) : start])
    ranged = re.match(r"\s?[-–]\s?\d", text[end:]) or re.search(r"\d\s?[-–]\s?$", text[:start])
    return bool(coded or ranged or (text[start] == "0" and end - start > 1))


def _one_sentence(flat: str, one: int, other: int) -> bool:
    return not re.search(r"[.!?;\n]\s", flat[min(one, other) : max(one, other)])


def _claims_size(flat: str, number: int, start: int, end: int, pattern: _Pattern) -> bool:
    before, after = flat[max(0, start - 60) : start], flat[end : end + 60]
    if pattern.sample_before.search(before) or pattern.sample_after.match(after):
        return False
    if number in _YEARS and (pattern.dates.search(before) or re.match(r"\s*[-–]\s*\d", after)):
        return False
    return bool(pattern.before.search(before) or pattern.after.match(after))


@lru_cache(maxsize=64)
def _compiled(claims: Claims, own: tuple[str, ...]) -> _Pattern:
    nouns = "|".join([*map(re.escape, own), *claims.nouns])
    none = "|".join(claims.none).replace("{nouns}", f"(?:{nouns})")
    return _Pattern(
        re.compile(rf"(?<!\w)(?:{'|'.join(claims.before)})\s*$"),
        re.compile(rf"[ \-]*(?:{_ADJECTIVES}(?:{nouns})(?!\w)|{'|'.join(claims.after)}(?!\w))"),
        re.compile(rf"(?<!\w)(?:{'|'.join(claims.sample_before)})\s*$"),
        re.compile(rf"\s*(?:{_ADJECTIVES}(?:{'|'.join(claims.sample_after)}))(?!\w)"),
        re.compile(rf"(?:(?<!\w)|(?=[-–]))(?:{'|'.join(claims.dates)})\s*$"),
        re.compile(rf"(?<!\w)(?:{none})(?!\w)"),
    )


def _spoken(flat: str, words: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """(number, start, end) of numbers in digits and in words."""
    for match in _DIGITS.finditer(flat):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) < 16:
            yield int(digits), match.start(), match.end()
    for match in _WORD.finditer(flat):
        number = words.get(match[0])
        if number is not None:
            yield number, match.start(), match.end()


def _masked(flat: str, made: AnswerSet) -> str:
    """The text with blanks for names of the set, citations and quotations; as long as before."""
    cells = [cell.label for row in made.value for cell in row] if isinstance(made.value, tuple) else []
    left_out = [one.label for excluded in made.excluded for one in excluded.members]
    names = {*(member.label for member in made.members), *cells, *left_out}
    for name in sorted(map(_flat, names), key=lambda name: (-len(name), name)):
        if len(name) > 2 and not name.isdigit():
            flat = flat.replace(name, " " * len(name))
    for pattern in (_CITATION, _QUOTED):
        flat = pattern.sub(lambda match: " " * len(match[0]), flat)
    return flat


def _flat(text: str) -> str:
    """Small letters without accents, character by character, so that places stay; every sigma as σ."""
    return "".join(map(_flat_letter, text))


@lru_cache(maxsize=4096)
def _flat_letter(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0].lower()
    return "σ" if base == "ς" else base if len(base) == 1 else letter
