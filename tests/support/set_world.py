"""A small museum for whole sets: paintings in two named graphs, their makers, dates, materials and places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.plans.records import Anchor, Compute, Dated, Plan, Related, Target, Way
from tests.support.builds import build_all, make_project
from tests.support.shared import shared_release

BASE = "http://example.org/"
NORTH, SOUTH = f"{BASE}north", f"{BASE}south"
PREFIXES = f"""@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <{BASE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
# Name, maker, year ("" for none), material, place ("" for none), graph.
PAINTINGS: dict[str, tuple[str, str, str, str, str, str]] = {
    "p1": ("Harbour 2", "ada", "1840", "oil", "lund", "north"),
    "p2": ("Harbour 10", "ada", "1860", "oil", "lund", "north"),
    "p3": ("=SUM(A1:A9)", "ada", "", "ivory", "", "north"),
    "p4": ("Portrait of 12 men", "bo", "1901", "oil", "ystad", "south"),
    "p5": ("Élan, “quiet”", "bo", "1902", "ivory", "ystad", "south"),
    "p6": ("Storm", "cy", "", "oil", "", "south"),
    "p7": ("Calm\nsea", "cy2", "1850", "oil", "lund", "south"),
}
MAKERS = {"ada": "Ada Berg", "bo": "Bo Lind", "cy": "Cy Holm", "cy2": "Cy Holm (painter)"}
PLACES = {"lund": ("Lund", "55.70 13.19"), "ystad": ("Ystad", "55.43 13.82")}
MADE = Way(paths=(("P108i", "P14"),))
SPAN = Way(paths=(("P108i", "P4"),))
MATERIAL = Way(paths=(("P45",),))
PAINTING = Target(types=(f"{BASE}painting",))
ALL = Plan(target=PAINTING)
BY_ADA = Plan(target=PAINTING, where=(Related(way=MADE, to=Anchor(iris=(f"{BASE}ada",))),))
NOT_IVORY = Plan(
    target=PAINTING, where=(Related(way=MATERIAL, to=Anchor(iris=(f"{BASE}ivory",)), negated=True),)
)
BEFORE_1855 = Plan(target=PAINTING, where=(Dated(way=SPAN, end=677_300),))  # 1855-05-23


def set_world() -> str:
    """TriG: what the graph `north` and the graph `south` say."""
    graphs: dict[str, list[str]] = {"north": [], "south": []}
    shared = [
        ':painting a crm:E55_Type ; rdfs:label "painting"@en, "tableau"@fr, "Gemälde"@de, "πίνακας"@el .',
        ':oil a crm:E57_Material ; rdfs:label "oil"@en, "huile"@fr .',
        ':ivory a crm:E57_Material ; rdfs:label "ivory"@en, "ivoire"@fr .',
        ":cy2 owl:sameAs :cy .",
    ]
    shared += [f':{key} a crm:E21_Person ; rdfs:label "{name}" .' for key, name in MAKERS.items()]
    for key, (name, where) in PLACES.items():
        lat, lon = where.split()
        shared.append(f':{key} a crm:E53_Place ; rdfs:label "{name}" ; geo:lat "{lat}" ; geo:long "{lon}" .')
    graphs["north"] += shared
    for key, (name, maker, year, material, place, graph) in PAINTINGS.items():
        told = name.replace("\n", "\\n")
        lines = [
            f':{key} a crm:E22_Human-Made_Object ; rdfs:label "{told}" ; crm:P2_has_type :painting ;',
            f"  crm:P45_consists_of :{material} ; crm:P108i_was_produced_by :{key}-making .",
            f":{key}-making a crm:E12_Production ; crm:P14_carried_out_by :{maker} .",
            f":{key} foaf:depiction <http://img.example.org/{key}.jpg> .",
        ]
        if year:
            span = f'[ a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{year}-01-01"^^xsd:date ;'
            lines.append(
                f':{key}-making crm:P4_has_time-span {span} crm:P82b_end_of_the_end "{year}-12-31"^^xsd:date ] .'
            )
        if place:
            lines.append(f":{key} crm:P55_has_current_location :{place} .")
        graphs[graph] += lines
    return PREFIXES + "\n".join(f":{name} {{\n" + "\n".join(lines) + "\n}" for name, lines in graphs.items())


def computed(plan: Plan, **how: Any) -> Plan:
    """The plan with something made of its members."""
    return plan.model_copy(update={"compute": Compute.model_validate(how)})


def with_sets(museum: Release, **bounds: dict[str, int]) -> Release:
    """The museum with other bounds in parts of `sets`."""
    method = museum.method
    parts = {name: getattr(method.sets, name).model_copy(update=to) for name, to in bounds.items()}
    made = Release(museum.folder, museum.manifest)
    made.__dict__["method"] = method.model_copy(update={"sets": method.sets.model_copy(update=parts)})
    return made


def iri(name: str) -> str:
    return BASE + name


def set_museum(factory: pytest.TempPathFactory) -> Release:
    """The museum, built with the stand-in encoder, its licence and attribution declared."""
    return shared_release(factory, "set_world", _build)


def naming(release: Release, most: int) -> Release:
    """The release as it is opened where texts name at most so many members."""
    limits = release.method.sets.limits.model_copy(update={"named": most})
    sets = release.method.sets.model_copy(update={"limits": limits})
    opened = replace(release)
    opened.__dict__["method"] = release.method.model_copy(update={"sets": sets})
    return opened


def _build(root: Path) -> None:
    project = make_project(
        root, rdf=["museum.trig"], licence="CC0 1.0", attribution="The Museum", write_markdown=False
    )
    (root / "museum.trig").write_text(set_world(), encoding="utf-8")
    build_all(project.context())
