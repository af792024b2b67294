"""What the client gives besides answers and sets: typed, frozen, the same from a folder and from a service."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from crmrag_query.answers.records import SharedSource, Source, SourceLink, Tried
from crmrag_query.sets.records import Chip
from crmrag_query.shown import Coordinates, Dates, Named, Shown, SourceTriple, TableRow
from crmrag_query.text import amount, printable

SHOWN_TARGETS = 5  # targets of a relationship in a printed line


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Shown):
    """A data set that can be asked: its current release, what it holds (``counts``; ``encoded``: documents that have vectors)
    and questions to begin with."""

    name: str
    title: str
    release: str
    licence: str = ""
    attribution: str = ""
    languages: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    relationships: str = ""
    counts: dict[str, int] = field(default_factory=dict, hash=False)

    @property
    def entities(self) -> int:
        return self.counts.get("entities", 0)

    @property
    def documents(self) -> int:
        return self.counts.get("documents", 0)

    @property
    def triples(self) -> int:
        return self.counts.get("triples", 0)

    COLUMNS: ClassVar[dict[str, type]] = {"what": str, "number": int}

    def head(self) -> str:
        rights = " · ".join(text for text in (self.licence, self.attribution) if text)
        lines = [f"{self.name}: {self.title or self.name} (release {self.release})", rights, *self.examples]
        return "\n".join(line for line in lines if line)

    def rows(self) -> Sequence[TableRow]:
        return list(self.counts.items())


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A data set that is there but cannot be asked, such as one whose release is damaged, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Datasets(Shown):
    """The data sets that can be asked, by name; ``default``: the one that is asked where none is named, "" where one must be.
    ``unavailable``: those that are there too, but cannot be asked."""

    datasets: tuple[Dataset, ...]
    default: str = ""
    unavailable: tuple[Unavailable, ...] = ()

    COLUMNS: ClassVar[dict[str, type]] = {
        "name": str, "title": str, "release": str, "entities": int, "documents": int, "languages": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self.datasets)

    def __len__(self) -> int:
        return len(self.datasets)

    def __getitem__(self, name: str) -> Dataset:
        for one in self.datasets:
            if one.name == name:
                return one
        raise KeyError(name)

    def head(self) -> str:
        missing = (f"{one.name} cannot be asked: {' '.join(one.reason.split())}" for one in self.unavailable)
        return "\n".join([amount(len(self.datasets), "data set"), *missing])

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.name, one.title, one.release, one.counts.get("entities"), one.counts.get("documents"),
                ", ".join(one.languages),
            )
            for one in self.datasets
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that may answer: rank from 1, score in the fusion, and its rank (from 1) on each channel that found it.

    ``snippet``: the line of it that shares most words with the question; ``similarities``: what each channel measured: a
    cosine (dense), a BM25 score (sparse), a share of what is named (tied) …
    """

    rank: int
    iri: str
    label: str
    category: str
    score: float
    ranks: dict[str, int] = field(default_factory=dict, hash=False)
    snippet: str = ""
    similarities: dict[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Shown):
    """Documents for a question, best first.

    ``context``: the text that an answer is written from, its sources numbered as ``sources`` are; ``timings``: milliseconds
    by stage; ``mode``: in which they were found.
    """

    question: str
    documents: tuple[RankedDocument, ...]
    dataset: str
    release: str
    form: str = ""
    context: str = ""
    sources: tuple[Source, ...] = ()
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    mode: str = ""

    COLUMNS: ClassVar[dict[str, type]] = {
        "rank": int, "label": str, "category": str, "iri": str, "score": float, "channels": str, "snippet": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[RankedDocument]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, at: int) -> RankedDocument:
        return self.documents[at]

    def head(self) -> str:
        return f"{amount(len(self.documents), 'document')} for: {self.question}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.rank, one.label, one.category, one.iri, one.score,
                ", ".join(f"{name} {rank}" for name, rank in one.ranks.items()), one.snippet,
            )
            for one in self.documents
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClassOf:
    """A class of an entity: its code (``E22``, "" outside the CRM family), its IRI and its name."""

    code: str
    iri: str
    label: str


