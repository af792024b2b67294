"""What is told of a community, a title and a few sentences: what a language model wrote, or composed of what was gathered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from crmrag_query.artifacts.files import canonical_json
from crmrag_query.artifacts.manifest import open_ipc, open_meta, rebuild
from crmrag_query.artifacts.release import Release
from crmrag_query.communities.communities import Communities
from crmrag_query.config.loading import Method
from crmrag_query.config.parts import ThemeForms, sentences
from crmrag_query.dates import Interval, civil, describe, year_interval
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints
from crmrag_query.kept import Kept
from crmrag_query.ontology.categories import Category

FOLDER: Final = "community_summaries"
META, TABLE, SCHEMA_VERSION = "summaries.json", "summaries.arrow", 1
SCHEMA: Final = pa.schema(
    [
        ("kinds", pa.list_(pa.int32())),  # types (nodes) of its members; below 0, -1 - the number of a class
        ("kind_counts", pa.list_(pa.int32())),
        ("shared", pa.list_(pa.utf8())),  # labels of relationships that several of its central members have …
        ("shared_targets", pa.list_(pa.int32())),  # … to the same node
        ("shared_counts", pa.list_(pa.int32())),
        ("places", pa.list_(pa.int32())),
        ("begin", pa.int32()),  # days; null where nothing is dated
        ("end", pa.int32()),
        ("title", pa.utf8()),  # by a model; "" where none wrote it
        ("text", pa.utf8()),
        ("model", pa.utf8()),
    ]
)
NAMED = 3  # kinds, shared relations, places and parts that are told
CENTRAL = 4  # most central members that are
LOOKED_AT = 20  # most central members among which those are looked for that are no events
NAME = 60  # characters of a name
WORDS = 100  # of a summary, at most
# summaries that are kept, and for how long; source of the latter: the published caches
TOLD, TOLD_SECONDS = (1000, 3600.0)


@dataclass(frozen=True, slots=True)
class Theme:
    """``title`` and ``text`` of a community, and its first sentences (``brief``); ``model``: what wrote them, "" for what was
    composed."""

    title: str
    text: str
    model: str = ""
    brief: str = ""


@dataclass(frozen=True)
class Summaries:
    """What was gathered of each community, row by row; told in any language when asked for."""

    communities: Communities
    documents: Documents
    method: Method
    table: pa.RecordBatch
    _told: Kept[tuple[int, str], Theme] = field(
        default_factory=lambda: Kept(TOLD, TOLD_SECONDS, "community_summaries"),
        init=False,
        compare=False,
        repr=False,
    )

    @classmethod
    def from_release(cls, release: Release) -> Summaries:
        release.require(FOLDER)
        return cls.open(release.folder / FOLDER, release[Communities], release[Documents], release.method)

    @classmethod
    def open(cls, folder: Path, communities: Communities, documents: Documents, method: Method) -> Summaries:
        """Memory-map the table in ``folder``; raises ReleaseError when it is missing or of other communities."""
        open_meta(folder / META, "table of summaries")
        table = open_ipc(folder / TABLE, SCHEMA).get_batch(0)
        if table.num_rows != len(communities):
            raise ReleaseError(f"{folder / TABLE} is of other communities.", rebuild(folder))
        return cls(communities, documents, method, table)

    def tell(self, community: int, language: str = "en") -> Theme:
        """The theme in a language: a model's words where one wrote some, which are in the data set's first."""
        return self._told.get((community, language), lambda: self._tell(community, language))

    def _tell(self, community: int, language: str) -> Theme:
        row: dict[str, Any] = self.table.slice(community, 1).to_pylist()[0]
        if row["text"]:
            return Theme(row["title"], row["text"], row["model"], row["text"])
        return _Telling(self, community, row, language).theme

    def central(self, community: int) -> Ints:
        """The most central members that a reader would know it by, at most CENTRAL; events only where all are."""
        found = self.communities.members(community, LOOKED_AT)
        named = found[self.documents.category_of[found] != int(Category.Event)]
        return (named if len(named) else found)[:CENTRAL]


@dataclass(frozen=True)
class _Telling:
    """One community told in one language."""

    summaries: Summaries
    community: int
    row: dict[str, Any]
    language: str

    @cached_property
    def forms(self) -> ThemeForms:
        return sentences().forms(self.language).themes or _english()

    @property
    def theme(self) -> Theme:
        central = [self._document(one) for one in self.summaries.central(self.community).tolist()]
        kinds = [self._kind(one) for one in self.row["kinds"][:1]]
        title = f"{central[0]} – {kinds[0]}" if kinds else ", ".join(central[:2])
        told: list[str] = []
        for sentence in self._sentences(central):
            if len(" ".join([*told, sentence]).split()) > WORDS:
                break
            told.append(sentence)
        return Theme(title, " ".join(told), brief=" ".join(told[:2]))

    def _sentences(self, central: list[str]) -> Iterator[str]:
        row, forms = self.row, self.forms
        size = f"{self.summaries.communities.size(self.community):,}"
        kinds = [
            f"{self._kind(kind)} ({n:,})" for kind, n in zip(row["kinds"], row["kind_counts"], strict=True)
        ]
        yield forms.size.format(n=size, v=", ".join(kinds[:NAMED])) if kinds else forms.bare.format(n=size)
        yield forms.central.format(v=self._joined(central))
        if parts := self.summaries.communities.parts(self.community)[:NAMED].tolist():
            names = [self._document(int(self.summaries.central(part)[0])) for part in parts]
            yield forms.parts.format(
                n=len(self.summaries.communities.parts(self.community)),
                v=self._joined(list(dict.fromkeys(names))),
            )
        shared = [
            f"{self.summaries.method.translations.of(label, self.language)} {self._node(target)} ({count:,})"
            for label, target, count in zip(
                row["shared"], row["shared_targets"], row["shared_counts"], strict=True
            )
        ]
        if shared:
            yield forms.shared.format(v="; ".join(shared[:NAMED]))
        if row["places"]:
            yield forms.places.format(v=self._joined([self._node(place) for place in row["places"][:NAMED]]))
        if row["begin"] is not None and (period := describe(_years(row["begin"], row["end"]), self.language)):
            yield forms.period.format(v=period)

    def _joined(self, names: list[str]) -> str:
        joint = sentences().forms(self.language).joint
        return joint.join(filter(None, (", ".join(names[:-1]), names[-1])))

    def _kind(self, kind: int) -> str:
        graph = self.summaries.documents.graph
        return self._node(kind) if kind >= 0 else graph.class_label(-1 - kind, self.language)

    def _document(self, document: int) -> str:
        return self._node(self.summaries.documents.entity(document))

    def _node(self, node: int) -> str:
        """What a node is called in the language, in one line and without braces, which forms are filled by."""
        name = " ".join(self.summaries.documents.graph.label(node, (self.language,)).split())
        return name if len(name) <= NAME else name[: NAME - 1].rstrip() + "…"


def _years(begin: int, end: int) -> Interval:
    """The whole years of a period of days: a theme has no birthday."""
    return year_interval(civil(begin)[0], civil(end)[0])


def _english() -> ThemeForms:
    found = sentences().forms("en").themes
    assert found is not None, "a test reads the sentences that ship"
    return found


def write_summaries(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write the table, a row for each community, in order."""
    batch = pa.RecordBatch.from_pylist(list(rows), schema=SCHEMA)
    with pa.OSFile(str(folder / TABLE), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_batch(batch)
    (folder / META).write_text(canonical_json({"schema": SCHEMA_VERSION}), encoding="utf-8")
