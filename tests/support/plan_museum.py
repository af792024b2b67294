"""A small museum for plans, worked out by hand, and short ways to write its plans."""

from __future__ import annotations

from typing import Any

from crmrag_query.dates import year_interval
from crmrag_query.plans.execute import Outcome, cell, execute
from crmrag_query.plans.records import read_plan
from tests.support.planworlds import BASE, Sample, check

MUSEUM = """
:lake a crm:E22_Man-Made_Object ; rdfs:label "The Lake"@en ; crm:P108i_was_produced_by :p1 ; crm:P2_has_type :oil .
:hill a crm:E22_Man-Made_Object ; rdfs:label "The Hill"@en ; crm:P108i_was_produced_by :p2 ; crm:P2_has_type :painting .
:cup a crm:E22_Man-Made_Object ; rdfs:label "Κύπελλο"@el ; crm:P108i_was_produced_by :p3 .
:cup crm:P3_has_note "Given by A. Fink" .
:shard a crm:E22_Man-Made_Object ; rdfs:label "Shard" .
:p1 a crm:E12_Production ; crm:P14_carried_out_by :anna ; crm:P4_has_time-span :t1 ; crm:P7_took_place_at :geneva .
:p2 a crm:E12_Production ; crm:P14_carried_out_by :anna, :ben ; crm:P4_has_time-span :t2 ; crm:P7_took_place_at :geneva .
:p3 a crm:E12_Production ; crm:P14_carried_out_by :chloe ; crm:P4_has_time-span :t3 .
:t1 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1750-01-01"^^xsd:date .
:t1 crm:P82b_end_of_the_end "1760-12-31"^^xsd:date .
:t2 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1790-01-01"^^xsd:date .
:t2 crm:P82b_end_of_the_end "1810-12-31"^^xsd:date .
:t3 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1790-01-01"^^xsd:date .
:anna a crm:E21_Person ; rdfs:label "Anna" ; crm:P98i_was_born :b1 . :b1 a crm:E67_Birth ; crm:P7_took_place_at :paris .
:ben a crm:E21_Person ; rdfs:label "Ben" ; crm:P98i_was_born :b2 . :b2 a crm:E67_Birth ; crm:P7_took_place_at :paris .
:chloe a crm:E21_Person ; rdfs:label "Chloe" ; crm:P98i_was_born :b3 . :b3 a crm:E67_Birth ; crm:P7_took_place_at :rome .
:paris a crm:E53_Place ; rdfs:label "Paris" . :rome a crm:E53_Place ; rdfs:label "Rome" . :geneva a crm:E53_Place .
:oil a crm:E55_Type ; crm:P127_has_broader_term :painting . :painting a crm:E55_Type .
"""
OBJECTS = {"classes": ["E22"]}
MADE_BY: dict[str, Any] = {"paths": [["P108i", "P14"]]}
MADE_IN: dict[str, Any] = {"paths": [["P108i", "P7"]]}
WHEN: dict[str, Any] = {"paths": [["P108i", "P4"]]}
BORN_IN: dict[str, Any] = {"paths": [["P98i", "P7"]]}


def run(museum: Sample, target: dict[str, Any], *where: dict[str, Any], **compute: Any) -> Outcome:
    """The outcome of a plan that its SPARQL confirms."""
    plan = read_plan({"target": target, "where": list(where), "compute": compute or {"kind": "list"}})
    check(museum, plan)
    return execute(plan, museum.world)


def names(museum: Sample, outcome: Outcome) -> list[str]:
    return [museum.world.graph.iri(node).removeprefix(BASE) for node in outcome.members.tolist()]


def names_of(sample: Sample, nodes: Any) -> list[str]:
    return [sample.world.graph.iri(int(node)).removeprefix(BASE) for node in nodes]


def told(sample: Sample, row: Any) -> list[str]:
    return [str(cell(sample.world, int(one))) for one in row]


def related(way: dict[str, Any], *iris: str, negated: bool = False, **to: Any) -> dict[str, Any]:
    anchor = {"iris": [BASE + iri for iri in iris], **to}
    return {"kind": "related", "way": way, "to": anchor, "negated": negated}


def made(first: int | None, last: int | None, **more: Any) -> dict[str, Any]:
    begin = None if first is None else year_interval(first).begin
    end = None if last is None else year_interval(last).end
    return {"kind": "dated", "way": WHEN, "begin": begin, "end": end, **more}
