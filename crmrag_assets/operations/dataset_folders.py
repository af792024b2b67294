"""Renaming and removing a data set: its folders below the data folder, and its partition in Dagster."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from crmrag_assets.build.step import dataset_lock
from crmrag_assets.build.store import working_folder
from crmrag_query.artifacts.manifest import dataset_folder
from crmrag_query.config.datasets import SAMPLE_MARK
from crmrag_query.errors import BuildError

REMOVED = ".removed"  # what a removed folder is called until all of it is gone


def folders(data: Path, name: str) -> list[Path]:
    """What there is of a data set and of its sample: working folders and releases."""
    found = []
    for one in (name, name + SAMPLE_MARK):
        found += [working_folder(data, one), dataset_folder(data, one)]
    return [folder for folder in found if folder.is_dir()]


@contextmanager
def renaming(data: Path, name: str, to: str) -> Iterator[None]:
    """Do the block, then give the working folders and the partitions the new name; releases stay.

    Raises BuildError where something of that name is there, or the data set is being built.
    """
    if taken := folders(data, to):
        raise BuildError(
            f"There is something named '{to}' already: {taken[0]}.", "Choose another name, or remove it."
        )
    with _held(data, name):
        yield
        for old, new in ((name, to), (name + SAMPLE_MARK, to + SAMPLE_MARK)):
            if working_folder(data, old).is_dir():
                working_folder(data, old).rename(working_folder(data, new))
        _partitions(data, [name, name + SAMPLE_MARK], to)


@contextmanager
def removing(data: Path, name: str) -> Iterator[None]:
    """Do the block, then remove all folders and partitions of a data set and of its sample.

    A folder is renamed before it is emptied, so that no reader meets a part of a release. BuildError while it is built.
    """
    with _held(data, name):
        yield
        for folder in folders(data, name):
            gone = folder.with_name(f"{REMOVED}-{folder.name}")
            shutil.rmtree(gone, ignore_errors=True)
            folder.rename(gone)
            shutil.rmtree(gone)
        _partitions(data, [name, name + SAMPLE_MARK], None)


@contextmanager
def _held(data: Path, name: str) -> Iterator[None]:
    """The locks of a data set and of its sample, where these have been built."""
    with ExitStack() as locks:
        for one in (name, name + SAMPLE_MARK):
            if working_folder(data, one).is_dir():
                locks.enter_context(dataset_lock(working_folder(data, one), one))
        yield


def _partitions(data: Path, names: list[str], to: str | None) -> None:
    """Take the names out of what Dagster lists, where it has been used; ``to``: and put this in their place."""
    from crmrag_assets.instance import open_instance
    from crmrag_assets.partitions import DATASET

    if not (data / "dagster").is_dir():
        return
    with open_instance(data) as instance:
        known = set(instance.get_dynamic_partitions(DATASET))
        for name in known & set(names):
            instance.delete_dynamic_partition(DATASET, name)
        if to is not None and known & set(names):
            instance.add_dynamic_partitions(DATASET, [to])
