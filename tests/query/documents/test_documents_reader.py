from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crmrag_query.documents import documents as schema
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ReleaseError
from tests.assets.documents.made import BASE, artifact, setting_of

SOURCE = """
:asinou a crm:E22_Human-Made_Object ; rdfs:label "Asinou" ; crm:P1_is_identified_by :name ; crm:P2_has_type :church ;
    crm:P55_has_current_location :nikitari ; crm:P3_has_note "Painted" , "Roofed" .
:name a crm:E41_Appellation ; rdfs:label "Phorbiotissa" . :church a crm:E55_Type ; rdfs:label "church" .
:nikitari a crm:E53_Place ; rdfs:label "Nikitari" ; crm:P89_falls_within <http://elsewhere.org/cyprus> .
"""


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return artifact(setting_of(SOURCE, tmp_path), tmp_path / "built")[0]


def node(documents: Documents, iri: str) -> int:
    found = documents.graph.node(iri)
    assert found is not None
    return found


def test_lines_are_slices_of_the_text_with_their_targets(documents: Documents) -> None:
    document = documents.document_of(node(documents, BASE + "asinou"))
    assert document is not None
    text, lines = documents.text(document), documents.lines(document)
    found = {
        line.key: text[line.start : line.end] for line in lines if line.entity == documents.entity(document)
    }
    assert found["header"] == "[Thing] Asinou" and documents.label(document) == "Asinou"
    assert found["P3"] == "Note: Painted; Roofed"
    assert found["names"] == "Also known as: Phorbiotissa"
    located = next(line for line in lines if line.key == "thing_place_c_located_in")
    assert located.targets == (
        node(documents, "http://elsewhere.org/cyprus"),
        node(documents, BASE + "nikitari"),
    )
    assert located.total == 2


def test_satellites_and_chained_entities_are_found_in_the_document_that_tells_them(
    documents: Documents,
) -> None:
    church = documents.document_of(node(documents, BASE + "asinou"))
    assert documents.document_of(node(documents, BASE + "name")) == church
    assert documents.document_of(node(documents, BASE + "nikitari")) == church
    assert documents.document_of(node(documents, "http://elsewhere.org/cyprus")) is None
    assert church is not None
    roles = {documents.graph.iri(m.entity).removeprefix(BASE): m.role for m in documents.members(church)}
    assert len(set(roles.values())) == 3 and roles["name"] == schema.ABSORBED


def test_a_record_is_json_and_holds_everything(documents: Documents) -> None:
    record = documents.record(0)
    assert json.loads(json.dumps(record)) == record
    values = {literal["value"] for member in record["members"] for literal in member["literals"]}
    assert values == {"Asinou", "Painted", "Roofed", "Phorbiotissa", "church", "Nikitari"}
    triples = {(t["s"], t["o"]) for member in record["members"] for t in member["triples"]}
    assert (BASE + "nikitari", "http://elsewhere.org/cyprus") in triples


def test_a_missing_or_foreign_table_is_a_clear_error(documents: Documents, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="cannot be read"):
        Documents.open(tmp_path / "nowhere", documents.graph)
    folder = tmp_path / "foreign"
    folder.mkdir()
    table = pa.table({"entity": [1]})
    with (
        pa.OSFile(str(folder / "documents.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    with pytest.raises(ReleaseError, match="another version"):
        Documents.open(folder, documents.graph)


def test_rows_are_found_in_their_batch(tmp_path: Path, documents: Documents) -> None:
    count = 2 * schema.BATCH + 5
    columns = {
        "entity": np.arange(count, dtype=np.int32), "category": np.zeros(count, np.uint8),
        "categories": np.zeros(count, np.uint8), "label": [f"l{i}" for i in range(count)],
        "text": [f"t{i}" for i in range(count)],
    }  # fmt: skip
    table = pa.table(columns, schema=schema.SCHEMAS["documents"])
    pieces = [table.slice(at, 777) for at in range(0, count, 777)]
    assert schema.write_batches(tmp_path, "documents", pieces) == count
    many = Documents.open(tmp_path, documents.graph)
    for i in (0, schema.BATCH - 1, schema.BATCH, count - 1):
        assert (many.text(i), many.label(i), many.entity(i)) == (f"t{i}", f"l{i}", i)
