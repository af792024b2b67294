"""Counts of terms that are kept between builds: texts that are known are not counted again, and a changed file is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crmrag_assets.build.step import Stats, run_step
from crmrag_assets.steps.indexes import TERM_COUNTS
from crmrag_assets.steps.registry import STEPS
from tests.support.builds import Project, build_all, contents, make_project, turtle


def built(project: Project, churches: int) -> Stats:
    """What the step of the sparse index tells of itself after a build of so many churches."""
    (project.root / "churches.ttl").write_text(turtle(churches), encoding="utf-8")
    build_all(project.context())
    return project.context().finished("bm25_index").stats


@pytest.mark.slow
def test_only_new_texts_are_counted(tmp_path: Path) -> None:
    project, fresh = make_project(tmp_path / "again"), make_project(tmp_path / "fresh")
    first, second, third = built(project, 3), built(project, 12), built(project, 9)
    anew = built(fresh, 9)
    assert first["counted"] == first["documents"]
    assert 0 < second["counted"] < second["documents"]
    assert third["counted"] == 1  # the district, which contains fewer churches
    assert anew["counted"] == anew["documents"]
    folders = [one.context().folder("bm25_index") for one in (project, fresh)]
    again, once = ({path: sha for path, sha in contents(f).items() if path != "record.json"} for f in folders)
    assert again == once


@pytest.mark.slow
@pytest.mark.parametrize("name", ["count.npy", "term.npy", "digests.npy", "vocabulary.npy", "record.json"])
def test_a_changed_or_missing_file_has_all_texts_counted(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path)
    documents = built(project, 3)["documents"]
    context = project.context()
    file = context.folder(TERM_COUNTS) / name
    if name.endswith(".npy"):
        values = np.load(file)
        values.flat[0] += 1
        np.save(file, values)
    else:
        file.unlink()
    before = context.finished("bm25_index")
    (context.folder("bm25_index") / "record.json").unlink()
    found = run_step(STEPS["bm25_index"], context).record
    assert found.stats["counted"] == documents
    assert found.files == before.files
    assert context.store.record(TERM_COUNTS) is not None
