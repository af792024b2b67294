"""Which folder a part of the configuration comes from."""

from __future__ import annotations

import os
from pathlib import Path

ENVIRONMENT = "CRMRAG_CONFIG"
_PACKAGE = Path(__file__).resolve().parent.parent


def default_folder() -> Path:
    """The configuration that ships: inside the installed package, else beside it in the repository."""
    packaged = _PACKAGE / "_config"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "config"


def config_folder(folder: Path | str | None = None) -> Path:
    """The argument, else CRMRAG_CONFIG, else ./config where it holds any of the files that ship, else what ships."""
    chosen = folder or os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    here = Path("config")
    ours = (here / shipped.name for shipped in default_folder().glob("*.yaml"))
    return here if any(file.is_file() for file in ours) else default_folder()


def part_file(name: str, folder: Path | str | None = None) -> Path:
    """The file `name` of the chosen folder; what ships where that folder has no such file."""
    own = config_folder(folder) / name
    return own if own.exists() else default_folder() / name


def datasets_file(path: Path | str | None = None) -> Path:
    """The datasets.yaml to use: the argument, else CRMRAG_CONFIG's, else ./config's, else what ships."""
    if path:
        return Path(path)
    environment = os.environ.get(ENVIRONMENT)
    places = [Path(environment)] if environment else []
    for place in (*places, Path("config")):
        if (place / "datasets.yaml").is_file():
            return place / "datasets.yaml"
    return default_folder() / "datasets.yaml"


def ontology_folders(folder: Path | str | None = None) -> tuple[Path, ...]:
    """Folders with ontology tables, the nearest first; tables that a project adds join those that ship."""
    places = (config_folder(folder) / "ontology", Path("config/ontology"), default_folder() / "ontology")
    distinct = {place.resolve(): place for place in reversed(places) if place.is_dir()}
    return tuple(place for place in places if place.is_dir() and distinct.get(place.resolve()) is place)
