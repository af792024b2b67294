"""What cosines mean is found out from the data: encoders that squeeze all cosines are read as those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Calibration
from tests.support.shared import sample_release

Floats = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)


@dataclass(frozen=True)
class Names:
    """Documents that are called by their number."""

    count: int

    def label(self, number: int) -> str:
        return str(number)


@dataclass(frozen=True)
class Encodes:
    """Encodes the name of a document as one of ``vectors``."""

    vectors: Floats

    def encode(self, texts: Sequence[str]) -> Floats:
        return self.vectors[[int(text) for text in texts]]


def parts(names: Floats, documents: Floats) -> Release:
    """What calibration asks of a release in which each document has one window."""
    count = len(documents)
    index = DenseIndex(None, np.arange(count, dtype=np.int32), count, documents, cast(Any, None))
    return cast(Release, {DenseIndex: index, Documents: Names(count), QueryEncoder: Encodes(names)})


def unit(vectors: npt.NDArray[np.floating]) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def made(seed: int, count: int, squeezed: float) -> tuple[Floats, Floats]:
    """Names and documents, each near to its own; and all of them near to one another by what all have in common."""
    random = np.random.default_rng(seed)
    documents = unit(random.normal(size=(count, 24)))
    names = unit(documents + 0.1 * random.normal(size=(count, 24)))

    def together(vectors: Floats) -> Floats:
        common = np.full((len(vectors), 1), np.sqrt(squeezed))
        return np.hstack([common, np.sqrt(1 - squeezed) * vectors]).astype(np.float32)

    return together(names), together(documents)


@given(st.integers(0, 2**32), st.integers(2, 200), st.floats(0, 0.9))
@settings(max_examples=50)
def test_similarities_are_the_same_whatever_all_vectors_have_in_common(
    seed: int, count: int, squeezed: float
) -> None:
    """Cosines of e5 lie above .7, as here with a large common part; those of MiniLM around 0, as here without one."""
    plain, (names, documents) = made(seed, count, 0.0), made(seed, count, squeezed)
    expected = Calibration.from_release(parts(*plain)).similarities(
        (plain[0] @ plain[1].T).astype(np.float64)
    )
    found = Calibration.from_release(parts(names, documents))
    assert found.similarities((names @ documents.T).astype(np.float64)) == pytest.approx(expected, abs=0.01)


def test_nothing_in_common_is_a_half_and_its_own_name_is_one(sample: Release) -> None:
    found, index, documents = sample[Calibration], sample[DenseIndex], sample[Documents]
    chosen = np.unique(np.linspace(0, documents.count - 1, 64).astype(int)).tolist()
    cosines = np.array(
        [
            [max(index.rows[index.window_document == b][:8] @ vector) for b in chosen]
            for vector in sample[QueryEncoder].encode([documents.label(a) for a in chosen])
        ]
    )
    own = np.diag(cosines)
    others = cosines[~np.eye(len(chosen), dtype=bool)]
    assert (found.unrelated, found.own) == pytest.approx((np.median(others), np.median(own)), abs=1e-5)
    assert found.similarities(np.array([found.unrelated, found.own])) == pytest.approx([0.5, 1.0])
    assert found.cosine(0.5) == pytest.approx(found.unrelated)


@given(st.floats(-0.9, 0.8), st.floats(0.05, 0.9), st.floats(0, 1))
def test_a_threshold_and_the_similarity_of_its_cosine_are_one(
    unrelated: float, apart: float, similarity: float
) -> None:
    calibration = Calibration(unrelated, unrelated + apart)
    assert calibration.similarities(np.array([calibration.cosine(similarity)])) == pytest.approx([similarity])


def test_cosines_stay_as_they_are_where_names_tell_nothing_apart(sample: Release) -> None:
    same = np.tile(np.array([[1, 0]], np.float32), (10, 1))
    assert Calibration.from_release(parts(same, same)) == Calibration(0.0, 1.0)
    assert Calibration.from_release(parts(same[:1], same[:1])) == Calibration(0.0, 1.0)
    empty = replace(sample[DenseIndex], window_document=np.zeros(0, np.int32))
    nothing = cast(Release, {DenseIndex: empty, Documents: Names(5), QueryEncoder: Encodes(same)})
    assert Calibration.from_release(nothing) == Calibration(0.0, 1.0)
