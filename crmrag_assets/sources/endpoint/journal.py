"""Lists that an endpoint gave during discovery, on disk: a discovery that was interrupted does not ask again."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crmrag_query.artifacts.files import canonical_json, write_text

KEPT = 86_400.0  # seconds: an interruption may last a night, but old lists belong to another state of the endpoint


@dataclass(frozen=True)
class Journal:
    """Answers by the text of their query, in ``folder``; ``state`` is what else they depend on, such as the address."""

    folder: Path
    state: str

    def strings(self, query: str, ask: Callable[[str], list[str]]) -> list[str]:
        """The list that answers the query: from disk, else asked for and kept."""
        path = self.folder / f"{hashlib.sha256(f'{self.state} {query}'.encode()).hexdigest()[:32]}.json"
        kept = _read(path)
        if kept is None:
            kept = ask(query)
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(path, canonical_json(kept))
        return kept

    def forget(self) -> None:
        """Remove all that is kept."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(path: Path) -> list[str] | None:
    try:
        if time.time() - path.stat().st_mtime > KEPT:
            return None
        kept = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, list) and all(isinstance(one, str) for one in kept) else None
