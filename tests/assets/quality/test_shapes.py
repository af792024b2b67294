"""SHACL: what is missing in CIDOC-CRM data is found in whatever version it is written; shapes run nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crmrag_assets.build.step import BuildContext, version_of
from crmrag_assets.opened import graph_of, numbering_of
from crmrag_assets.quality.shapes import (
    ShapesReport,
    View,
    held_against,
    read_shapes,
    sampled,
    shapes_hold,
)
from crmrag_assets.steps.registry import STEPS
from crmrag_query.errors import ConfigError
from tests.support.builds import make_project
from tests.support.quality import build_up_to, with_checks

PREFIXES = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix ecrm: <http://erlangen-crm.org/200717/> .
@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
GOOD = """
ex:bell a crm:E22_Man-Made_Object ; rdfs:label "Bell" ; crm:P108i_was_produced_by ex:casting .
ex:casting a ecrm:E12_Production ; rdfs:label "Casting" ; crm:P4_has_time-span ex:years ;
  crm:P14_carried_out_by ex:founder .
ex:years a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1200"^^xsd:gYear ;
  crm:P82b_end_of_the_end "1200-12-31"^^xsd:date .
ex:founder a crm:E21_Person ; crm:P1_is_identified_by ex:name .
ex:name a crm:E41_Appellation ; crm:P190_has_symbolic_content "Ada" .
ex:height a crm:E54_Dimension ; rdfs:label "height" ; crm:P90_has_value 12 ; crm:P91_has_unit ex:cm .
ex:cm a crm:E58_Measurement_Unit ; rdfs:label "cm" .
ex:bell crm:P43_has_dimension ex:height .
"""
BAD = """
ex:nothing a ecrm:E12_Production ; rdfs:label "Making of nothing" .
ex:turned a crm:E52_Time-Span ; rdfs:label "long ago" ;
  crm:P82a_begin_of_the_begin "1300"^^xsd:gYear ; crm:P82b_end_of_the_end "1200"^^xsd:gYear .
ex:mute a crm:E41_Appellation .
ex:someone a crm:E21_Person ; crm:P1_is_identified_by ex:mute .
ex:size a crm:E54_Dimension ; rdfs:label "size" .
ex:odd rdfs:label "Odd" .
"""
OWN = """
@prefix my: <urn:my:> .
my:Bell a sh:NodeShape ; sh:name "a bell is dated" ; sh:targetClass crm:E22_Human-Made_Object ;
  sh:property [ sh:path ( crm:P108i_was_produced_by crm:P4_has_time-span ) ; sh:minCount 1 ;
    sh:class crm:E52_Time-Span ; sh:message "has no date" ] .
