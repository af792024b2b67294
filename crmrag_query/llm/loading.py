"""litellm, loaded when it is first needed: that takes seconds, and it would reach for the network on its own."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

from crmrag_query.errors import MissingExtraError


def load_litellm(wanted: str) -> ModuleType:
    """litellm; MissingExtraError saying what it is ``wanted`` for where it is not installed."""
    # It fetches its table of prices over the network on import unless told otherwise.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        litellm = importlib.import_module("litellm")
    except ImportError as error:
        raise MissingExtraError(wanted, "llm", "litellm") from error
    vars(litellm)["suppress_debug_info"] = True  # else it prints advice to standard output
    return litellm
