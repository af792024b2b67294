"""Vectors are sound, tell texts apart, and point where they did."""

from __future__ import annotations

import numpy as np
import pytest

from crmrag_assets.build.step import BuildContext, run_step
from crmrag_assets.quality.indexes import vectors_are_distinct, vectors_are_sound, vectors_have_not_drifted
from crmrag_assets.steps.registry import STEPS
from tests.support.builds import turtle
from tests.support.quality import build_up_to, rewriting, with_checks


def test_vectors_of_length_one_are_sound(sound: BuildContext) -> None:
    found = vectors_are_sound(sound)
    assert (
        found.holds and found.counts["wrong"] == 0 and found.counts["longest"] == pytest.approx(1, abs=1e-5)
    )


@pytest.mark.parametrize(("wrong", "unfinite"), [(np.nan, 1), (np.inf, 1), (0.0, 0), (2.0, 0)])
def test_a_vector_that_is_none_is_named(copied: BuildContext, wrong: float, unfinite: int) -> None:
    with rewriting(copied, "embeddings", "40") as folder:
        vectors = np.load(folder / "vectors.npy")
        vectors[1] = wrong
        np.save(folder / "vectors.npy", vectors)
    run_step(STEPS["faiss_index"], copied)
    found = vectors_are_sound(copied)
    assert not found.holds and found.counts["wrong"] == 1 and found.counts["not_finite"] == unfinite
    assert "“" in found.says and str(copied.data / "cache" / "embeddings") in found.remedy


def test_different_texts_have_different_vectors(sound: BuildContext) -> None:
    found = vectors_are_distinct(sound)
    assert found.holds and found.counts["equal"] == 0


def test_an_encoder_that_gives_one_vector_for_all_texts_is_found_out(copied: BuildContext) -> None:
    with rewriting(copied, "embeddings", "40") as folder:
        vectors = np.load(folder / "vectors.npy")
        vectors[:] = vectors[0]
        np.save(folder / "vectors.npy", vectors)
    found = vectors_are_distinct(copied)
    assert not found.holds and found.counts["equal"] == len(vectors)
    assert found.tables["most_equal"][0]["windows"] == len(vectors)


def test_without_another_release_nothing_is_compared(sound: BuildContext) -> None:
    found = vectors_have_not_drifted(sound)
    assert found.holds and "no earlier release" in found.says and found.counts["cosine"] == 1.0


def test_a_small_change_is_no_drift_and_texts_of_another_kind_are(copied: BuildContext) -> None:
    source = copied.config.root / "churches.ttl"
    source.write_text(turtle(13), encoding="utf-8")
    build_up_to(copied, "faiss_index")
    assert vectors_have_not_drifted(copied).holds
    assert "cosine of 0." in vectors_have_not_drifted(copied).says
    words = (
        turtle(12).replace("Church", "Ναός").replace("Mural", "Τοιχογραφία").replace("Painter", "Ζωγράφος")
    )
    source.write_text(
        words.replace("Painting of mural", "Έργο").replace("Εκκλησία", "Ναΐσκος"), encoding="utf-8"
    )
    build_up_to(copied, "faiss_index")
    found = vectors_have_not_drifted(with_checks(copied, drift_cosine=0.99))
    assert not found.holds and found.counts["cosine"] < 0.99 and "crmrag diff churches" in found.remedy


def test_another_encoder_is_not_compared(copied: BuildContext) -> None:
    (copied.config.root / "churches.ttl").write_text(turtle(13), encoding="utf-8")
    build_up_to(copied, "faiss_index")
    with rewriting(copied, "encoder") as folder:
        (folder / "more.txt").write_text("x", encoding="utf-8")
    assert "has another encoder" in vectors_have_not_drifted(copied).says
    assert run_step(STEPS["encoder"], copied).record.artifact == "encoder"
