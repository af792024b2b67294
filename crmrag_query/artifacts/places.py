"""Where releases, and evaluations of them, lie below the data folder, and which release is current."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from crmrag_query.artifacts.files import write_text
from crmrag_query.artifacts.manifest import MANIFEST, is_release_id
from crmrag_query.errors import ReleaseError, ReleaseNotFound

RELEASES = "releases"
CURRENT = "current"
PREVIOUS = "previous"
EVALUATION = "evaluation.json"
PIPELINE = "pipeline"  # whose figures an evaluation tells of, beside those of what it is compared with
NAME_BYTES = 255  # of a folder's name, on common file systems


def user_cache() -> Path:
    """The folder of what may be lost, in the user's own cache; RuntimeError for a user without a home."""
    own = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(own).expanduser() / "crmrag"


def dataset_folder(data: Path, dataset: str) -> Path:
    """The folder of a data set's releases; ReleaseNotFound for a name that is no plain folder name."""
    named = dataset and dataset not in (".", "..") and not any(sign in dataset for sign in "/\\:\0")
    if not named or len(dataset.encode(errors="replace")) > NAME_BYTES:
        raise ReleaseNotFound(f"{dataset!r} is no name of a data set.", _known(data))
    return data / RELEASES / dataset


def evaluations_folder(data: Path, dataset: str) -> Path:
    """Where the evaluation of a data set is written unless another folder is named."""
    return data / "evaluations" / dataset


def release_ids(data: Path, dataset: str) -> tuple[str, ...]:
    """Ids of the finished releases of a data set, sorted."""
    folder = dataset_folder(data, dataset)
    if not folder.is_dir():
        return ()
    return tuple(
        sorted(p.name for p in folder.iterdir() if is_release_id(p.name) and (p / MANIFEST).is_file())
    )


def datasets_with_releases(data: Path) -> tuple[str, ...]:
    folder = data / RELEASES
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{CURRENT}"))) if folder.is_dir() else ()


def pointer(folder: Path, name: str = CURRENT) -> str | None:
    """The release id that ``current`` or ``previous`` names; None when there is none, ReleaseError when damaged."""
    try:
        text = (folder / name).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{folder / name} cannot be read ({error}).", _SWITCH[name]) from error
    if not is_release_id(text):
        raise ReleaseError(f"{folder / name} does not name a release (found {text[:40]!r}).", _SWITCH[name])
    return text


_SWITCH = {
    CURRENT: "Build the data set again, or write a release id into it.",
    PREVIOUS: "Write the id of the release before into it, or remove the file: then there is none to go back to.",
}


def switch(folder: Path, release: str, remember: bool = True) -> None:
    """Make ``release`` the current one, atomically; the one before becomes ``previous`` where it is to be remembered."""
    before = None
    with suppress(ReleaseError):  # damaged: what takes its place mends it
        before = pointer(folder)
    if remember and before is not None and before != release:
        write_text(folder / PREVIOUS, before + "\n")
    write_text(folder / CURRENT, release + "\n")


def find_release(path_or_dataset: Path | str, data: Path) -> Path:
    """The folder of a release, given itself, or the folder of a data set's releases, or a data set's name.

    Raises ReleaseNotFound, which names the data sets that have one.
    """
    given = Path(path_or_dataset)
    if (given / MANIFEST).is_file():
        return given
    if (given / CURRENT).is_file():
        folder = given
    elif isinstance(path_or_dataset, Path) or len(given.parts) != 1:
        raise ReleaseNotFound(
            f"{given} is no release (it has no {MANIFEST}).", "Give the folder of a release."
        )
    else:
        folder = dataset_folder(data, str(path_or_dataset))
    current = pointer(folder)
    if current is None:
        raise ReleaseNotFound(
            f"Data set '{folder.name}' has no release in {data}.", _known(data, folder.name)
        )
    if not (folder / current / MANIFEST).is_file():
        remedy = f"Go back: crmrag rollback {folder.name}; or build again: crmrag build {folder.name}"
        raise ReleaseNotFound(
            f"The current release {current} of data set '{folder.name}' is missing.", remedy
        )
    return folder / current


def find_named(reference: str, data: Path) -> Path:
    """The folder of a release, given as that folder, an id, a data set's name, ``NAME@previous`` or ``NAME@ID``.

    Raises ReleaseNotFound, which names what there is.
    """
    if is_release_id(reference) and not dataset_folder(data, reference).is_dir():
        found = sorted((data / RELEASES).glob(f"*/{reference}/{MANIFEST}"))
        if not found:
            raise ReleaseNotFound(f"There is no release {reference} in {data}.", "See: crmrag releases list")
        return found[0].parent
    name, at, which = reference.rpartition("@")
    marked = which in (CURRENT, PREVIOUS) or is_release_id(which)
    if not at or (Path(reference) / MANIFEST).is_file() or not marked:
        return find_release(reference, data)
    folder = dataset_folder(data, name)
    release = which if is_release_id(which) else pointer(folder, which)
    if release is None or not (folder / release / MANIFEST).is_file():
        told = f"no {which} release" if release is None else f"no release {release}"
        raise ReleaseNotFound(f"Data set '{name}' has {told} in {data}.", listed(data, name))
    return folder / release


def listed(data: Path, dataset: str) -> str:
    """A sentence that names the releases of a data set."""
    folder = dataset_folder(data, dataset)
    names = {name: marks for marks in (PREVIOUS, CURRENT) if (name := pointer(folder, marks))}
    found = [f"{one} ({names[one]})" if one in names else one for one in release_ids(data, dataset)]
    return f"There are: {', '.join(found)}." if found else _known(data, dataset)


def _known(data: Path, dataset: str = "DATASET") -> str:
    built = datasets_with_releases(data)
    listed = f" (built so far: {', '.join(built)})" if built else ""
    return f"Build it: crmrag build {dataset}, or give the right --data folder{listed}."
