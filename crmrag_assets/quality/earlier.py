"""The release that a build's artifacts are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crmrag_assets.build.step import BuildContext
from crmrag_assets.release.contents import PLACES
from crmrag_query.artifacts.manifest import Manifest, read_manifest
from crmrag_query.artifacts.places import CURRENT, PREVIOUS, dataset_folder, pointer
from crmrag_query.errors import ReleaseError


@dataclass(frozen=True)
class Earlier:
    """An earlier release of the data set: its folder and manifest."""

    folder: Path
    manifest: Manifest

    @property
    def id(self) -> str:
        return self.manifest.id

    def has_same(self, context: BuildContext, artifact: str) -> bool:
        """Whether it pins the artifact, file by file, as it is now."""
        place = PLACES[artifact]
        pinned = {
            entry.path: entry.sha256 for entry in self.manifest.files if entry.path.startswith(f"{place}/")
        }
        files = context.finished(artifact).files
        return pinned == {f"{place}/{entry.path}": entry.sha256 for entry in files}


def earlier_release(context: BuildContext, artifact: str) -> Earlier | None:
    """The current release, or, where that holds the artifact as it is now, the previous one; None where neither differs.

    So a check says the same before the release is published and after.
    """
    found = (_release(context, name) for name in (CURRENT, PREVIOUS))
    return next((one for one in found if one is not None and not one.has_same(context, artifact)), None)


def current_release(context: BuildContext) -> Earlier | None:
    """The release that answers now; None where there is none, or none that can be read."""
    return _release(context, CURRENT)


def _release(context: BuildContext, name: str) -> Earlier | None:
    parent = dataset_folder(context.data, context.name)
    try:
        release = pointer(parent, name)
        return None if release is None else Earlier(parent / release, read_manifest(parent / release))
    except ReleaseError:
        return None
