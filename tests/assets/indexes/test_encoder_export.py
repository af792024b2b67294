from __future__ import annotations

import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

from crmrag_assets.build import store
from crmrag_assets.build.store import disk_explained
from crmrag_assets.indexes import encoder as export
from crmrag_assets.indexes.encoder import (
    PARITY,
    Exported,
    HashEncoder,
    SentenceTransformerEncoder,
    content_hash,
    export_encoder,
)
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.artifacts.release import Opener
from crmrag_query.errors import BuildError, MissingExtraError, ModelError, ReleaseError
from crmrag_query.retrieval.encoder import OnnxEncoder, QueryEncoder

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


def test_the_model_runs_once_for_the_vector_of_a_question_and_those_of_its_tokens(exported: Exported) -> None:
    opened = QueryEncoder.open(exported.folder).encoder
    assert isinstance(opened, OnnxEncoder)
    runs: list[Any] = []

    def run(*given: Any) -> Any:
        runs.append(given)
        return opened.session.run(*given)

    session = SimpleNamespace(run=run, get_outputs=opened.session.get_outputs)
    encoder = OnnxEncoder(session, opened.tokenizer)
    for question in QUESTIONS[:2]:
        np.testing.assert_array_equal(encoder.encode([question]), opened.encode([question]))
        tokens = encoder.tokens(question)
        mean = tokens.vectors.mean(axis=0)
        assert float(mean @ encoder.encode([question])[0]) > 0.8 * float(np.linalg.norm(mean)), (
            "of the same text"
        )
    assert len(runs) == 2


def test_the_artifact_is_self_contained_named_by_its_content_and_tells_no_path_of_this_machine(
    minilm: SentenceTransformerEncoder, exported: Exported
) -> None:
    names = sorted(path.name for path in exported.folder.iterdir())
    assert names == ["encoder.json", "model.onnx", "tokenizer.json"]
    assert exported.folder.name == content_hash(exported.folder)
    assert (exported.settings.provider, exported.warning) == ("onnx", "")
    assert (exported.settings.model, exported.settings.pooling) == ("all-MiniLM-L6-v2", "mean")
    places = {str(Path.home()), str(minilm.folder), str(Path.cwd()), str(Path(sys.prefix))}
    for path in exported.folder.iterdir():
        content = path.read_bytes()
        assert not [place for place in places if len(place) > 1 and place.encode() in content]


def test_exporting_again_gives_the_same_bytes_and_is_not_done_where_they_are(
    minilm: SentenceTransformerEncoder, exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert export_encoder(minilm, tmp_path).folder.name == exported.folder.name
    monkeypatch.setattr(export, "write_encoder", lambda *_: pytest.fail("exported again"))
    assert export_encoder(minilm, exported.folder.parent) == exported


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
    seconds = (
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3)
    )
    assert any(each < 2 for each in seconds)  # 0.3 s on a quiet machine


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


def refuse(model: Any, path: Path) -> None:
    """An export that fails for what the model is."""
    path.write_bytes(b"half")
    path.with_name("encoder.layer.0.weight").write_bytes(b"of a large model")
    raise RuntimeError("operator not known\nand more")


@pytest.fixture
def by_folder(minilm: SentenceTransformerEncoder) -> SentenceTransformerEncoder:
    """The default model under a name by which sentence-transformers finds it."""
    encoder = replace(minilm, name=str(minilm.folder))
    encoder.__dict__["model"] = minilm.model  # loaded once
    return encoder


