"""Small releases to look at, and to spoil: bytes of them, or what they say."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crmrag_query.artifacts.release import open_release
from tests.support.builds import build_all, make_project, turtle, with_small_parts
from tests.support.spoiling import Spoil, repinned

NOTE = f'\nex:church0 crm:P3_has_note "{"It has two domes. " * 30}" .'  # long enough for a passage


@pytest.fixture(scope="session")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of several chunks, with everything that may be in one."""
    root = tmp_path_factory.mktemp("flat")
    source = turtle(4) + NOTE
    project = make_project(root, source, write_markdown=True, write_triples_pickle=True, token_vectors=True)
    build_all(with_small_parts(project.context(chunk_size=10), 3))
    return open_release("churches", project.data).folder


@pytest.fixture(scope="session")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose vectors are searched by 8-bit codes."""
    root = tmp_path_factory.mktemp("coded")
    project = make_project(root, turtle() + NOTE, write_markdown=False, token_vectors=True)
    context = with_small_parts(project.context())
    dense = context.method.dense.model_copy(update={"codes_from": 0})
    build_all(replace(context, method=context.method.model_copy(update={"dense": dense})))
    return open_release("churches", project.data).folder


@pytest.fixture
def rewritten(tmp_path: Path) -> Iterator[Callable[[Path, Spoil], Path]]:
    """A copy of a release in which something says what is wrong, and every checksum is right."""

    def made(folder: Path, spoil: Spoil) -> Path:
        return repinned(folder, tmp_path / "copy", spoil)

    yield made
    shutil.rmtree(tmp_path, ignore_errors=True)
