"""sentence-transformers as encoder, with vectors that do not depend on batch, order or number of cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from crmrag_assets.indexes.encoder import EncoderOptions, key_of
from crmrag_assets.indexes.models import Description, describe, model_folder, model_identity
from crmrag_query.errors import MissingExtraError, ModelError, in_a_line
from crmrag_query.retrieval.encoder import INPUTS, EncoderSettings
from crmrag_query.retrieval.hashing import unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Floats = npt.NDArray[np.float32]

DEFAULT_TOKENS = 512  # of a model that does not say


@dataclass(frozen=True)
class Shape:
    """Shapes in which texts are run: ``rows`` texts at once, lengths padded to a multiple of ``step`` tokens.

    One unpadded text at a time is what a CPU does fastest and depends on nothing else; an accelerator gets
    full batches of few fixed shapes, the last one filled with empty rows.
    """

    rows: int = 1
    step: int = 1


CPU = Shape()
ACCELERATOR = Shape(rows=32, step=64)


@dataclass(frozen=True)
class SentenceTransformerEncoder:
    """A model of the sentence-transformers kind, read from ``folder`` when first used.

    On a CPU each text is run alone on one thread, one worker a core: the same bits whatever the batch, the
    order, the point of resumption or the number of cores (another processor or PyTorch may differ in the last
    bits).
    """

    name: str
    folder: Path
    options: EncoderOptions
    shape: Shape = CPU

    @classmethod
    def named(cls, model: str, options: EncoderOptions) -> SentenceTransformerEncoder:
        """Raises ModelError when the model cannot be found."""
        return cls(model, model_folder(model), options, ACCELERATOR if options.device else CPU)

    @cached_property
    def key(self) -> str:
        readable = Path(self.name).name
        settings = {"prefix": self.options.document_prefix, "tokens": self.options.tokens}
        return key_of(readable, {"files": model_identity(self.folder)} | settings)

    @cached_property
    def model(self) -> Any:
        """The loaded SentenceTransformer, in evaluation mode."""
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError as error:
            raise MissingExtraError("Computing embeddings", "build", "sentence-transformers") from error
        cast(Any, logging).disable_progress_bar()
        try:
            return SentenceTransformer(
                str(self.folder), device=self.options.device or "cpu", local_files_only=True
            ).eval()
        except MemoryError:
            raise
        except Exception as error:  # types of four libraries
            raise ModelError(
                f"The model {self.name} cannot be loaded: {in_a_line(error)}.",
                f"Its files may be damaged: fetch them anew into {self.folder}.",
            ) from error

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, neither cutting nor padding."""
        from tokenizers import Tokenizer

        backend = getattr(self.model.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise ModelError(
                f"The model {self.name} has no fast tokenizer.", "Choose a model with tokenizer.json."
            )
        copy = Tokenizer.from_str(backend.to_str())
        copy.no_truncation()
        copy.no_padding()
        return copy

    @cached_property
    def description(self) -> Description:
        """Size of the model's vectors and input: from its files if they say so, else from the loaded model."""
        if found := describe(self.folder):
            return found
        special = self.tokenizer.num_special_tokens_to_add(False)
        most = int(self.model.max_seq_length or DEFAULT_TOKENS)
        return Description(int(self.model.get_embedding_dimension()), most, special)

    @property
    def tokens(self) -> int:
        """Tokens that are read, special ones and prefix included."""
        return min(self.description.tokens, self.options.tokens or self.description.tokens)

    @cached_property
    def window(self) -> int:
        prefix = self.options.document_prefix
        return self.tokens - self.description.special - (self.count([prefix])[0] if prefix else 0)

    @property
    def dimension(self) -> int:
        return self.description.dimension

    @property
    def settings(self) -> EncoderSettings:
        modules = [module.get_config_dict() for module in self.model if hasattr(module, "pooling_mode")]
        return EncoderSettings(
            provider="sentence-transformers",
            model=self.name if self.folder != Path(self.name) else self.folder.name,
            key=self.key,
            dimension=self.dimension,
            window=self.window,
            tokens=self.tokens,
            query_prefix=self.options.query_prefix,
            document_prefix=self.options.document_prefix,
            pooling=str(modules[0].get("pooling_mode", "")) if modules else "",
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        return [
            len(encoding.ids)
            for encoding in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ]

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors float32 [n, dimension]; a text over the window is cut."""
        rows = self._ids(texts)
        vectors = np.zeros((len(rows), self.dimension), np.float32)
        parts = batches([len(row) for row in rows], self.shape)
        with ThreadPoolExecutor(self._workers, initializer=_one_thread) as pool:
            for (part, _), found in zip(parts, pool.map(lambda b: self._run(rows, *b), parts), strict=True):
                vectors[part] = found[: len(part)]
        return unit(vectors)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        from tokenizers import Tokenizer

        cutting = Tokenizer.from_str(self.tokenizer.to_str())
        cutting.enable_truncation(self.tokens)
        return [e.ids for e in cutting.encode_batch([self.options.document_prefix + text for text in texts])]

    @property
    def _workers(self) -> int:
        return 1 if self.options.device else self.options.workers or os.cpu_count() or 1

    def _run(self, rows: list[list[int]], part: list[int], width: int) -> Floats:
        import torch

        ids = np.zeros((self.shape.rows, width), np.int64)
        mask = np.zeros_like(ids)
        mask[:, 0] = 1  # an empty row still needs something to look at
        for at, number in enumerate(part):
            ids[at, : len(rows[number])] = rows[number]
            mask[at, : len(rows[number])] = 1
        device = self.options.device or "cpu"
        features = {
            name: torch.from_numpy(array).to(device) for name, array in zip(INPUTS, (ids, mask), strict=True)
        }
        with torch.inference_mode():
            vectors: Floats = self.model(features)["sentence_embedding"].float().cpu().numpy()
        return vectors


def batches(lengths: Sequence[int], shape: Shape) -> list[tuple[list[int], int]]:
    """Texts to run together, as (their numbers, width in tokens); each text once, in order of length."""
    by_width: dict[int, list[int]] = {}
    for number in np.argsort(np.array(lengths, np.int64), kind="stable").tolist():
        by_width.setdefault(-(-lengths[number] // shape.step) * shape.step, []).append(number)
    return [
        (numbers[start : start + shape.rows], width)
        for width, numbers in by_width.items()
        for start in range(0, len(numbers), shape.rows)
    ]


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)
