"""`crmrag releases`: the finished releases, listed and signed; `crmrag rollback`: go back to the previous one; `crmrag
shacl`: a release against shapes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crmrag_assets.cli.options import config_option, data_option, size_text
from crmrag_query.artifacts.files import check_files, make_key, read_provenance, sign_release
from crmrag_query.artifacts.manifest import (
    PREVIOUS,
    dataset_folder,
    datasets_with_releases,
    find_named,
    pointer,
    read_manifest,
    release_ids,
)
from crmrag_query.errors import ReleaseError
from crmrag_query.text import amount

if TYPE_CHECKING:
    from crmrag_assets.quality.shapes import ShapesReport


@click.group()
def releases() -> None:
    """The finished releases of data sets."""


@releases.command("list")
@click.argument("dataset", required=False)
@data_option
def list_(dataset: str | None, data: Path) -> None:
    """List the releases of DATASET, or of every data set; `*` marks the current one."""
    names = (dataset,) if dataset else datasets_with_releases(data)
    if not names:
        click.echo(f"No releases in {data}. Build one: crmrag build DATASET")
    damaged = False
    for name in names:
        try:
            click.echo("\n".join(_lines(name, data)))
        except ReleaseError as error:
            damaged = True
            click.echo(f"{name}: {error}", err=True)
    if damaged:
        sys.exit(1)


@releases.command("key")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def key_(file: Path) -> None:
    """Make a key to sign releases with: the secret one in FILE, without a password, the public one in FILE.pub."""
    public = make_key(file)
    click.echo(f"Keep {file} to yourself. Who is to check your releases needs {public}:")
    click.echo(public.read_text(encoding="utf-8").splitlines()[-1])


@releases.command("sign")
@click.argument("release")
@click.option(
    "--key",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of your secret key.",
)
@data_option
def sign(release: str, key: Path, data: Path) -> None:
    """Sign RELEASE: a data set's name (its current release), NAME@previous, a release's id, or the folder of a release.

    The signature is minisign's, of the manifest, which pins every byte; it lies beside it and is no part of the release's id.
    Every byte is checked before.
    """
    folder = find_named(release, data)
    check_files(folder, read_manifest(folder))
    click.echo(f"Signed: {sign_release(folder, key)}")


@releases.command("export")
@click.argument("release")
@click.option(
    "--to",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A data folder, made where there is none.",
)
@data_option
def export(release: str, to: Path, data: Path) -> None:
    """Copy RELEASE whole into another data folder: the name of a data set, NAME@previous, the id or folder of a release.

    Releases of one data folder share files that are the same, such as the encoder; the copy has all of its own, answers
    elsewhere (`crmrag ask NAME --data FOLDER`) and is the current one there. Every byte is checked.
    """
    from crmrag_assets.release.publish import export_release

    final = export_release(find_named(release, data), to)
    size = size_text(sum(entry.bytes for entry in read_manifest(final).files))
    click.echo(f'{final}: {size}. Ask it: crmrag ask {final.parent.name} --data {to} "…"')


@releases.command("push")
@click.argument("release")
@click.option(
    "--to", required=True, metavar="ADDRESS", help="s3://BUCKET/PREFIX, gs://…, az://… or file:///FOLDER."
)
@click.option(
    "--keep", default=2, show_default=True, type=click.IntRange(min=2), help="Releases that stay there."
)
@click.option("--whole", is_flag=True, help="Send every file again, which mends what was damaged there.")
@data_option
def push_(release: str, to: str, keep: int, whole: bool, data: Path) -> None:
    """Make RELEASE current in an object store: a data set's name (its current release), NAME@previous, an id or a folder.

    Only files that are not there are sent. Readers (`crmrag ask NAME --data ADDRESS`, `crmrag serve --data ADDRESS`) change
    to it within seconds, and never see a part of it. Of two pushes at once one is told that it was too late.
    """
    from crmrag_assets.release.push import push
    from crmrag_query.artifacts.objects import open_objects

    folder = find_named(release, data)
    done = push(folder, open_objects(to, make=True), keep, whole)
    name = read_manifest(folder).dataset
    if done.there:
        click.echo(f"Release {done.release} of {name} is current in {to} already; nothing was sent.")
    else:
        sent = (
            f"{amount(done.files, 'file')} sent, {size_text(done.bytes)}"
            if done.files
            else "no file had to be sent"
        )
        click.echo(f"Release {done.release} of {name} is current in {to}: {sent}.")


def _lines(name: str, data: Path) -> list[str]:
    folder = dataset_folder(data, name)
    current, previous = pointer(folder), pointer(folder, PREVIOUS)
    marks = {previous: "previous", current: "* current"}
    lines = []
    for release in release_ids(data, name):
        manifest, made = read_manifest(folder / release), read_provenance(folder / release) or {}
        size = size_text(sum(entry.bytes for entry in manifest.files))
        counts = ", ".join(
            (
                amount(manifest.counts.get("entities", 0), "entity", "entities"),
                amount(manifest.counts.get("documents", 0), "document"),
            )
        )
        counts += f", {manifest.share:.0%} of them with vectors" if manifest.share < 1 else ""
        lines.append(
            f"{name}  {release}  {made.get('built', ''):<20}  {size:>9}  {counts}  {marks.get(release, '')}"
        )
    return lines or [f"{name}: no release in {data}"]


@click.command()
@click.argument("dataset")
@click.option("--to", "release", metavar="ID", help="The release to go to; default: the previous one.")
@data_option
def rollback(dataset: str, release: str | None, data: Path) -> None:
    """Make the previous release of DATASET the current one; a second rollback returns.

    Every byte of it is checked before. A service that answers from DATASET changes within seconds. Safe while a build runs.
    """
    from crmrag_assets.release.publish import roll_back

    done = roll_back(data, dataset, release)
    folder = dataset_folder(data, dataset)
    before = f"before it was {_dated(folder, done.before)}" if done.before else "before it was none"
    click.echo(f"Release {_dated(folder, done.now)} of {dataset} is current; {before}.")
    if done.building:
        click.echo(
            "A build of it is running and will make its own release current when it ends: stop it if it shall not."
        )
    else:
        click.echo("The next build makes its own release current again.")


def _dated(folder: Path, release: str) -> str:
    """A release with the time it was built, where it is known."""
    try:
        built = (read_provenance(folder / release) or {}).get("built")
    except ReleaseError:
        built = None
    return f"{release} (built {built})" if built else release


BROKEN = 1  # exit status where a shape is broken


@click.command()
@click.argument("dataset")
@data_option
@config_option
@click.option(
    "--shapes", "files", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Turtle file of further shapes; may be given again.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N",
    help="Entities to hold against the shapes, evenly of all classes; default: as the check does.",
)  # fmt: skip
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Cases to show of all shapes.",
)
@click.option("--json", "as_json", is_flag=True, help="The whole report as JSON.")
def shacl(
    dataset: str,
    data: Path,
    config: Path | None,
    files: tuple[Path, ...],
    sample: int | None,
    examples: int,
    as_json: bool,
) -> None:
    """Hold a sample of DATASET against SHACL shapes for CIDOC-CRM and its own.

    Looks at the graph that was built last. Its own shapes are those that `shapes` in datasets.yaml names. Ends with
    status 1 where an entity breaks a shape.
    """
    import json
    from dataclasses import asdict

    from crmrag_assets.build.context import open_context
    from crmrag_assets.quality.shapes import held_against

    report = held_against(open_context(dataset, data, config), files, sample)
    if as_json:
        click.echo(json.dumps(asdict(report), ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(report_lines(dataset, report, examples)))
    if report.violating:
        raise SystemExit(BROKEN)


def report_lines(dataset: str, report: ShapesReport, examples: int) -> Iterator[str]:
    """The report for reading: counts by shape, then cases by shape."""
    yield (
        f"{dataset}: {amount(report.entities, 'entity', 'entities')} with {amount(report.statements, 'statement')}, "
        f"held against {len(report.shapes)} shapes"
    )
    if not report.broken:
        yield "All shapes hold."
        return
    yield f"{amount(report.violating, 'entity breaks', 'entities break')} a shape."
    yield ""
    for (shape, grade), count in report.counts.items():
        yield f"  {grade.lower():<9}  {count:>6,}  {shape}"
    shown = report.worst(examples)
    shape = ""
    for one in sorted(shown, key=lambda one: [*report.counts].index((one.shape, one.grade))):
        if one.shape != shape:
            shape = one.shape
            yield from ("", f"{shape}:")
        yield f"  {one.label}  <{one.iri}>"
        yield f"    {one.message}{f': {one.value}' if one.value else ''}"
    if (more := len(report.broken) - len(shown)) > 0:
        yield from ("", f"… and {more:,} more: --examples {len(report.broken)}, or --json.")
