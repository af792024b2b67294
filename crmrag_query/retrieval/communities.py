"""The communities of a release: which documents are in each, which are made of which, and what was left out of them. And what
is told of each, a title and a few sentences: what a language model wrote, or composed of what was gathered; and the index by
which a question finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.manifest import (
    canonical_json,
    open_array,
    open_arrays,
    open_ipc,
    open_meta,
    rebuild,
    save_arrays,
)
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Method, ThemeForms, sentences
from crmrag_query.dates import Interval, civil, describe, year_interval
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.ontology.load import Category
from crmrag_query.retrieval.scores import fuse
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.timing import Kept

SCHEMA_VERSION: Final = 1
FOLDER: Final = "communities"
META: Final = "communities.json"
ARRAYS: Final = {
    "id": "uint64", "level": "int32", "parent": "int32", "weight": "float32", "rank": "int32",
    "member_ptr": "int64", "member": "int32",
}  # fmt: skip
NONE: Final = -1


@dataclass(frozen=True)
class Communities:
    """Communities by number: those of level 0, the finest, first, each level by rank.

    ``id`` uint64 [c]: the beginning of the SHA-256 of level and members' IRIs, so that it stays while they do; ``level``;
    ``parent``: of the level above, -1 for none; ``weight``: of all edges inside; ``rank``: 1 for the level's largest.
    ``member`` int32: the documents of each (``member_ptr`` [c + 1]), the most central first; those of a parent are its
    parts'. ``levels``: for each level what was found: counts, resolution, how much was gathered, being alone or
    among too few; and the modularity of the grouping among the documents that are in any, where what is gathered on an upper
    level stands as on the level below.
    """

    id: npt.NDArray[np.uint64]
    level: Ints
    parent: Ints
    weight: npt.NDArray[np.float32]
    rank: Ints
    member_ptr: Longs
    member: Ints
    levels: tuple[dict[str, Any], ...]

    @classmethod
    def from_release(cls, release: Release) -> Communities:
        release.require(FOLDER)
        return cls.open(release.folder / FOLDER)

    @classmethod
    def open(cls, folder: Path) -> Communities:
        """Memory-map what lies in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        meta = open_meta(folder / META, "table of communities")
        alike = [("id", "level", "parent", "weight", "rank", "member_ptr")]
        arrays = open_arrays(folder, ARRAYS, {"member_ptr": "member"}, alike=alike)
        if not isinstance(meta.get("levels"), list):
            raise ReleaseError(f"{folder / META} tells of no levels.", rebuild(folder))
        return cls(**arrays, levels=tuple(meta["levels"]))

    def save(self, folder: Path) -> None:
        save_arrays(folder, self, ARRAYS, META, schema=SCHEMA_VERSION, levels=list(self.levels))

    def __len__(self) -> int:
        return len(self.id)

    def name(self, community: int) -> str:
        """Its stable id, 16 hexadecimal digits."""
        return f"{int(self.id[community]):016x}"

    def number(self, name: str) -> int | None:
        """The community of a stable id, None where there is none."""
        try:
            found = np.flatnonzero(self.id == np.uint64(int(name, 16)))
        except (ValueError, OverflowError):
            return None
        return int(found[0]) if len(found) else None

    def members(self, community: int, most: int | None = None) -> Ints:
        """Its documents, the most central first, at most so many."""
        first, end = int(self.member_ptr[community]), int(self.member_ptr[community + 1])
        return self.member[first : end if most is None else min(end, first + most)]

    def size(self, community: int) -> int:
        """How many documents it has."""
        return int(self.member_ptr[community + 1] - self.member_ptr[community])

    def of_level(self, level: int) -> Ints:
        """The communities of a level, by rank."""
        return np.flatnonzero(self.level == level).astype(np.int32)

    def parts(self, community: int) -> Ints:
        """The communities of the level below that it is made of, the largest first; none of the finest."""
        order, parents = self._by_parent
        low, high = np.searchsorted(parents, (community, community + 1))
        return order[low:high]

    def above(self, community: int) -> list[int]:
        """The communities that it is a part of, the one of the next level first."""
        found, at = list[int](), int(self.parent[community])
        while at != NONE:
            found.append(at)
            at = int(self.parent[at])
        return found

    @cached_property
    def _by_parent(self) -> tuple[Ints, Ints]:
        """All communities by their parents, and these: there are too many to look through all for each."""
        order = np.argsort(self.parent, kind="stable").astype(np.int32)
        return order, np.asarray(self.parent)[order]

    @cached_property
    def outermost(self) -> Ints:
        """Those that are part of no other, the largest first, of whatever level: together they hold all that is in any."""
        found = np.flatnonzero(self.parent == NONE)
        sizes = np.diff(self.member_ptr)[found]
        return found[np.lexsort((found, -sizes))].astype(np.int32)

    def finest(self, documents: Ints) -> Ints:
        """The finest community of each of the documents, -1 for none, int32."""
        found = np.full(len(documents), NONE, np.int32)
        known = documents < len(self._finest)
        found[known] = self._finest[documents[known]]
        return found

    @cached_property
    def _finest(self) -> Ints:
        found = np.full(int(self.member.max(initial=NONE)) + 1, NONE, np.int32)
        numbers = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.member_ptr))
        # of several the first, which is the finest, is the last written
        found[self.member[::-1]] = numbers[::-1]
        return found

    def of_document(self, document: int) -> list[int]:
        """The communities that a document is in, the finest first."""
        at = np.flatnonzero(self.member == document)
        return sorted(int(np.searchsorted(self.member_ptr, one, "right")) - 1 for one in at.tolist())