@dataclass(frozen=True, slots=True)
class Value:
    """A literal of an entity, as the source states it; ``graphs``: the named graphs that do."""

    property: str
    property_label: str
    value: str
    datatype: str = ""
    lang: str = ""
    graphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """Where one Fundamental Relationship leads: the first ``targets``, and how many there are in all (``total``).

    ``category``: the Fundamental Category of its targets, as several relationships have one label ("created in" a Place, an
    Event).
    """

    key: str
    label: str
    category: str
    total: int
    targets: tuple[Named, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Entity(Shown):
    """An entity of a release; its table is where its Fundamental Relationships lead.

    ``names``: by language tag ("" untagged), best first; ``identifiers``: inventory numbers and the like, which are no names;
    ``document``: the text that holds its facts, of the entity
    ``document_of`` where it has none of its own (None for a node that no document tells of); ``literals``: the first of
    ``literals_total``; ``degree``: triples with other nodes, both ways.
    """

    iri: str
    label: str
    category: str
    classes: tuple[ClassOf, ...]
    dataset: str
    release: str
    names: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    identifiers: tuple[str, ...] = ()
    document: str = ""
    document_of: Named | None = None
    literals: tuple[Value, ...] = ()
    literals_total: int = 0
    images: tuple[str, ...] = ()
    links: tuple[SourceLink, ...] = ()
    dates: Dates | None = None
    coordinates: Coordinates | None = None
    relationships: tuple[Related, ...] = ()
    degree: int = 0
    licence: str = ""
    attribution: str = ""

    @property
    def triples(self) -> int:
        """``degree``, by the name that tools for language models give it."""
        return self.degree

    COLUMNS: ClassVar[dict[str, type]] = {
        "relationship": str, "category": str, "target": str, "iri": str, "of": int,
    }  # fmt: skip

    def head(self) -> str:
        classes = ", ".join(one.label for one in self.classes)
        names = (f"{lang or 'name'}: {'; '.join(texts)}" for lang, texts in self.names.items())
        numbers = [f"identifier: {'; '.join(self.identifiers)}"] if self.identifiers else []
        lines = [f"{self.label} ({self.category}: {classes})", self.iri, *names, *numbers]
        return "\n".join([*lines, *([self.dates.text] if self.dates else [])])

    def rows(self) -> Sequence[TableRow]:
        return [
            (group.label, group.category, target.label, target.iri, group.total)
            for group in self.relationships
            for target in group.targets
        ]

    def _lines(self) -> Iterator[str]:
        """The head, then a line for each relationship with its first targets and how many there are."""
        yield printable(self.head())
        for group in self.relationships:
            first = "; ".join(target.label for target in group.targets[:SHOWN_TARGETS])
            more = "; …" if group.total > SHOWN_TARGETS else ""
            yield printable(f"{group.label} ({group.total} {group.category}): {first}{more}")


@dataclass(frozen=True, slots=True, repr=False)
class Neighbours(Shown):
    """One page of the triples that join a node with others, both ways, in the order of the data.

    ``total``: how many there are; ``next``: the offset of the next page, None after the last.
    """

    iri: str
    label: str
    triples: tuple[SourceTriple, ...]
    total: int
    offset: int
    dataset: str
    release: str
    next: int | None = None

    COLUMNS: ClassVar[dict[str, type]] = {
        "s_label": str, "p_label": str, "o_label": str, "s": str, "p": str, "o": str, "graphs": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[SourceTriple]:
        return iter(self.triples)

    def __len__(self) -> int:
        return len(self.triples)

    def __getitem__(self, at: int) -> SourceTriple:
        return self.triples[at]

    def head(self) -> str:
        last = self.offset + len(self.triples)
        part = f"{self.offset + 1}–{last} of {self.total}" if self.triples else f"{self.total}"
        return f"{self.label}: triples {part}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.s_label, one.p_label, one.o_label, one.s, one.p, one.o, ", ".join(one.graphs))
            for one in self.triples
        ]


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity found by name: ``name`` is the one that matched and ``how`` (see ``linking.LinkedEntity``); score 0..1."""

    iri: str
    label: str
    category: str
    classes: tuple[str, ...]
    name: str
    how: str
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Found(Shown):
    """Entities found by name, best first."""

    text: str
    entities: tuple[FoundEntity, ...]
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {
        "label": str, "category": str, "classes": str, "iri": str, "name": str, "how": str, "score": float,
    }  # fmt: skip

    def __iter__(self) -> Iterator[FoundEntity]:
        return iter(self.entities)

    def __len__(self) -> int:
        return len(self.entities)

    def __getitem__(self, at: int) -> FoundEntity:
        return self.entities[at]

    def head(self) -> str:
        return f"{amount(len(self.entities), 'entity', 'entities')} for: {self.text}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.label, one.category, ", ".join(one.classes), one.iri, one.name, one.how, one.score)
            for one in self.entities
        ]


@dataclass(frozen=True, slots=True)
class CategoryShare:
    """A Fundamental Category: the entities that have it, as many as the set of it has members, and those whose first category
    it is (``primary``: each entity counts once)."""

    name: str
    entities: int
    primary: int


@dataclass(frozen=True, slots=True)
class ClassShare:
    """A class: its entities with those of its sub-classes, as many as the set of it has members, and those that state just
    this class (``own``)."""

    label: str
    code: str
    iri: str
    count: int
    own: int


@dataclass(frozen=True, slots=True)
class RelationshipShare:
    """A Fundamental Relationship and the distinct pairs that it joins."""

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class TopEntity:
    """An entity with its PageRank, a share of 1."""

    iri: str
    label: str
    category: str
    score: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many ``of`` so many have something: names, types, dates, a category, a description; ``share`` 0..1, 1 of none."""

    what: str
    count: int
    of: int
    share: float


@dataclass(frozen=True, slots=True, repr=False)
class DatasetDetail(Shown):
    """A data set as a whole. ``built``, ``fetched``: ISO 8601, "" where not told; ``whole``: whether nothing is missing of
    its source, None where that is not known; ``concerns``: what a person should look at; ``report``: Markdown."""

    dataset: Dataset
    built: str
    fetched: str
    source: tuple[str, ...]
    whole: bool | None
    concerns: tuple[str, ...]
    categories: tuple[CategoryShare, ...]
    classes: tuple[ClassShare, ...]
    relationships: tuple[RelationshipShare, ...]
    top: tuple[TopEntity, ...]
    coverage: tuple[Coverage, ...]
    report: str
    versions: dict[str, str] = field(default_factory=dict, hash=False)
    embedding: dict[str, str] = field(default_factory=dict, hash=False)

    COLUMNS: ClassVar[dict[str, type]] = {"what": str, "name": str, "number": int}

    def head(self) -> str:
        return (
            f"{self.dataset.title or self.dataset.name} (release {self.dataset.release}, built {self.built})"
        )

    def rows(self) -> Sequence[TableRow]:
        return [
            *(("count", name, number) for name, number in self.dataset.counts.items()),
            *(("category", one.name, one.entities) for one in self.categories),
            *(("class", one.label, one.count) for one in self.classes),
        ]


@dataclass(frozen=True, slots=True)
class PageCandidate:
    """Two things that may be the same, with a ``score`` 0..1 of how alike they are; ``read`` was read from a page by a
    machine, ``other`` from another document, or a curator wrote it."""

    read: Named
    other: Named
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class PageCandidates(Shown):
    """Things that may be the same, the likeliest of ``total`` first; a person accepts or refuses them by `crmrag pages`."""

    candidates: tuple[PageCandidate, ...]
    total: int
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {
        "score": float,
        "read": str,
        "other": str,
        "read_iri": str,
        "other_iri": str,
    }

    def head(self) -> str:
        return f"{self.total} candidates of {self.dataset}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.score, one.read.label, one.other.label, one.read.iri, one.other.iri)
            for one in self.candidates
        ]


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """An evaluation of a data set: when it was made (ISO 8601), on how many questions, its headline measures 0..1."""

    name: str
    made: str
    questions: int
    measures: dict[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class Evaluations(Shown):
    """The evaluations of a data set that are at hand, the latest first."""

    evaluations: tuple[EvaluationSummary, ...]
    dataset: str

    COLUMNS: ClassVar[dict[str, type]] = {"name": str, "measure": str, "value": float}

    def head(self) -> str:
        return f"{len(self.evaluations)} evaluations of {self.dataset}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.name, measure, value) for one in self.evaluations for measure, value in one.measures.items()
        ]


