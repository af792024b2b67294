"""Encoders of documents: a local model, an API, or the stand-in; the encoder artifact, by which questions are encoded like
the documents, without PyTorch; and embedding a chunk: the windows of its documents, each encoded once for its text, ever.

Windows are what an encoder reads whole: lines kept, the header repeated. What is made is appended to files as it is made, so
that a stopped build repeats nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, Self, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock
from pyarrow import ipc

from crmrag_assets.build.step import Progress, SilentProgress, Turns
from crmrag_assets.build.store import disk_trouble, full_disk, has_room, is_memory
from crmrag_query.artifacts.manifest import canonical_json, entries, sha256_file, write_text
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import CrmRagError, MissingExtraError, ModelError, in_a_line
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints
from crmrag_query.retrieval.dense import CHUNK_VECTORS as VECTORS
from crmrag_query.retrieval.dense import CHUNK_WINDOWS as WINDOWS
from crmrag_query.retrieval.dense import STORED
from crmrag_query.retrieval.encoder import (
    INPUTS,
    MODEL,
    SETTINGS,
    TOKENIZER,
    VECTOR_OF_TEXT,
    VECTORS_OF_TOKENS,
    EmbeddingApi,
    EncoderSettings,
    OnnxEncoder,
    TextEncoder,
    TorchQueries,
    hash_vectors,
    load_model,
    model_folder,
    unit,
)
from crmrag_query.text import tokenize

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

Floats = npt.NDArray[np.float32]
HASH = "hash"
HASH_DIMENSION = 256
DEFAULT_TOKENS = 512  # of a model that does not say
BYTES_PER_TOKEN = 3  # fewer than any common tokenizer needs for text in Latin or Greek script
MODULES = {"Transformer", "Pooling", "Normalize"}  # of a model of the usual make
_SUFFIXES = {".json", ".safetensors", ".bin", ".model", ".txt"}


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


def model_identity(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a model that its vectors depend on, by relative path."""
    paths = (Path(base) / name for base, _, names in os.walk(folder) for name in names)
    read = sorted(path for path in paths if path.suffix in _SUFFIXES and path.name != "data_config.json")
    return {path.relative_to(folder).as_posix(): sha256_file(path) for path in read}


@dataclass(frozen=True)
class Description:
    """What a model's own files say of it: dimension of its vectors, tokens it reads, special ones among them."""

    dimension: int
    tokens: int
    special: int


