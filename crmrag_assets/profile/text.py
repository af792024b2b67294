"""The profile as a page to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crmrag_assets.build.step import escaped, table
from crmrag_query.plans.profile import PROFILE, Content, Counted, Example, ExamplePair, PropertyProfile

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


def profile_markdown(content: Content, title: str) -> str:
    """What the JSON tells, in tables of its first rows."""
    about = (
        f"What occurs in this data set, how often, with examples. The same and more, for programs: {PROFILE}"
    )
    lines = [f"# Profile: {escaped(title)}", "", about]
    lines += _table("In all", [{"what": what, "number": n} for what, n in content.totals.items()])
    coverage = [
        {"category": one.category, "entities": one.entities}
        | {kind: percent(getattr(one, kind), one.entities) for kind in KNOWN}
        for one in content.coverage
    ]
    lines += [*_table("What is known", coverage), "", "## How it is modelled"]
    for topic, heading in TOPICS.items():
        facts = [
            {
                "of": one.of,
                "by": one.by or "(none)",
                "number": one.count,
                "share": percent(one.count, one.whole),
            }
            for one in content.modelling.get(topic, ())
        ]
        lines += _table(heading, facts, level=3)
    classes = [
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
    types = [
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
    relationships = [
        {
            "relationship": f"{one.domain} {one.label} {one.range}",
            "pairs": one.pairs,
            "sources": one.sources,
            "targets": one.targets,
            "first path": f"{one.paths[0].steps} ({percent(one.paths[0].pairs, one.pairs)})",
            "example": paired(one.examples),
        }
        for one in sorted(content.relationships, key=lambda one: -one.pairs)
        if one.pairs
    ]
    properties = [
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
    lines += _table("Classes", classes)
    lines += _table("Types", types)
    lines += _table("Relationships", relationships)
    lines += _table("Properties between entities", properties)
    lines += _table("Literals", [row for one in content.properties for row in _literals(one)])
    return "\n".join(lines) + "\n"


def _table(title: str, rows: Sequence[Mapping[str, Any]], level: int = 2) -> Iterator[str]:
    return table(title, tuple(rows[0]) if rows else (), rows, PROFILE, level)


def _literals(one: PropertyProfile) -> Iterator[dict[str, Any]]:
    if one.literals is None:
        return
    found = one.literals
    extent = found.dates or found.numbers
    yield {
        "property": named(one.code, one.label, one.iri),
        "values": found.count,
        "datatypes": counted([(name.rsplit("#", 1)[-1] or "text", n) for name, n in found.datatypes]),
        "languages": counted([(name or "none", n) for name, n in found.languages]),
        "characters": found.length,
        "from": extent.lowest if extent else "",
        "to": extent.highest if extent else "",
        "examples": "; ".join(found.examples),
    }


def percent(count: int, whole: int) -> str:
    """A share to read; what is not nothing is not shown as 0."""
    if not whole:
        return ""
    share = 100 * count / whole
    return f"{share:.0f} %" if share >= 1 or not count else "< 1 %"


def named(code: str, label: str, iri: str) -> str:
    return f"{code} {label}" if code else iri


def counted(found: Sequence[Counted]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found)


def shown(examples: Sequence[Example]) -> str:
    return "; ".join(one.label for one in examples)


def paired(examples: Sequence[ExamplePair]) -> str:
    return "; ".join(f"{one.source.label} → {one.target.label}" for one in examples[:1])
