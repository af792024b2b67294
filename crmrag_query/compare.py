"""What is other in one release than in another: counts, configuration, files and documents.

Documents are matched by their entity's IRI and compared by their text and passages, block by block.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import unified_diff
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.artifacts.manifest import Manifest, digests_of
from crmrag_query.artifacts.release import CONFIG, Release
from crmrag_query.documents.documents import BATCH
from crmrag_query.documents.documents import Documents as Open
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.retrieval.encoder import EncoderSettings


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two releases; ``built`` as its provenance tells, "" without one."""

    dataset: str
    release: str
    built: str


@dataclass(frozen=True, slots=True)
class Count:
    """A number that changed; 0 where there was none."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Setting:
    """Something in the configuration that changed, its values as JSON; "" where there was none."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document by its entity; ``diff``: lines of a unified diff of its text where asked for."""

    iri: str
    label: str
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Documents:
    """How many documents came, went, read otherwise and read alike; the first of each in the order of their IRIs."""

    came: int
    went: int
    rewritten: int
    same: int
    first_came: tuple[Document, ...]
    first_went: tuple[Document, ...]
    first_rewritten: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Files:
    """Files of an artifact, by its folder in the release: byte for byte the same, other, new, gone."""

    artifact: str
    same: int
    changed: int
    came: int
    went: int


