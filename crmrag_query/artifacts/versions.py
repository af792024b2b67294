"""Releases of other versions of the program: read, or refused with what to do."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from crmrag_query.errors import ReleaseError

UPGRADE = "Upgrade: pip install --upgrade crmrag"
UNNAMED = "DATASET"


def rebuild(path: Path) -> str:
    """The command that makes again what lies at ``path``, within a release or a data set's working folder."""
    return f"Build it again: crmrag build {_dataset(path)}"


def _dataset(path: Path) -> str:
    """The data set's name as the release's manifest tells it, in a few steps upwards."""
    from crmrag_query.artifacts.manifest import MANIFEST  # which refuses other versions by this module

    for folder in (path, *path.parents[:3]):
        try:
            name = json.loads((folder / MANIFEST).read_bytes())["dataset"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return name if isinstance(name, str) and name.isprintable() else UNNAMED
    return UNNAMED


def other_version(what: str, folder: Path, found: object, known: Collection[int]) -> ReleaseError:
    """The error for a schema that is none of ``known``: what is older is built again, what is newer needs an upgrade."""
    newer = type(found) is int and found > max(known)
    read = " and ".join(map(str, sorted(known)))
    return ReleaseError(
        f"{what} in {folder} has version {found}; this version of crmrag reads {read}.",
        UPGRADE if newer else rebuild(folder),
    )
