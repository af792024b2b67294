"""Going back to a release that there was before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crmrag_assets.build.locks import is_locked
from crmrag_assets.build.store import working_folder
from crmrag_assets.release.switching import switching
from crmrag_query.artifacts.manifest import MANIFEST, is_release_id, read_manifest
from crmrag_query.artifacts.places import PREVIOUS, dataset_folder, listed, pointer, switch
from crmrag_query.artifacts.verify import Advance, check_files, check_id
from crmrag_query.errors import ReleaseError, ReleaseNotFound

UNCHANGED = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Which release was current (None: none that could be read), which is now; ``building``: a build is running."""

    before: str | None
    now: str
    building: bool


def roll_back(
    data: Path,
    dataset: str,
    release: str | None = None,
    advance: Advance = lambda done, total: None,
) -> RolledBack:
    """Make ``release``, or the previous one, the current release of a data set.

    Every byte of it is checked before. Safe beside a running build, which publishes its own release when it ends. Raises
    ReleaseNotFound when there is none, ReleaseError when it is damaged or current already; then nothing was changed.
    """
    folder = dataset_folder(data, dataset)
    before, chosen = _current(folder), release or pointer(folder, PREVIOUS)
    if chosen is None or not is_release_id(chosen) or not (folder / chosen / MANIFEST).is_file():
        what = f"no release {chosen}" if chosen else "no previous release"
        raise ReleaseNotFound(f"Data set '{dataset}' has {what}.", f"{UNCHANGED} {listed(data, dataset)}")
    if chosen == before:
        raise ReleaseError(f"Release {chosen} of data set '{dataset}' is current already.", UNCHANGED)
    _check(folder / chosen, before, advance)
    with switching(folder):
        if _current(folder) != before or not (folder / chosen / MANIFEST).is_file():
            raise ReleaseError(
                f"A build of data set '{dataset}' published a release just now.",
                f"{UNCHANGED} Look what there is (crmrag releases list {dataset}) and try again.",
            )
        switch(folder, chosen)
    return RolledBack(before, chosen, is_locked(working_folder(data, dataset)))


def _current(folder: Path) -> str | None:
    try:
        return pointer(folder)
    except ReleaseError:  # a damaged pointer is a reason to roll back
        return None


def _check(folder: Path, current: str | None, advance: Advance) -> None:
    try:
        check_id(folder, folder.name)
        check_files(folder, read_manifest(folder), advance)
    except ReleaseError as error:
        raise ReleaseError(
            f"{error.what.rstrip()}\nSo it was not made current; {current or 'nothing'} is.",
            f"See what is wrong: crmrag verify {folder.parent.name} --release {folder.name}",
        ) from error