@dataclass(frozen=True, slots=True)
class ModeInfo:
    """A way in which questions can be answered: its name, and its ``title`` by language.

    ``channels``: how documents are found; ``plans``: whether the question is read as a plan ``first``, ``only`` or ``never``;
    ``lacks``: what the release must have for it and has not, and how to ``build`` it; none where it can be asked so.
    ``model``: what a language model does in it besides writing: ``queries``, ``tools`` (it cannot be asked without one that
    calls tools), ``themes``, ``steps``, "" for nothing. ``expansion``: what is done with what was found.
    """

    name: str
    title: dict[str, str] = field(hash=False)
    channels: tuple[str, ...]
    plans: str
    lacks: tuple[str, ...] = ()
    build: str = ""
    model: str = ""
    expansion: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Modes(Shown):
    """The modes of a data set, the default first. ``calibration``: the cosines of its encoder that stand for similarities of
    .3, .5 and .9 on the scale (1 + cosine) / 2; none where that is not known without asking an encoder elsewhere."""

    modes: tuple[ModeInfo, ...]
    dataset: str
    release: str
    calibration: dict[str, float] = field(default_factory=dict, hash=False)

    COLUMNS: ClassVar[dict[str, type]] = {
        "mode": str,
        "title": str,
        "channels": str,
        "plans": str,
        "lacks": str,
    }

    def head(self) -> str:
        told = ", ".join(f"{similarity} is {cosine:.2f}" for similarity, cosine in self.calibration.items())
        calibrated = f"; a similarity of {told} in cosines of its encoder" if told else ""
        return f"{len(self.modes)} modes of {self.dataset} (release {self.release}){calibrated}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.name, one.title["en"], ", ".join(one.channels), one.plans, ", ".join(one.lacks))
            for one in self.modes
        ]


