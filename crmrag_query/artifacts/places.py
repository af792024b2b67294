"""Where releases lie below the data folder, and which one is current."""

from __future__ import annotations

from pathlib import Path

from crmrag_query.artifacts.files import write_text
from crmrag_query.artifacts.manifest import MANIFEST, is_release_id
from crmrag_query.errors import ReleaseError, ReleaseNotFound

RELEASES = "releases"
CURRENT = "current"
PREVIOUS = "previous"
NAME_BYTES = 255  # of a folder's name, on common file systems


def dataset_folder(data: Path, dataset: str) -> Path:
    """The folder of a data set's releases; ReleaseNotFound for a name that is no plain folder name."""
    named = dataset and dataset not in (".", "..") and not any(sign in dataset for sign in "/\\:\0")
    if not named or len(dataset.encode(errors="replace")) > NAME_BYTES:
        raise ReleaseNotFound(f"{dataset!r} is no name of a data set.", _known(data))
    return data / RELEASES / dataset


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
        raise ReleaseError(f"{folder / name} cannot be read ({error}).", _SWITCH) from error
    if not is_release_id(text):
        raise ReleaseError(f"{folder / name} does not name a release (found {text[:40]!r}).", _SWITCH)
    return text


_SWITCH = "Build the data set again, or write a release id into it."


def switch(folder: Path, release: str) -> None:
    """Make ``release`` the current one, atomically; the one before stays as ``previous``."""
    before = pointer(folder)
    if before is not None and before != release:
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
        remedy = f"Go back: crmrag releases rollback {folder.name}; or build again."
        raise ReleaseNotFound(
            f"The current release {current} of data set '{folder.name}' is missing.", remedy
        )
    return folder / current


def _known(data: Path, dataset: str = "DATASET") -> str:
    built = datasets_with_releases(data)
    listed = f" (built so far: {', '.join(built)})" if built else ""
    return f"Build it: crmrag build {dataset}, or give the right --data folder{listed}."