def describe(folder: Path) -> Description | None:
    """The description of a model of the usual make (transformer, one pooling, normalisation), else None.

    It spares loading a model to learn that nothing is to be done.
    """
    from tokenizers import Tokenizer

    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        if {module["type"].rsplit(".", 1)[-1] for module in modules} - MODULES:
            return None
        (pooling,) = (folder / m["path"] / "config.json" for m in modules if m["type"].endswith("Pooling"))
        pooled = json.loads(pooling.read_text(encoding="utf-8"))
        if sum(value is True for key, value in pooled.items() if key.startswith("pooling_mode_")) != 1:
            return None
        own = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        special = Tokenizer.from_file(str(folder / "tokenizer.json")).num_special_tokens_to_add(False)
        return Description(int(pooled["word_embedding_dimension"]), int(own["max_seq_length"]), special)
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
    """A model of the sentence-transformers kind as PyTorch runs it, on a GPU where there is one; read from ``folder`` when
    first used.

    On a CPU each text is run alone on one thread, one worker a core: the same bits whatever the batch, the
    order, the point of resumption or the number of cores (another processor or PyTorch may differ in the last
    bits).
    """

    name: str
    folder: Path
    config: EmbeddingConfig
    workers: int = 0  # 0 for one a core

    @classmethod
    def of(cls, config: EmbeddingConfig, workers: int = 0) -> Self:
        """The encoder of the model that is configured; raises ModelError when it cannot be found."""
        return cls(config.model, model_folder(config.model), config, workers)

    @cached_property
    def key(self) -> str:
        return encoder_key(Path(self.name).name, self.identity)

    @property
    def identity(self) -> dict[str, object]:
        """All that its vectors depend on."""
        settings = {"prefix": self.config.document_prefix, "tokens": self.config.window_tokens}
        return {"files": model_identity(self.folder)} | settings

    @cached_property
    def device(self) -> str:
        """PyTorch's name of what the model runs on: ``cuda`` or ``cpu``."""
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"

    @cached_property
    def shape(self) -> Shape:
        return CPU if self.device == "cpu" else ACCELERATOR

    @cached_property
    def model(self) -> Any:
        """The loaded SentenceTransformer, in evaluation mode."""
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        try:
            from transformers.utils import logging
        except ImportError as error:
            raise MissingExtraError("Computing embeddings", "build", "sentence-transformers") from error
        cast(Any, logging).disable_progress_bar()
        try:
            return load_model(self.name, self.folder, self.device)
        except (MemoryError, CrmRagError):
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
        return min(self.description.tokens, self.config.window_tokens)

    @cached_property
    def window(self) -> int:
        prefix = self.config.document_prefix
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
            query_prefix=self.config.query_prefix,
            document_prefix=self.config.document_prefix,
            pooling=str(modules[0].get("pooling_mode", "")) if modules else "",
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encoded]

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors float32 [n, dimension]; a text over the window is cut."""
        rows = self._ids(texts)
        vectors = np.zeros((len(rows), self.dimension), np.float32)
        parts = batches([len(row) for row in rows], self.shape)
        workers = (self.workers or os.cpu_count() or 1) if self.device == "cpu" else 1
        with ThreadPoolExecutor(workers, initializer=_one_thread) as pool:
            for (part, _), found in zip(parts, pool.map(lambda b: self._run(rows, *b), parts), strict=True):
                vectors[part] = found[: len(part)]
        return unit(vectors)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        from tokenizers import Tokenizer

        cutting = Tokenizer.from_str(self.tokenizer.to_str())
        cutting.enable_truncation(self.tokens)
        return [e.ids for e in cutting.encode_batch([self.config.document_prefix + text for text in texts])]

    def _run(self, rows: list[list[int]], part: list[int], width: int) -> Floats:
        import torch

        ids = np.zeros((self.shape.rows, width), np.int64)
        mask = np.zeros_like(ids)
        mask[:, 0] = 1  # an empty row still needs something to look at
        for at, number in enumerate(part):
            ids[at, : len(rows[number])] = rows[number]
            mask[at, : len(rows[number])] = 1
        arrays = zip(INPUTS, (ids, mask), strict=True)
        features = {name: torch.from_numpy(array).to(self.device) for name, array in arrays}
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


def encoder_key(name: str, identity: dict[str, object]) -> str:
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
        return encoder_key(HASH, {"version": 1, "dimension": self.dimension})

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
    config: EmbeddingConfig
    turns: Turns | None = None

    @property
    def name(self) -> str:
        return self.api.model

    @property
    def key(self) -> str:
        identity = {"provider": "litellm", "model": self.name, "dimensions": self.api.dimensions}
        return encoder_key(
            self.name, identity | {"prefix": self.config.document_prefix, "base": self.api.api_base}
        )

    @cached_property
    def dimension(self) -> int:
        """As asked for, else of one vector that the API is asked to make."""
        return self.api.dimensions or self._asked(["dimension"]).shape[1]

    @property
    def window(self) -> int:
        return self.config.window_tokens

    @property
    def settings(self) -> EncoderSettings:
        return EncoderSettings(
            provider="litellm",
            model=self.name,
            key=self.key,
            dimension=self.dimension,
            window=self.window,
            query_prefix=self.config.query_prefix,
            document_prefix=self.config.document_prefix,
            api_base=self.api.api_base,
            api_dimensions=self.api.dimensions,
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        return [-(-len(text.encode()) // BYTES_PER_TOKEN) for text in texts]

    def encode(self, texts: Sequence[str]) -> Floats:
        vectors = self._asked([self.config.document_prefix + text for text in texts])
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


WRITER_VERSION = 2
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

    A local model becomes ONNX with pooling and normalisation inside, and is compared with the original. A model
    that has no such form is named with sentence-transformers as its provider, and ``warning`` says what a
    questioner must install; that is tried anew each time. Raises ModelError where the encoder cannot be opened,
    and what a full disk or missing memory makes of the export: these say nothing of the model.
    """
    pointer = root / "keys" / f"{encoder.key}-{WRITER_VERSION}"
    if pointer.is_file() and (folder := root / pointer.read_text(encoding="utf-8").strip()).is_dir():
        settings = EncoderSettings.read(folder)
        if not warning_for(settings) and content_hash(folder) == folder.name:
            return Exported(folder, settings)
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
    if not warning:
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
        except ModelError as error:
            reason = error.what
            for left in folder.iterdir():  # of a large model the exporter writes the weights beside it
                left.unlink()
            settings = replace(settings, model=encoder.name)
            try:  # sentence-transformers has to find it by its name, and to encode with it alike
                require_alike(encoder, TorchQueries.open(settings.model), PROBES[:1])  # which no window cuts
            except ModelError as other:
                what = f"The model {settings.model} has no ONNX form: {reason} Nor can it be opened by its name: {other.what}"
                raise ModelError(what, other.remedy) from other
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
    """Write ``model.onnx`` and ``tokenizer.json``, which open and encode as the model does.

    Raises ModelError when the model resists; of the disk and of memory BuildError, OSError and MemoryError: PyTorch does not
    look whether weights that it writes into files of their own arrive there, so that a full disk may show as any error.
    """
    (folder / TOKENIZER).write_text(encoder.tokenizer.to_str(), encoding="utf-8")
    try:
        export_model(encoder.model, folder / MODEL)
        require_alike(encoder, OnnxEncoder.open(folder, encoder.tokens), PROBES)
    except MemoryError:
        raise
    except Exception as error:  # exporters raise whatever the model's code makes them meet
        trouble: Exception | None = disk_trouble(error, folder)
        if trouble is None and is_memory(error):
            trouble = MemoryError(in_a_line(error))
        if trouble is None and not has_room(folder):
            trouble = full_disk(folder)
        if trouble is not None:
            raise trouble from error
        if isinstance(error, OSError):
            raise
        if isinstance(error, CrmRagError):
            raise ModelError(error.what) from error
        raise ModelError(f"{type(error).__name__}: {in_a_line(error)}.") from error


