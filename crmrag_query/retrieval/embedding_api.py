"""Embeddings from any API that litellm knows; keys come from the environment."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_query.errors import ModelError, ModelUnreachable, in_a_line
from crmrag_query.llm.faults import without_keys
from crmrag_query.llm.loading import load_litellm
from crmrag_query.retrieval.hashing import unit

PASSING = (
    "RateLimitError",
    "Timeout",
    "APIConnectionError",
    "InternalServerError",
    "ServiceUnavailableError",
)
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
        rows = [
            row
            for start in range(0, len(texts), self.batch)
            for row in self._batch(texts[start:][: self.batch])
        ]
        try:
            vectors = np.array(rows, np.float64)
        except (TypeError, ValueError) as error:
            raise self._failed(f"vectors of unequal length or kind ({error})") from error
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise self._failed("something else than vectors of numbers")
        return unit(vectors)

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        litellm = load_litellm("An embedding API")
        passing = tuple(getattr(litellm.exceptions, name) for name in PASSING)
        for attempt in range(1, self.attempts + 1):
            try:
                answer = litellm.embedding(
                    model=self.model,
                    input=list(texts),
                    timeout=self.timeout,
                    **self._options(),
                )
                found = sorted(answer.data, key=lambda item: int(item["index"]))
                break
            except passing as error:
                if lacking := _lacking(litellm, self.model):
                    raise ModelError(
                        f"The embedding model {self.model} needs an API key.", lacking
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

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"encoding_format": "float"}
        if self.api_base:
            options["api_base"] = self.api_base
        if self.dimensions:
            options["dimensions"] = self.dimensions
        return options

    def _failed(self, how: str) -> ModelError:
        return ModelError(f"The embedding model {self.model} answered with {how}.", CHECK)


def _lacking(litellm: ModuleType, model: str) -> str:
    """What to do where the model's API key is not in the environment, "" where it is or none is known to be needed."""
    names = [name for name in litellm.validate_environment(model)["missing_keys"] if name.endswith("_KEY")]
    return f"Set {' and '.join(names)} in the environment." if names else ""


def _said(error: Exception) -> str:
    """A provider's own words, without keys and the classes of errors that litellm puts before them."""
    said = in_a_line(error, keeping=without_keys)
    return _CLASSES.sub("", said) or said
