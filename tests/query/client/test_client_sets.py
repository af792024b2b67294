"""Whole sets by every client: a page, what was left out, facets, exports; the same from a folder and over HTTP."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crmrag_query import Answer, AnswerSet, Client, Export, Facets, Planned, SetFound, errors
from crmrag_query.client.wire import Message, read_event, write_event
from crmrag_query.codec import from_plain, parse_json, to_json
from crmrag_query.plans.records import Dated, Plan, Target, Way
from crmrag_query.sets.records import Cell, Chip
from crmrag_query.sparql.evaluate import SparqlResult
from tests.query.client.conftest import Calling
from tests.query.client.test_shown import checked

THINGS: dict[str, Any] = {"target": {"categories": ["Thing"]}}
DATED = Plan(
    target=Target(categories=("Thing",)), where=(Dated(way=Way(paths=(("P108i", "P4"),)), end=500_000),)
)


def test_a_set_is_the_same_everywhere(compared: Calling, local: Client) -> None:
    found = compared("set", THINGS, limit=5)
    assert type(found) is AnswerSet and found == local.set(THINGS, limit=5)
    assert found.size > 5 and len(found.members) == 5 and found.next == 5
    assert found.dataset == "sample" and found.licence == "CC0 1.0"
    assert str(found.size) in found.text and "SELECT" in found.sparql
    rest = compared("set", found, offset=found.next, limit=1000, sort="label", language="el")
    assert len(rest.members) == found.size - 5 and rest == local.set(
        found.plan, 5, 1000, "label", False, "el"
    )


def test_a_plan_is_given_as_itself_as_plain_values_or_by_what_has_one(local: Client) -> None:
    found = local.set(DATED)
    assert found == local.set(found.plan) == local.set(found)
    narrowed = local.facets(found).facets[0].values[0]
    assert local.set(narrowed).size == narrowed.count
    with pytest.raises(errors.QuestionError, match="no plan"):
        local.set(7)  # type: ignore[arg-type]


def test_what_was_left_out_is_a_work_list(compared: Calling, local: Client) -> None:
    found = compared("set", DATED)
    (undated,) = [one for one in found.excluded if one.reason == "undated"]
    work = compared("excluded", found, "undated", limit=3)
    assert work == local.excluded(found, "undated", limit=3)
    assert (work.size, len(work.members)) == (undated.count, min(3, undated.count))


def test_facets_are_the_same_everywhere(compared: Calling, local: Client) -> None:
    found = compared("facets", THINGS, language="el")
    assert type(found) is Facets and found == local.facets(THINGS, language="el")
    assert found.facets and len(found.rows()) == sum(len(facet.values) for facet in found.facets)
    (alone,) = compared("facets", THINGS, keys=["class"]).facets
    assert alone.key == "class"


def test_an_export_is_the_whole_set(compared: Calling, local: Client, tmp_path: Path) -> None:
    found = compared("export", THINGS, "csv", question="What is there?")
    assert type(found) is Export and found == local.export(THINGS, question="What is there?")
    rows = list(csv.DictReader(io.StringIO(found.text, newline="")))
    assert len(rows) == local.set(THINGS).size and rows[0]["question"] == "What is there?"
    saved = found.save(tmp_path)
    assert saved.name == found.name and saved.read_bytes().decode() == found.text
    assert json.loads(compared("export", THINGS, "geojson").text)["type"] == "FeatureCollection"


@pytest.mark.parametrize(
    ("method", "arguments", "named", "match"),
    [
        ("set", ({"target": {"kind": "x"}},), {}, "target"),
        ("set", (THINGS,), {"limit": 10_000}, "limit is 10000"),
        ("set", (THINGS,), {"offset": -1}, "offset is -1"),
        ("set", (THINGS,), {"sort": "beauty"}, "sort"),
        ("set", (THINGS,), {"sort": "value"}, "no values"),
        ("set", ({"where": [{"kind": "related", "way": {"relationships": ["nothing"]}}]},), {}, "nothing"),
        ("excluded", (THINGS, "lost"), {}, "lost"),
        ("export", (THINGS, "xlsx"), {}, "xlsx"),
    ],
)
def test_errors_of_sets_are_the_same_everywhere(
    call: Calling, method: str, arguments: tuple[Any, ...], named: dict[str, Any], match: str
) -> None:
    with pytest.raises(errors.QuestionError, match=match):
        call(method, *arguments, **named)


def test_sets_print_show_and_are_frames(local: Client) -> None:
    groups = {"target": THINGS["target"], "compute": {"kind": "group", "way": {"paths": [["P2"]]}}}
    for result in (local.set(THINGS), local.facets(THINGS), local.columns(THINGS)):
        assert len(checked(result._repr_html_())) > 20 and len(str(result)) > 20
        assert len(result.to_polars()) == len(result.rows()) > 0
    grouped = local.set(groups)
    table, frame, other = grouped.table(), grouped.to_polars(), grouped.to_pandas()
    assert table and all(len(row) == 2 for row in table)
    assert list(table[0]) == frame.columns == list(other.columns) and len(frame) == len(other) == len(table)
    assert frame[frame.columns[1]].to_list() == [float(row[frame.columns[1]]) for row in table]
    chosen = local.set(THINGS, columns=("type",)).to_pandas()
    assert chosen.columns[-1] == "type" and any(chosen["type"])
    hostile = "<script>alert(1)</script>\x1b[31m"
    assert "<script" not in Export(hostile, hostile, hostile, hostile, hostile)._repr_html_()


def test_rows_of_sparql_are_frames() -> None:
    rows = (
        (Cell("http://e.org/1", "http://e.org/1"), Cell("One", lang="en")),
        (Cell("http://e.org/2", "http://e.org/2"), None),
    )
    found = SparqlResult("select", ("thing", "label"), rows)
    frame, other = found.to_polars(), found.to_pandas()
    assert frame.columns == list(other.columns) == ["thing", "label"]
    assert frame.rows() == [("http://e.org/1", "One"), ("http://e.org/2", None)]
    assert other["thing"].tolist() == frame["thing"].to_list() and other["label"].isna().tolist() == [
        False,
        True,
    ]


def test_events_of_plans_and_sets_survive_the_wire(local: Client) -> None:
    found = local.set(THINGS, limit=2)
    for event in (Planned(found.plan, "things", (Chip("things", "target", "target"),)), SetFound(found)):
        name = {Planned: "plan", SetFound: "set"}[type(event)]
        assert f"event: {name}\n" in write_event(event)
        assert read_event(Message(name, to_json(event))) == event or isinstance(event, SetFound)
    assert from_plain(AnswerSet, parse_json(to_json(found))) == found


def test_an_answer_carries_its_set(local: Client) -> None:
    found = local.set(THINGS, limit=2)
    carried = replace(local.ask("Where is Asinou?"), set=found)
    assert from_plain(Answer, parse_json(to_json(carried))) == carried
    assert local.set(carried, limit=2) == found
