"""An aligner begins knowing nothing, learns, is the same each time, and is one array in the end."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.cli.partitions import LOSSES, MODELS
from crmrag_query.config.loading import AlignmentConfig, load_method
from crmrag_query.errors import ReleaseError
from crmrag_query.graph_partitions import Aligner, PartitionEdges
from crmrag_query.retrieval.encoder import unit

if TYPE_CHECKING:
    from crmrag_assets.graph_partitions.align import Questions, Trained

PARTS, DIMENSION = 30, 24
RANDOM = np.random.default_rng(0)
CENTROIDS = unit(RANDOM.standard_normal((PARTS, DIMENSION)))
TURN = np.linalg.qr(RANDOM.standard_normal((DIMENSION, DIMENSION)))[0].astype(np.float32)
"""Questions stand elsewhere than what they are about: to learn is to find this turn."""


def align() -> Any:
    """The module, which loads PyTorch: in the process that runs these tests, and not in all that read them."""
    return importlib.import_module("crmrag_assets.graph_partitions.align")


def edges() -> PartitionEdges:
    low = np.arange(PARTS - 1, dtype=np.int32)
    ptr, none = np.arange(PARTS, dtype=np.int64), np.zeros(PARTS - 1, np.int32)
    return PartitionEdges(low, low + 1, np.ones(PARTS - 1, np.float32), ptr, none, none)


def questions(count: int, seed: int) -> Questions:
    """Each about one part or about two that are joined."""
    random = np.random.default_rng(seed)
    first = random.integers(0, PARTS - 1, count)
    parts = [sorted({int(one), int(one) + int(random.integers(0, 2))}) for one in first]
    means = np.stack([CENTROIDS[one].mean(axis=0) for one in parts])
    return unit(means @ TURN + 0.02 * random.standard_normal(means.shape)), align().targets(parts, PARTS)


def how(
    model: Literal["mlp", "gcn", "sage", "gin"], loss: Literal["infonce", "bce"], **others: Any
) -> AlignmentConfig:
    given = {"model": model, "loss": loss, "steps": 300} | others
    return load_method().alignment.model_copy(update=given)


def trained(settings: AlignmentConfig, seed: int = 0) -> Trained:
    return align().train(CENTROIDS, edges(), questions(2000, 1), questions(200, 2), settings, seed=seed)


def recall(aligner: Aligner, asked: Questions) -> float:
    """The share of the wanted parts among as many of the highest scores."""
    found = []
    for vector, wanted in zip(asked[0], asked[1].toarray().astype(bool), strict=True):
        best = np.argsort(-aligner.scores(vector))[: wanted.sum()]
        found.append(wanted[best].mean())
    return float(np.mean(found))


@pytest.mark.parametrize("model", MODELS)
def test_untrained_infonce_is_the_logarithm_of_the_number_of_parts(model: Any) -> None:
    assert trained(how(model, "infonce", steps=1)).first_loss == pytest.approx(math.log(PARTS), abs=0.05)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 300), st.integers(0, 100))
def test_so_it_is_whatever_the_parts(parts: int, seed: int) -> None:
    """Also where all questions lie exactly on the centroids of their parts."""
    centroids = unit(np.random.default_rng(seed).standard_normal((parts, 8)))
    none = np.empty(0, np.int32)
    apart = PartitionEdges(none, none, np.empty(0, np.float32), np.zeros(1, np.int64), none, none)
    asked = centroids, align().targets([[one] for one in range(parts)], parts)
    found = align().train(centroids, apart, asked, asked, how("mlp", "infonce", steps=1))
    assert found.first_loss == pytest.approx(math.log(parts), abs=0.05)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_model_learns_by_every_loss(model: Any, loss: Any) -> None:
    asked = questions(200, 3)
    before, after = trained(how(model, loss, steps=1)), trained(how(model, loss))
    assert after.looks[-1].held < before.first_loss
    assert recall(before.aligner, asked) < 0.2
    assert recall(after.aligner, asked) > 0.8


def test_bce_gets_below_the_floor_of_scores_without_scale_and_bias() -> None:
    found = trained(how("mlp", "bce"))
    assert found.first_loss == pytest.approx(math.log(2), abs=0.05)
    assert min(look.held for look in found.looks) < 0.313


@pytest.mark.parametrize("model", MODELS)
def test_one_seed_gives_the_same_bytes_and_another_does_not(model: Any) -> None:
    once, again, other = (trained(how(model, "infonce", steps=20), seed).aligner for seed in (7, 7, 8))
    assert once.vectors.tobytes() == again.vectors.tobytes()
    assert once.vectors.tobytes() != other.vectors.tobytes()


def test_training_stops_when_questions_that_are_held_back_gain_nothing() -> None:
    """Questions that say nothing of their parts: what is learned of them is noise."""
    random = np.random.default_rng(4)

    def noise(count: int) -> Questions:
        return unit(random.standard_normal((count, DIMENSION))), align().targets(
            [[int(one)] for one in random.integers(0, PARTS, count)], PARTS
        )

    settings = how("mlp", "infonce", steps=2000)
    found = align().train(CENTROIDS, edges(), noise(300), noise(100), settings)
    assert found.looks[-1].step < 2000


def test_what_is_read_of_an_aligner_is_arrays_and_numbers(tmp_path: Path) -> None:
    found = trained(how("sage", "bce", steps=50)).aligner
    found.save(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".npy", ".json"}
    again = Aligner.open(tmp_path, PARTS)
    vector = questions(1, 5)[0][0]
    assert np.array_equal(again.scores(vector), found.scores(vector)) and again.meta["model"] == "sage"
    with pytest.raises(ReleaseError, match="of other parts"):
        Aligner.open(tmp_path, PARTS + 1)
    with pytest.raises(ReleaseError, match="Encode it with the encoder"):
        again.scores(vector[:-1])


def test_a_pickle_in_the_place_of_an_array_is_refused(tmp_path: Path) -> None:
    trained(how("mlp", "infonce", steps=1)).aligner.save(tmp_path)
    np.save(tmp_path / "vectors.npy", np.array([{"a": 1}] * PARTS, object), allow_pickle=True)
    with pytest.raises(ReleaseError, match="cannot be read"):
        Aligner.open(tmp_path, PARTS)
