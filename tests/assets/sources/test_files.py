"""RDF files as a source: one pass, complete, the same whatever the order, the compression or the number of chunks."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.harvest.triples import ORDER, SKOLEM, TRIPLES
from crmrag_assets.sources import source_for
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_query.artifacts.manifest import chunk_of
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import load_method
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.errors import BuildError, ConfigError, SourceError
from tests.support.harvests import Chunks, files_of, harvested, row_of

METHOD = load_method()
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
CHURCH = f"""@prefix crm: <{CRM}> . @prefix e: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:church a crm:E22_Human-Made_Object ; rdfs:label "Church"@en, "Εκκλησία"@el ; crm:P45_consists_of e:stone .
[] a crm:E12_Production ; crm:P108_has_produced e:church ; crm:P4_has_time-span [ crm:P82a_begin_of_the_begin "1105" ] .
crm:E22_Human-Made_Object rdfs:label "Human-Made Object" .
e:ownClass a owl:Class ; rdfs:label "a class of the museum's" .
e:note a e:ownClass .
"""
Row = tuple[str | int, ...]


def write(folder: Path, **files: str | bytes) -> RdfFiles:
    """Files by name, `__` for the dot; as a source."""
    paths = [folder / name.replace("__", ".") for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return RdfFiles(tuple(paths), METHOD, root=folder)


def rows(chunks: Chunks) -> list[Row]:
    tables = [table for table, _ in chunks.values()]
    return [tuple(row[name] for name in TRIPLES.names) for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("bits", [0, 4, 8])
def test_union_of_the_chunks_is_the_file(tmp_path: Path, shared_data: Path, bits: int) -> None:
    source = RdfFiles((shared_data / "asinou.ttl",), METHOD)
    found, chunks = harvested(source, tmp_path / "d", bits)
    for key, (table, _) in chunks.items():
        assert {chunk_of(s, 1 << bits) for s in table.column("s").to_pylist()} <= {key}
    result = rows(chunks)
    assert len(result) == len(set(result)) == found.triples
    quads = ox.parse(path=str(shared_data / "asinou.ttl"), format=ox.RdfFormat.TURTLE)
    assert set(result) == set(map(row_of, quads))


def test_a_chunk_is_sorted_and_typed_and_terms_of_the_crm_are_left_out_and_counted(tmp_path: Path) -> None:
    found, chunks = harvested(write(tmp_path, a__ttl=CHURCH), tmp_path / "d", 0)
    table, report = chunks["00"]
    assert table.schema.equals(TRIPLES)
    keys = [tuple(str(row[name]).encode() for name in ORDER) for row in table.to_pylist()]
    assert keys == sorted(keys)
    subjects = set(table.column("s").to_pylist())
    assert {"http://example.org/church", "http://example.org/note"} <= subjects
    assert "http://example.org/ownClass" in subjects  # what it is below, and its label, are asked for later
    assert len(subjects) == report.entities == found.entities == 5  # and the production, and its time-span
    assert report.excluded_subjects == found.report.excluded_subjects == 1
    assert report.excluded_triples == found.report.excluded_triples == 1
    assert table.num_rows == report.triples == found.triples == 11


def test_blank_nodes_are_kept_also_where_no_iri_points_to_them(tmp_path: Path) -> None:
    found, chunks = harvested(write(tmp_path, a__ttl=CHURCH), tmp_path / "d", 0)
    table = pl.DataFrame(chunks["00"][0])
    (produced,) = table.filter(pl.col("p") == f"{CRM}P108_has_produced").iter_rows(named=True)
    assert produced["s"].startswith(SKOLEM) and produced["o"] == "http://example.org/church"
    (span,) = table.filter((pl.col("s") == produced["s"]) & (pl.col("p") == f"{CRM}P4_has_time-span"))["o"]
    assert table.filter(pl.col("s") == span)["o"].to_list() == ["1105"]
    assert (found.report.blank_nodes, found.report.blank_components) == (2, 1)


@pytest.mark.parametrize("label", ["a b", 'a"b', "-a", "", "a>", ".", "é\x00", "\u2028", "a.", "a\nb"])
def test_any_label_of_a_blank_node_in_json_ld_is_read(tmp_path: Path, label: str) -> None:
    """JSON-LD takes any text for a label, N-Quads does not; what is built does not depend on labels."""

    def read(label: str) -> list[Row]:
        span = {"@id": f"_:{label}", f"{CRM}P82a_begin_of_the_begin": [{"@value": "1105"}]}
        made = {"@id": "http://example.org/made", "@type": [f"{CRM}E12_Production"]}
        text = json.dumps([span, made | {f"{CRM}P4_has_time-span": [{"@id": f"_:{label}"}]}])
        return rows(harvested(write(tmp_path, data__jsonld=text), tmp_path / "d", 0)[1])

    odd = read(label)
    assert odd == read("b0") and len(odd) == 3


def test_named_graphs_are_kept_with_each_triple(tmp_path: Path) -> None:
    triple = f"<http://x/1> <{CRM}P1_is_identified_by> <http://x/2>"
    text = f"{triple} <http://g/1> .\n{triple} <http://g/2> .\n{triple} .\n{triple} .\n"
    found, chunks = harvested(write(tmp_path, a__nq=text), tmp_path / "d", 0)
    assert sorted(row[-1] for row in rows(chunks)) == ["", "http://g/1", "http://g/2"]
    assert found.report.graphs == 2 and found.report.triples_read == 4 and found.triples == 3


def test_same_triples_give_the_same_bytes_in_any_order_and_format(tmp_path: Path) -> None:
    lines = [f"{quad} .\n" for quad in ox.parse(CHURCH, format=ox.RdfFormat.TURTLE)]
    named = "".join(line for line in lines if "_:" not in line)
    found = []
    for number, texts in enumerate([
        {"a__ttl": CHURCH},
        {"z__nt__gz": gzip.compress("".join(reversed(lines)).encode())},
        {"b__ttl": CHURCH, "a__nt": named},
    ]):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(files_of(harvested(write(folder, **texts), folder / "d", 2)[1], folder / "w"))
    assert len(found[0]) == 8 and found[0] == found[1] == found[2]


def test_fingerprint_is_the_content_not_the_place(tmp_path: Path) -> None:
    source = write(tmp_path, a__ttl=CHURCH, b__nt="")
    assert write(tmp_path, y__nt="", z__ttl=CHURCH).fingerprint() == source.fingerprint()
    assert write(tmp_path, y__nt="", z__ttl=CHURCH + " ").fingerprint() != source.fingerprint()
    assert replace(source, base_iri="http://base/").fingerprint() != source.fingerprint()


def test_report_counts_and_survives_json(tmp_path: Path) -> None:
    broken = "".join(f"broken \x1b[31m {number}\n" for number in range(12))
    good = f"<http://x/1> <{CRM}P2_has_type> <http://x/a b> .\n"
    source = write(tmp_path, a__nt=broken + good, b__ttl=CHURCH)
    found, _ = harvested(source, tmp_path / "d")
    report = found.report
    assert all(fault.text.isprintable() and fault.reason.isprintable() for fault in report.broken)
    assert report.broken_count == 12 and [fault.line for fault in report.broken] == list(range(1, 11))
    assert [(file.file, file.format, file.triples) for file in report.files] == [
        ("a.nt", "N-Triples", 1),
        ("b.ttl", "Turtle", 12),
    ]
    assert report.repaired == 1
    assert Discovery.load(tmp_path / "d") == found


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("a__nt", '<http://x/1> <http://xmlns.com/foaf/0.1/name> "Ann" .\n',
         r"no class or property of CIDOC-CRM in a\.nt.*foaf/0\.1/name"),
        ("a__nt", CHURCH, r"Nothing in .*a\.nt can be read as N-Triples.*looks like Turtle"),
        ("b__ttl", b"\x00\x01\x02", r"Nothing in .*b\.ttl can be read as Turtle.*line 1"),
        ("c__ttl", CHURCH.encode("utf-16"), r"c\.ttl is written in UTF-16\. Save it in UTF-8"),
        ("d__ttl", "# nothing", r"d\.ttl: there is no triple.*Did the export fail"),
        ("e__ttl", "<!DOCTYPE html><html><body>Log in</body></html>", r"e\.ttl is a web page, not RDF\. Fetch the data"),
    ],
)  # fmt: skip
def test_a_file_of_something_else_ends_with_one_clear_message(
    tmp_path: Path, file: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        harvested(write(tmp_path, **{file: content}), tmp_path / "d")
    assert len(str(caught.value).splitlines()) == 1


def test_missing_and_damaged_files_are_errors_that_name_them(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no file .*gone\.ttl"):
        RdfFiles((tmp_path / "gone.ttl",), METHOD).fingerprint()
    lines = "".join(f"<http://x/{n}> <{CRM}P2_has_type> <http://x/t> .\n" for n in range(9999))
    with pytest.raises(SourceError, match=r"cut\.nt\.gz cannot be read to its end"):
        harvested(write(tmp_path, cut__nt__gz=gzip.compress(lines.encode())[:-20]), tmp_path / "d")
    with pytest.raises(BuildError, match="no finished discovery"):
        Discovery.load(tmp_path)


def test_a_data_set_gives_its_source(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(CHURCH, encoding="utf-8")
    source = source_for(DatasetConfig(name="x", rdf=("*.ttl",), root=tmp_path), METHOD)
    (tmp_path / "d").mkdir()
    assert source.discover(tmp_path / "d", SilentProgress()).report.files[0].file == "a.ttl"
    for pattern, message in (
        ("*.nt", r"no file matches '\*\.nt'"),
        (".", r"'\.' is a folder: name its files"),
    ):
        with pytest.raises(ConfigError, match=message):
            source_for(DatasetConfig(name="x", rdf=(pattern,), root=tmp_path), METHOD)
    url = "http://example.org/sparql"
    with pytest.raises(ValueError, match="working folder"):
        source_for(DatasetConfig(name="x", endpoint=EndpointConfig(url=url)), METHOD)
