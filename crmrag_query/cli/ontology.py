"""`crmrag ontology`."""

from __future__ import annotations

from pathlib import Path

import click

DEFAULT_FOLDER = Path("config/ontology")


@click.group()
def ontology() -> None:
    """Ontology tables: labels, hierarchies, inverses, domains and ranges."""


@ontology.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Folder that the tables are written to.",
)
@click.option("--name", default="", help="Join all files into one table of this name.")
def extract(files: tuple[Path, ...], output: Path, name: str) -> None:
    """Read RDFS or OWL files (RDF/XML or Turtle) into compact tables, one for each FILE.

    Linked Art's JSON-LD context gives the table of its names.
    """
    for group in [files] if name else [(path,) for path in files]:
        click.echo(_write(group, output, name))


def _write(files: tuple[Path, ...], output: Path, name: str) -> str:
    from crmrag_query.ontology.load import TERMS, names_from_context, to_csv
    from crmrag_query.ontology.load import extract as read_files

    if len(files) == 1 and _is_json(files[0]):
        path, text = output / TERMS, names_from_context(files[0].read_text(encoding="utf-8"))
        what = f"{text.count(chr(10)) - 1} names"
    else:
        table = read_files(files, name)
        path, text = output / f"{table.name}.csv", to_csv(table)
        classes = sum(row.kind == "class" and bool(row.name) for row in table.rows)
        properties = sum(row.kind == "property" and bool(row.name) for row in table.rows)
        what = f"{classes} classes, {properties} properties"
        what += f"; {len(table.skipped)} terms of other ontologies left out" if table.skipped else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return f"{path}: {what}"


def _is_json(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
