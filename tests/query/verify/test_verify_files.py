"""Every byte counts: whichever is flipped, cut off or added, in whichever file of a release, it is found."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crmrag_query.artifacts.files import faults_of_files, provenance_faults
from crmrag_query.artifacts.manifest import COMPANIONS, MANIFEST, PROVENANCE, read_manifest
from crmrag_query.errors import ReleaseError
from crmrag_query.verify.run import verify_folder

SAMPLED = 3  # places in a file, besides its first and last byte
ALONE = (MANIFEST, PROVENANCE)  # by which the others are judged: spoilt one at a time


def found(folder: Path) -> str:
    """What looking at the files finds, "" for nothing."""
    try:
        faults = faults_of_files(folder, read_manifest(folder))
        told, absent = provenance_faults(folder)
    except ReleaseError as error:
        return str(error)
    return "\n".join([*map(str, [*faults, *told]), *absent])


def groups(folder: Path) -> list[list[Path]]:
    """All files, as they are spoilt together."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) > 100 and {path.name for path in files} >= {*ALONE, *COMPANIONS}
    return [[path for path in files if path.name not in ALONE], *([folder / name] for name in ALONE)]


def spoilt(folder: Path, change: Callable[[bytes, str], bytes]) -> list[str]:
    """Files with other content that are not found; all are as before then."""
    missed = []
    for paths in groups(folder):
        before = {path: path.read_bytes() for path in paths}
        for path, content in before.items():
            path.write_bytes(change(content, path.name))
        told = found(folder)
        missed += [str(path.relative_to(folder)) for path in paths if path.name not in told]
        for path, content in before.items():
            path.write_bytes(content)
    return missed


@contextmanager
def holding(path: Path, content: bytes) -> Iterator[None]:
    """The file with other content, then as it was."""
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(before)


def test_a_release_that_was_built_is_whole(flat: Path, coded: Path) -> None:
    assert found(flat) == found(coded) == ""


@pytest.mark.parametrize("nth", range(SAMPLED + 2))
def test_any_flipped_byte_of_any_file_is_found(flat: Path, nth: int) -> None:
    def flip(content: bytes, name: str) -> bytes:
        chosen = [
            0,
            len(content) - 1,
            *(random.Random(f"{name} {n}").randrange(len(content)) for n in range(SAMPLED)),
        ]
        at = chosen[nth]
        return content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]

    assert spoilt(flat, flip) == [] and found(flat) == ""


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_any_truncated_file_is_found(flat: Path, share: float) -> None:
    assert spoilt(flat, lambda content, _: content[: int((len(content) - 1) * share)]) == []


def test_any_file_that_grew_is_found(flat: Path) -> None:
    assert spoilt(flat, lambda content, _: content + b"\n") == []


def test_any_removed_file_is_told_and_is_a_fault_unless_a_copy_may_leave_it_out(flat: Path) -> None:
    for paths in groups(flat):
        aside = [path.rename(flat.parent / f"aside{number}") for number, path in enumerate(paths)]
        told = found(flat)
        for number, path in enumerate(paths):
            aside[number].rename(path)
        assert [path.name for path in paths if path.name not in told] == []
    for name in (PROVENANCE, *COMPANIONS):
        aside_one = (flat / name).rename(flat.parent / "aside")
        report = verify_folder(flat, checks=())
        aside_one.rename(flat / name)
        assert report.holds and name in report.found[1][1].remarks[0]
    assert found(flat) == ""


def test_a_stray_file_in_any_folder_is_found(flat: Path) -> None:
    for folder in [flat, *(path for path in flat.rglob("*") if path.is_dir())]:
        stray = folder / "stray.npy"
        stray.touch()
        assert "stray.npy: not pinned by the manifest" in found(flat), folder
        stray.unlink()


def test_a_manifest_altered_in_a_copy_of_another_name_is_found_by_its_provenance(
    flat: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "my copy"
    shutil.copytree(flat, copy)
    assert found(copy) == ""
    manifest = copy / MANIFEST
    manifest.write_text(manifest.read_text().replace('"licence": ""', '"licence": "CC0"'))
    assert f"{MANIFEST}: it was altered" in found(copy)


def test_checks_of_damaged_files_are_not_run_and_others_are(flat: Path) -> None:
    path = flat / "sparse" / "sparse.json"
    with holding(path, path.read_bytes() + b" "):
        report = verify_folder(flat)
    skipped = {check.name for check, finding in report.found if finding.skipped}
    assert skipped == {"terms", "postings"} and not report.holds
    assert [fault for fault in report.faults if not fault.startswith("files: ")] == []


@pytest.mark.parametrize("count", [40])
def test_of_many_damaged_files_the_first_are_told_and_the_others_counted(
    flat: Path, tmp_path: Path, count: int
) -> None:
    copy = tmp_path / flat.name
    shutil.copytree(flat, copy)
    for path in sorted(copy.rglob("*.npy"))[:count]:
        path.unlink()
    report = verify_folder(copy, checks=())
    assert len(report.found[0][1].faults) == 21 and report.found[0][1].faults[-1] == "and 20 more files"
