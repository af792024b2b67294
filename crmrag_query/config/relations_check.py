"""Check `relations.yaml` against the ontology, the relationships and itself."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping

from crmrag_query.config.models import Method
from crmrag_query.config.relations import ROLES, Relation
from crmrag_query.errors import Mistake
from crmrag_query.ontology.tables import Ontology
from crmrag_query.parsing.lexicon import patterns
from crmrag_query.plans.steps import taken


def relation_mistakes(method: Method, ontology: Ontology) -> Iterator[Mistake]:
    """Properties, classes, relationships and languages that do not exist; phrases that say nothing, or the same twice."""
    known = {id for part in method.relationship_sets.values() for id in part.relationships}
    for id, relation in method.relations.items():
        key = f"relations.{id}"
        for where, step in _steps(relation):
            yield from _known(f"{key}.{where}", taken(step).name, ontology.properties)
        for code in (*relation.classes, *relation.not_classes):
            yield from _known(f"{key}.classes", code, ontology.classes)
        for one in relation.relationships:
            yield from _known(f"{key}.relationships", one, known)
        yield from _readable(key, relation)
        yield from _languages(key, relation, method.questions.languages)
        yield from _phrases(key, relation)


def _steps(relation: Relation) -> Iterator[tuple[str, str]]:
    ends = relation.literals
    for where, paths in (
        ("paths", relation.paths),
        ("literals.begin", ends.begin),
        ("literals.end", ends.end),
        ("literals.value", ends.value),
        ("literals.unit", ends.unit),
    ):
        for path in paths:
            for step in path:
                yield where, step


def _known(key: str, name: str, known: Collection[str]) -> Iterator[Mistake]:
    """IRIs are not ours to know."""
    if name not in known and "://" not in name:
        near = difflib.get_close_matches(name, known, n=1)
        yield Mistake(
            key, repr(name), "nothing has this code or id", f"Did you mean {near[0]}?" if near else ""
        )


def _readable(key: str, relation: Relation) -> Iterator[Mistake]:
    if relation.value == "date" and relation.paths and not relation.literal_paths():
        yield Mistake(
            f"{key}.literals", "", "a date without literals to show", "Add begin or end, and `shown`."
        )


def _languages(key: str, relation: Relation, languages: Mapping[str, object]) -> Iterator[Mistake]:
    for field in ("labels", "inverse"):
        texts: Mapping[str, str] = getattr(relation, field)
        if "en" not in texts:
            yield Mistake(f"{key}.{field}", "", "no English label", "Add `en`: others fall back to it.")
        for language, text in texts.items():
            if not text.strip():
                yield Mistake(f"{key}.{field}.{language}", repr(text), "an empty label", "Remove it.")
    for language in {**relation.labels, **relation.inverse, **relation.phrases}:
        if language not in languages:
            there = ", ".join(languages)
            yield Mistake(f"{key}.{language}", "", "no language of questions.yaml", f"There are: {there}.")


def _phrases(key: str, relation: Relation) -> Iterator[Mistake]:
    for language, phrases in relation.phrases.items():
        for role in ROLES:
            seen: dict[tuple[str, ...], str] = {}
            for phrase in phrases.of(role):
                where = f"{key}.phrases.{language}.{role}"
                meant = patterns(phrase)
                if not meant:
                    yield Mistake(where, repr(phrase), "a phrase without words", "Remove it.")
                for words in meant:
                    if words in seen:
                        reason = f"{' '.join(words)!r} stands there twice, folded: as {seen[words]!r} too"
                        yield Mistake(where, repr(phrase), reason, "Remove one of them.")
                    seen.setdefault(words, phrase)
