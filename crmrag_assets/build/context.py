"""From names and folders to a build context: configuration is read and resolved here, once."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.store import RECORD, working_folder
from crmrag_query.artifacts.manifest import write_text
from crmrag_query.artifacts.mirror import mirror_of
from crmrag_query.config.datasets import SAMPLE_MARK, DatasetConfig, parse_dataset, read_entries
from crmrag_query.config.loading import Method, load_method
from crmrag_query.config.operations import Operations, load_operations
from crmrag_query.config.reading import config_folder, datasets_file, default_folder, ontology_folders
from crmrag_query.errors import BuildError, ConfigError
from crmrag_query.ontology.load import Vocabulary, load_vocabulary

SAMPLE_SIZE = 1000
SIZE_FILE = "sample_size"
SHARE_FILE = "encoded"  # per cent of the documents that have vectors in the release that is to be made
REFRESH_FILE = "refreshed"


def open_context(
    name: str,
    data: Path,
    config: Path | None = None,
    threads: int | None = None,
) -> BuildContext:
    """The context of the data set ``name`` as declared in ``datasets.yaml``, or of the sample ``NAME-sample`` of one.

    Raises BuildError for a name that is not declared, ConfigError for mistakes in the configuration; those in the
    declarations of other data sets do not matter.
    """
    if (mirror := mirror_of(data)) is not None:
        raise BuildError(
            f"Nothing is built in {mirror.objects.address}: it holds releases, and a build needs a folder of this machine.",
            f"Build in a folder (--data), with `publish_to: {mirror.objects.address}` in the entry of '{name}'.",
        )
    file = datasets_file(config / "datasets.yaml" if config else None)
    declared = read_entries(file)
    base = name if name in declared else name.removesuffix(SAMPLE_MARK)
    if base not in declared:
        listed = ", ".join(sorted(declared)) or "none"
        remedy = f"Declared are: {listed}. Add it: crmrag datasets add {name} --rdf FILE (or --endpoint URL)"
        raise BuildError(f"No data set '{name}' is declared in datasets.yaml.", remedy)
    dataset = parse_dataset(base, declared[base], file)
    method, vocabulary, operations = _loaded(config, _stamp(config))
    return BuildContext(
        name=name,
        config=dataset,
        method=resolved(method, dataset),
        vocabulary=vocabulary,
        ontology_files=ontology_files(config),
        data=data.resolve(),
        threads=threads or os.cpu_count() or 1,
        sample=None if base == name else chosen(data, name, SIZE_FILE, SAMPLE_SIZE),
        refreshed=refresh_time(data, base) if dataset.refreshable else "",
        operations=operations,
        share=chosen(data, name, SHARE_FILE, 100),
    )


def _stamp(config: Path | None) -> tuple[tuple[str, int], ...]:
    """Names and times of the configuration's files: while they stay, what was loaded from them does."""
    folders = {config_folder(config), default_folder()}
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return tuple((str(path), path.stat().st_mtime_ns) for path in files)


@lru_cache(maxsize=2)
def _loaded(config: Path | None, stamp: object) -> tuple[Method, Vocabulary, Operations]:
    """The method, the ontology's words, and the operations; of these with a mistake, of which a build tells, the defaults."""
    try:
        operations = load_operations(config)
    except ConfigError:
        operations = Operations()
    return load_method(config), load_vocabulary(config), operations


def resolved(method: Method, dataset: DatasetConfig) -> Method:
    """The method with what the data set sets for itself."""
    own = {"relationships": dataset.relationships, "suspects": dataset.suspects}
    found = method.model_copy(update={name: value for name, value in own.items() if value})
    if found.relationships not in found.relationship_sets:
        remedy = f"There are: {', '.join(sorted(found.relationship_sets))}."
        raise BuildError(f"Data set '{dataset.name}' asks for relationships '{found.relationships}'.", remedy)
    return found


def choose_sample(data: Path, dataset: str, size: int) -> str:
    """Set the size of a data set's sample for this and later builds; returns the sample's name."""
    name = dataset + SAMPLE_MARK
    write_text(working_folder(data, name) / SIZE_FILE, f"{size}\n")
    return name


def choose_share(context: BuildContext, share: int) -> BuildContext:
    """From now on the data set's release is made with vectors of so many per cent of its documents."""
    write_text(context.store.root / SHARE_FILE, f"{share}\n")
    return replace(context, share=share)


def chosen(data: Path, name: str, file: str, default: int) -> int:
    """The number that was chosen for a data set in a file of its working folder."""
    try:
        return int((working_folder(data, name) / file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default


def ask_again(context: BuildContext) -> BuildContext:
    """From now on what was harvested from the context's endpoint before counts no more, in this and later builds.

    The time is kept with the data set (for a sample, with its base), so a build that is stopped goes on with it.
    """
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    write_text(base_of(context).store.root / REFRESH_FILE, f"{now}\n")
    return replace(context, refreshed=now)


def refresh_time(data: Path, base: str) -> str:
    """When the endpoint of a data set was last to be asked again, "" for never."""
    try:
        return (working_folder(data, base) / REFRESH_FILE).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def harvested_at(context: BuildContext) -> datetime | None:
    """When the entities of the data set, or of a sample's base, were found; None while they are not."""
    record = base_of(context).folder("entities") / RECORD
    return datetime.fromtimestamp(record.stat().st_mtime, UTC) if record.exists() else None


def base_of(context: BuildContext) -> BuildContext:
    """The context of the data set that a sample is taken from; of what is no sample, itself."""
    if context.sample is None:
        return context
    return replace(context, name=context.name.removesuffix(SAMPLE_MARK), sample=None)


def ontology_files(config: Path | None) -> tuple[Path, ...]:
    """The files that the ontology is read from, absolute, sorted by name; a nearer folder's hides one of the same name."""
    found: dict[str, Path] = {}
    for folder in reversed(ontology_folders(config)):
        found.update(
            {path.name: path.absolute() for path in folder.iterdir() if path.suffix in (".csv", ".yaml")}
        )
    return tuple(path for _, path in sorted(found.items()))
