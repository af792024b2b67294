"""The Encoder seam: texts to vectors, by a local model, an API, or the stand-in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.turns import Turns
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Windows
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.errors import ModelError
from crmrag_query.retrieval.embedding_api import EmbeddingApi
from crmrag_query.retrieval.encoder import EncoderSettings
from crmrag_query.retrieval.hashing import hash_vectors
from crmrag_query.retrieval.tokenizer import tokenize

Floats = npt.NDArray[np.float32]

HASH = "hash"
HASH_DIMENSION = 256
BYTES_PER_TOKEN = 3  # fewer than any common tokenizer needs for text in Latin or Greek script


@dataclass(frozen=True)
class EncoderOptions:
    """How a model is used. ``tokens`` of one text, special ones included: 0 for as many as the model reads.

    ``device`` "" for CPU, else PyTorch's name (``cuda``); ``workers`` 0 for one a core.
    """

    query_prefix: str = ""
    document_prefix: str = ""
    tokens: int = 0
    device: str = ""
    workers: int = 0


class Encoder(Protocol):
    """Encodes documents. A vector depends on its text alone, never on the other texts or their order."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str:
        """Identity of model and settings, fit for a folder's name: equal keys, equal vectors."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def window(self) -> int:
        """Tokens of a text that are read, special tokens and the prefix not counted."""
        ...

    @property
    def settings(self) -> EncoderSettings:
        """What a question's encoder must know."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, neither cut nor with special tokens."""
        ...

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors float32 [n, dimension] of documents; raises ModelError."""
        ...


def encoder_for(
    config: EmbeddingConfig, windows: Windows, device: str = "", workers: int = 0, turns: Turns | None = None
) -> Encoder:
    """The encoder of a data set: the model ``hash``, an API through litellm, else a folder or hub name.

    ``turns``: at which an API is asked. Nothing is loaded before it is used.
    Raises ModelError when a local model cannot be found.
    """
    tokens = config.window_tokens or windows.tokens
    options = EncoderOptions(config.query_prefix, config.document_prefix, tokens, device, workers)
    if config.provider == "litellm":
        batch = config.batch or windows.batch
        return LiteLLMEncoder(
            EmbeddingApi(config.model, dimensions=config.dimension or 0, batch=batch), options, turns
        )
    if config.model == HASH:
        return HashEncoder(config.dimension or HASH_DIMENSION, tokens)
    from crmrag_assets.indexes.sentence import SentenceTransformerEncoder

    return SentenceTransformerEncoder.named(config.model, options)


def key_of(name: str, identity: dict[str, object]) -> str:
    """A folder's name from a model's name and everything that its vectors depend on."""
    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-")[:40]
    return f"{readable}-{hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class HashEncoder:
    """The honest stand-in: feature hashing of words. It needs no model and finds shared words only."""

    dimension: int = HASH_DIMENSION
    window: int = 256  # words

    @property
    def name(self) -> str:
        return HASH

    @property
    def key(self) -> str:
        return key_of(HASH, {"version": 1, "dimension": self.dimension})

    @property
    def settings(self) -> EncoderSettings:
        return EncoderSettings("hash", HASH, self.key, self.dimension, self.window)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(tokenize(text)) for text in texts]

    def encode(self, texts: Sequence[str]) -> Floats:
        return hash_vectors(texts, self.dimension)


@dataclass(frozen=True)
class LiteLLMEncoder:
    """Any embedding API through litellm; tokens are estimated from bytes, on the safe side.

    ``turns``: at which it is asked, where other builds ask it as well.
    """

    api: EmbeddingApi
    options: EncoderOptions
    turns: Turns | None = None

    @property
    def name(self) -> str:
        return self.api.model

    @property
    def key(self) -> str:
        identity = {"provider": "litellm", "model": self.name, "dimensions": self.api.dimensions}
        return key_of(
            self.name, identity | {"prefix": self.options.document_prefix, "base": self.api.api_base}
        )

    @cached_property
    def dimension(self) -> int:
        """As asked for, else of one vector that the API is asked to make."""
        return self.api.dimensions or self._asked(["dimension"]).shape[1]

    @property
    def window(self) -> int:
        return self.options.tokens or 256

    @property
    def settings(self) -> EncoderSettings:
        return EncoderSettings(
            provider="litellm",
            model=self.name,
            key=self.key,
            dimension=self.dimension,
            window=self.window,
            query_prefix=self.options.query_prefix,
            document_prefix=self.options.document_prefix,
            api_base=self.api.api_base,
            api_dimensions=self.api.dimensions,
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        return [-(-len(text.encode()) // BYTES_PER_TOKEN) for text in texts]

    def encode(self, texts: Sequence[str]) -> Floats:
        vectors = self._asked([self.options.document_prefix + text for text in texts])
        found = vectors.shape[1]
        if len(texts) and found != self.dimension:
            raise ModelError(
                f"The embedding model {self.name} gave vectors of {found} dimensions in place of {self.dimension}.",
                "Has the provider changed its model? Name a version of it that stays, and give its `dimension`.",
            )
        return vectors

    def _asked(self, texts: Sequence[str]) -> Floats:
        with self.turns.turn() if self.turns else nullcontext():
            return self.api.encode(texts)