def require_alike(encoder: SentenceTransformerEncoder, opened: TextEncoder, texts: Sequence[str]) -> None:
    """Raise ModelError unless what questions are encoded with gives the model's vectors."""
    prefix = encoder.config.document_prefix
    found = opened.encode([prefix + text for text in texts]).astype(np.float64)
    theirs = SentenceTransformerEncoder.encode(encoder, texts)  # as PyTorch runs it
    difference = float(np.max(1 - np.sum(found * theirs, axis=1)))
    if not difference <= PARITY:
        raise ModelError(
            f"The questions' encoder differs from the original model: cosine 1 - {difference:.2g}."
        )


def export_model(model: Any, path: Path) -> None:
    """The whole pipeline of a SentenceTransformer as one ONNX graph, batch and length left open; made on the CPU, so that a
    GPU gives the same bytes. It gives the vector of a text and, where the model has them, those of its tokens."""
    import torch

    class Pipeline(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.pipeline = model

        def forward(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
            found = self.pipeline(dict(zip(INPUTS, inputs, strict=True)))
            return [found[name] for name in outputs]

    # Two lengths, so that neither is taken for a constant.
    ids = torch.tensor([[4, 5, 6, 7, 0], [4, 5, 6, 7, 8]])
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    device = model.device
    model.cpu()
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        given = model(dict(zip(INPUTS, (ids, mask), strict=True)))
        outputs = [name for name in (VECTOR_OF_TEXT, VECTORS_OF_TOKENS) if name in given]
        torch.onnx.export(
            Pipeline().eval(),  # the exporter gives this mode back to all that is inside
            (ids, mask),
            str(path),
            input_names=list(INPUTS),
            output_names=outputs,
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in (*INPUTS, *outputs[1:])}
            | {VECTOR_OF_TEXT: {0: "texts"}},
            opset_version=OPSET,
            dynamo=False,  # the newer exporter needs onnxscript and writes source paths into the file
        )
    model.to(device)


BLOCK = 32  # weights, and numbers of what they are multiplied with, that have one scale
LEVELS = 127  # of an int8 on either side of 0
COMPUTED_IN_INT8 = 4  # as ONNX Runtime's operator MatMulNBits names it
ALIKE = 0.99  # least cosine to the vectors of the model itself


@dataclass(frozen=True)
class OnnxDocuments(SentenceTransformerEncoder):
    """The same model as ONNX Runtime runs it on a CPU, by its form in ``root`` that questions are encoded by.

    Each text is run alone on one thread, one worker a core: the same bits whatever the batch, the order, the point of
    resumption or the number of cores. With the precision int8 weights and what they are multiplied with are rounded in
    blocks, which takes less time. Both are part of the key, so that no vectors of another are taken for its own. A model
    without such a form is run by PyTorch.
    """

    root: Path = Path()

    @property
    def in_int8(self) -> bool:
        return self.config.precision == "int8"

    @property
    def identity(self) -> dict[str, object]:
        rounded = {"int8": BLOCK} if self.in_int8 else {}
        return super().identity | {"runtime": "onnx"} | rounded  # PyTorch's vectors differ in their last bits

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors float32 [n, d]; a text over the window is cut. Raises ModelError where rounding changes too much."""
        opened = self._opened
        if opened is None:
            return super().encode(texts)
        whole = ([self.config.document_prefix + text] for text in texts)
        with ThreadPoolExecutor(self.workers or os.cpu_count() or 1) as pool:
            rows = list(pool.map(opened.encode, whole))
        return np.vstack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    @cached_property
    def _opened(self) -> OnnxEncoder | None:
        exported = export_encoder(self, self.root)
        if exported.settings.provider != "onnx":
            return None
        tokens = exported.settings.tokens
        whole = OnnxEncoder.open(exported.folder, tokens, threads=1)
        if not self.in_int8:
            return whole
        with TemporaryDirectory() as folder:
            shutil.copy(exported.folder / TOKENIZER, folder)
            write_int8(exported.folder / MODEL, Path(folder) / MODEL)
            rounded = OnnxEncoder.open(Path(folder), tokens, threads=1)
        alike = float(np.min(np.sum(whole.encode(PROBES) * rounded.encode(PROBES), axis=1)))
        if not alike >= ALIKE:
            raise ModelError(
                f"The model {self.name} in int8 differs from itself: cosine {alike:.3f}.",
                "Say `precision: float32` under its `embedding` in config/datasets.yaml.",
            )
        return rounded


def write_int8(model: Path, out: Path) -> None:
    """Write a model with the weights of its linear layers as int8, one scale for each ``BLOCK`` of them.

    ONNX Runtime rounds what comes in likewise, each block of each token by itself, so that nothing needs to be calibrated
    and no single large number makes others coarse.
    """
    import onnx
    from onnx import helper, numpy_helper

    graph = (whole := onnx.load(model)).graph
    weights = {one.name: one for one in graph.initializer}
    for node in graph.node:
        if node.op_type != "MatMul" or node.input[1] not in weights:
            continue
        weight = numpy_helper.to_array(weights[node.input[1]])
        if weight.ndim != 2 or len(weight) % BLOCK:
            continue
        values, scales = in_blocks(weight.T)
        names = [f"{node.output[0]}/{part}" for part in ("int8", "scales")]
        graph.initializer.append(numpy_helper.from_array(values, names[0]))
        graph.initializer.append(numpy_helper.from_array(scales, names[1]))
        sizes = {"K": weight.shape[0], "N": weight.shape[1], "bits": 8, "block_size": BLOCK}
        inputs, outputs = [node.input[0], *names], list(node.output)
        node.CopyFrom(
            helper.make_node(
                "MatMulNBits", inputs, outputs, node.name, domain="com.microsoft",
                accuracy_level=COMPUTED_IN_INT8, **sizes,
            )
        )  # fmt: skip
    used = {name for node in graph.node for name in node.input}
    for name, weight in weights.items():
        if name not in used:
            graph.initializer.remove(weight)
    whole.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(whole, out, save_as_external_data=True, location="weights")  # beyond 2 GB there is no other way


def in_blocks(weight: Floats) -> tuple[npt.NDArray[np.uint8], Floats]:
    """Weights [n, k] as uint8 [n, k / BLOCK, BLOCK] around 128, and their scales float32 [n × k / BLOCK]."""
    blocks = weight.astype(np.float32).reshape(len(weight), -1, BLOCK)
    scales = np.abs(blocks).max(axis=2, keepdims=True) / LEVELS
    values = np.rint(np.divide(blocks, scales, out=np.zeros_like(blocks), where=scales != 0))
    return (values + LEVELS + 1).astype(np.uint8), scales.ravel().astype(np.float32)


def has_gpu() -> bool:
    """Whether PyTorch finds a GPU; its build for CPUs need not be loaded to tell."""
    try:
        if version("torch").endswith("+cpu"):
            return False
    except PackageNotFoundError:
        return False
    import torch

    return bool(torch.cuda.is_available())


def encoder_for(config: EmbeddingConfig, root: Path, workers: int = 0, turns: Turns | None = None) -> Encoder:
    """The encoder of a data set: the model ``hash``, an API through litellm, else a folder or hub name.

    ``root``: where exported encoders are kept. ``turns``: at which an API is asked. Nothing is loaded before it is used.
    A model is run on a GPU where there is one, unless its precision is int8.
    Raises ModelError when a local model cannot be found.
    """
    if config.provider == "litellm":
        api = EmbeddingApi(config.model, config.api_base, config.dimension or 0, config.batch)
        return LiteLLMEncoder(api, config, turns)
    if config.model == HASH:
        return HashEncoder(config.dimension or HASH_DIMENSION, config.window_tokens)
    if config.precision == "float32" and has_gpu():
        return SentenceTransformerEncoder.of(config, workers)
    return replace(OnnxDocuments.of(config, workers), root=root)


Records = npt.NDArray[np.void]
KEY = 32  # bytes of the SHA-256 of a text


def record_type(dimension: int) -> np.dtype[np.void]:
    """A vector: ``key`` of the window's text, the vector, CRC-32 of both; little-endian."""
    return np.dtype([("key", "V32"), ("vector", "<f4", (dimension,)), ("crc", "<u4")])


CUT = np.dtype([("text", "V32"), ("window", "V32"), ("number", "<u4"), ("of", "<u4"), ("crc", "<u4")])
"""A window of a text: keys of both, which of how many windows it is, CRC-32 of all that."""


@dataclass
class VectorCache:
    """Vectors of one encoder by the SHA-256 of their text, in one append-only file."""

    path: Path
    dimension: int
    vectors: dict[bytes, Floats] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, dimension: int) -> VectorCache:
        """Read what is whole; a torn end is cut off, a record with a wrong checksum passed over."""
        found = _read(path, record_type(dimension))
        return cls(path, dimension, dict(zip(_keys(found["key"]), found["vector"], strict=True)))

    def append(self, found: Mapping[bytes, Floats]) -> None:
        """Add vectors and hand them to the operating system before returning."""
        records = np.zeros(len(found), record_type(self.dimension))
        records["key"] = np.frombuffer(b"".join(found), "V32")
        records["vector"] = np.array([*found.values()]).reshape(len(found), self.dimension)
        _append(self.path, records)
        self.vectors |= found

    def rows(self, keys: Sequence[bytes]) -> npt.NDArray[np.float32]:
        """The vectors of texts that are known, float32 [keys, dimension]."""
        return np.array([self.vectors[key] for key in keys], np.float32).reshape(len(keys), self.dimension)


