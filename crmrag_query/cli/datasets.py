"""`crmrag datasets`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

FILE = click.option(
    "--file", type=click.Path(dir_okay=False, path_type=Path),
    help="The datasets.yaml to use; default: CRMRAG_CONFIG's, else config/datasets.yaml.",
)  # fmt: skip


@click.group()
def datasets() -> None:
    """Data sets that are declared in config/datasets.yaml."""


@datasets.command()
@click.argument("name")
@click.option(
    "--rdf", multiple=True, required=True, metavar="FILE", help="An RDF file or glob; may be repeated."
)
@click.option("--title", default="")
@click.option(
    "--language", "languages", multiple=True, help="Language of labels, best first; may be repeated."
)
@click.option("--model", default="", help="Embedding model, such as BAAI/bge-m3.")
@click.option("--provider", type=click.Choice(["local", "litellm"]), help="Who runs the embedding model.")
@click.option("--image-pattern", default="", help="Regular expression of addresses that are images.")
@click.option("--licence", default="")
@click.option("--attribution", default="")
@click.option(
    "--example", "examples", multiple=True, metavar="QUESTION", help="An example question; may be repeated."
)
@click.option("--relationships", default="", help="Set of Fundamental Relationships: fr76 or fr109.")
@click.option("--wikidata", is_flag=True, help="Add texts from Wikidata to answers.")
@FILE
def add(name: str, file: Path | None, model: str, provider: str | None, **options: Any) -> None:
    """Declare data set NAME."""
    from crmrag_query.config.writing import add_dataset, own_datasets_file

    order = (
        "title",
        "rdf",
        "languages",
        "image_pattern",
        "licence",
        "attribution",
        "wikidata",
        "examples",
        "relationships",
    )
    values = {key: options[key] for key in order if options[key]}
    embedding = {key: value for key, value in (("model", model), ("provider", provider)) if value}
    target = file or own_datasets_file()
    dataset = add_dataset(target, name, {**values, **({"embedding": embedding} if embedding else {})})
    click.echo(f"{target}: added {name} ({len(dataset.files())} files). Next: crmrag build {name}")


@datasets.command(name="list")
@click.option("--json", "as_json", is_flag=True)
@FILE
def list_(file: Path | None, as_json: bool) -> None:
    """Data sets and what they are made of."""
    from crmrag_query.config import load_datasets

    found = load_datasets(file)
    if as_json:
        click.echo(
            json.dumps([one.model_dump(mode="json") for one in found.values()], ensure_ascii=False, indent=2)
        )
        return
    width = max((len(name) for name in found), default=0)
    for name, one in found.items():
        click.echo(f"{name:<{width}}  {one.title}  [{', '.join(one.languages)}]  {', '.join(one.rdf)}")


@datasets.command()
@click.argument("name", required=False)
@click.option("--dead", is_flag=True, help="List the paths that no typed data can match, with the reason.")
@FILE
def check(file: Path | None, name: str | None, dead: bool) -> None:
    """Validate all data sets, or NAME, with the method's configuration and the ontology tables."""
    from crmrag_query.config import load_datasets, load_method
    from crmrag_query.config.check import check_method
    from crmrag_query.errors import ConfigError
    from crmrag_query.ontology import load_ontology

    method, ontology = load_method(), load_ontology()
    problems = [str(finding) for finding in check_method(method, ontology)]
    declared = load_datasets(file)
    if name is not None and name not in declared:
        raise ConfigError.single(
            "datasets.yaml",
            "datasets",
            "no such data set",
            value=repr(name),
            remedy=f"There are: {', '.join(declared)}.",
        )
    for one_name in [name] if name else declared:
        one = declared[one_name]
        try:
            click.echo(f"{one_name}: {len(one.files())} files")
        except ConfigError as error:
            problems.append(str(error))
        if one.relationships and one.relationships not in method.relationship_sets:
            problems.append(
                f"datasets.{one_name}.relationships: no such set; there are {', '.join(method.relationship_sets)}"
            )
    _report_paths(method, ontology, dead)
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        sys.exit(1)
    click.echo("No mistakes found.")


def _report_paths(method: Any, ontology: Any, verbose: bool) -> None:
    from crmrag_query.relationships.catalogue import Catalogue
    from crmrag_query.relationships.dead import dead_paths

    for name in method.relationship_sets:
        catalogue = Catalogue.load(method, name)
        dead = dead_paths(catalogue, ontology)
        paths = sum(len(relationship.paths) for relationship in catalogue)
        click.echo(
            f"{name}: {len(catalogue)} relationships, {paths} paths, {len(dead)} that no typed data can match"
        )
        for path in dead if verbose else ():
            click.echo(f"  {path.path_id}: {path.reason}")