@pytest.fixture
def resisting(
    by_folder: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[SentenceTransformerEncoder, Exported]:
    """A model whose export fails."""
    monkeypatch.setattr(export, "export_model", refuse)
    return by_folder, export_encoder(by_folder, tmp_path)


def declaring(model: str | Path, config: Path) -> Opener:
    """Whoever has a data set with that model in a configuration of their own."""
    config.mkdir(exist_ok=True)
    (config / "datasets.yaml").write_text(
        f"datasets: {{mine: {{rdf: mine.ttl, embedding: {{model: {model}}}}}}}", encoding="utf-8"
    )
    return Opener(config)


def test_a_model_that_resists_export_says_what_to_install(
    resisting: tuple[SentenceTransformerEncoder, Exported], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minilm, found = resisting
    assert [path.name for path in found.folder.iterdir()] == ["encoder.json"]
    assert "operator not known" in found.warning and "crmrag[build]" in found.warning
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"crmrag\[build\]"):
        QueryEncoder.open(found.folder, declaring(minilm.name, tmp_path / "config"))


def test_a_model_that_resists_export_is_asked_through_sentence_transformers(
    resisting: tuple[SentenceTransformerEncoder, Exported], tmp_path: Path
) -> None:
    minilm, found = resisting
    assert QueryEncoder.open(found.folder).withheld, (
        "a folder that nobody but the release names is not opened"
    )
    opener = declaring(minilm.name, tmp_path / "config")
    vectors = QueryEncoder.open(found.folder, opener).encode(QUESTIONS[:2])
    assert np.min(np.sum(vectors * minilm.encode(QUESTIONS[:2]), axis=1)) > 1 - PARITY


def test_an_export_that_differs_is_not_used(
    by_folder: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "export_model", lambda model, path: path.write_bytes(b""))
    monkeypatch.setattr(OnnxEncoder, "open", lambda *_: HashEncoder(by_folder.dimension))
    found = export_encoder(by_folder, tmp_path)
    assert found.settings.provider == "sentence-transformers"
    assert "differs from the original" in found.warning


def test_that_a_model_has_no_onnx_form_is_never_taken_from_an_earlier_build(
    resisting: tuple[SentenceTransformerEncoder, Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, found = resisting
    (found.folder.parent / "keys").mkdir(exist_ok=True)
    key = found.folder.parent / "keys" / f"{encoder.key}-{export.WRITER_VERSION}"
    assert not key.exists()
    key.write_text(found.folder.name)  # as earlier versions did
    tried: list[Path] = []
    monkeypatch.setattr(export, "export_model", lambda model, path: (tried.append(path), refuse(model, path)))
    assert export_encoder(encoder, found.folder.parent) == found
    assert len(tried) == 1


def test_an_encoder_that_nobody_could_open_is_not_made(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "export_model", refuse)
    encoder = replace(minilm, name="nobody/no-such-model")
    encoder.__dict__["model"] = minilm.model
    with pytest.raises(ModelError, match=r"operator not known.*not on this machine.*hf download") as told:
        export_encoder(encoder, tmp_path)
    assert "nobody/no-such-model" in told.value.what
    assert left_in(tmp_path) == []


# What says nothing of the model: no room, no memory.


def left_in(root: Path) -> list[str]:
    """What an export left that a later build could take for an encoder."""
    return [path.name for path in root.rglob("*") if path.is_file()]


def full_in_words() -> Exception:
    return RuntimeError("[enforce fail at serialization.cc:33] . No space left on device")


MACHINE = {
    "full": (lambda: OSError(28, "No space left on device"), OSError),
    "full, in words": (full_in_words, BuildError),
    "quota": (lambda: OSError(122, "Disk quota exceeded"), OSError),
    "broken": (lambda: OSError(5, "Input/output error"), OSError),
    "memory": (MemoryError, MemoryError),
    "memory of C++": (lambda: RuntimeError("std::bad_alloc"), MemoryError),
    "memory of PyTorch": (
        lambda: RuntimeError(
            "[enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory"
        ),
        MemoryError,
    ),
}


@pytest.mark.parametrize("where", ["on export", "on opening"])
@pytest.mark.parametrize("case", MACHINE)
def test_a_full_disk_or_memory_stops_the_export_and_says_nothing_of_the_model(
    minilm: SentenceTransformerEncoder, exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    case: str, where: str,
) -> None:  # fmt: skip
    make, expected = MACHINE[case]

    def stopped(*_: object, **__: object) -> None:
        raise make()

    with monkeypatch.context() as patch:
        if where == "on export":
            patch.setattr(export, "export_model", stopped)
        else:
            patch.setattr(export, "export_model", lambda model, path: path.write_bytes(b""))
            patch.setattr(onnxruntime, "InferenceSession", stopped)
        with pytest.raises((expected, BuildError)) as told, disk_explained(tmp_path):
            export_encoder(minilm, tmp_path)
    if expected is not MemoryError:
        assert re.search(
            r"is full.*Free some space" if case != "broken" else "failed to read", str(told.value)
        )
    assert left_in(tmp_path) == []


def test_weights_that_did_not_all_arrive_on_a_full_disk_stop_the_export(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch does not look whether they did: whatever goes wrong on a disk without room is the disk's fault."""
    monkeypatch.setattr(export, "export_model", lambda model, path: path.write_bytes(b"torn"))
    monkeypatch.setattr(store.shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    with pytest.raises(BuildError, match=r"is full.*Free some space"):
        export_encoder(minilm, tmp_path)
    assert left_in(tmp_path) == []


def test_a_model_that_is_not_on_this_machine_is_told_at_once(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(minilm.settings, model="nobody/no-such-model")
    (tmp_path / "encoder.json").write_text(canonical_json(settings.as_dict()))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a question asked the network"))
    with pytest.raises(ModelError, match=r"no-such-model is not on this machine.*hf download"):
        QueryEncoder.open(tmp_path, declaring("nobody/no-such-model", tmp_path / "config"))


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