@dataclass
class CutCache:
    """How texts were cut into windows, as keys of these by the text's key; of one encoder and one size of window."""

    path: Path
    cuts: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> CutCache:
        """As `VectorCache.open`; a text that lacks a record is not known."""
        found, parts = _read(path, CUT), dict[bytes, list[bytes]]()
        columns = _keys(found["text"]), _keys(found["window"]), found["number"].tolist()
        for text, window, number in zip(*columns, strict=True):
            known = parts.setdefault(text, [])
            if number == len(known):
                known.append(window)
        of = dict(zip(columns[0], found["of"].tolist(), strict=True))
        return cls(path, {text: tuple(known) for text, known in parts.items() if len(known) == of[text]})

    def append(self, found: Mapping[bytes, Sequence[bytes]]) -> None:
        """Add what texts were cut into."""
        size = [len(windows) for windows in found.values()]
        records = np.zeros(sum(size), CUT)
        records["text"] = np.repeat(np.frombuffer(b"".join(found), "V32"), size)
        records["window"] = np.frombuffer(b"".join(chain.from_iterable(found.values())), "V32")
        records["number"] = np.fromiter(chain.from_iterable(map(range, size)), np.uint32, len(records))
        records["of"] = np.repeat(size, size)
        _append(self.path, records)
        self.cuts |= {text: tuple(windows) for text, windows in found.items()}


