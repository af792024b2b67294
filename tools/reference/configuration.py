"""`docs/reference/configuration.md`: every key of `config/`, from the typed records and the comments of the files."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from crmrag_query.config import sources
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import (
    Constants,
    EventsPart,
    ExtractionPart,
    ModesPart,
    PromptsPart,
    QuestionLexicon,
    RelationshipSet,
    RelationsPart,
    SatellitesPart,
    SentencesPart,
    SetsPart,
    TranslationsPart,
    WeightsPart,
)
from crmrag_query.config.operations import Operations
from crmrag_query.config.reading import CategoriesPart, default_folder, read_yaml
from crmrag_query.config.service import ServiceConfig
from crmrag_query.config.sources import EndpointConfig
from tools.reference.comments import Comments, Keys, read_comments
from tools.reference.text import cell, code, notes, summary, table, value

PARTS: dict[str, type[BaseModel]] = {
    "extraction.yaml": ExtractionPart,
    "service.yaml": ServiceConfig,
    "operations.yaml": Operations,
    "method.yaml": Constants,
    "modes.yaml": ModesPart,
    "sets.yaml": SetsPart,
    "sentences.yaml": SentencesPart,
    "categories.yaml": CategoriesPart,
    "event_classes.yaml": EventsPart,
    "satellites.yaml": SatellitesPart,
    "weights.yaml": WeightsPart,
    "relations.yaml": RelationsPart,
    "questions.yaml": QuestionLexicon,
    "translations.yaml": TranslationsPart,
    "prompts.yaml": PromptsPart,
    "relationships/fr109.yaml": RelationshipSet,
}
"""The files of `config/` and what each is read as; data sets and ontology tables aside."""
HEAD = """\
# Configuration

Every key of the files in `config/`, with the value that ships and where that comes from. `crmrag datasets check`
finds mistakes and tells them with file, key and remedy; an unknown key is a mistake.

`crmrag` looks for these files in the folder that `--config` or `CRMRAG_CONFIG` names, else in `./config` (where that
holds a `method.yaml`), else takes those that ship. A folder of your own need only hold the files that you change, but
each of them whole. What concerns building and asking is part of a release: a change counts from the next `crmrag
build` on. `service.yaml` is read when the service starts; `modes.yaml`, whose modes add to those that ship, for each
question; `operations.yaml`, and `rebuild` of a data set, when Dagster loads the project. The words by which questions
are read, in `languages/` and `words/`, are the product's: no folder of your own takes their place;
[Extending it](../extending.md) tells what stands there.

In a key, `*` stands for any name (a language, a category) and `[]` for each entry of a list; the value is that of the
first. As a source, *ours* is what we chose ourselves, *published* the published CRM-RAG and its first implementation."""
ENVIRONMENT = """\
## Environment

| variable | what |
| --- | --- |
| `CRMRAG_DATA` | the data folder, in place of `data`; to read, an object store; for `crmrag mcp` a release or service |
| `CRMRAG_CACHE_GIB` | the most that is kept here of what comes from object stores; else two releases of each data set |
| `CRMRAG_CONFIG` | the folder of these files |
| `CRMRAG_MODEL` | the language model that writes answers, by its litellm name |
| `CRMRAG_API_BASE` | the address of a model server of your own |
| `CRMRAG_TRACE_QUESTIONS` | if set, traces hold questions and query strings, which else they do not |
| `CRMRAG_MODEL_TIMEOUT` | seconds that `crmrag ask` and `chat` wait for each silence of it; default 60 |
| `CRMRAG_API_KEYS` | keys, separated by commas, of which `crmrag serve` wants one |
| `CRMRAG_API_KEY` | the key that `crmrag mcp` sends to such a service |
| `CRMRAG_STORE` | what the graph tools search: `release` (the default), `postgres`, or a store of another package |
| `CRMRAG_POSTGRES` | the PostgreSQL database, as postgresql://user@host/database; without it libpq's own variables count |

Language models and embedding APIs have variables of their own for their keys, such as `OPENAI_API_KEY`."""
DATASETS = """\
## datasets.yaml

