from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crmrag_assets.indexes import export
from crmrag_assets.indexes.encoder import HashEncoder
from crmrag_assets.indexes.export import PARITY, Exported, content_hash, export_encoder
from crmrag_assets.indexes.sentence import SentenceTransformerEncoder
from crmrag_query.errors import MissingExtraError, ReleaseError
from crmrag_query.retrieval.encoder import QueryEncoder

QUESTIONS = [
    "Which saints are depicted in the church of Panagia Phorbiotissa?",
    "Ποιος έκτισε τον ναό;",
    "x",
    "",
    "Who painted the murals of 1105/6, and who paid for them? " * 20,
    "word " * 600,
]


def test_questions_are_encoded_as_the_model_would(
    minilm: SentenceTransformerEncoder, exported: Exported
) -> None:
    ours = QueryEncoder.open(exported.folder).encode(QUESTIONS)
    theirs = minilm.model.encode(QUESTIONS, normalize_embeddings=True, show_progress_bar=False)
    assert ours.dtype == np.float32
    assert np.min(np.sum(ours.astype(np.float64) * theirs, axis=1)) > 1 - PARITY


def test_a_question_s_vector_does_not_depend_on_the_others(exported: Exported) -> None:
    encoder = QueryEncoder.open(exported.folder)
    together = encoder.encode(QUESTIONS)
    for number, question in enumerate(QUESTIONS):
        np.testing.assert_array_equal(encoder.encode([question])[0], together[number])


def test_the_artifact_is_self_contained_and_named_by_its_content(exported: Exported) -> None:
    names = sorted(path.name for path in exported.folder.iterdir())
    assert names == ["encoder.json", "model.onnx", "tokenizer.json"]
    assert exported.folder.name == content_hash(exported.folder)
    assert (exported.settings.provider, exported.warning) == ("onnx", "")
    assert (exported.settings.model, exported.settings.pooling) == ("all-MiniLM-L6-v2", "mean")


def test_exporting_again_gives_the_same_bytes(
    minilm: SentenceTransformerEncoder, exported: Exported, tmp_path: Path
) -> None:
    assert export_encoder(minilm, tmp_path).folder.name == exported.folder.name


def test_what_is_there_is_not_exported_again(
    minilm: SentenceTransformerEncoder, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "write_encoder", lambda *_: pytest.fail("exported again"))
    assert export_encoder(minilm, exported.folder.parent) == exported


def test_no_path_of_this_machine_is_in_the_artifact(
    minilm: SentenceTransformerEncoder, exported: Exported
) -> None:
    places = {str(Path.home()), str(minilm.folder), str(Path.cwd()), str(Path(sys.prefix))}
    for path in exported.folder.iterdir():
        content = path.read_bytes()
        assert not [place for place in places if len(place) > 1 and place.encode() in content]


def test_a_question_needs_no_pytorch_and_opens_fast(exported: Exported) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from crmrag_query.retrieval.encoder import QueryEncoder\n"
        "start = time.perf_counter()\n"
        "QueryEncoder.open(Path(sys.argv[1])).encode(['Who made it?'])\n"
        "print(time.perf_counter() - start)\n"
        "assert not {'torch', 'transformers', 'sentence_transformers', 'litellm', 'dagster'} & set(sys.modules)\n"
    )
    command = [sys.executable, "-c", script, str(exported.folder)]
    seconds = min(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3)
    )
    assert seconds < 2  # 0.3 s on a quiet machine


def test_the_stand_in_needs_its_settings_only(tmp_path: Path) -> None:
    encoder = HashEncoder(64)
    found = export_encoder(encoder, tmp_path)
    assert [path.name for path in found.folder.iterdir()] == ["encoder.json"]
    vectors = QueryEncoder.open(found.folder).encode(["Asinou church", "submarine", ""])
    documents = encoder.encode(["The church of Asinou", ""])
    assert vectors[0] @ documents[0] > 0.5 > vectors[1] @ documents[0]
    assert not documents[1].any() and not vectors[2].any()
    with pytest.raises(ReleaseError, match="No encoder"):
        QueryEncoder.open(tmp_path)


@pytest.fixture
def resisting(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[SentenceTransformerEncoder, Exported]:
    """A model whose export fails."""

    def refuse(model: Any, path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("operator not known\nand more")

    monkeypatch.setattr(export, "export_model", refuse)
    return minilm, export_encoder(minilm, tmp_path)


def test_a_model_that_resists_export_says_what_to_install(
    resisting: tuple[SentenceTransformerEncoder, Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, found = resisting
    assert [path.name for path in found.folder.iterdir()] == ["encoder.json"]
    assert "operator not known" in found.warning and "crmrag[build]" in found.warning
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"crmrag\[build\]"):
        QueryEncoder.open(found.folder)


def test_a_model_that_resists_export_is_asked_through_sentence_transformers(
    resisting: tuple[SentenceTransformerEncoder, Exported],
) -> None:
    minilm, found = resisting
    settings = found.folder / "encoder.json"
    settings.write_text(settings.read_text().replace('"all-MiniLM-L6-v2"', f'"{minilm.folder}"'))
    vectors = QueryEncoder.open(found.folder).encode(QUESTIONS[:2])
    assert np.min(np.sum(vectors * minilm.encode(QUESTIONS[:2]), axis=1)) > 1 - PARITY


def test_an_export_that_differs_is_not_used(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "parity", lambda *_: 0.01)
    found = export_encoder(minilm, tmp_path)
    assert found.settings.provider == "sentence-transformers"
    assert "differs from the original" in found.warning


def test_the_question_s_prefix_is_added(exported: Exported) -> None:
    encoder = QueryEncoder.open(exported.folder)
    prefixed = replace(encoder, settings=replace(encoder.settings, query_prefix="query: "))
    np.testing.assert_array_equal(prefixed.encode(["icon"]), encoder.encode(["query: icon"]))


def test_a_damaged_encoder_is_named(exported: Exported, tmp_path: Path) -> None:
    for name in ("encoder.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((exported.folder / name).read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ReleaseError, match="cannot be loaded"):
        QueryEncoder.open(tmp_path)
