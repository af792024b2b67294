"""Documents as ONNX Runtime encodes them on a CPU, in float32 and in int8."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crmrag_assets.indexes import encoder as module
from crmrag_assets.indexes.encoder import (
    BLOCK,
    Exported,
    OnnxDocuments,
    SentenceTransformerEncoder,
    encoder_for,
    in_blocks,
)
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.errors import ModelError

TEXTS = [
    "Panagia Phorbiotissa",
    "Ναός της Παναγίας Φορβιώτισσας στην Ασίνου",
    "",
    "The church was painted in 1105/6 at the expense of the magistros Nikephoros Ischyrios.",
    *(" ".join(f"mural {n} of {m}" for n in range(m * 3)) for m in (2, 9, 40)),
]


def documents(minilm: SentenceTransformerEncoder, root: Path, **config: Any) -> OnnxDocuments:
    encoder = OnnxDocuments(minilm.name, minilm.folder, EmbeddingConfig(**config), root=root)
    encoder.__dict__["model"] = minilm.model
    return encoder


@pytest.fixture
def root(exported: Exported) -> Path:
    return exported.folder.parent


@pytest.mark.parametrize(
    ("precision", "least"), [pytest.param("float32", 1 - 1e-5, marks=pytest.mark.slow), ("int8", 0.99)]
)
def test_vectors_are_those_of_the_model_as_far_as_their_precision_goes(
    minilm: SentenceTransformerEncoder, root: Path, precision: str, least: float
) -> None:
    found = documents(minilm, root, precision=precision).encode(TEXTS)
    theirs = minilm.model.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert found.shape == (len(TEXTS), 384) and found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert least < np.min(np.sum(found * theirs, axis=1)) < 1 + 1e-6
    assert (np.min(np.sum(found * theirs, axis=1)) < 1 - 1e-5) == (precision == "int8")


@pytest.mark.parametrize("precision", ["float32", pytest.param("int8", marks=pytest.mark.slow)])
def test_the_bits_of_a_vector_depend_on_its_text_alone(
    minilm: SentenceTransformerEncoder, root: Path, precision: str
) -> None:
    encoder = documents(minilm, root, precision=precision)
    together = encoder.encode(TEXTS)
    backwards = documents(minilm, root, precision=precision)
    np.testing.assert_array_equal(backwards.encode(TEXTS[::-1]), together[::-1])
    one, four = replace(encoder, workers=1), replace(encoder, workers=4)
    np.testing.assert_array_equal(np.vstack([one.encode([text]) for text in TEXTS]), together)
    np.testing.assert_array_equal(four.encode(TEXTS * 3), np.vstack([together] * 3))


def test_what_runs_the_model_and_its_precision_are_parts_of_the_key(
    minilm: SentenceTransformerEncoder, root: Path
) -> None:
    keys = {one: documents(minilm, root, precision=one).key for one in ("float32", "int8")}
    assert len({minilm.key, *keys.values()}) == 3  # PyTorch's vectors differ in their last bits
    assert documents(minilm, root, precision="int8").settings.key == keys["int8"]
    other = documents(minilm, root, precision="int8", document_prefix="passage: ")
    assert other.key != keys["int8"]


def test_the_prefix_is_encoded_with_the_text(minilm: SentenceTransformerEncoder, root: Path) -> None:
    prefixed = documents(minilm, root, document_prefix="passage: ")
    np.testing.assert_array_equal(
        prefixed.encode(["icon"]), documents(minilm, root).encode(["passage: icon"])
    )


@pytest.mark.parametrize(
    ("gpu", "precision", "kind"),
    [
        (True, "float32", SentenceTransformerEncoder),
        (True, "int8", OnnxDocuments),
        (False, "int8", OnnxDocuments),
        (False, "float32", OnnxDocuments),
    ],
)
def test_a_gpu_is_used_unless_int8_is_asked_for(
    gpu: bool, precision: Any, kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_gpu", lambda: gpu)
    config = EmbeddingConfig(model=str(tmp_path), precision=precision)
    assert type(encoder_for(config, tmp_path)) is kind


def test_a_model_without_an_onnx_form_is_run_by_pytorch(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(model: Any, path: Path) -> None:
        raise RuntimeError("operator not known")

    monkeypatch.setattr(module, "export_model", refuse)
    encoder = documents(replace(minilm, name=str(minilm.folder)), tmp_path)
    np.testing.assert_array_equal(encoder.encode(TEXTS[:2]), minilm.encode(TEXTS[:2]))


def test_a_model_that_rounding_would_change_is_refused_with_what_to_do(
    minilm: SentenceTransformerEncoder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def coarse(weight: Any) -> Any:
        values, scales = in_blocks(weight)
        return (values // 100 * 100).astype(np.uint8), scales

    monkeypatch.setattr(module, "in_blocks", coarse)
    with pytest.raises(ModelError, match=r"in int8 differs from itself: cosine .*precision: float32"):
        documents(minilm, root, precision="int8").encode(["icon"])


@given(arrays(np.float32, (3, 2 * BLOCK), elements=st.floats(-1e3, 1e3, width=32)))
def test_no_weight_moves_by_more_than_half_a_step_of_its_block(weight: Any) -> None:
    values, scales = in_blocks(weight)
    assert values.shape == (3, 2, BLOCK) and values.dtype == np.uint8
    for row in range(3):
        for block in range(2):
            theirs = weight[row, block * BLOCK : (block + 1) * BLOCK].astype(np.float64)
            scale = float(scales[row * 2 + block])
            rounded = float(np.finfo(np.float32).smallest_subnormal)  # of a scale below all normal numbers
            assert scale <= np.abs(theirs).max() / 127 * (1 + 1e-6) + rounded
            ours = (values[row, block].astype(np.float64) - 128) * scale
            assert np.abs(ours - theirs).max() <= scale * 0.5001 + float(np.finfo(np.float32).tiny)