def _read(path: Path, kind: np.dtype[np.void]) -> Records:
    """The records of a file, which is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    size = kind.itemsize
    with _alone(path), path.open("r+b") as stream:
        _cut_torn_end(stream, size)
        stream.seek(0)
        raw = stream.read()
    records = np.frombuffer(raw, kind)
    sound: Records = records[records["crc"] == _checksums(raw, size)]
    return sound


def _append(path: Path, records: Records) -> None:
    records["crc"] = _checksums(records.tobytes(), records.dtype.itemsize)
    with _alone(path), path.open("ab") as stream:
        _cut_torn_end(stream, records.dtype.itemsize)
        stream.write(records.tobytes())


def _alone(path: Path) -> FileLock:
    """Held while a cache is read or appended to: builds of other data sets, and `embed`, may use the same file."""
    return FileLock(path.with_name(".lock"), thread_local=False)


def _cut_torn_end(stream: BinaryIO, size: int) -> None:
    """What a killed process left of a record, behind which all others would be out of step."""
    stream.truncate(stream.seek(0, os.SEEK_END) // size * size)
    stream.seek(0, os.SEEK_END)


def _checksums(raw: bytes, size: int) -> npt.NDArray[np.uint32]:
    """CRC-32 of each record of ``size`` bytes but its own last four."""
    view = memoryview(raw)
    found = (zlib.crc32(view[start : start + size - 4]) for start in range(0, len(raw), size))
    return np.fromiter(found, np.uint32, len(raw) // size)


def _keys(column: npt.NDArray[np.void]) -> list[bytes]:
    raw = column.tobytes()
    return [raw[start : start + KEY] for start in range(0, len(raw), KEY)]


Count = Callable[[Sequence[str]], list[int]]
HEADER_SHARE = 4  # a repeated header takes at most a quarter of the window
CUTTING = 1  # raised when texts are cut otherwise
COUNTED = 256  # texts that are counted at once


def cut(texts: Sequence[str], count: Count, room: int) -> list[list[str]]:
    """`windows` of each text, in order; many are counted at once, which tokenizers do faster."""
    tokens = chain.from_iterable(
        count(texts[start : start + COUNTED]) for start in range(0, len(texts), COUNTED)
    )
    return [
        [text] if n <= room else windows(text, count, room) for text, n in zip(texts, tokens, strict=True)
    ]


def windows(text: str, count: Count, room: int) -> list[str]:
    """Windows of ``text``, each of at most ``room`` tokens by ``count``.

    A text that fits is its own only window. Else lines are packed in order behind the first line, which is
    repeated; a line too long for a window is split between words. Counts are taken to add up over words,
    which holds for tokenizers that split at white space first; where it does not, the encoder cuts the few
    tokens too many.
    """
    if count([text])[0] <= room:
        return [text]
    header, *lines = text.split("\n")
    repeated = split(header, count, max(1, room // HEADER_SHARE))[0]
    left = room - count([repeated])[0]
    rest = header[len(repeated) :].strip()
    lines = [rest, *lines] if rest else lines
    pieces = [piece for line in lines for piece in split(line, count, max(1, left))]
    return ["\n".join([repeated, *body]) for body in pack(pieces, count(pieces), left)]


def pack(pieces: Sequence[str], counts: Sequence[int], room: int) -> list[list[str]]:
    """Neighbouring pieces in groups of at most ``room`` tokens; a piece larger than that is alone."""
    groups: list[list[str]] = []
    used = room + 1
    for piece, tokens in zip(pieces, counts, strict=True):
        if used + tokens > room:
            groups.append([])
            used = 0
        groups[-1].append(piece)
        used += tokens
    return groups


def split(line: str, count: Count, room: int) -> list[str]:
    """``line`` in pieces of at most ``room`` tokens, cut between words, a too long word between letters."""
    if count([line])[0] <= room:
        return [line]
    words = re.findall(r"\S+\s*|^\s+", line)
    if len(words) < 2:
        middle = len(line) // 2
        return [*split(line[:middle], count, room), *split(line[middle:], count, room)] if middle else [line]
    parts: list[str] = []
    for group in pack(words, count(words), room):
        parts += split(group[0], count, room) if len(group) == 1 else ["".join(group)]
    return parts


BATCH = 64  # texts encoded between two writes to the cache: what a stopped build loses at most
WINDOW_SCHEMA = pa.schema([("number", pa.int32()), ("window", pa.int16()), ("text_hash", pa.binary(32))])


@dataclass(frozen=True)
class Embedded:
    """Vectors float32 [w, d] of length 1 and, row by row, whose window they are (``WINDOW_SCHEMA``).

    Rows are in order of the texts given, by their numbers; ``fresh``: the windows that were new to the cache.
    """

    vectors: npt.NDArray[np.float32]
    windows: pa.Table
    fresh: tuple[str, ...] = ()


def embed_chunk(
    numbered: Sequence[tuple[int, str]],
    encoder: Encoder,
    cache: Path,
    progress: Progress | None = None,
    others: Iterable[Path] = (),
) -> Embedded:
    """Encode the windows of (number, final text) pairs; ``cache`` is the chunk's file, progress is in windows.

    Neither cuts nor encodes a text again that it knows from that file and the one of cuts beside it. Nor is encoded what has
    a vector in one of ``others``, files of chunks that held these documents before. Raises ModelError from the encoder; what
    was encoded before is kept.
    """
    of = [key_of(text) for _, text in numbered]
    texts = {key: text for key, (_, text) in zip(of, numbered, strict=True)}
    known, cuts, new = _looked_up(texts, encoder, cache, others)
    rows = [
        (number, place, window)
        for key, (number, _) in zip(of, numbered, strict=True)
        for place, window in enumerate(cuts.cuts[key])
    ]
    progress = progress or SilentProgress()
    progress.advance(len(rows) - len(new), len(rows))
    for done in encode_new(new, encoder, known):
        progress.advance(len(rows) - len(new) + done, len(rows))
    vectors = known.rows([key for _, _, key in rows])
    columns = [[row[column] for row in rows] for column in range(3)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, WINDOW_SCHEMA, strict=True)]
    return Embedded(vectors, pa.table(arrays, WINDOW_SCHEMA), tuple(new.values()))


def encode_new(new: Mapping[bytes, str], encoder: TextEncoder, known: VectorCache) -> Iterator[int]:
    """Encode texts by their keys, batch by batch, each kept in ``known`` before the next one starts; how many are done."""
    keys = list(new)
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        known.append(dict(zip(part, encoder.encode([new[key] for key in part]), strict=True)))
        yield start + len(part)


def encode_whole(
    texts: Sequence[str],
    encoder: TextEncoder,
    known: VectorCache,
    progress: Progress,
    note: str = "",
    prefix: str = "",
) -> tuple[Floats, list[str]]:
    """Vectors of texts that fit a window, float32 [texts, d], and which of them were not ``known``: these are encoded.

    ``prefix``: what the encoder puts before each, by which its vector is another one.
    """
    keys = [key_of(prefix + text) for text in texts]
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known.vectors}
    for done in encode_new(new, encoder, known):
        progress.advance(done, len(new), note)
    return known.rows(keys), [*new.values()]


def pending(
    texts: Iterable[str], encoder: Encoder, cache: Path, others: Iterable[Path] = ()
) -> tuple[int, VectorCache, dict[bytes, str]]:
    """What `embed_chunk` would encode: of how many of the texts, into which cache, and which windows, by key."""
    by_key = {key_of(text): text for text in texts}
    known, cuts, new = _looked_up(by_key, encoder, cache, others)
    return sum(any(window in new for window in cuts.cuts[key]) for key in by_key), known, new


def lacking(
    of: Sequence[bytes], texts: Iterable[str], encoder: Encoder, cache: Path, others: Sequence[Path] = ()
) -> list[bool]:
    """Which of the texts, with these keys, have no vector yet, all windows counted; a text that was never cut into any is not
    cut for that. ``texts`` are looked at only where there are ``others``."""
    if others:  # of which it is not known how they were cut
        _, cuts, new = _looked_up(dict(zip(of, texts, strict=True)), encoder, cache, others)
        return [any(window in new for window in cuts.cuts[key]) for key in of]
    vectors, cuts = VectorCache.open(cache, encoder.dimension).vectors, _cuts(cache, encoder)
    return [any(window not in vectors for window in cuts.cuts.get(key, (key,))) for key in of]


def encode_batches(
    new: Mapping[bytes, str], encoder: Encoder, known: VectorCache
) -> Iterator[tuple[list[str], float]]:
    """`encode_new`, that gives the texts of each batch, and which share of all is done."""
    texts, before = list(new.values()), 0
    for done in encode_new(new, encoder, known):
        yield texts[before:done], done / len(texts)
        before = done


def _cuts(cache: Path, encoder: Encoder) -> CutCache:
    return CutCache.open(cache.with_name(f"{cache.stem}-{encoder.window}-{CUTTING}.cuts"))


def _looked_up(
    texts: Mapping[bytes, str], encoder: Encoder, cache: Path, others: Iterable[Path]
) -> tuple[VectorCache, CutCache, dict[bytes, str]]:
    """The chunk's caches, and by key the windows of the texts that have no vector in any."""
    known = VectorCache.open(cache, encoder.dimension)
    cuts = _cuts(cache, encoder)
    vectors = known.vectors
    uncut = [key for key in texts if any(window not in vectors for window in cuts.cuts.get(key, (b"",)))]
    parts = cut([texts[key] for key in uncut], encoder.count, encoder.window)
    keys = [[key_of(window) for window in part] for part in parts]
    cuts.append({key: windows for key, windows in zip(uncut, keys, strict=True) if key not in cuts.cuts})
    cut_now = zip(chain.from_iterable(keys), chain.from_iterable(parts), strict=True)
    new = {key: window for key, window in cut_now if key not in vectors}
    for path in others:  # what is found there becomes known here
        if new:
            found = VectorCache.open(path, known.dimension).vectors
            known.append({key: found[key] for key in new if key in found})
            new = {key: window for key, window in new.items() if key not in found}
    return known, cuts, new