SUMMARIES: Final = "community_summaries"
SUMMARIES_META, TABLE = "summaries.json", "summaries.arrow"
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
        release.require(SUMMARIES)
        return cls.open(release.folder / SUMMARIES, release[Communities], release[Documents], release.method)

    @classmethod
    def open(cls, folder: Path, communities: Communities, documents: Documents, method: Method) -> Summaries:
        """Memory-map the table in ``folder``; raises ReleaseError when it is missing or of other communities."""
        open_meta(folder / SUMMARIES_META, "table of summaries")
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
    (folder / SUMMARIES_META).write_text(canonical_json({"schema": SCHEMA_VERSION}), encoding="utf-8")


INDEX: Final = "community_index"
VECTORS: Final = "vectors"
RANKED = 50  # of each ranking


@dataclass(frozen=True)
class CommunityIndex:
    """``sparse``: BM25 of the themes and their members' names; ``vectors`` float32 [c, dimension], of length 1 or 0."""

    sparse: SparseIndex
    vectors: npt.NDArray[np.float32]

    @classmethod
    def from_release(cls, release: Release) -> CommunityIndex:
        release.require(INDEX)
        return cls.open(release.folder / INDEX, len(release[Communities]))

    @classmethod
    def open(cls, folder: Path, communities: int) -> CommunityIndex:
        sparse, vectors = SparseIndex.open(folder), open_array(folder, VECTORS)
        if sparse.documents != communities or vectors.ndim != 2 or len(vectors) != communities:
            raise ReleaseError(f"The index in {folder} is of other communities.", rebuild(folder))
        return cls(sparse, vectors)

    @cached_property
    def encoded(self) -> npt.NDArray[np.bool_]:
        """Which communities have a vector, bool [communities]."""
        return np.asarray(self.vectors.any(axis=1))

    def search(
        self, text: str, vector: npt.NDArray[np.float32], among: Ints, k: int
    ) -> list[tuple[int, float]]:
        """The ``k`` best of the communities ``among`` with their cosines: rankings by cosine, of those with a vector, and by
        words, fused, words twice; of one without a vector the cosine is 0."""
        if not len(among):
            return []
        cosine = np.asarray(self.vectors @ vector, np.float64)
        mask = np.zeros(len(cosine), bool)
        mask[among] = True
        encoded = among[self.encoded[among]]
        order = encoded[np.lexsort((encoded, -cosine[encoded]))][:RANKED].tolist()
        dense = order if vector.any() else []
        words = self.sparse.search(text, RANKED, mask).ranking
        fused = fuse([words, words], dense, len(encoded) / len(among), RANKED)
        return [(one, float(cosine[one])) for one, _ in fused[:k]]
