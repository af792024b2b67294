"""What the client gives: typed, frozen, the same from a folder and from a service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from crmrag_query.answers import records as answers
from crmrag_query.answers.lineage import Lineage as LineageRecord
from crmrag_query.answers.records import Coordinates, Dates, Named, Source, SourceLink, SourceTriple
from crmrag_query.cli.printable import printable
from crmrag_query.cli.render import answer_text, marked_text
from crmrag_query.client.shown import Row, Shown

SHOWN_TARGETS = 5  # targets of a relationship in a printed line


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Shown, answers.Answer):
    """An answer: see ``crmrag_query.answers.records.Answer``; its table is that of its sources.

    ``dataset``: its name; ``conversation``: the state after this answer, opaque; give the answer as ``history`` of the next
    question to go on. ``id``: under which a service keeps it, "" where none does (answers that differ in it alone are equal).
    """

    dataset: str = ""
    conversation: dict[str, Any] = field(default_factory=dict, hash=False)
    id: str = field(default="", compare=False)

    COLUMNS: ClassVar[dict[str, type]] = {
        "n": int, "cited": bool, "label": str, "category": str, "iri": str, "classes": str, "dates": str, "snippet": str,
        "triples": int,
    }  # fmt: skip

    @classmethod
    def of(cls, answer: answers.Answer, dataset: str, conversation: dict[str, Any]) -> Answer:
        """An answer of the engine with what the client adds."""
        given = {one.name: getattr(answer, one.name) for one in fields(answers.Answer)}
        return cls(**given, dataset=dataset, conversation=conversation)

    def head(self) -> str:
        return "\n".join([marked_text(self), *(f"Note: {note}" for note in self.notes)])

    def rows(self) -> Sequence[Row]:
        return [_source_row(source) for source in self.sources]

    def __str__(self) -> str:
        return answer_text(self)


def _source_row(source: Source) -> Row:
    dates = source.dates.text if source.dates else ""
    return (
        source.n, source.cited, source.label, source.category, source.iri, ", ".join(source.classes), dates, source.snippet,
        len(source.triples),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Shown):
    """A data set that can be asked: its current release, what it holds (``counts``) and questions to begin with."""

    name: str
    title: str
    release: str
    licence: str = ""
    attribution: str = ""
    languages: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    relationships: str = ""
    counts: dict[str, int] = field(default_factory=dict, hash=False)

    COLUMNS: ClassVar[dict[str, type]] = {"what": str, "number": int}

    def head(self) -> str:
        rights = " · ".join(text for text in (self.licence, self.attribution) if text)
        lines = [f"{self.name}: {self.title or self.name} (release {self.release})", rights, *self.examples]
        return "\n".join(line for line in lines if line)

    def rows(self) -> Sequence[Row]:
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
        return "\n".join([f"{len(self.datasets)} data sets", *missing])

    def rows(self) -> Sequence[Row]:
        return [
            (
                one.name, one.title, one.release, one.counts.get("entities"), one.counts.get("documents"),
                ", ".join(one.languages),
            )
            for one in self.datasets
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that may answer: rank from 1, score, and its rank (from 1) on each channel that found it.

    ``snippet``: the line of it that shares most words with the question.
    """

    rank: int
    iri: str
    label: str
    category: str
    score: float
    ranks: dict[str, int] = field(default_factory=dict, hash=False)
    snippet: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Shown):
    """Documents for a question, best first.

    ``context``: the text that an answer is written from, its sources numbered as ``sources`` are; ``timings``: milliseconds
    by stage.
    """

    question: str
    documents: tuple[RankedDocument, ...]
    dataset: str
    release: str
    form: str = ""
    context: str = ""
    sources: tuple[Source, ...] = ()
    timings: dict[str, float] = field(default_factory=dict, compare=False)

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
        return f"{len(self.documents)} documents for: {self.question}"

    def rows(self) -> Sequence[Row]:
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

    ``names``: by language tag ("" untagged), best first; ``document``: the text that holds its facts, of the entity
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

    COLUMNS: ClassVar[dict[str, type]] = {
        "relationship": str, "category": str, "target": str, "iri": str, "of": int,
    }  # fmt: skip

    def head(self) -> str:
        classes = ", ".join(one.label for one in self.classes)
        names = (f"{lang or 'name'}: {'; '.join(texts)}" for lang, texts in self.names.items())
        lines = [f"{self.label} ({self.category}: {classes})", self.iri, *names]
        return "\n".join([*lines, *([self.dates.text] if self.dates else [])])

    def rows(self) -> Sequence[Row]:
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

    def rows(self) -> Sequence[Row]:
        return [
            (one.s_label, one.p_label, one.o_label, one.s, one.p, one.o, ", ".join(one.graphs))
            for one in self.triples
        ]


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity found by name: ``name`` is the one that matched and ``how`` (see ``linking.records``); score 0..1."""

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
        return f"{len(self.entities)} entities for: {self.text}"

    def rows(self) -> Sequence[Row]:
        return [
            (one.label, one.category, ", ".join(one.classes), one.iri, one.name, one.how, one.score)
            for one in self.entities
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Lineage(Shown, LineageRecord):
    """Where a triple comes from: see ``crmrag_query.answers.lineage.Lineage``; its table is the lines that state it."""

    COLUMNS: ClassVar[dict[str, type]] = {
        "document": str, "line": str, "kind": str, "relationship": str, "path": str, "way": str,
    }  # fmt: skip

    @classmethod
    def of(cls, lineage: LineageRecord) -> Lineage:
        """A lineage of the engine."""
        return cls(**{one.name: getattr(lineage, one.name) for one in fields(LineageRecord)})

    def head(self) -> str:
        said = "stated" if self.stated else "not stated in the data"
        lines = [f"{self.s} {self.p} {self.o}: {said}", f"chunk {self.chunk}", *map(str, self.graphs)]
        if self.origin is not None:
            lines.append(
                f"from {', '.join(self.origin.places)}, fetched {self.origin.fetched or 'at no known time'}"
            )
        return "\n".join(lines)

    def rows(self) -> Sequence[Row]:
        return [
            (
                one.document_label, one.text, one.kind, one.relationship, one.path,
                " → ".join(f"{step.s_label} {step.p_label} {step.o_label}" for step in one.way),
            )
            for one in self.lines
        ]  # fmt: skip
