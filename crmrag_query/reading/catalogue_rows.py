"""What a data set offers to plans, as rows of text for a language model: one line for each relation, class, type …"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.graph import Graph
from crmrag_query.language import LANGUAGES
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.profile import Profile, PropertyProfile
from crmrag_query.plans.records import Way
from crmrag_query.plans.ways import routes_of
from crmrag_query.plans.world import World
from crmrag_query.reading.lexicon import said_of
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.text import plain, same_stem, shorten, tokenize

Names = tuple[str, ...]
MANY = 4  # categories that say no more than "anything"; ours


@dataclass(frozen=True, slots=True)
class Row:
    """A line as told, the names by which a question may speak of it, and how often it occurs."""

    text: str
    names: Names
    count: int = 0


def profile_of(release: Release) -> Profile | None:
    """The profile of a release, None for one that was built before there was one."""
    try:
        return release[Profile]
    except ReleaseError:
        return None


def relation_rows(world: World, languages: Sequence[str]) -> Iterator[Row]:
    """``id: label | read backwards | from > to`` of the relations that the data can state, in the configuration's order."""
    for id, relation in world.relations.items():
        if not routes_of(world, Way(relations=(id,))):
            continue
        label, back = _in(relation.labels, languages), _in(relation.inverse, languages)
        range_ = _any_of(relation.range) if relation.value == "entity" else relation.value
        said = tuple(sorted(word for code in languages if code in LANGUAGES for word in said_of(id, code)))
        names = (*relation.labels.values(), *relation.inverse.values(), *said)
        yield Row(f"{id}: {label} | {back} | {_any_of(relation.domain)} > {range_}", names)


def _any_of(categories: Sequence[str]) -> str:
    return " or ".join(categories) if 0 < len(categories) < MANY else "anything"


def _in(texts: Mapping[str, str], languages: Sequence[str]) -> str:
    return next((texts[one] for one in ("en", *languages, *texts) if one in texts), "")


def relationship_rows(release: Release, profile: Profile | None) -> Iterator[Row]:
    """``id: label | from > to | pairs`` of the Fundamental Relationships that occur; all where nothing tells which do."""
    for one in release[Catalogue]:
        known = profile.relationships.get(one.id) if profile else None
        if profile and (known is None or not known.pairs):
            continue
        pairs = known.pairs if known else 0
        ends = f"{_categories(one.domain)} > {_categories(one.range)}"
        yield Row(f"{one.id}: {one.label} | {ends}{f' | {pairs}' if pairs else ''}", (one.label,), pairs)


def _categories(mask: Category | int) -> str:
    return " or ".join(str(one.name) for one in Category if int(mask) & one)


def class_rows(release: Release, profile: Profile | None, characters: int) -> Iterator[Row]:
    """``code: label | categories | entities``; by its IRI a class without a code, or whose code is another's."""
    if profile is None:
        graph = release[Graph]
        for number in range(len(graph.class_codes)):
            label = _shown(graph.class_label(number), characters)
            yield Row(f"{graph.class_code(number) or graph.class_iri(number)}: {label}", (label,))
        return
    for name in profile.classes:
        entry = profile.classes[name]
        label = _shown(entry.label, characters)
        categories = " or ".join(entry.categories)
        yield Row(f"{name}: {label} | {categories} | {entry.entities}", (entry.label,), entry.entities)


def type_rows(profile: Profile | None, characters: int) -> Iterator[Row]:
    """``IRI: "label" | categories of what has it | entities``."""
    for entry in profile.types if profile else ():
        label, categories = (
            _quoted(entry.label, characters),
            " or ".join(name for name, _ in entry.categories),
        )
        names = (entry.label, *entry.labels.values())
        yield Row(f"{entry.iri}: {label} | {categories} | {entry.entities}", names, entry.entities)


def property_rows(profile: Profile | None, characters: int) -> Iterator[Row]:
    """``code or IRI: label | ends | triples or literals``, with an example of a literal."""
    for name in profile.properties if profile else ():
        assert profile is not None
        entry = profile.properties[name]
        count = max(entry.triples, entry.literals.count if entry.literals else 0)
        label = _shown(entry.label, characters)
        names = (entry.label, entry.iri.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1])
        yield Row(f"{name}: {label} | {_ends(entry, characters)} | {count}", names, count)


def _ends(entry: PropertyProfile, characters: int) -> str:
    """Classes of both ends of most triples, or what the literals are."""
    if entry.literals is None:
        subject, object_, _ = entry.classes[0] if entry.classes else ("", "", 0)
        return f"{_short(subject)} > {_short(object_)}"
    of = entry.literals
    kinds = (("dates", of.dates), ("numbers", of.numbers))
    kind = next((name for name, extent in kinds if extent and 2 * extent.count > of.count), "text")
    example = f", as {_quoted(of.examples[0], characters)}" if of.examples else ""
    return f"{kind}{example}"


def _short(name: str) -> str:
    return name or "anything"


def graph_rows(release: Release) -> Iterator[Row]:
    """IRIs of named graphs, in order."""
    for iri in sorted({iri for names in release[Graph].graph_sets for iri in names if iri}):
        yield Row(iri, (iri.rstrip("/").rsplit("/", 1)[-1],))


def _shown(text: str, characters: int) -> str:
    return shorten(plain(text), characters)


def _quoted(text: str, characters: int) -> str:
    """Text from the data, between quotation marks that do not occur within."""
    return '"' + _shown(text, characters).replace('"', "'") + '"'


def by_relevance(rows: Sequence[Row], words: Sequence[str]) -> list[Row]:
    """Rows whose names share words with the question first, those that are named wholly before others; then the most used;
    else as they were. ``words``: folded."""
    asked = frozenset(words)
    beginnings = frozenset(word[:2] for word in asked)
    likeness = partial(_likeness, asked=asked, beginnings=beginnings)
    return sorted(rows, key=lambda row: (-max(map(likeness, row.names), default=0), -row.count))


def _likeness(name: str, asked: frozenset[str], beginnings: frozenset[str]) -> float:
    """Share of a name's words that the question has, spelt the same but for an ending."""
    words = tokenize(name)[:12]
    near = [word for word in words if word in asked or word[:2] in beginnings]
    found = sum(word in asked or any(same_stem(word, one) for one in asked) for word in near)
    return found / len(words) if words else 0.0
