"""Read `config/ontology/`: what ships, and the tables that a project adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from crmrag_query.config.folders import ontology_folders
from crmrag_query.config.reading import read_part
from crmrag_query.errors import OntologyError
from crmrag_query.ontology.index import Index
from crmrag_query.ontology.join import join
from crmrag_query.ontology.renames import Rename, read_renames
from crmrag_query.ontology.rows import read_table
from crmrag_query.ontology.tables import Ontology

INDEX = "index.yaml"
RENAMES = "renames.csv"
TERMS = "linked_art_names.csv"
NOT_TABLES = ("renames", "linked_art_names")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The joined ontology with what is needed to normalise names to its codes."""

    ontology: Ontology
    renames: tuple[Rename, ...]
    index: Index
    linked_art: dict[tuple[str, str], str]


def load_ontology(folder: Path | None = None) -> Ontology:
    """The ontology of a configuration folder; raises OntologyError or ConfigError."""
    return load_vocabulary(folder).ontology


def load_vocabulary(folder: Path | None = None) -> Vocabulary:
    """Ontology, renames and Linked Art's names of a configuration folder, read once for each folder.

    A table that a user adds to `config/ontology/` needs no further step: those that `index.yaml` does
    not list follow those it lists, in alphabetical order.
    """
    return _load(ontology_folders(folder))


@lru_cache(maxsize=4)
def _load(folders: tuple[Path, ...]) -> Vocabulary:
    index_file = _first(folders, INDEX)
    index = read_part(Index, index_file)
    files = {path.stem: path for place in reversed(folders) for path in sorted(place.glob("*.csv"))}
    missing = [name for name in index.tables if name not in files]
    if missing:
        raise OntologyError(
            f"{index_file} lists tables that do not exist: {', '.join(missing)}.",
            "Write them with `crmrag ontology extract`, or take them off the list.",
        )
    names = [*index.tables, *sorted(set(files) - set(index.tables) - set(NOT_TABLES))]
    renames = read_renames(_first(folders, RENAMES))
    ontology = join([read_table(files[name]) for name in names], renames, index)
    return Vocabulary(ontology, renames, index, read_terms(_first(folders, TERMS)))


def read_terms(path: Path) -> dict[tuple[str, str], str]:
    """Linked Art's JSON-LD names: (kind, name) to the name of the class or property they stand for."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return {(kind, name): target for kind, name, target in (line.split(",") for line in lines if line)}


def _first(folders: tuple[Path, ...], name: str) -> Path:
    found = next((place / name for place in folders if (place / name).is_file()), None)
    if found is None:
        raise OntologyError(
            f"No configuration folder holds ontology/{name}.", "Restore it from the distribution."
        )
    return found