def key_of(text: str) -> bytes:
    """By which a text's vector is known."""
    return hashlib.sha256(text.encode()).digest()


def write_embedded(folder: Path, embedded: Embedded) -> None:
    """Write ``vectors.npy`` and ``windows.arrow`` (IPC file, one uncompressed batch); rows are in order of their texts."""
    np.save(folder / VECTORS, embedded.vectors)
    _, place = np.unique(embedded.windows.column("number").to_numpy(), return_inverse=True)
    columns = [pa.array(place.astype(np.int32)), *embedded.windows.columns[1:]]
    table = pa.table(columns, STORED).combine_chunks()
    with pa.OSFile(str(folder / WINDOWS), "wb") as sink, ipc.new_file(sink, STORED) as writer:
        writer.write_table(table)


def open_embedded(folder: Path, numbers: npt.NDArray[np.int32] | None = None) -> Embedded:
    """Memory-map what ``write_embedded`` wrote; ``numbers`` of the chunk's texts, ascending, else 0, 1, …"""
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    with pa.memory_map(str(folder / WINDOWS)) as source:
        table = ipc.open_file(source).read_all()
    place = table.column("place").to_numpy()
    number = pa.array(place if numbers is None else numbers[place])
    return Embedded(vectors, pa.table([number, *table.columns[1:]], WINDOW_SCHEMA))


