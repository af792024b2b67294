"""Check the configuration: codes against the ontology, relationships and relations against each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method, Relation, RelationshipSet
from crmrag_query.config.reading import Requests
from crmrag_query.errors import ConfigError, Mistake
from crmrag_query.language import READ
from crmrag_query.ontology.load import Ontology, did_you_mean, take_apart
from crmrag_query.relationships.engine import Path, Way, implies, is_iri, read_step, way_of


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


def check_dataset(
    dataset: DatasetConfig, method: Method, environment: Mapping[str, str]
) -> tuple[Mistake, ...]:
    """What of a data set's declaration cannot be met here: relationships, files, environment variables, waits."""
    key = f"datasets.{dataset.name}"
    found = []
    chosen, known = dataset.relationships, method.relationship_sets
    if chosen and chosen not in known:
        there = f"There are: {', '.join(sorted(known))}."
        found.append(Mistake(f"{key}.relationships", repr(chosen), "no such set", there))
    for named in (dataset.require_files, dataset.questions_file):
        try:
            named()
        except ConfigError as error:
            found += error.mistakes
    for one in dataset.sources:
        place = f"{key}.{one.key}"
        for name in one.config.variables():
            if not environment.get(name, "").strip():
                reason = f"the environment variable {name} is not set"
                found.append(Mistake(place, "", reason, f"Before a build: export {name}=…"))
        if one.config.server():
            found += _waits(one.config.resolved(method.requests), f"{place}.requests")
    return tuple(found)


def _waits(requests: Requests, key: str) -> Iterator[Mistake]:
    if requests.longest_wait_seconds < requests.first_wait_seconds:
        reason = f"shorter than first_wait_seconds ({requests.first_wait_seconds:g})"
        yield Mistake(
            f"{key}.longest_wait_seconds", f"{requests.longest_wait_seconds:g}", reason, "Raise it."
        )


def _codes(key: str, codes: Iterable[str], known: Collection[str]) -> Iterator[Mistake]:
    for code in codes:
        if code not in known:
            remedy = did_you_mean(code, known, "Add its ontology with `crmrag ontology extract`.", most=1)
            yield Mistake(f"{key}.{code}", repr(code), "no ontology table declares this code", remedy)


def _without_iris(names: Iterable[str]) -> Iterator[str]:
    """The codes among the names: IRIs belong to other vocabularies, which are not known here."""
    return (name for name in names if not is_iri(name))


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


def _constants(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    """Codes among the constants."""
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
    }
    for key, values in properties.items():
        yield from _codes(key, _without_iris(values), ontology.properties)


def _set(part: RelationshipSet, ontology: Ontology) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for id, entry in part.relationships.items():
        key = f"relationships.{id}"
        parent = part.relationships.get(entry.specialises)
        if entry.specialises and parent is None:
            remedy = "Name one of this file."
            yield Mistake(f"{key}.specialises", repr(entry.specialises), "no such relationship", remedy)
        elif parent and (parent.domain, parent.range) != (entry.domain, entry.range):
            yield Mistake(f"{key}.specialises", repr(entry.specialises), "it relates other categories")
        for path, steps in entry.paths.items():
            where = f"{key}.paths.{path}"
            if path in seen:
                yield Mistake(where, "", f"{seen[path]} has a path of this id", "Choose another id.")
            seen[path] = id
            for step in steps:
                yield from _step(where, step, ontology)
        ways = [_way(steps, ontology) for steps in entry.paths.values()]
        for words, told in (entry.told or {}).items():
            for steps in told:
                for step in steps:
                    yield from _step(f"{key}.told.{words}", step, ontology)
                if not any(implies(_way(steps, ontology), way) for way in ways):
                    remedy = "Tell a path of this relationship, or a narrower one."
                    yield Mistake(
                        f"{key}.told.{words}",
                        repr(" ".join(steps)),
                        "it follows from none of the paths",
                        remedy,
                    )


def _way(steps: Sequence[str], ontology: Ontology) -> Way:
    return way_of(Path("", tuple(map(read_step, steps))), ontology)


def _step(key: str, step: str, ontology: Ontology) -> Iterator[Mistake]:
    """A step's code must exist, and the words after it must be that property's name."""
    name = step.removesuffix("*").removeprefix("^").removesuffix("!")
    spelling = take_apart(name)
    if spelling is None:
        yield Mistake(key, repr(name), "a step names a property by its code", "As in P108i_was_produced_by.")
    elif spelling.code not in ontology.properties:
        yield from _codes(key, (spelling.code,), ontology.properties)
    elif spelling.words and name != (present := ontology.property_(spelling.code).name):
        yield Mistake(key, repr(name), f"{spelling.code} is {present}", "Correct the code or the words.")


def relation_mistakes(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    """Properties, classes, relationships and languages that do not exist."""
    relationships = {id for part in method.relationship_sets.values() for id in part.relationships}
    for id, relation in method.relations.items():
        key, ends = f"relations.{id}", relation.literals
        for where, paths in (
            ("paths", relation.paths),
            ("literals.begin", ends.begin),
            ("literals.end", ends.end),
            ("literals.value", ends.value),
            ("literals.unit", ends.unit),
        ):
            codes = [read_step(step).code for path in paths for step in path]
            yield from _known(f"{key}.{where}", codes, ontology.properties)
        yield from _known(f"{key}.classes", (*relation.classes, *relation.not_classes), ontology.classes)
        yield from _known(f"{key}.relationships", relation.relationships, relationships)
        if relation.value == "date" and relation.paths and not relation.literal_paths():
            reason = "a date without literals to show"
            yield Mistake(f"{key}.literals", "", reason, "Add begin or end, and `shown`.")
        yield from _languages(key, relation)


def _known(key: str, names: Iterable[str], known: Collection[str]) -> Iterator[Mistake]:
    for name in _without_iris(names):
        if name not in known:
            remedy = did_you_mean(name, known, "", most=1)
            yield Mistake(key, repr(name), "nothing has this code or id", remedy)


def _languages(key: str, relation: Relation) -> Iterator[Mistake]:
    for field in ("labels", "inverse"):
        texts: Mapping[str, str] = getattr(relation, field)
        if "en" not in texts:
            yield Mistake(f"{key}.{field}", "", "no English label", "Add `en`: others fall back to it.")
        for language, text in texts.items():
            if not text.strip():
                yield Mistake(f"{key}.{field}.{language}", repr(text), "an empty label", "Remove it.")
    for language in {**relation.labels, **relation.inverse, **relation.words}:
        if language not in READ:
            there = ", ".join(READ)
            yield Mistake(f"{key}.{language}", "", "no language of config/languages", f"There are: {there}.")