@dataclass(frozen=True, slots=True)
class Difference:
    """All that is other; ``counts``, ``classes``, ``categories``, ``settings`` hold only what changed."""

    before: Side
    after: Side
    counts: tuple[Count, ...]
    classes: tuple[Count, ...]
    categories: tuple[Count, ...]
    settings: tuple[Setting, ...]
    encoder: tuple[Setting, ...]
    documents: Documents
    files: tuple[Files, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Numbers = npt.NDArray[np.int64]
# files that, equal, leave nothing to compare
ALIKE = ("documents/documents.arrow", "documents/passages.arrow", "graph/nodes.arrow")


def compare_documents(before: Release, after: Release, shown: int, texts: bool) -> Documents:
    """Documents that came, went and read otherwise, the first ``shown`` of each by name, ``texts`` with their diff."""
    old, new = before[Open], after[Open]
    if all(before.manifest.entry(path) == after.manifest.entry(path) for path in ALIKE):
        return Documents(0, 0, 0, new.count, (), (), ())
    # the IRI of each document's entity, in the order of documents, which is that of IRIs
    iris = [side.graph.iris.take(pa.array(side.entities)) for side in (old, new)]
    there = pc.index_in(iris[1], value_set=iris[0])
    known = there.is_valid().to_numpy(zero_copy_only=False)
    in_new = np.flatnonzero(known)
    in_old = there.drop_null().to_numpy().astype(np.int64)
    came = np.flatnonzero(~known)
    went = np.setdiff1d(np.arange(old.count), in_old, assume_unique=True)
    parts = [np.empty(0, np.int64)]
    for start in range(0, len(in_old), BATCH):
        part = slice(start, start + BATCH)
        differs = pc.not_equal(_texts(old, in_old[part]), _texts(new, in_new[part]))
        parts.append(np.flatnonzero(differs.to_numpy(zero_copy_only=False)) + start)
    passages = _passages(old), _passages(new)
    having = np.isin(in_old, list(passages[0])) | np.isin(in_new, list(passages[1]))
    parts += [
        np.array([row], np.int64)
        for row in np.flatnonzero(having).tolist()
        if passages[0].get(int(in_old[row])) != passages[1].get(int(in_new[row]))
    ]
    other = np.unique(np.concatenate(parts))
    return Documents(
        came=len(came),
        went=len(went),
        rewritten=len(other),
        same=len(in_new) - len(other),
        first_came=tuple(_document(new, number) for number in came[:shown].tolist()),
        first_went=tuple(_document(old, number) for number in went[:shown].tolist()),
        first_rewritten=tuple(
            _document(new, now, old.whole(then) if texts else None)
            for then, now in zip(in_old[other[:shown]].tolist(), in_new[other[:shown]].tolist(), strict=True)
        ),
    )


def _passages(documents: Open) -> dict[int, bytes]:
    """The digests of each document's passages, of those that have any."""
    digests = digests_of(documents.passages.column("text"))
    home = documents.home[documents.count :]
    first = np.flatnonzero(np.diff(home, prepend=-1))
    parts = np.split(digests, first[1:]) if len(first) else []
    return {int(home[at]): part.tobytes() for at, part in zip(first.tolist(), parts, strict=True)}


def _texts(documents: Open, numbers: Numbers) -> Any:
    """The texts of some documents, ascending, that lie near each other."""
    low, high = int(numbers[0]), int(numbers[-1]) + 1
    near = documents.table.column("text").slice(low, high - low).combine_chunks()
    return near if high - low == len(numbers) else near.take(pa.array(numbers - low))


def _document(documents: Open, number: int, before: str | None = None) -> Document:
    """A document by its entity; ``before``: the text that it had, for the diff."""
    diff: tuple[str, ...] = ()
    # changed lines with a little of what is around them, but not the two that would name files
    if before is not None:
        lines = before.split("\n"), documents.whole(number).split("\n")
        diff = tuple(unified_diff(*lines, n=1, lineterm=""))[2:]
    return Document(documents.graph.iri(documents.entity(number)), documents.label(number), diff)


ABOUT = ("title", "licence", "attribution", "languages", "examples", "wikidata")  # of a manifest


def compare(before: Release, after: Release, shown: int = 10, texts: bool = False) -> Difference:
    """What is other in ``after``; ``shown`` documents of each kind by name, those that read otherwise with their diff.

    Raises ReleaseError for a release that cannot be opened.
    """
    sides = (before, after)
    old, new = (side[Aggregation] for side in sides)
    classes = (
        {f"{one.code} {one.label}" if one.code else one.iri: one.entities for one in side.classes}
        for side in (old, new)
    )
    return Difference(
        before=_side(before),
        after=_side(after),
        counts=_changed(before.manifest.counts, after.manifest.counts),
        classes=_changed(*classes),
        categories=_changed(*({one.category: one.primary for one in side.categories} for side in (old, new))),
        settings=tuple(_settings(before, after)),
        encoder=tuple(
            _differing(*(EncoderSettings.read(side.folder / "encoder").as_dict() for side in sides))
        ),
        documents=compare_documents(before, after, shown, texts),
        files=tuple(_files(before.manifest, after.manifest)),
    )


def _side(release: Release) -> Side:
    built = (release.provenance or {}).get("built", "")
    return Side(release.manifest.dataset, release.id, str(built))


def _changed(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Count, ...]:
    """Numbers that differ, in the order of the newer one, then those that are gone."""
    names = dict.fromkeys([*after, *before])
    counts = (Count(name, int(before.get(name, 0)), int(after.get(name, 0))) for name in names)
    return tuple(count for count in counts if count.before != count.after)


def _settings(before: Release, after: Release) -> Iterator[Setting]:
    """What changed of what is said about the data set, then of the method that it was built with."""
    sides = (before, after)
    yield from _differing(*({name: getattr(side.manifest, name) for name in ABOUT} for side in sides))
    yield from _differing(*(dict(_flat(json.loads((side.folder / CONFIG).read_bytes()))) for side in sides))
    yield from _differing(*({"ontology": side.manifest.config.get("ontology", "")} for side in sides))
    yield from _differing(
        *({f"version of {name}": number for name, number in side.manifest.versions.items()} for side in sides)
    )


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Setting]:
    for name in dict.fromkeys([*after, *before]):
        old, new = (
            json.dumps(side[name], ensure_ascii=False, sort_keys=True) if name in side else ""
            for side in (before, after)
        )
        if old != new:
            yield Setting(name, old, new)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of nested records by its dotted name; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _files(before: Manifest, after: Manifest) -> Iterator[Files]:
    """For each artifact of either, how many of its files are the same, in the order of their folders."""
    old: dict[str, dict[str, str]] = {}
    new: dict[str, dict[str, str]] = {}
    for manifest, found in ((before, old), (after, new)):
        for entry in manifest.files:
            found.setdefault(entry.path.split("/")[0], {})[entry.path] = entry.sha256
    for artifact in sorted(old.keys() | new.keys()):
        was, now = old.get(artifact, {}), new.get(artifact, {})
        both = was.keys() & now.keys()
        same = sum(was[path] == now[path] for path in both)
        yield Files(artifact, same, len(both) - same, len(now) - len(both), len(was) - len(both))
