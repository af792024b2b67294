"""Check the configuration against itself: codes against the ontology, relationships against each other."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from crmrag_query.config.build import Requests
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.endpoint import EndpointConfig
from crmrag_query.config.models import Method, RelationshipSet
from crmrag_query.config.relations_check import relation_mistakes
from crmrag_query.errors import ConfigError, Mistake
from crmrag_query.ontology.spelling import take_apart
from crmrag_query.ontology.tables import Ontology


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake and the file of the configuration it stands in."""

    file: str
    mistake: Mistake

    def __str__(self) -> str:
        return f"{self.file}: {self.mistake}"


def check_method(method: Method, ontology: Ontology) -> tuple[Finding, ...]:
    """Every class, property and relationship that the method names and that does not exist."""
    return tuple(
        Finding(file, mistake)
        for file, mistakes in (
            ("categories.yaml", _categories(method, ontology)),
            ("event_classes.yaml", _codes("classes", method.events.classes, ontology.classes)),
            ("weights.yaml", _codes("properties", method.weights.properties, ontology.properties)),
            ("satellites.yaml", _satellites(method, ontology)),
            ("kinds.yaml", _kinds(method, ontology)),
            ("method.yaml", _constants(method, ontology)),
            ("method.yaml", _waits(method.requests, "requests")),
            ("relations.yaml", relation_mistakes(method, ontology)),
            *(
                (f"relationships/{name}.yaml", _set(part, ontology))
                for name, part in method.relationship_sets.items()
            ),
        )
        for mistake in mistakes
    )


def check_folder(folder: Path | None = None) -> tuple[Finding, ...]:
    """`check_method` for a configuration folder; ConfigError or OntologyError if it cannot be read."""
    from crmrag_query.config.loading import load_method
    from crmrag_query.ontology.load import load_ontology

    return check_method(load_method(folder), load_ontology(folder))


def check_dataset(
    dataset: DatasetConfig, method: Method, environment: Mapping[str, str]
) -> tuple[Mistake, ...]:
    """What of a data set's declaration cannot be met here: relationships, files, environment variables, waits."""
    key = f"datasets.{dataset.name}"
    found = list(_chosen_set(dataset, method, key))
    for named in (dataset.files, dataset.questions_file):
        try:
            named()
        except ConfigError as error:
            found += error.mistakes
    if dataset.endpoint is not None:
        found += _unset(dataset.endpoint, environment, f"{key}.endpoint")
        found += _waits(dataset.endpoint.resolved(method.requests), f"{key}.endpoint.requests")
    return tuple(found)


def _chosen_set(dataset: DatasetConfig, method: Method, key: str) -> Iterator[Mistake]:
    chosen, known = dataset.relationships, method.relationship_sets
    if chosen and chosen not in known:
        yield Mistake(
            f"{key}.relationships", repr(chosen), "no such set", f"There are: {', '.join(sorted(known))}."
        )


def _unset(endpoint: EndpointConfig, environment: Mapping[str, str], key: str) -> Iterator[Mistake]:
    for name in endpoint.variables():
        if not environment.get(name, "").strip():
            yield Mistake(
                key, "", f"the environment variable {name} is not set", f"Before a build: export {name}=…"
            )


def _waits(requests: Requests, key: str) -> Iterator[Mistake]:
    if requests.longest_wait_seconds < requests.first_wait_seconds:
        reason = f"shorter than first_wait_seconds ({requests.first_wait_seconds:g})"
        yield Mistake(
            f"{key}.longest_wait_seconds", f"{requests.longest_wait_seconds:g}", reason, "Raise it."
        )


def _codes(key: str, codes: Iterable[str], known: Collection[str]) -> Iterator[Mistake]:
    for code in codes:
        if code not in known:
            near = difflib.get_close_matches(code, known, n=1)
            remedy = (
                f"Did you mean {near[0]}?" if near else "Add its ontology with `crmrag ontology extract`."
            )
            yield Mistake(f"{key}.{code}", repr(code), "no ontology table declares this code", remedy)


def _categories(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    for key, listed in (("classes", method.categories.classes), ("also", method.categories.also)):
        for category, codes in listed.items():
            yield from _codes(f"{key}.{category}", codes, ontology.classes)
    missing = sorted(set(method.categories.classes) - set(method.categories.priority))
    for category in missing:
        yield Mistake("priority", "", f"{category} has classes but no place in the order", "Add it.")


def _satellites(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    for kind, codes in method.satellites.kinds.items():
        yield from _codes(f"kinds.{kind}", codes, ontology.classes)


def _kinds(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    for id, entry in method.kinds.kinds.items():
        for key, codes in (("classes", entry.classes), ("less", entry.less)):
            own = (code for code in codes if "://" not in code)
            yield from _codes(f"kinds.{id}.{key}", own, ontology.classes)


def _constants(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    """Codes among the constants; IRIs of other vocabularies are not ours to know."""
    properties = {
        **{f"names.{key}": value for key, value in method.names if key.endswith("_properties")},
        **{f"dates.{key}": value for key, value in method.dates},
        **{f"documents.{key}": value for key, value in method.documents if key.endswith("_properties")},
        **{f"aggregation.{key}": value for key, value in method.aggregation},
        **{f"profile.{key}": value for key, value in method.profile if key.endswith("_properties")},
        "links.properties": method.links.properties,
        "images.properties": method.images.properties,
        "images.address_properties": method.images.address_properties,
        "suspects.single_valued": method.suspects.single_valued,
        "context.triples.high_value": method.context.triples.high_value,
    }
    for key, values in properties.items():
        yield from _codes(key, (value for value in values if "://" not in value), ontology.properties)
    classes = {
        "names.identifier_classes": method.names.identifier_classes,
        "retrieval.non_informative.types": method.retrieval.non_informative.types,
        "retrieval.subgraph.type_modifiers": tuple(method.retrieval.subgraph.type_modifiers),
    }
    for key, values in classes.items():
        yield from _codes(key, values, ontology.classes)


def _set(part: RelationshipSet, ontology: Ontology) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for id, entry in part.relationships.items():
        key = f"relationships.{id}"
        parent = part.relationships.get(entry.specialises)
        if entry.specialises and parent is None:
            yield Mistake(
                f"{key}.specialises",
                repr(entry.specialises),
                "no such relationship",
                "Name one of this file.",
            )
        elif parent and (parent.domain, parent.range) != (entry.domain, entry.range):
            yield Mistake(f"{key}.specialises", repr(entry.specialises), "it relates other categories")
        for path, steps in entry.paths.items():
            if path in seen:
                yield Mistake(
                    f"{key}.paths.{path}", "", f"{seen[path]} has a path of this id", "Choose another id."
                )
            seen[path] = id
            for step in steps.split(" | "):
                yield from _step(f"{key}.paths.{path}", step.removesuffix("*"), ontology)


def _step(key: str, name: str, ontology: Ontology) -> Iterator[Mistake]:
    """A step's code must exist, and the words after it must be that property's name."""
    spelling = take_apart(name)
    if spelling is None:
        yield Mistake(key, repr(name), "a step names a property by its code", "As in P108i_was_produced_by.")
    elif spelling.code not in ontology.properties:
        yield from _codes(key, (spelling.code,), ontology.properties)
    else:
        present = ontology.property_(spelling.code).name
        if spelling.words and name != present:
            yield Mistake(key, repr(name), f"{spelling.code} is {present}", "Correct the code or the words.")
