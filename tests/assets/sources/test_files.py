"""RDF files as a source: one pass, complete, the same whatever the order, the compression or the number of chunks."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyoxigraph as ox
import pytest

from crmrag_assets.build.progress import SilentProgress
from crmrag_assets.harvest.chunks import chunk_keys
from crmrag_assets.harvest.prefetch import prefetch_chunk, write_prefetch
from crmrag_assets.harvest.report import HarvestReport
from crmrag_assets.harvest.triples import ORDER, SKOLEM, TRIPLES
from crmrag_assets.sources import Discovery, source_for
from crmrag_assets.sources.files import RdfFiles
from crmrag_query.artifacts.chunks import chunk_of
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import load_method
from crmrag_query.errors import BuildError, ConfigError, SourceError

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


def discover(source: RdfFiles, folder: Path) -> Discovery:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return source.discover(folder, SilentProgress())


def chunks(source: RdfFiles, folder: Path, bits: int) -> dict[str, pa.Table]:
    return {key: prefetch_chunk(source, folder, key, bits, METHOD)[0] for key in chunk_keys(bits)}


def rows(tables: dict[str, pa.Table]) -> list[Row]:
    return [
        tuple(row[name] for name in TRIPLES.names) for table in tables.values() for row in table.to_pylist()
    ]


def parsed(path: Path, kind: ox.RdfFormat) -> set[Row]:
    found: set[Row] = set()
    for s, p, o, g in ox.parse(path=str(path), format=kind):
        graph = g.value if isinstance(g, ox.NamedNode) else ""
        if isinstance(o, ox.NamedNode):
            found.add((s.value, p.value, o.value, 0, "", "", graph))
        else:
            datatype = "" if o.language or o.datatype.value.endswith("XMLSchema#string") else o.datatype.value
            found.add((s.value, p.value, o.value, 1, datatype, o.language or "", graph))
    return found


@pytest.mark.parametrize("bits", [0, 4, 8])
def test_union_of_the_chunks_is_the_file(tmp_path: Path, shared_data: Path, bits: int) -> None:
    source = RdfFiles((shared_data / "asinou.ttl",), METHOD)
    found = discover(source, tmp_path / "d")
    tables = chunks(source, tmp_path / "d", bits)
    assert all(
        chunk_of(s, 1 << bits) == key for key, table in tables.items() for s in table.column("s").to_pylist()
    )
    result = rows(tables)
    assert len(result) == len(set(result)) == found.triples
    assert set(result) == parsed(shared_data / "asinou.ttl", ox.RdfFormat.TURTLE)


def test_chunks_are_sorted_and_typed(tmp_path: Path) -> None:
    source = write(tmp_path, a__ttl=CHURCH)
    discover(source, tmp_path / "d")
    (table,) = chunks(source, tmp_path / "d", 0).values()
    assert table.schema.equals(TRIPLES)
    keys = [tuple(str(row[name]).encode() for name in ORDER) for row in table.to_pylist()]
    assert keys == sorted(keys)


def test_schema_subjects_are_left_out_and_counted(tmp_path: Path) -> None:
    source = write(tmp_path, a__ttl=CHURCH)
    found = discover(source, tmp_path / "d")
    table, report = prefetch_chunk(source, tmp_path / "d", "00", 0, METHOD)
    subjects = set(table.column("s").to_pylist())
    assert {"http://example.org/church", "http://example.org/note"} <= subjects
    assert len(subjects) == report.entities == found.entities == 4  # and the production, and its time-span
    assert report.excluded_subjects == found.report.excluded_subjects == 2
    assert report.excluded_triples == found.report.excluded_triples == 3
    assert table.num_rows == report.triples == found.triples == 9


def test_blank_nodes_are_kept_also_where_no_iri_points_to_them(tmp_path: Path) -> None:
    source = write(tmp_path, a__ttl=CHURCH)
    found = discover(source, tmp_path / "d")
    table = pl.DataFrame(chunks(source, tmp_path / "d", 0)["00"])
    (produced,) = table.filter(pl.col("p") == f"{CRM}P108_has_produced").iter_rows(named=True)
    assert produced["s"].startswith(SKOLEM) and produced["o"] == "http://example.org/church"
    (span,) = table.filter((pl.col("s") == produced["s"]) & (pl.col("p") == f"{CRM}P4_has_time-span"))["o"]
    assert table.filter(pl.col("s") == span)["o"].to_list() == ["1105"]
    assert (found.report.blank_nodes, found.report.blank_components) == (2, 1)


def test_named_graphs_are_kept_with_each_triple(tmp_path: Path) -> None:
    triple = f"<http://x/1> <{CRM}P1_is_identified_by> <http://x/2>"
    source = write(
        tmp_path, a__nq=f"{triple} <http://g/1> .\n{triple} <http://g/2> .\n{triple} .\n{triple} .\n"
    )
    found = discover(source, tmp_path / "d")
    assert sorted(row[-1] for row in rows(chunks(source, tmp_path / "d", 0))) == [
        "",
        "http://g/1",
        "http://g/2",
    ]
    assert found.report.graphs == 2 and found.report.triples_read == 4 and found.triples == 3


def artifacts(source: RdfFiles, folder: Path, bits: int) -> dict[str, bytes]:
    discover(source, folder)
    for key in chunk_keys(bits):
        (folder / key).mkdir()
        write_prefetch(*prefetch_chunk(source, folder, key, bits, METHOD), folder / key)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("??/*")}


def test_same_triples_give_the_same_bytes_in_any_order_and_format(tmp_path: Path) -> None:
    quads = list(ox.parse(CHURCH, format=ox.RdfFormat.TURTLE))
    lines = [f"{quad} .\n" for quad in quads]
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    for folder in (one, two, three):
        folder.mkdir()
    first = artifacts(write(one, a__ttl=CHURCH), one / "d", 2)
    turned = artifacts(write(two, z__nt__gz=gzip.compress("".join(reversed(lines)).encode())), two / "d", 2)
    assert len(first) == 8 and first == turned
    split = write(three, b__ttl=CHURCH, a__nt="".join(line for line in lines if "_:" not in line))
    assert artifacts(split, three / "d", 2) == first


def test_fingerprint_is_the_content_not_the_place(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    source, moved = write(one, a__ttl=CHURCH, b__nt=""), write(two, y__nt="", z__ttl=CHURCH)
    assert source.fingerprint() == moved.fingerprint()
    assert write(two, z__ttl=CHURCH + " ").fingerprint() != source.fingerprint()
    based = RdfFiles(source.files, METHOD, base_iri="http://base/")
    assert based.fingerprint() != source.fingerprint()


def test_report_counts_and_survives_json(tmp_path: Path) -> None:
    broken = "".join(f"broken \x1b[31m {number}\n" for number in range(12))
    good = f"<http://x/1> <{CRM}P2_has_type> <http://x/a b> .\n"
    source = write(tmp_path, a__nt=broken + good, b__ttl=CHURCH)
    found = discover(source, tmp_path / "d")
    report = found.report
    assert all(fault.text.isprintable() and fault.reason.isprintable() for fault in report.broken)
    assert report.broken_count == 12 and [fault.line for fault in report.broken] == list(range(1, 11))
    assert [(file.file, file.format, file.triples) for file in report.files] == [
        ("a.nt", "N-Triples", 1),
        ("b.ttl", "Turtle", 12),
    ]
    assert report.repaired == 1
    assert HarvestReport.from_dict(json.loads(json.dumps(report.as_dict()))) == report
    assert Discovery.load(tmp_path / "d") == found


def test_a_source_without_cidoc_crm_ends_with_one_clear_message(tmp_path: Path) -> None:
    source = write(tmp_path, a__nt='<http://x/1> <http://xmlns.com/foaf/0.1/name> "Ann" .\n')
    with pytest.raises(
        SourceError, match=r"no class or property of CIDOC-CRM in a\.nt.*foaf/0\.1/name"
    ) as caught:
        discover(source, tmp_path / "d")
    assert len(str(caught.value).splitlines()) == 1


def test_an_unreadable_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"Nothing in .*a\.nt can be read as N-Triples.*looks like Turtle"):
        discover(write(tmp_path, a__nt=CHURCH), tmp_path / "d")
    with pytest.raises(SourceError, match=r"Nothing in .*b\.ttl can be read as Turtle.*line 1"):
        discover(write(tmp_path, b__ttl=b"\x00\x01\x02"), tmp_path / "d")
    with pytest.raises(SourceError, match=r"c\.ttl is written in UTF-16\. Save it in UTF-8"):
        discover(write(tmp_path, c__ttl=CHURCH.encode("utf-16")), tmp_path / "d")
    with pytest.raises(SourceError, match=r"d\.ttl: there is no triple.*Did the export fail"):
        discover(write(tmp_path, d__ttl="# nothing"), tmp_path / "d")


def test_missing_and_damaged_files_are_errors_that_name_them(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no file .*gone\.ttl"):
        RdfFiles((tmp_path / "gone.ttl",), METHOD).fingerprint()
    cut = gzip.compress(
        "".join(f"<http://x/{n}> <{CRM}P2_has_type> <http://x/t> .\n" for n in range(9999)).encode()
    )
    with pytest.raises(SourceError, match=r"cut\.nt\.gz cannot be read to its end"):
        discover(write(tmp_path, cut__nt__gz=cut[:-20]), tmp_path / "d")
    with pytest.raises(BuildError, match="no finished discovery"):
        Discovery.load(tmp_path)


def test_a_data_set_gives_its_source(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(CHURCH, encoding="utf-8")
    found = discover(source_for(DatasetConfig(name="x", rdf=("*.ttl",)), tmp_path, METHOD), tmp_path / "d")
    assert found.report.files[0].file == "a.ttl"
    with pytest.raises(ConfigError, match=r"no file matches '\*\.nt'"):
        source_for(DatasetConfig(name="x", rdf=("*.nt",)), tmp_path, METHOD)
    with pytest.raises(ConfigError, match=r"'\.' is a folder: name its files"):
        source_for(DatasetConfig(name="x", rdf=(".",)), tmp_path, METHOD)
