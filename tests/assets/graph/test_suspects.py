"""Suspected merged identities: found by their facts, never by fame."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from crmrag_query.config import load_method
from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.graph.graph import Graph
from tests.support.graphs import graph_from_turtle

MUSEUM = "http://museum.org"


def suspects(graph: Graph) -> dict[str, dict[str, Any]]:
    listed = json.loads((graph.folder / "suspects.json").read_text())
    flagged = [graph.iri(n) for n in range(graph.nodes) if graph.flags[n] & FLAG_SUSPECT]
    assert [item["iri"] for item in listed] == flagged
    return {item["iri"]: item for item in listed}


def values(iri: str, count: int, prop: str = "rdf:value") -> str:
    return "\n".join(f'<{iri}> {prop} "{number}" .' for number in range(count))


def test_an_empty_id_with_unlike_facts_is_suspect_and_so_is_what_continues_it(tmp_path: Path) -> None:
    turtle = f"""
    {values(f"{MUSEUM}/object//description", 300)}
    <{MUSEUM}/object//production> crm:P4_has_time-span <{MUSEUM}/object//production/timespan> .
    <{MUSEUM}/object/1/production> crm:P4_has_time-span <{MUSEUM}/object/1/timespan> .
    """
    found = suspects(graph_from_turtle(turtle, tmp_path))
    assert {iri: item["rule"] for iri, item in found.items()} == {
        f"{MUSEUM}/object//description": "empty id",
        f"{MUSEUM}/object//production": "same empty id",
        f"{MUSEUM}/object//production/timespan": "same empty id",
    }
    assert "300 unlike values" in found[f"{MUSEUM}/object//description"]["reason"]


def test_too_many_values_of_what_a_thing_has_once_are_suspect(tmp_path: Path) -> None:
    limit = load_method().suspects.single_values
    turtle = values(f"{MUSEUM}/1/birth", limit + 1, "crm:P82a_begin_of_the_begin")
    turtle += values(f"{MUSEUM}/2/birth", limit, "crm:P82a_begin_of_the_begin")
    assert list(suspects(graph_from_turtle(turtle, tmp_path))) == [f"{MUSEUM}/1/birth"]


@pytest.mark.parametrize(
    "hub", [f"{MUSEUM}/", f"{MUSEUM}/object/1/", "http://web.archive.org/web/http://museum.org/a"]
)
def test_an_honest_hub_is_not(hub: str, tmp_path: Path) -> None:
    facts = "\n".join(
        f"<{hub}> crm:P52i_is_current_owner_of <{MUSEUM}/o/{n}> . <{MUSEUM}/o/{n}> crm:P2_has_type <{MUSEUM}/type/> ."
        for n in range(400)
    )
    named = f'<{hub}> rdfs:label "The Museum"@en, "Μουσείο"@el . <{MUSEUM}/type/> rdfs:label "Type" .'
    assert suspects(graph_from_turtle(facts + named, tmp_path)) == {}


def test_a_suspect_lends_no_name_and_has_no_date(tmp_path: Path) -> None:
    merged = f"{MUSEUM}/object//thing"
    turtle = f"""
    {values(merged, 300)} <{merged}> crm:P82a_begin_of_the_begin "1900" .
    :made a crm:E12_Production ; crm:P108_has_produced <{merged}> .
    :person crm:P1_is_identified_by <{merged}> .
    """
    graph = graph_from_turtle(turtle, tmp_path)
    node, made, person = (
        graph.node(iri) for iri in (merged, "http://example.org/made", "http://example.org/person")
    )
    assert node is not None and made is not None and person is not None
    assert (graph.label(node), graph.label(made), graph.label(person)) == ("thing", "made", "person")
    assert graph.timespan(node) is None


def test_the_collaboratives_merged_records_are_found_and_its_museum_is_not(
    shared_data: Path, tmp_path: Path
) -> None:
    """On every triple whose subject is an empty id or the most connected museum, of 13 museums' data."""
    wanted = re.compile(
        rb"^<http://data\.(?:gilcrease\.org/object//[^>]*|aaa\.si\.edu/|npg\.si\.edu)> .*$", re.MULTILINE
    )
    extract = tmp_path / "extract.nt"
    with (
        extract.open("wb") as out,
        pa.input_stream(str(shared_data / "aac_all.nt.zst"), compression="zstd") as stream,
    ):
        rest = b""
        while block := stream.read(1 << 24):
            whole, _, rest = (rest + block).rpartition(b"\n")
            if any(
                start in whole
                for start in (b"\n<http://data.gilcrease.org/object//", b"\n<http://data.aaa.si.edu/> ")
            ):
                out.writelines(line + b"\n" for line in wanted.findall(whole))
            if rest > b"<http://data.h":  # the file is sorted
                break
    found = suspects(graph_from_turtle(extract, tmp_path))
    assert {iri for iri, item in found.items() if item["rule"] == "empty id"} == {
        f"http://data.gilcrease.org/object//{name}"
        for name in ("description", "object_number", "production/timespan")
    }
    assert all(iri.startswith("http://data.gilcrease.org/object//") for iri in found)
    assert found["http://data.gilcrease.org/object//description"]["triples"] > 14_000
