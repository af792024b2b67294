"""`crmrag releases`: look at finished releases, check them, go back to the previous one."""

from __future__ import annotations

from pathlib import Path

import click

from crmrag_assets.cli.options import data_option
from crmrag_assets.cli.summary import size_text
from crmrag_query.artifacts.manifest import read_manifest
from crmrag_query.artifacts.places import (
    PREVIOUS,
    dataset_folder,
    datasets_with_releases,
    pointer,
    release_ids,
)
from crmrag_query.artifacts.release import open_release
from crmrag_query.artifacts.verify import read_provenance


@click.group()
def releases() -> None:
    """List, check and switch releases."""


@releases.command("list")
@click.argument("dataset", required=False)
@data_option
def list_(dataset: str | None, data: Path) -> None:
    """List the releases of DATASET, or of every data set; `*` marks the current one."""
    names = (dataset,) if dataset else datasets_with_releases(data)
    if not names:
        click.echo(f"No releases in {data}. Build one: crmrag build DATASET")
    for name in names:
        for line in _lines(name, data):
            click.echo(line)


def _lines(name: str, data: Path) -> list[str]:
    folder = dataset_folder(data, name)
    current, previous = pointer(folder), pointer(folder, PREVIOUS)
    marks = {previous: "previous", current: "* current"}
    lines = []
    for release in release_ids(data, name):
        manifest, made = read_manifest(folder / release), read_provenance(folder / release) or {}
        size = size_text(sum(entry.bytes for entry in manifest.files))
        counts = f"{manifest.counts.get('entities', 0):,} entities, {manifest.counts.get('documents', 0):,} documents"
        lines.append(
            f"{name}  {release}  {made.get('built', ''):<20}  {size:>9}  {counts}  {marks.get(release, '')}"
        )
    return lines or [f"{name}: no release in {data}"]


@releases.command()
@click.argument("dataset")
@data_option
def verify(dataset: str, data: Path) -> None:
    """Check every byte of the current release of DATASET (or of the release in a folder)."""
    release = open_release(dataset, data)
    release.verify()
    size = size_text(sum(entry.bytes for entry in release.manifest.files))
    click.echo(f"Release {release.id}: {len(release.manifest.files):,} files ({size}) are what was built.")


@releases.command()
@click.argument("dataset")
@data_option
def rollback(dataset: str, data: Path) -> None:
    """Make the previous release of DATASET the current one; a second rollback returns."""
    from crmrag_assets.release.publish import roll_back

    click.echo(f"Release {roll_back(data, dataset)} is current.")
