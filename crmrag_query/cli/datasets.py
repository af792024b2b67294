"""`crmrag datasets` and `crmrag ontology`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crmrag_query.cli.options import data_option
from crmrag_query.errors import ConfigError, MissingExtraError
from crmrag_query.text import amount

if TYPE_CHECKING:
    from crmrag_query.config.datasets import DatasetConfig
    from crmrag_query.config.loading import Method


GRAPHS = ("default", "named", "all")
ENDPOINT_OPTIONS = (
    "url", "graph", "graphs", "contact", "auth", "user", "password", "token", "pause_seconds", "parallel",
    "batch_entities",
)  # fmt: skip
# Keys of an entry that are options of the same name, in the order in which they are written.
ORDER = (
    "languages", "image_pattern", "licence", "attribution", "wikidata", "examples", "questions", "relationships",
)  # fmt: skip
CHANGING = "Changing what was built of a data set"

FILE = click.option(
    "--file", type=click.Path(dir_okay=False, path_type=Path),
    help="The datasets.yaml to use; default: CRMRAG_CONFIG's, else config/datasets.yaml.",
)  # fmt: skip


@click.group()
def datasets() -> None:
    """Data sets that are declared in config/datasets.yaml."""


@datasets.command()
@click.argument("name")
@click.option("--rdf", multiple=True, metavar="FILE", help="An RDF file or glob; may be repeated.")
@click.option(
    "--context", "contexts", multiple=True, metavar="ADDRESS=FILE",
    help="A file in place of the JSON-LD context at an address (Linked Art's needs none); may be repeated.",
)  # fmt: skip
@click.option("--endpoint", "url", metavar="URL", help="A SPARQL endpoint, in place of --rdf.")
@click.option("--graph", multiple=True, metavar="IRI", help="A named graph to read; may be repeated.")
@click.option(
    "--graphs", type=click.Choice(GRAPHS), help="The endpoint's default graph, its named ones, or both."
)
@click.option("--contact", default="", help="Who asks, for the endpoint's operators: an address to write to.")
@click.option("--auth", type=click.Choice(["basic", "digest", "bearer"]), help="How to sign in.")
@click.option("--user-variable", "user", metavar="VAR", help="Environment variable with the user's name.")
@click.option(
    "--password-variable", "password", metavar="VAR", help="Environment variable with the password."
)
@click.option("--token-variable", "token", metavar="VAR", help="Environment variable with the token.")
@click.option("--pause", "pause_seconds", type=float, metavar="S", help="Seconds between two requests.")
@click.option("--parallel", type=int, metavar="N", help="Requests at once.")
@click.option("--batch", "batch_entities", type=int, metavar="N", help="Entities in one request.")
@click.option(
    "--source", "sources", multiple=True, metavar="KIND=PLACE",
    help="A source of any kind, such as rdf=more/*.ttl, in place of or beside the others; may be repeated.",
)  # fmt: skip
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
@click.option(
    "--questions", default="", metavar="FILE", help="Questions with known answers, for `crmrag evaluate`."
)
@click.option("--relationships", default="", help="Set of Fundamental Relationships: fr76 or fr109.")
@click.option("--wikidata", is_flag=True, help="Add texts from Wikidata to answers.")
@FILE
def add(name: str, file: Path | None, **options: Any) -> None:
    """Declare data set NAME: of RDF files (--rdf), of a SPARQL endpoint (--endpoint), or of several sources (--source)."""
    from crmrag_query.config.datasets import add_dataset, own_datasets_file

    stated: dict[str, Any] = {
        "rdf": options["rdf"],
        "contexts": _contexts(options["contexts"]),
        "endpoint": _endpoint(**{key: options[key] for key in ENDPOINT_OPTIONS}),
    }
    values = {
        "title": options["title"],
        **(_sources(_given(stated), options["sources"]) if options["sources"] else stated),
        **{key: options[key] for key in ORDER},
        "embedding": _given({"model": options["model"], "provider": options["provider"]}),
    }
    target = file or own_datasets_file()
    dataset = add_dataset(target, name, _given(values))
    made_of = " and ".join(_made_of(dataset))
    first = f"crmrag datasets check {name} --ask" if dataset.asks else f"crmrag build {name}"
    click.echo(f"{target}: added {name} ({made_of}). Next: {first}")


def _contexts(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for one in given:
        address, _, file = one.rpartition("=")
        if not (address and file):
            raise click.UsageError(
                f"--context {one}: give the context's address and its file, as ADDRESS=FILE."
            )
        found[address] = file
    return found


def _sources(others: dict[str, Any], given: tuple[str, ...]) -> dict[str, Any]:
    """The list `sources` of what other options say and of KIND=PLACE each."""
    listed: list[dict[str, Any]] = []
    if "rdf" in others:
        files = {"files": list(others["rdf"]), "contexts": others.get("contexts", {})}
        listed.append({"rdf": _given(files) if files["contexts"] else files["files"]})
    if "endpoint" in others:
        listed.append({"endpoint": others["endpoint"]})
    for one in given:
        kind, sign, place = one.partition("=")
        if not (kind and sign and place):
            raise click.UsageError(f"--source {one}: give the kind and where it is, as KIND=PLACE.")
        listed.append({kind: place})
    return {"sources": listed}


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value or type(value) in (int, float)}


def _endpoint(
    url: str | None, graph: tuple[str, ...], graphs: str | None, contact: str, **options: Any
) -> str | dict[str, Any] | None:
    """The entry `endpoint` as the options give it: the address alone where nothing else is said of it."""
    if graph and graphs:
        raise click.UsageError("--graph names graphs, --graphs says which kind: give one of them.")
    auth = {"kind": options["auth"], **{key: options[key] for key in ("user", "password", "token")}}
    requests = {key: options[key] for key in ("batch_entities", "pause_seconds", "parallel")}
    beside = {
        "graphs": list(graph) or graphs,
        "auth": _given(auth),
        "contact": contact,
        "requests": _given(requests),
    }
    if url is None and (without := _given(beside)):
        raise click.UsageError(
            f"What is said of {', '.join(without)} is for an endpoint: give --endpoint URL."
        )
    return {"url": url, **_given(beside)} if _given(beside) else url


@datasets.command(name="list")
@click.option("--json", "as_json", is_flag=True)
@FILE
def list_(file: Path | None, as_json: bool) -> None:
    """Data sets and what they are made of."""
    from crmrag_query.config.datasets import load_datasets

    found = load_datasets(file)
    if as_json:
        shown = [one.model_dump(mode="json", by_alias=True) for one in found.values()]
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    width = max((len(name) for name in found), default=0)
    for name, one in found.items():
        made_of = "; ".join(source.config.described() for source in one.sources)
        click.echo(f"{name:<{width}}  {one.title}  [{', '.join(one.languages)}]  {made_of}")


@datasets.command()
@click.argument("name", required=False)
@click.option("--dead", is_flag=True, help="List the paths that no typed data can match, with the reason.")
@click.option("--ask", is_flag=True, help="Send NAME's endpoint a first request and say what it is.")
@FILE
def check(file: Path | None, name: str | None, dead: bool, ask: bool) -> None:
    """Validate all data sets, or NAME, with the configuration of method, modes and operations and the ontology tables.

    The first thousand statements of every file are read where the build extra is installed.
    """
    from crmrag_query.config.datasets import load_datasets
    from crmrag_query.config.loading import load_method
    from crmrag_query.config.operations import load_operations
    from crmrag_query.ontology.load import load_ontology
    from crmrag_query.retrieval.channels import known_modes
    from crmrag_query.validation import check_dataset, check_method

    method, ontology = load_method(), load_ontology()
    load_operations()
    known_modes()
    problems = [str(finding) for finding in check_method(method, ontology)]
    declared = load_datasets(file)
    if name is not None and name not in declared:
        raise ConfigError.single(
            "datasets.yaml", "datasets", "no such data set", value=repr(name),
            remedy=f"There are: {', '.join(declared)}.",
        )  # fmt: skip
    chosen = declared if name is None else {name: declared[name]}
    if ask and (name is None or not chosen[name].asks):
        raise click.UsageError(
            "--ask is for one data set that has an endpoint: crmrag datasets check NAME --ask"
        )
    for one in chosen.values():
        mistakes = check_dataset(one, method, os.environ)
        problems += map(str, mistakes)
        for line in _declaration(one, method, bool(mistakes)):
            click.echo(line)
        if not mistakes:
            problems += _first_statements(one, method)
    _report_paths(method, ontology, dead)
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        sys.exit(1)
    if ask and name:
        first_look = _of_building("crmrag.endpoint", "first_look", "Asking an endpoint")
        for source in chosen[name].sources:
            for line in first_look(source.config, method) if source.config.server() else ():
                click.echo(line)
    click.echo("No mistakes found.")


@datasets.command()
@click.argument("name")
@click.argument("to")
@data_option
@FILE
def rename(file: Path | None, data: Path, name: str, to: str) -> None:
    """Give data set NAME the name TO, with everything that was built of it but its releases.

    They have the name in them and stay as they are until a build under the new name has made its own.
    """
    from crmrag_query.artifacts.manifest import release_ids
    from crmrag_query.config.datasets import rename_dataset
    from crmrag_query.config.reading import datasets_file

    target = datasets_file(file)
    with _of_building("crmrag.datasets", "rename", CHANGING)(data, name, to):
        rename_dataset(target, name, to)
    click.echo(f"{target}: {name} is {to} now. Next: crmrag build {to} (nothing that is built is made again)")
    if release_ids(data, name):
        click.echo(f"The releases of {name} are there until: crmrag datasets remove {name}")


@datasets.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask before.")
@data_option
@FILE
def remove(file: Path | None, data: Path, name: str, yes: bool) -> None:
    """Take data set NAME out of datasets.yaml, and remove its releases and everything that was built of it.

    Its source stays. A name that is declared no more may still have folders: they are removed too.
    """
    from crmrag_query.config.datasets import load_datasets, remove_dataset
    from crmrag_query.config.reading import datasets_file

    target = datasets_file(file)
    declared = load_datasets(target)
    folders = _of_building("crmrag.datasets", "folders", CHANGING)(data, name)
    if name not in declared and not folders:
        raise ConfigError.single(
            target, f"datasets.{name}", "no such data set, and nothing of it in the data folder",
            remedy=f"There are: {', '.join(declared)}. --data names another folder.",
        )  # fmt: skip
    for folder in folders:
        click.echo(f"{folder}: will be removed")
    if not yes:
        click.confirm(f"Remove {name}?", abort=True)
    with _of_building("crmrag.datasets", "remove", CHANGING)(data, name):
        if name in declared:
            remove_dataset(target, name)
    click.echo(
        f"{name} is removed." + (f" {target} does not declare it any more." if name in declared else "")
    )


def _of_building(group: str, work: str, what: str) -> Callable[..., Any]:
    """What the building package does; MissingExtraError, which names ``what`` is wanted, where it is not installed."""
    for point in entry_points(group=group, name=work):
        with suppress(ImportError):
            found: Callable[..., Any] = point.load()
            return found
    raise MissingExtraError(what, "build")


def _first_statements(one: DatasetConfig, method: Method) -> list[str]:
    """What is wrong with the first statements of the files; nothing where what reads them is not installed."""
    try:
        look = _of_building("crmrag.datasets", "look", "Reading files")
    except MissingExtraError:
        return []
    return [f"{one.name}: {mistake}" for mistake in look(one, method)]


def _declaration(one: DatasetConfig, method: Method, mistaken: bool) -> Iterator[str]:
    """What a data set is made of; of a server also how it is asked, and whether its environment variables are set."""
    several = len(one.sources) > 1
    if several:
        yield f"{one.name}: {amount(len(one.sources), 'source')}"
    for source in one.sources:
        head = f"  {source.kind}" if several else one.name
        if source.config.server():
            yield f"{head}: {source.config.described()}"
        elif not mistaken:
            yield f"{head}: {amount(len(one.paths_of(source)), 'file')}"
        yield from (f"  {line}" if several else line for line in source.config.told(method.requests))
        if several:
            yield f"    its triples are in the graph {source.graph}, but for those that name another"


def _made_of(one: DatasetConfig) -> Iterator[str]:
    for source in one.sources:
        if source.config.server():
            yield "a SPARQL endpoint" if source.kind == "endpoint" else source.config.described()
        else:
            yield amount(len(one.paths_of(source)), "file")


def _report_paths(method: Any, ontology: Any, verbose: bool) -> None:
    from crmrag_query.relationships.engine import Catalogue, dead_paths

    for name in method.relationship_sets:
        catalogue = Catalogue.load(method, name)
        dead = dead_paths(catalogue, ontology)
        paths = sum(len(relationship.paths) for relationship in catalogue)
        click.echo(
            f"{name}: {len(catalogue)} relationships, {paths} paths, {len(dead)} that no typed data can match"
        )
        for path in dead if verbose else ():
            click.echo(f"  {path.path_id}: {path.reason}")


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