"""


def graph_from(root: Path, source: str, **dataset: object) -> BuildContext:
    """A data set built as far as its graph."""
    return build_up_to(make_project(root / "project", PREFIXES + source, **dataset).context(), "graph")


def found_in(report: ShapesReport) -> dict[str, tuple[str, str]]:
    return {one.iri.rpartition("/")[2]: (one.shape, one.message) for one in report.broken}


def test_data_that_says_what_it_should_keeps_to_the_shapes_in_any_version_and_direction(
    tmp_path: Path,
) -> None:
    context = graph_from(tmp_path, GOOD)
    report = held_against(context)
    assert report.broken == () and report.entities == 7 and len(report.shapes) == 13
    assert shapes_hold(context).holds


def test_each_fault_is_told_of_its_entity(tmp_path: Path) -> None:
    context = graph_from(tmp_path, GOOD + BAD)
    report = held_against(context)
    found = found_in(report)
    assert found["nothing"][0] == "a production has something produced"
    assert found["turned"] == (
        "a time-span begins before it ends, and says when", "begins (P82a) after it ends (P82b)"
    )  # fmt: skip
    assert found["mute"][0] == "an appellation has a symbolic content"
    assert found["someone"][0] == "an actor has a name"
    assert found["odd"][0] == "an entity has a CRM class"
    assert {one.grade for one in report.broken if one.iri.endswith("size")} == {"Violation", "Warning"}
    assert set(found) == {"nothing", "turned", "mute", "someone", "odd", "size"} and report.violating == 6
    finding = shapes_hold(context)
    assert not finding.holds and finding.counts["violating"] == 6 and finding.counts["shapes_broken"] == 6
    assert {"entity", "iri", "what"} == set(finding.tables["examples"][0])
    assert shapes_hold(with_checks(context, violating_share=0.9)).holds


def test_a_data_set_has_shapes_of_its_own(tmp_path: Path) -> None:
    undated = 'ex:horn a crm:E22_Human-Made_Object ; rdfs:label "Horn" .'
    context = graph_from(tmp_path, GOOD + undated, shapes="own.ttl")
    (context.config.root / "own.ttl").write_text(PREFIXES + OWN, encoding="utf-8")
    report = held_against(context)
    assert found_in(report) == {"horn": ("a bell is dated", "has no date")} and report.entities == 8


def test_neither_shapes_nor_limits_are_part_of_a_release(copied: BuildContext) -> None:
    other = replace(copied, config=copied.config.model_copy(update={"shapes": ("own.ttl",)}))
    step = STEPS["release"]
    assert version_of(step, with_checks(other, thin_share=0.1)) == version_of(step, copied)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("my:A a sh:NodeShape ;", "the shapes are no Turtle"),
        ("ex:a ex:b ex:c .", "it holds no shape"),
        (
            "ex:A a sh:NodeShape ; sh:sparql [ sh:select 'SELECT $this {}' ] .",
            r"sh:sparql: .*may not have anything run",
        ),
        (
            "ex:A a sh:NodeShape ; sh:js [ sh:jsFunctionName 'f' ] .",
            "sh:js: shapes may not have anything run",
        ),
        ("ex:A a sh:NodeShape ; sh:rule [ sh:construct 'CONSTRUCT' ] .", "may not have anything run"),
    ],
)
def test_a_file_that_is_of_no_use_or_would_run_something_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "own.ttl"
    file.write_text(PREFIXES + text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        read_shapes([file])
    assert str(file) in str(caught.value)


def test_a_missing_file_is_named_and_a_check_goes_on(tmp_path: Path) -> None:
    context = graph_from(tmp_path, GOOD, shapes=["none.ttl"])
    with pytest.raises(ConfigError, match=r"datasets\.churches\.shapes\[0\]: no such file"):
        held_against(context)


def test_imports_are_not_fetched(tmp_path: Path) -> None:
    file = tmp_path / "own.ttl"
    importing = "<> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/shapes.ttl> ."
    file.write_text(PREFIXES + OWN + importing, encoding="utf-8")
    context = graph_from(tmp_path, GOOD)
    assert held_against(context, [file]).broken == ()


def test_a_sample_is_even_over_classes_and_stays(tmp_path: Path) -> None:
    many = "".join(f'ex:p{n} a crm:E53_Place ; rdfs:label "P{n}" .\n' for n in range(50))
    context = graph_from(tmp_path, GOOD + many)
    graph, ids = graph_of(context), numbering_of(context).ids
    chosen = sampled(graph, ids, 10)
    classes = {graph.class_code(int(number)) for node in chosen for number in graph.types(int(node))}
    assert len(chosen) == 10 and classes == {"E22", "E12", "E52", "E21", "E41", "E54", "E58", "E53"}
    assert sampled(graph, ids, 10).tolist() == chosen.tolist()
    assert set(chosen) <= set(sampled(graph, ids, 20)) and len(sampled(graph, ids, 1000)) == 57


def test_a_hub_shows_the_shapes_no_more_than_so_much(tmp_path: Path) -> None:
    many = "".join(
        f"ex:bell crm:P46_is_composed_of ex:part{n} . ex:part{n} a crm:E22_Human-Made_Object .\n"
        for n in range(40)
    )
    context = graph_from(tmp_path, GOOD + many)
    view = View(graph_of(context), context.vocabulary.ontology, context.method.dates)
    bell = np.array([view.graph.node("http://example.org/bell")], np.int32)
    assert len(replace(view, statements=2).around(bell)) < len(view.around(bell))
