"""The encoder artifact: what a question needs to be encoded like the documents, without PyTorch."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crmrag_assets.indexes.encoder import Encoder
from crmrag_assets.indexes.sentence import SentenceTransformerEncoder
from crmrag_query.artifacts.files import canonical_json, entries, write_text
from crmrag_query.errors import CrmRagError, ModelError
from crmrag_query.retrieval.encoder import INPUTS, MODEL, SETTINGS, TOKENIZER, EncoderSettings, OnnxEncoder

if TYPE_CHECKING:
    import torch

WRITER_VERSION = 1
OPSET = 17
PARITY = 1e-5  # largest difference of the cosine from 1 between exported and original model
PROBES = (
    "Church of Panagia Phorbiotissa",
    "Ναός της Παναγίας Φορβιώτισσας, Ασίνου, 1105/6",
    "The murals were painted in several campaigns between the twelfth and the fourteenth century. " * 6,
)


@dataclass(frozen=True)
class Exported:
    """Where the encoder lies, and why questions will need more than ONNX Runtime ("" when they do not)."""

    folder: Path
    settings: EncoderSettings
    warning: str = ""


def export_encoder(encoder: Encoder, root: Path) -> Exported:
    """Write ``encoder`` into ``root/<content hash>``, or find it there; equal encoders give equal bytes.

    A local model becomes ONNX with pooling and normalisation inside, and is compared with the original. When
    that fails, the artifact names sentence-transformers as its provider, and ``warning`` says what a
    questioner must install.
    """
    pointer = root / "keys" / f"{encoder.key}-{WRITER_VERSION}"
    if pointer.is_file() and (folder := root / pointer.read_text(encoding="utf-8").strip()).is_dir():
        settings = EncoderSettings.read(folder)
        if content_hash(folder) == folder.name:
            return Exported(folder, settings, warning_for(settings))
    working = root / f".{encoder.key}.{os.getpid()}.tmp"
    shutil.rmtree(working, ignore_errors=True)
    working.mkdir(parents=True)
    try:
        warning = write_encoder(encoder, working)
        folder = root / content_hash(working)
        shutil.rmtree(folder, ignore_errors=True)
        working.rename(folder)
    finally:
        shutil.rmtree(working, ignore_errors=True)
    write_text(pointer, folder.name + "\n")
    return Exported(folder, EncoderSettings.read(folder), warning)


def content_hash(folder: Path) -> str:
    """First 16 hexadecimal digits of the hash of all files of a folder."""
    listing = "".join(f"{entry.path}\0{entry.sha256}\n" for entry in entries(folder))
    return hashlib.sha256(listing.encode()).hexdigest()[:16]


def write_encoder(encoder: Encoder, folder: Path) -> str:
    """Fill an empty folder with the artifact; gives the warning, "" when there is none."""
    settings = encoder.settings
    reason = ""
    if isinstance(encoder, SentenceTransformerEncoder):
        try:
            write_onnx(encoder, folder)
            settings = replace(settings, provider="onnx")
        except CrmRagError as error:
            reason = error.what
            for left in (folder / MODEL, folder / TOKENIZER):
                left.unlink(missing_ok=True)
            settings = replace(settings, model=encoder.name)
    (folder / SETTINGS).write_text(canonical_json(settings.as_dict()), encoding="utf-8")
    return warning_for(settings, reason)


def warning_for(settings: EncoderSettings, reason: str = "") -> str:
    if settings.provider != "sentence-transformers":
        return ""
    return (
        f"The model {settings.model} has no ONNX form{': ' + reason if reason else '.'} "
        "Whoever asks this release needs PyTorch: pip install 'crmrag[build]'"
    )


def write_onnx(encoder: SentenceTransformerEncoder, folder: Path) -> None:
    """Write ``model.onnx`` and ``tokenizer.json``; raises ModelError when the model resists or the copy
    differs.
    """
    (folder / TOKENIZER).write_text(encoder.tokenizer.to_str(), encoding="utf-8")
    try:
        export_model(encoder.model, folder / MODEL)
    except Exception as error:  # exporters raise whatever the model's code makes them meet
        raise ModelError(f"{type(error).__name__} on export: {str(error).splitlines()[0]}") from error
    difference = parity(encoder, OnnxEncoder.open(folder, encoder.tokens), PROBES)
    if not difference <= PARITY:
        raise ModelError(f"the exported model differs from the original: cosine 1 - {difference:.2g}")


def parity(encoder: SentenceTransformerEncoder, exported: OnnxEncoder, texts: Sequence[str]) -> float:
    """Largest difference from 1 of the cosine between a text's vectors by both."""
    prefix = encoder.options.document_prefix
    ours = exported.encode([prefix + text for text in texts]).astype(np.float64)
    return float(np.max(1 - np.sum(ours * encoder.encode(texts), axis=1)))


def export_model(model: Any, path: Path) -> None:
    """The whole pipeline of a SentenceTransformer as one ONNX graph, batch and length left open."""
    import torch

    class Pipeline(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.pipeline = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            vector: torch.Tensor = self.pipeline(dict(zip(INPUTS, inputs, strict=True)))["sentence_embedding"]
            return vector

    ids = torch.tensor(
        [[4, 5, 6, 7, 0], [4, 5, 6, 7, 8]]
    )  # two lengths, so that neither is taken for a constant
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Pipeline().eval(),  # the exporter gives this mode back to all that is inside
            (ids, mask),
            str(path),
            input_names=list(INPUTS),
            output_names=["sentence_embedding"],
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in INPUTS}
            | {"sentence_embedding": {0: "texts"}},
            opset_version=OPSET,
            dynamo=False,  # the newer exporter needs onnxscript and writes source paths into the file
        )
