"""What a data set's working folder says of its last finished build, and of the last look that found nothing new."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from crmrag_query.artifacts.files import canonical_json, write_text

PUBLISHED, CONFIRMED = "published.json", "confirmed"


@dataclass(frozen=True)
class Published:
    """A build that was finished: the release that it published, when it ended (ISO, UTC), and what it was made from.

    ``source``: the source's fingerprint as it was read, "" where the source changed meanwhile. ``harvest``: the version of
    what was found in it, and ``fetched``, when the oldest part of that was fetched.
    """

    release: str
    at: str
    source: str
    harvest: str
    fetched: str

    def write(self, root: Path) -> None:
        """Keep it in a data set's working folder."""
        write_text(root / PUBLISHED, canonical_json(asdict(self)))

    @classmethod
    def read(cls, root: Path) -> Published | None:
        """What was kept in a working folder; None where there is nothing, or nothing that can be read."""
        try:
            raw = json.loads((root / PUBLISHED).read_text(encoding="utf-8"))
            return cls(*(str(raw[name]) for name in ("release", "at", "source", "harvest", "fetched")))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def confirm(root: Path) -> None:
    """Keep that the source was looked at just now and is still what was built."""
    (root / CONFIRMED).touch()


def confirmed_at(root: Path) -> datetime | None:
    """When a look last found the source to be what was built."""
    try:
        return datetime.fromtimestamp((root / CONFIRMED).stat().st_mtime, UTC)
    except OSError:
        return None
