"""What many tests only read is built once, also where several processes run them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.manifest import PREVIOUS, pointer
from crmrag_query.artifacts.release import Release, open_release
from tests.conftest import ROOT
from tests.support.builds import Project, build_all, make_project, turtle, two_releases, with_inbox

TROODOS = ROOT / "data" / "sample" / "troodos.ttl"
"""The sample data set's triples."""


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name``, filled by ``make`` in the first process that asks for it. Who changes something takes a copy."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # that of the process which started this one
    folder, whole = base / "shared" / name, base / "shared" / f"{name}.whole"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            whole.touch()
    return folder


def own_churches(
    factory: pytest.TempPathFactory,
    root: Path,
    chunk: int | None = None,
    churches: int = 12,
    **dataset: object,
) -> Project:
    """A copy, at ``root``, of a museum of so many churches as a build with so many entities a chunk leaves it."""

    def make(folder: Path) -> None:
        build_all(make_project(folder, turtle(churches), **dataset).context(chunk))

    name = "-".join(map(str, ("churches", churches, chunk, *dataset.values())))
    return Project(_copied(made_once(factory, name, make), root))


def own_two_releases(factory: pytest.TempPathFactory, root: Path) -> tuple[Path, str, str]:
    """A data folder at ``root`` with a release of six churches and the current one, of nine; and their ids."""
    made = made_once(factory, "two-releases", lambda folder: two_releases(folder, 6, 9))
    place = _copied(made / "project" / "data" / "releases", root / "releases") / "churches"
    before, current = pointer(place, PREVIOUS), pointer(place)
    assert before and current
    return root, before, current


def _copied(folder: Path, to: Path) -> Path:
    """A copy in which files that are one by two names still are."""
    copies: dict[int, str] = {}

    def copy(source: str, target: str) -> None:
        inode = Path(source).stat().st_ino
        if inode in copies:
            os.link(copies[inode], target)
        else:
            copies[inode] = shutil.copy2(source, target)

    return Path(shutil.copytree(folder, to, copy_function=copy, dirs_exist_ok=True))


def own_inbox(factory: pytest.TempPathFactory, root: Path) -> Project:
    """A copy, below ``root``, of a museum to which pages may be sent (``with_inbox``)."""
    return Project(shutil.copytree(made_once(factory, "inbox", with_inbox), root / "project"))


def shared_release(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Release:
    """The current release of the data set ``churches`` in the project that ``make`` builds in the folder ``name``."""
    return _opened(made_once(factory, name, make) / "data")


@cache
def _opened(data: Path) -> Release:
    """Opened once in a process, for its parts and what is worked out of them are kept with it."""
    return open_release("churches", data)


def sample_release(factory: pytest.TempPathFactory) -> Release:
    """The sample data set, encoded by the stand-in, under the name ``churches``."""
    return shared_release(factory, "sample", _build_sample)


def _build_sample(root: Path) -> None:
    build_all(make_project(root, rdf=[str(TROODOS)], write_markdown=False, token_vectors=True).context())


def labels_of(answer: Answer) -> set[str]:
    """What the members of an answer's set are called; nothing where it has none."""
    return {one.label for one in answer.set.members} if answer.set is not None else set()
