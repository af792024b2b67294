"""Encoding questions with the encoder of a release: ONNX Runtime by default, no PyTorch."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.versions import other_version, rebuild
from crmrag_query.errors import MissingExtraError, ModelError, ReleaseError
from crmrag_query.retrieval.embedding_api import EmbeddingApi
from crmrag_query.retrieval.hashing import hash_vectors, unit

SCHEMA_VERSION = 1
SETTINGS = "encoder.json"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
INPUTS = ("input_ids", "attention_mask")
THREADS = 2  # of one session; a question is too short for more

Provider = Literal["onnx", "sentence-transformers", "litellm", "hash"]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class EncoderSettings:
    """What ``encoder.json`` says: how the documents were encoded, so that questions are encoded alike.

    ``key`` identifies model and settings; ``window`` tokens of a text, special ones not counted; ``tokens``
    with them.
    """

    provider: Provider
    model: str
    key: str
    dimension: int
    window: int
    tokens: int = 0
    query_prefix: str = ""
    document_prefix: str = ""
    api_base: str = ""
    api_dimensions: int = 0
    pooling: str = ""
    normalize: bool = True
    schema: int = SCHEMA_VERSION

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, folder: Path) -> EncoderSettings:
        """The settings in ``folder``; raises ReleaseError when they are missing or of another version."""
        try:
            settings = cls(**json.loads((folder / SETTINGS).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ReleaseError(f"No encoder in {folder}: {error}.", rebuild(folder)) from error
        if settings.schema != SCHEMA_VERSION:
            raise other_version("The encoder", folder, settings.schema, [SCHEMA_VERSION])
        return settings


class TextEncoder(Protocol):
    """Texts to unit vectors float32 [n, d]."""

    def encode(self, texts: Sequence[str]) -> Floats: ...


@dataclass(frozen=True)
class QueryEncoder:
    """The encoder of a release: adds the question's prefix, checks the dimension."""

    settings: EncoderSettings
    encoder: TextEncoder

    @classmethod
    def open(cls, folder: Path) -> QueryEncoder:
        """Open the encoder in ``folder``; raises ReleaseError or MissingExtraError."""
        settings = EncoderSettings.read(folder)
        return cls(settings, _open(folder, settings))

    def encode(self, questions: Sequence[str]) -> Floats:
        """Unit vectors float32 [k, dimension]; each depends on its question alone."""
        vectors = self.encoder.encode([self.settings.query_prefix + question for question in questions])
        if len(vectors) and vectors.shape[1] != self.settings.dimension:
            found, wanted = vectors.shape[1], self.settings.dimension
            raise ModelError(
                f"The encoder {self.settings.model} gave {found} dimensions, the release has {wanted}.",
                "Use the model that the release was built with.",
            )
        return vectors


def _open(folder: Path, settings: EncoderSettings) -> TextEncoder:
    match settings.provider:
        case "onnx":
            return OnnxEncoder.open(folder, settings.tokens)
        case "hash":
            return HashQueries(settings.dimension)
        case "litellm":
            return EmbeddingApi(settings.model, settings.api_base, settings.api_dimensions, attempts=2)
        case "sentence-transformers":
            return TorchQueries.open(settings.model)
        case other:
            raise ReleaseError(f"{folder} names the unknown encoder provider {other}.", "Update crmrag.")


@dataclass(frozen=True)
class OnnxEncoder:
    """A model exported to ONNX, pooling and normalisation inside; each text is run alone, never padded."""

    session: Any
    tokenizer: Any

    @classmethod
    def open(cls, folder: Path, tokens: int) -> OnnxEncoder:
        """Load model and tokenizer; texts are cut at ``tokens`` tokens, special ones included."""
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.log_severity_level = 3
        try:
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            providers = ["CPUExecutionProvider"]
            session = onnxruntime.InferenceSession(str(folder / MODEL), options, providers=providers)
        except Exception as error:  # both libraries raise plain exceptions and types of their own
            raise ReleaseError(
                f"The encoder in {folder} cannot be loaded: {error}.", rebuild(folder)
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(tokens)
        return cls(session, tokenizer)

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors float32 [n, d]."""
        rows = [self._one(encoding.ids) for encoding in self.tokenizer.encode_batch(list(texts))]
        return unit(np.vstack(rows)) if rows else np.zeros((0, 0), np.float32)

    def _one(self, ids: list[int]) -> Floats:
        row = np.array([ids], np.int64)
        vector: Floats = self.session.run(None, dict(zip(INPUTS, (row, np.ones_like(row)), strict=True)))[0]
        return vector


@dataclass(frozen=True)
class HashQueries:
    """The stand-in encoder of the tests and of builds without a model."""

    dimension: int

    def encode(self, texts: Sequence[str]) -> Floats:
        return hash_vectors(texts, self.dimension)


@dataclass(frozen=True)
class TorchQueries:
    """A model that could not be exported: encoded by sentence-transformers, which takes seconds to import."""

    model: Any

    @classmethod
    def open(cls, name: str) -> TorchQueries:
        try:
            library = importlib.import_module("sentence_transformers")
        except ImportError as error:
            raise MissingExtraError(
                f"Encoding questions with {name}", "build", "sentence-transformers"
            ) from error
        try:
            return cls(library.SentenceTransformer(name, device="cpu"))
        except (OSError, ValueError) as error:
            raise ModelError(
                f"The model {name} cannot be loaded: {error}.", "Give its folder or hub name."
            ) from error

    def encode(self, texts: Sequence[str]) -> Floats:
        rows = [self.model.encode([text], convert_to_numpy=True) for text in texts]
        return unit(np.vstack(rows)) if rows else np.zeros((0, 0), np.float32)