The data sets, each under a name of its own below `datasets:`. One of `rdf`, `endpoint` and `sources` is needed.
`crmrag datasets add` writes an entry; [Your own data](../data.md) and [SPARQL endpoints](../endpoints.md) explain
them."""
# What the comments of datasets.yaml cannot tell, as the entries there are examples.
OF_A_DATASET = {
    "title": "shown to readers; else the name",
    "rdf": "files or globs, from the folder that config/ stands in: Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD; "
    "plain, .gz, .bz2 or .zst",
    "contexts": "files that stand in for JSON-LD contexts, by their addresses",
    "sources": "what it is made of, where that is more than `rdf` or `endpoint` can say: [a list](#sources-of-a-data-set)",
    "endpoint": "a SPARQL 1.1 endpoint: its address, or the keys below",
    "endpoint.url": "its address",
    "endpoint.contact": "goes into the User-Agent header: an address that its operators can write to",
    "endpoint.auth.user": "the variable with the user's name",
    "endpoint.auth.password": "… with the password",
    "endpoint.auth.token": "… with the token",
    "endpoint.requests": "what it sets otherwise than `requests` in [method.yaml](#requests), by the same keys",
    "base_iri": "for files with relative IRIs",
    "languages": "labels are taken in this order",
    "embedding": "the model that embeds documents and questions; its name alone will do below `model`",
    "embedding.model": "of sentence-transformers, local or from the hub, or an API's (`litellm`); the default is local",
    "embedding.provider": "who runs it",
    "embedding.dimension": "of its vectors, where an API takes one",
    "embedding.window_tokens": "tokens of one window; longer documents are embedded as windows with the header repeated",
    "embedding.batch": "texts in one request to an API",
    "embedding.query_prefix": "what the model wants before a question; `query: ` for models of the family E5, by their name",
    "embedding.document_prefix": "… and before a document",
    "image_pattern": "a regular expression: more addresses that are images",
    "licence": "of the data; stands on sources and exports",
    "attribution": "whom to name",
    "wikidata": "texts from Wikidata at question time",
    "examples": "questions that the page offers",
    "questions": "a file of questions with known answers, for `crmrag evaluate`",
    "shapes": "files of SHACL shapes in Turtle, beside those that ship, for the check `shapes_hold` and `crmrag shacl`",
    "relationships": "the set of Fundamental Relationships; else the method's",
    "rebuild": "when it is built again without being told to",
    "rebuild.watch": "look whether the source has changed, and build when a change has settled",
    "rebuild.every_seconds": "between two looks",
    "rebuild.settle_seconds": "for which a change has to stay as it is",
    "rebuild.least_share": "a source with less than this share of what it had is taken for a fault",
    "rebuild.schedule": "build at these times: cron's five fields, or @daily and the like; an endpoint is asked again",
    "rebuild.timezone": "of the schedule",
    "rebuild.fresh_hours": "tell when what is published is older",
    "keep_releases": "how many releases stay, the current and the previous one among them",
    "token_vectors": "vectors of single tokens are made, for the mode `walker`",
    "communities": "what belongs together is found, and told as themes",
    "community_model": "a language model, by its litellm name, that writes the themes; composed without one",
    "graph_partitions": "cut the entity graph into parts of bounded size, for questions to be sent to",
    "aligner": "train what says for which of these parts a question is, and measure it",
    "model_calls": "how a build asks that model, and what it may take",
    "model_calls.workers": "requests at once",
    "model_calls.per_minute": "requests a minute at most; 0 for as many as it takes",
    "model_calls.seconds": "for one reply",
    "model_calls.tries": "of a request that may succeed later: a time-out, an error of the server, too many requests",
    "model_calls.tokens": "of one build at most; what is left is composed",
    "model_calls.usd": "US dollars of one build at most, by litellm's prices",
    "write_markdown": "a Markdown file for each document; by default up to 50,000 documents",
    "write_triples_pickle": "an extra triples_index.pkl for other programs; never read by us",
    "postgres": "what is searched of each release is published in PostgreSQL too: [PostgreSQL](../postgres.md)",
    "publish_to": "an object store that each release is pushed to: s3://BUCKET/PREFIX, gs://…, az://… or file:///FOLDER: "
    "[Object stores](../objects.md)",
    "suspects": "in place of the method's [suspects](#suspects), by the same keys: when an IRI seems to be several things",
}
TOLD_ELSEWHERE = ("endpoint.requests", "suspects", "sources[]")
OF_SOURCES = """\
### Sources of a data set