@dataclass(frozen=True, slots=True, repr=False)
class ModesCompared(Shown):
    """One question in several modes, and the ``sources`` of their answers, those of most modes first."""

    modes: tuple[Tried, ...]
    sources: tuple[SharedSource, ...]
    question: str
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {
        "mode": str, "milliseconds": float, "tokens": int, "sources": int, "alone": int, "answer": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[Tried]:
        return iter(self.modes)

    def alone(self, mode: str) -> int:
        """How many of a mode's sources no other mode has."""
        return sum(one.modes == (mode,) for one in self.sources)

    def head(self) -> str:
        answered = sum(one.answer is not None for one in self.modes)
        common = sum(len(one.modes) == answered for one in self.sources)
        which = "" if answered == len(self.modes) else f" {answered} that answered"
        return (
            f"{self.question} — {len(self.modes)} modes of {self.dataset} (release {self.release}), "
            f"{amount(len(self.sources), 'source')}, {common} of them in all{which}"
        )

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.mode,
                one.milliseconds,
                one.tokens,
                len(one.answer.sources) if one.answer else 0,
                self.alone(one.mode),
                one.answer.text if one.answer else one.failed,
            )
            for one in self.modes
        ]


@dataclass(frozen=True, slots=True)
class ThemeInfo:
    """What belongs together in a data set, and what is told of it. ``id`` stays while its members do; ``level``: 0 is the
    finest; ``rank``: 1 for the largest of its level; ``size``: documents. ``model``: what wrote title and text, "" for what
    was composed. ``parent``: the theme that it is a part of, "" for none; ``parts``: how many it has itself. ``members``: the
    most central ones.
    """

    id: str
    level: int
    rank: int
    size: int
    title: str
    text: str
    model: str = ""
    parent: str = ""
    parts: int = 0
    members: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Themes(Shown):
    """A page of a data set's themes, the largest first; ``total`` that there are, ``levels`` on which some were found, and
    how many documents are in none of them (``gathered``)."""

    themes: tuple[ThemeInfo, ...]
    total: int
    levels: int
    gathered: int
    language: str
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {
        "theme": str, "level": int, "size": int, "title": str, "text": str, "members": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[ThemeInfo]:
        return iter(self.themes)

    def head(self) -> str:
        return (
            f"{amount(self.total, 'theme')} of {self.dataset} (release {self.release}), on {self.levels} levels; "
            f"in none {amount(self.gathered, 'document')}"
        )

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.id,
                one.level,
                one.size,
                one.title,
                one.text,
                ", ".join(member.label for member in one.members),
            )
            for one in self.themes
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Export(Shown):
    """A whole set as a file: its text, its media type and a name for it."""

    text: str
    media_type: str
    name: str
    dataset: str
    release: str

    def head(self) -> str:
        return f"{self.name}: {len(self.text)} characters of {self.media_type.partition(';')[0]}"

    def save(self, path: str | os.PathLike[str] = ".") -> Path:
        """Write it to ``path``, or under its name into the folder ``path``; gives the file's path."""
        given = Path(path)
        target = given / self.name if given.is_dir() else given
        target.write_text(self.text, encoding="utf-8", newline="")
        return target


@dataclass(frozen=True, slots=True, repr=False)
class PlanFound(Shown):
    """The plan that a question becomes, None where it becomes none; ``exhaustive``: it says all that was asked; ``unknown``:
    words that it passed over."""

    plan: dict[str, Any] | None = field(hash=False)
    title: str
    chips: tuple[Chip, ...]
    exhaustive: bool
    unknown: tuple[str, ...]
    language: str

    COLUMNS: ClassVar[dict[str, type]] = {"part": str, "path": str, "removable": bool}

    def head(self) -> str:
        return self.title or "no plan"

    def rows(self) -> Sequence[TableRow]:
        return [(chip.label, chip.path, chip.removable) for chip in self.chips]


@dataclass(frozen=True, slots=True, repr=False)
class PlanEdited(Shown):
    """A plan that was checked, in words, part by part and as SPARQL; ``changed``: the path of the part that was set or
    added, "" for none."""

    plan: dict[str, Any] = field(hash=False)
    title: str
    chips: tuple[Chip, ...]
    sparql: str
    changed: str = ""

    COLUMNS: ClassVar[dict[str, type]] = {"part": str, "path": str, "removable": bool}

    def head(self) -> str:
        return self.title

    def rows(self) -> Sequence[TableRow]:
        return [(chip.label, chip.path, chip.removable) for chip in self.chips]


class ReleaseWarning(UserWarning):
    """A new release cannot be opened; the one before is served on."""
