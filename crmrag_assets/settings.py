"""What the catalogue takes from operations.yaml.

A mistake in that file is told where it is needed, when the definitions are loaded: a build goes on without owners and links.
"""

from __future__ import annotations

from functools import lru_cache

from crmrag_query.config.operations import Operations, load_operations
from crmrag_query.errors import ConfigError


@lru_cache(maxsize=1)
def _operations() -> Operations:
    try:
        return load_operations()
    except ConfigError:
        return Operations()


def owners() -> tuple[str, ...]:
    """Whose the assets are: addresses of e-mail and `team:NAME`."""
    return _operations().owners


def lost_retries() -> int:
    """How often a build begins again after its process was lost."""
    return _operations().retrying.lost


def service_address() -> str | None:
    """Where `crmrag serve` is reached, without a slash at the end; None where nobody says."""
    return _operations().service