Each entry of `sources` has one kind of source, with the keys of that kind below it, and may have `by_file: true`, by
which each of its files has a graph of its own, or `named_graph`, that of
its triples that are in none. Without it each of several sources has the graph `urn:crmrag:source:KIND`, with a number
from the second of a kind on. The value of the first key may stand alone (`rdf: exports/*.ttl`). `endpoint` has the keys
above; those of the others follow. A kind of your own is [a package](../extending.md#a-source)."""


def page() -> str:
    """The page."""
    lines = [HEAD, "", ENVIRONMENT, "", DATASETS, "", *_datasets(), "", OF_SOURCES, *_sources()]
    for file, model in PARTS.items():
        lines += ["", f"## {file}", "", *_part(file, model)]
    return "\n".join(lines) + "\n"


def _datasets() -> list[str]:
    comments = Comments("", {tuple(key.split(".")): text for key, text in OF_A_DATASET.items()}, {})
    inner = tuple(code(f"{key}.")[:-1] for key in TOLD_ELSEWHERE)
    rows = [row[:3] for row in _rows(DatasetConfig, {}, comments, Place((), ()))]
    rows = [[code("sources"), *row[1:]] if row[0] == code("sources[]") else row for row in rows]
    return table(
        ("key", "default", "what"),
        (row for row in rows if row[0] != code("name") and not row[0].startswith(inner)),
    )


def _sources() -> Iterator[str]:
    """A table of the keys of each of our kinds of sources, but those that a short form tells already."""
    for kind in sources.KINDS:
        model = sources.config_of(kind)
        if model is EndpointConfig:
            continue
        rows = (row[:3] for row in _rows(model, {}, Comments("", {}, {}), Place((), ())))
        yield from ("", f"`{kind}`: {_sentence(summary(model.__doc__))}", "")
        yield from table(("key", "default", "what"), rows)


def _part(file: str, model: type[BaseModel]) -> Iterator[str]:
    path = default_folder() / file
    values, comments = read_yaml(path), read_comments(path)
    if told := cell(comments.head or summary(model.__doc__)):
        yield from (_sentence(told), "")
    sections = [name for name, info in model.model_fields.items() if _record_of(info.annotation)[1] == ""]
    if len(sections) < SECTIONS:
        yield from _table(_rows(model, values, comments, Place((), ())), comments)
        return
    others = [name for name in model.model_fields if name not in sections]
    rows = (
        _rows_of(name, model.model_fields[name], model, values, comments, Place((), ())) for name in others
    )
    yield from _table(chain.from_iterable(rows), comments)
    for name in sections:
        inner = _bare(model.model_fields[name].annotation)
        yield from ("", f"### {name}", "")
        if told := comments.of((name,)) or summary(inner.__doc__):
            yield from (_sentence(cell(told)), "")
        yield from _table(_rows(inner, values.get(name, {}), comments, Place((name,), (name,))), comments)


SECTIONS = 5
"""From so many records on, each has a heading and a table of its own."""
Row = list[str]


@dataclass(frozen=True)
class Place:
    """Where a key stands: as it is ``shown``, and the ``real`` keys of the file, in which `*` is the first name."""

    shown: Keys
    real: Keys

    def __truediv__(self, name: str) -> Place:
        return Place((*self.shown, name), (*self.real, name))


def _table(rows: Iterable[Row], comments: Comments) -> list[str]:
    """The rows; without their source, where the file's head tells that of all."""
    width = 3 if set(comments.sources) <= {()} or set(comments.sources.values()) == {"ours"} else 4
    return table(("key", "value", "what", "source")[:width], (row[:width] for row in rows))


def _rows(model: type[BaseModel], values: Any, comments: Comments, place: Place) -> Iterator[Row]:
    for name, info in model.model_fields.items():
        if not info.exclude:
            yield from _rows_of(info.alias or name, info, model, values, comments, place)


def _rows_of(
    name: str, info: FieldInfo, model: type[BaseModel], values: Any, comments: Comments, around: Place
) -> Iterator[Row]:
    place = around / name
    given = values.get(name, _fallback(info)) if isinstance(values, dict) else _fallback(info)
    told = comments.of(place.real) or notes(model.__doc__).get(name, "")
    inner, mark = _record_of(info.annotation)
    key, source = code(".".join(place.shown) + (mark or "")), comments.source(place.real)
    if inner is None:
        yield [key, value(given), _with_choices(told, info.annotation), source]
        return
    yield [key, "", cell(told or summary(inner.__doc__)), source]
    first, below = _first(given, mark)
    shown = (*around.shown, name + (mark or ""))
    yield from _rows(inner, below, comments, Place(shown, (*place.real, *first)))


def _fallback(info: FieldInfo) -> Any:
    if info.is_required():
        return None
    default = info.get_default(call_default_factory=True)
    return default.model_dump(mode="json") if isinstance(default, BaseModel) else default


def _first(given: Any, mark: str | None) -> tuple[Keys, Any]:
    """The values of a record; of several, those of the first, with its name."""
    if mark == ".*" and isinstance(given, dict) and given:
        name = next(iter(given))
        return (str(name),), given[name]
    if mark == "[]" and isinstance(given, list | tuple) and given:
        return (), given[0]
    return (), given if not mark and isinstance(given, dict) else {}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(" .") + "." if text else ""


def _bare(annotation: Any) -> Any:
    """A type without Annotated and None."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [one for one in get_args(annotation) if one is not type(None)]
        return _bare(rest[0]) if len(rest) == 1 else annotation
    return annotation


def _record_of(annotation: Any) -> tuple[type[BaseModel] | None, str | None]:
    """The record that a field holds, and "" for one, ".*" for one by name, "[]" for a list of them; None for other values."""
    bare = _bare(annotation)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return bare, ""
    arguments = [one for one in get_args(bare) if one is not Ellipsis]
    if get_origin(bare) in (dict, tuple) and arguments:
        inner, mark = _record_of(arguments[-1])
        if inner is not None and not mark:
            return inner, ".*" if get_origin(bare) is dict else "[]"
        if inner is not None and get_origin(bare) is dict:
            return inner, f".*{mark}"
    return None, None


def _with_choices(told: str, annotation: Any) -> str:
    bare = _bare(annotation)
    if get_origin(bare) is Literal:
        choices = " or ".join(code(str(one)) for one in get_args(bare))
        told = f"{told.rstrip('.')}: {choices}" if told else choices
    return cell(told)
