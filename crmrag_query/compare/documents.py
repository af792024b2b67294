"""Documents of two releases, matched by their entity's IRI and compared by their text, block by block."""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.artifacts.release import Release
from crmrag_query.compare.records import Document, Documents
from crmrag_query.documents.documents import Documents as Open
from crmrag_query.documents.schema import BATCH

Numbers = npt.NDArray[np.int64]

ALIKE = ("documents/documents.arrow", "graph/nodes.arrow")  # files that, equal, leave nothing to compare


def compare_documents(before: Release, after: Release, shown: int, texts: bool) -> Documents:
    """Documents that came, went and read otherwise, the first ``shown`` of each by name, ``texts`` with their diff."""
    old, new = before.documents, after.documents
    if all(before.manifest.entry(path) == after.manifest.entry(path) for path in ALIKE):
        return Documents(0, 0, 0, new.count, (), (), ())
    there = pc.index_in(_iris(new), value_set=_iris(old))
    known = there.is_valid().to_numpy(zero_copy_only=False)
    in_new = np.flatnonzero(known)
    in_old = there.drop_null().to_numpy().astype(np.int64)
    came = np.flatnonzero(~known)
    went = np.setdiff1d(np.arange(old.count), in_old, assume_unique=True)
    other = _rewritten(old, new, in_old, in_new)
    return Documents(
        came=len(came),
        went=len(went),
        rewritten=len(other),
        same=len(in_new) - len(other),
        first_came=_named(new, came[:shown]),
        first_went=_named(old, went[:shown]),
        first_rewritten=tuple(
            Document(_iri(new, now), new.label(now), _diff(old.text(then), new.text(now)) if texts else ())
            for then, now in zip(in_old[other[:shown]].tolist(), in_new[other[:shown]].tolist(), strict=True)
        ),
    )


def _iris(documents: Open) -> Any:
    """The IRI of each document's entity, in the order of documents, which is that of IRIs."""
    return documents.graph.iris.take(pa.array(documents.entities))


def _rewritten(old: Open, new: Open, in_old: Numbers, in_new: Numbers) -> Numbers:
    """Which pairs of documents, both ascending, have other texts."""
    found = [np.empty(0, np.int64)]
    for start in range(0, len(in_old), BATCH):
        part = slice(start, start + BATCH)
        differs = pc.not_equal(_texts(old, in_old[part]), _texts(new, in_new[part]))
        found.append(np.flatnonzero(differs.to_numpy(zero_copy_only=False)) + start)
    return np.concatenate(found)


def _texts(documents: Open, numbers: Numbers) -> Any:
    """The texts of some documents, ascending, that lie near each other."""
    low, high = int(numbers[0]), int(numbers[-1]) + 1
    near = documents.table.column("text").slice(low, high - low).combine_chunks()
    return near if high - low == len(numbers) else near.take(pa.array(numbers - low))


def _named(documents: Open, numbers: Numbers) -> tuple[Document, ...]:
    return tuple(Document(_iri(documents, number), documents.label(number)) for number in numbers.tolist())


def _iri(documents: Open, number: int) -> str:
    return documents.graph.iri(documents.entity(number))


def _diff(before: str, after: str) -> tuple[str, ...]:
    """The changed lines with a little of what is around them; the two lines that would name files are left out."""
    return tuple(unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm=""))[2:]