SHARES = (1, 5, 20, 50, 100)
"""Per cent of the documents whose vectors make a better release."""
SMOOTHING = 60  # ranks are joined by 1 / (60 + rank), as elsewhere: Cormack, Clarke & Büttcher 2009


def by_importance(documents: Documents, pagerank: npt.NDArray[np.floating]) -> Ints:
    """The documents, int32 [documents], the most important first.

    Those of entities with a name of their own come before all others; then those that are central, by their entities'
    ``pagerank`` [nodes], and rich, by their characters: both ranks are fused. Equals come in their own order.
    """
    entities = documents.entities
    named = (documents.graph.flags[entities] & FLAG_LABELLED) != 0
    length = pc.utf8_length(documents.table.column("text")).to_numpy()
    fused = 1 / (SMOOTHING + _ranks(pagerank[entities])) + 1 / (SMOOTHING + _ranks(length))
    return np.lexsort((-fused, ~named)).astype(np.int32)


def _ranks(values: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """From 1 for the highest."""
    found = np.empty(len(values), np.int64)
    found[np.argsort(-values.astype(np.float64), kind="stable")] = np.arange(1, len(values) + 1)
    return found


def shares_of(order: Ints) -> npt.NDArray[np.uint8]:
    """For each document of an order the first of ``SHARES`` that it is among, uint8 [documents]; each has at least one."""
    found = np.empty(len(order), np.uint8)
    for share in reversed(SHARES):
        found[order[: -(-len(order) * share // 100)]] = share
    return found
