"""The profile as a page to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from crmrag_assets.release.markdown import escaped, table
from crmrag_query.plans.profile import (
    PROFILE,
    Content,
    Counted,
    Coverage,
    Example,
    ExamplePair,
    Fact,
    PropertyProfile,
)

TOPICS = {
    "categories": "Categories, every one that an entity counts for",
    "kinds": "How kinds are told: by a type (P2) or by a class",
    "names": "Where names stand",
    "languages": "Languages of names",
    "makers": "How works lead to makers",
    "depiction": "How depiction is told",
    "dated": "What is dated, by which relationship",
    "date_statements": "How dates are written",
    "places": "Places: within one another, with coordinates",
    "identifiers": "Identifiers",
    "authorities": "Authorities",
}
KNOWN = ("label", "type", "date", "place", "maker", "image")

_table = partial(table, where=PROFILE)


def profile_markdown(content: Content, title: str) -> str:
    """What the JSON tells, in tables of its first rows."""
    return "\n".join(_lines(content, title)) + "\n"


def _lines(content: Content, title: str) -> Iterator[str]:
    yield f"# Profile: {escaped(title)}"
    yield ""
    yield (
        "What occurs in this data set, how often, with examples. The same and more, for programs: " + PROFILE
    )
    yield from _table("In all", ("what", "number"), _pairs(content.totals.items(), "what", "number"))
    yield from _table(
        "What is known", ("category", "entities", *KNOWN), [_known(c) for c in content.coverage]
    )
    yield from ("", "## How it is modelled")
    for topic, heading in TOPICS.items():
        facts = content.modelling.get(topic, ())
        yield from _table(heading, ("of", "by", "number", "share"), [_fact(f) for f in facts], level=3)
    yield from _classes(content)
    yield from _types(content)
    yield from _relationships(content)
    yield from _properties(content)


def _pairs(counted: Any, name: str, number: str) -> list[dict[str, Any]]:
    return [{name: what, number: count} for what, count in counted]


def _known(one: Coverage) -> dict[str, Any]:
    shares = {kind: percent(getattr(one, kind), one.entities) for kind in KNOWN}
    return {"category": one.category, "entities": one.entities, **shares}


def _fact(fact: Fact) -> dict[str, Any]:
    by = fact.by or "(none)"
    return {"of": fact.of, "by": by, "number": fact.count, "share": percent(fact.count, fact.whole)}


def percent(count: int, whole: int) -> str:
    """A share to read; what is not nothing is not shown as 0."""
    if not whole:
        return ""
    share = 100 * count / whole
    return f"{share:.0f} %" if share >= 1 or not count else "< 1 %"


def _classes(content: Content) -> Iterator[str]:
    rows = [
        {
            "class": named(one.code, one.label, one.iri),
            "categories": ", ".join(one.categories),
            "entities": one.entities,
            "with sub-classes": one.instances,
            "known": ", ".join(f"{k} {percent(one.known[k], one.entities)}" for k in KNOWN if one.known[k]),
            "examples": shown(one.examples),
        }
        for one in content.classes
    ]
    columns = ("class", "categories", "entities", "with sub-classes", "known", "examples")
    yield from _table("Classes", columns, rows)


def _types(content: Content) -> Iterator[str]:
    rows = [
        {
            "type": one.label,
            "entities": one.entities,
            "categories": counted(one.categories),
            "classes": counted(one.classes),
            "led to by": counted(one.ways),
            "iri": one.iri,
        }
        for one in content.types
    ]
    yield from _table("Types", ("type", "entities", "categories", "classes", "led to by", "iri"), rows)


def _relationships(content: Content) -> Iterator[str]:
    occurring = sorted((one for one in content.relationships if one.pairs), key=lambda one: -one.pairs)
    rows = [
        {
            "relationship": f"{one.domain} {one.label} {one.range}",
            "pairs": one.pairs,
            "sources": one.sources,
            "targets": one.targets,
            "first path": f"{one.paths[0].steps} ({percent(one.paths[0].pairs, one.pairs)})",
            "example": paired(one.examples),
        }
        for one in occurring
    ]
    columns = ("relationship", "pairs", "sources", "targets", "first path", "example")
    yield from _table("Relationships", columns, rows)


def _properties(content: Content) -> Iterator[str]:
    rows = [
        {
            "property": named(one.code, one.label, one.iri),
            "triples": one.triples,
            "subjects": one.subjects,
            "objects": one.objects,
            "mostly": "; ".join(f"{s} to {o}" for s, o, _ in one.classes[:2]),
            "example": paired(one.examples),
        }
        for one in content.properties
        if one.triples
    ]
    columns = ("property", "triples", "subjects", "objects", "mostly", "example")
    yield from _table("Properties between entities", columns, rows)
    literal = ("property", "values", "datatypes", "languages", "characters", "from", "to", "examples")
    yield from _table("Literals", literal, [_literal(one) for one in content.properties if one.literals])


def _literal(one: PropertyProfile) -> dict[str, Any]:
    found = one.literals
    assert found is not None
    extent = found.dates or found.numbers
    return {
        "property": named(one.code, one.label, one.iri),
        "values": found.count,
        "datatypes": counted([(name.rsplit("#", 1)[-1] or "text", n) for name, n in found.datatypes]),
        "languages": counted([(name or "none", n) for name, n in found.languages]),
        "characters": found.length,
        "from": extent.lowest if extent else "",
        "to": extent.highest if extent else "",
        "examples": "; ".join(found.examples),
    }


def named(code: str, label: str, iri: str) -> str:
    return f"{code} {label}" if code else iri


def counted(found: Sequence[Counted]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found)


def shown(examples: Sequence[Example]) -> str:
    return "; ".join(one.label for one in examples)


def paired(examples: Sequence[ExamplePair]) -> str:
    return "; ".join(f"{one.source.label} → {one.target.label}" for one in examples[:1])
