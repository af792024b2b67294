"""`crmrag shacl`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crmrag_assets.cli.options import config_option, data_option
from crmrag_query.text import amount

if TYPE_CHECKING:
    from crmrag_assets.quality.shapes.validate import ShapesReport

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
    from crmrag_assets.quality.shapes.validate import held_against

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
