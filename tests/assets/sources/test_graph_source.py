"""Lists of edges become statements, whatever their format; nothing that is hidden in a file is run or fills the memory."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.graph.kind import GraphFiles, arrays_of, look, open_graph
from crmrag_assets.sources.kinds import Opening
from crmrag_query.answers.ask import prepare
from crmrag_query.artifacts.release import open_release
from crmrag_query.config.loading import load_method
from crmrag_query.config.sources import GraphConfig
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import SourceError
from tests.support.builds import build_all, make_project

METHOD = load_method()
BASE = "http://x/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
HAS_TYPE = "http://www.cidoc-crm.org/cidoc-crm/P2_has_type"
TEXT = "http://purl.org/dc/terms/description"
EDGES = [("Great bell", "Tower"), ("Tower", "Hill"), ("Hill", "Tower"), ("a/b&c;\"d'", "Hill")]


def opened(folder: Path, **keys: Any) -> GraphFiles:
    config = GraphConfig.model_validate({"base": BASE, **keys})
    return open_graph(config, Opening(METHOD, config.paths(folder, "x"), folder))


def discovered(folder: Path, **keys: Any) -> tuple[Discovery, set[tuple[str, str, str]]]:
    source = opened(folder, **keys)
    (folder / "d").mkdir(exist_ok=True)
    found = source.discover(folder / "d", SilentProgress())
    frame = source.fetch(folder / "d", range(256)).frame
    return found, set(frame.select("s", "p", "o").iter_rows())


def node(name: str) -> str:
    return f"{BASE}node/{quote(name, safe='')}"


def edges_of(triples: set[tuple[str, str, str]], relation: str = f"{BASE}links_to") -> set[tuple[str, str]]:
    return {(s, o) for s, p, o in triples if p == relation}


def expected(edges: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(node(source), node(target)) for source, target in edges}


def write(folder: Path, name: str, edges: Sequence[tuple[str, str]]) -> None:
    """The edges in the format of the name, by libraries of their own."""
    path = folder / name
    head = ("source", "target")
    if name.endswith(".parquet"):
        pq.write_table(pa.table({key: [edge[n] for edge in edges] for n, key in enumerate(head)}), path)
        return
    if name.endswith(".jsonl"):
        text = "".join(json.dumps(dict(zip(head, edge, strict=True))) + "\n" for edge in edges)
    elif ".tsv" in name:
        text = "".join("\t".join(row) + "\n" for row in [head, *edges])
    else:
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=";" if "semi" in name else ",").writerows([head, *edges])
        text = buffer.getvalue()
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


FORMATS = ["e.csv", "semi.csv", "e.csv.gz", "e.tsv", "e.tsv.gz", "e.jsonl", "e.parquet"]


@pytest.mark.parametrize("name", FORMATS)
def test_edges_say_the_same_in_every_format(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, EDGES)
    found, triples = discovered(tmp_path, edges=name)
    assert edges_of(triples) == expected(EDGES) and found.entities == 4 + 1  # the property is one
    assert {o for _, p, o in triples if p == LABEL} == {
        "Great bell",
        "Tower",
        "Hill",
        "a/b&c;\"d'",
        "links to",
    }
    assert found.report.broken_count == 0 and found.report.skipped == {}


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=12),
    st.sampled_from(["e.csv", "e.jsonl", "e.parquet"]),
)
def test_any_names_come_through(tmp_path: Path, edges: list[tuple[str, str]], name: str) -> None:
    write(tmp_path, name, edges)
    _, triples = discovered(tmp_path, edges=name)
    assert edges_of(triples) == expected(edges)


def test_columns_may_have_other_names_or_none_and_edges_say_different_things(tmp_path: Path) -> None:
    (tmp_path / "e.tsv").write_text("a\tb\tcites\nb\tc\thttp://y/quotes\nc\ta\t\n", encoding="utf-8")
    table = {
        "files": "e.tsv",
        "columns": ["from", "to", "how"],
        "source": "from",
        "target": "to",
        "relation": "how",
    }
    _, triples = discovered(tmp_path, edges=table, relation="has to do with")
    assert edges_of(triples, f"{BASE}cites") == expected([("a", "b")])
    assert edges_of(triples, "http://y/quotes") == expected([("b", "c")])
    assert edges_of(triples, f"{BASE}has_to_do_with") == expected([("c", "a")])


def test_nodes_have_labels_texts_types_and_what_else_is_said_of_them(tmp_path: Path) -> None:
    write(tmp_path, "e.csv", [("x_1", "x_2"), ("x_2", "x_3")])
    lines = [
        {"id": "x_1", "name": "First", "text": "A long story.", "height": 3, "none": None},
        {"id": "x_2"},
    ]
    (tmp_path / "n.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "t.tsv").write_text("x_1\tbell_tower\nx_1\thill\n", encoding="utf-8")
    nodes = [{"files": "n.jsonl", "label": "name"}, {"files": "t.tsv", "columns": ["id", "type"]}]
    _, triples = discovered(tmp_path, edges="e.csv", nodes=nodes, node_class="http://y/Thing")
    of_first = {(p, o) for s, p, o in triples if s == node("x_1") and not o.startswith(BASE)}
    assert of_first >= {(LABEL, "First"), (TEXT, "A long story."), (f"{BASE}height", "3")}
    assert {o for s, p, o in triples if s == node("x_1") and p == HAS_TYPE} == {
        f"{BASE}type/bell_tower",
        f"{BASE}type/hill",
    }
    assert (f"{BASE}type/bell_tower", LABEL, "bell tower") in triples
    assert {s for s, _, o in triples if o == "http://y/Thing"} == {node("x_1"), node("x_2"), node("x_3")}
    assert (node("x_3"), LABEL, "x 3") in triples, "by its id, as nothing else is told"


def test_types_may_be_paths_of_which_each_step_is_broader(tmp_path: Path) -> None:
    write(tmp_path, "e.csv", [("owl", "elm")])
    (tmp_path / "t.csv").write_text(
        "id,type\nowl,Science.Biology.Night_birds\nelm,Science.\n", encoding="utf-8"
    )
    _, triples = discovered(tmp_path, edges="e.csv", nodes={"files": "t.csv", "separator": "."})
    names = {s: o for s, p, o in triples if p == LABEL}
    broader = {(names[s], names[o]) for s, p, o in triples if p.endswith("P127_has_broader_term")}
    assert broader == {("Night birds", "Biology"), ("Biology", "Science")}
    assert {(names[s], names[o]) for s, p, o in triples if p == HAS_TYPE} == {
        ("owl", "Night birds"),
        ("elm", "Science"),
    }


def test_what_cannot_be_held_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target,weight\na,b,1\na,,2\nc\nb,c,3\n", encoding="utf-8")
    found, triples = discovered(tmp_path, edges="e.csv")
    assert edges_of(triples) == expected([("a", "b"), ("b", "c")])
    assert [fault.reason for fault in found.report.broken] == [
        "no source or no target",
        "1 values for 3 columns",
    ]
    assert ["'weight'" in reason for reason in found.report.skipped] == [True]


def test_a_table_that_breaks_off_gives_its_first_rows_and_says_so(tmp_path: Path) -> None:
    edges = [(f"a{n}", f"b{n * 7919}") for n in range(60_000)]
    write(tmp_path, "e.csv.gz", edges)
    packed = (tmp_path / "e.csv.gz").read_bytes()
    (tmp_path / "e.csv.gz").write_bytes(packed[: len(packed) * 3 // 4])
    found, triples = discovered(tmp_path, edges="e.csv.gz")
    read = edges_of(triples)
    assert 0 < len(read) < len(edges) and read == expected(edges[: len(read)])
    assert f"after {len(read):,} rows" in found.report.broken[0].text


def test_a_check_reads_the_first_rows_of_each_table(tmp_path: Path) -> None:
    write(tmp_path, "e.csv", EDGES)
    (tmp_path / "odd.csv").write_text("source,target\na\n", encoding="utf-8")
    (tmp_path / "none.csv").write_text("source,target\n", encoding="utf-8")
    config = GraphConfig.model_validate({"edges": "*.csv"})
    none, odd = look(config, Opening(METHOD, config.paths(tmp_path, "x"), tmp_path))
    assert "none.csv: there is no row in it" in none and "odd.csv: 1 of the first" in odd


# Arrays.


def plain(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "g.npz", **arrays)
    return folder / "g.npz"


@pytest.mark.parametrize("rows", [False, True])
def test_plain_arrays_are_a_graph_with_what_lists_of_names_say(tmp_path: Path, rows: bool) -> None:
    edges = np.array([[0, 1], [0, 2], [2, 1]], np.int32)
    given_as = (
        {"adj_indptr": np.array([0, 2, 2, 3]), "adj_indices": np.array([1, 2, 1])}
        if rows
        else {"edges": edges}
    )
    features = {
        "feat_indptr": np.array([0, 2, 2, 3]), "feat_indices": np.array([0, 1, 1]),
        "feat_data": np.array([1.0, 5.0, 2.0], np.float32), "feat_shape": np.array([3, 2]),
    }  # fmt: skip
    plain(tmp_path, **given_as, **features, labels=np.array([1, 0, 1]))
    lists = {"names": "a\nb\nc\n", "attributes": "bells\ntowers\n", "classes": "east\nwest\n"}
    for name, text in lists.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    _, triples = discovered(tmp_path, edges="g.npz", **{name: name for name in lists})
    assert edges_of(triples) == expected([("a", "b"), ("a", "c"), ("c", "b")])
    assert (node("a"), TEXT, "towers; bells") in triples and (node("c"), TEXT, "towers") in triples
    assert (node("a"), HAS_TYPE, f"{BASE}type/west") in triples


def test_without_names_nodes_are_numbers(tmp_path: Path) -> None:
    plain(tmp_path, edges=np.array([[0, 1]]), labels=np.array([0, 1, 1]))
    _, triples = discovered(tmp_path, edges="g.npz")
    assert (
        edges_of(triples) == expected([("0", "1")])
        and (node("2"), HAS_TYPE, f"{BASE}type/class%201") in triples
    )


class Trap:
    """Whoever unpickles it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def test_an_array_of_objects_is_refused_by_name_and_nothing_is_run(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    objects = np.array([Trap(sprung)], dtype=object)
    path = plain(tmp_path, edges=np.array([[0, 1]]), attr_names=objects)
    with pytest.raises(SourceError, match=r"attr_names\.npy holds Python objects, which are pickles"):
        discovered(tmp_path, edges="g.npz")
    assert not sprung.exists()
    path.write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(SourceError, match="cannot be read"):
        discovered(tmp_path, edges="g.npz")
    assert not sprung.exists()


def header(shape: str, descr: str = "'<i8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (header("(2, 2)") + bytes(8), "should have 32 bytes and has 8"),
        (header("(1000000000000, 2)") + bytes(16), "should have 16,000,000,000,000 bytes"),
        (header("(-1, 2)"), "should have -16 bytes"),
        (header("(1, 2)", "'O'"), "holds Python objects"),
        (header("(1,)", "[('a', 'O')]"), "holds Python objects"),
        (header("(1, 2)", "'<c16'") + bytes(32), "neither numbers nor text"),
        (header("(1, 2)", "__import__('os')") + bytes(16), "cannot be read"),
        (b"\x93NUMPY\x09\x00" + bytes(50), "version"),
        (header("(1, 2)") + bytes(8) + (1 << 60).to_bytes(8, "little"), "without gaps"),
        (b"nothing", "cannot be read"),
        (header("(1" + 30 * "0" + ",)", "'<U0'"), "cannot be read"),
        (b"\x93NUMPY\x01\x00\xc8\x00" + b"(" * 200, "cannot be read"),
        (header("(1, 2)", "'<f8'") + bytes(16), "not of whole numbers"),
        (header("(2,)") + bytes(16), "They are pairs"),
        (header("(1, 2)") + (-1).to_bytes(8, "little", signed=True) + bytes(8), "nodes that there are not"),
    ],
)  # fmt: skip
def test_an_array_that_lies_or_is_no_list_of_edges_is_refused(
    tmp_path: Path, content: bytes, told: str
) -> None:
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        archive.writestr("edges.npy", content)
    with pytest.raises(SourceError, match=told):
        discovered(tmp_path, edges="g.npz")


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"labels": np.zeros((2, 2), int)}, r"labels is of shape \(2, 2\)"),
        ({"labels": np.array(["east", "west"])}, "labels is of <U4, not of whole numbers"),
        ({"feat_indptr": np.array([0, 1, 1])}, "lacks the array feat_indices"),
        (
            {"feat_indptr": np.array([0, 1, 1]), "feat_indices": np.array([0]), "feat_data": np.array(["1"])},
            "feat_data is of <U1, not of numbers",
        ),
        ({"adj_indptr": np.zeros((2, 2), int), "adj_indices": np.array([0])}, "adj_indptr is of shape"),
    ],
)
def test_an_array_beside_the_edges_that_is_not_as_it_has_to_be_is_named(
    tmp_path: Path, beside: dict[str, Any], told: str
) -> None:
    plain(tmp_path, edges=np.array([[0, 1]]), **beside)
    (tmp_path / "attributes").write_text("bells\n", encoding="utf-8")
    with pytest.raises(SourceError, match=told):
        discovered(tmp_path, edges="g.npz", attributes="attributes")


def test_the_strongest_feature_comes_first_whatever_kind_of_number_it_has(tmp_path: Path) -> None:
    features = {"feat_indices": np.array([0, 1]), "feat_data": np.array([0, 9], np.uint8)}
    plain(tmp_path, edges=np.array([[0, 1]]), feat_indptr=np.array([0, 2, 2]), **features)
    (tmp_path / "attributes").write_text("bells\ntowers\n", encoding="utf-8")
    _, triples = discovered(tmp_path, edges="g.npz", attributes="attributes")
    assert (node("0"), TEXT, "towers; bells") in triples


def test_a_list_of_names_has_one_a_line_in_utf_8(tmp_path: Path) -> None:
    plain(tmp_path, edges=np.array([[0, 1]]))
    (tmp_path / "names").write_text("Bell\u2028tower\nHill\n", encoding="utf-8")
    _, triples = discovered(tmp_path, edges="g.npz", names="names")
    assert edges_of(triples) == expected([("Bell\u2028tower", "Hill")])
    (tmp_path / "names").write_bytes("Hügel\nHill\n".encode("latin-1"))
    with pytest.raises(SourceError, match=r"names is not written in UTF-8"):
        discovered(tmp_path, edges="g.npz", names="names")


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "g.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.npy", header("(2500000, 2)") + bytes(40_000_000))
    with pytest.raises(SourceError, match=r"g\.npz expands to 38 MiB"):
        arrays_of(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("e.parquet", b"PAR1 no table PAR1", "cannot be read"),
        ("e.csv", b"\xff\xfe\x00", "cannot be read"),
        ("e.csv", b"", "there is no triple"),
        ("e.csv", b'source,target\n"a,b\n', "cannot be read"),
        ("e.txt", b"a b", "in no format of graphs"),
        ("e.csv", b"x" * 17_000_000, "a line of over"),
    ],
)
def test_what_is_no_table_is_refused_by_name(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=told) as caught:
        discovered(tmp_path, edges=name)
    assert name in str(caught.value)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=120), st.sampled_from(["e.csv", "e.tsv", "e.jsonl", "e.parquet", "e.npz"]))
def test_any_bytes_give_a_graph_or_an_error_meant_for_people(
    tmp_path: Path, content: bytes, name: str
) -> None:
    (tmp_path / name).write_bytes(content)
    try:
        discovered(tmp_path, edges=name)
    except SourceError as error:
        assert name in str(error)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(["e.npz", "e.parquet", "e.csv.gz", "e.jsonl"]),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_a_damaged_file_gives_a_graph_or_an_error_meant_for_people(
    tmp_path: Path, name: str, changes: list[tuple[int, int]]
) -> None:
    numbers = np.random.default_rng(0).integers(0, 500, (400, 2))
    if name == "e.npz":
        np.savez_compressed(tmp_path / name, edges=numbers, labels=np.arange(500))
    else:
        write(tmp_path, name, [(f"a{source}", f"b{target}") for source, target in numbers.tolist()])
    content = bytearray((tmp_path / name).read_bytes())
    for place, byte in changes:
        content[place % len(content)] = byte
    (tmp_path / name).write_bytes(content)
    try:
        discovered(tmp_path, edges=name)
    except SourceError as error:
        assert name in str(error)


def test_half_a_character_costs_its_row(tmp_path: Path) -> None:
    rows = [{"source": "\ud83d", "target": "a"}, {"source": "\U0001f514", "target": "b"}]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found, triples = discovered(tmp_path, edges="e.jsonl")
    assert edges_of(triples) == expected([("\U0001f514", "b")]) and found.report.broken_count == 1


def test_a_relation_that_only_looks_like_an_iri_is_words(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target,relation\na,b,part:{x}\n", encoding="utf-8")
    _, triples = discovered(tmp_path, edges="e.csv")
    assert edges_of(triples, f"{BASE}part%3A%7Bx%7D") == expected([("a", "b")])


def test_names_of_columns_have_to_be_as_many_as_a_parquet_file_has(tmp_path: Path) -> None:
    write(tmp_path, "e.parquet", EDGES)
    with pytest.raises(SourceError, match="has 2 columns, source, target, and `columns` names 1"):
        discovered(tmp_path, edges={"files": "e.parquet", "columns": ["source"]})


def test_a_graph_becomes_a_release_that_answers(tmp_path: Path) -> None:
    story = (
        "The tower was built on a hill of chalk. " * 60
        + "In the last year of all a heron nested in its lantern."
    )
    project = make_project(
        tmp_path / "project", write_markdown=False, languages=["en"],
        sources=[{"graph": {"edges": "e.csv", "nodes": "n.jsonl", "base": "http://example.org/"}}],
    )  # fmt: skip
    write(project.root, "e.csv", EDGES)
    (project.root / "n.jsonl").write_text(json.dumps({"id": "Tower", "text": story}), encoding="utf-8")
    build_all(project.context())
    release = open_release("churches", project.data)
    found = prepare(release, "Where did a heron nest?").retrieved
    assert release[Documents].label(found.chosen[0].document) == "Tower"
    assert "Hill" in release[Documents].text(found.chosen[0].document), "what it links to"


def test_each_node_keeps_a_document_of_its_own_and_thin_things_of_a_museum_beside_do_not(
    tmp_path: Path,
) -> None:
    sources = [{"graph": {"edges": "e.csv", "base": BASE}}, {"rdf": "churches.ttl"}]
    project = make_project(tmp_path / "project", sources=sources, languages=["en"], write_markdown=False)
    write(project.root, "e.csv", EDGES)
    build_all(project.context())
    stats = project.context().finished("documents").stats
    documents = open_release("churches", project.data)[Documents]
    own = {documents.graph.iri(documents.entity(number)) for number in range(documents.count)}
    assert {node(name) for edge in EDGES for name in edge} <= own
    assert documents.count < stats["before_chaining"], "what is thin of the museum has joined others"


@pytest.mark.slow
def test_coauthors_are_read_with_their_keywords(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "graphs"
    names = {"names": "node_names", "attributes": "attr_names", "classes": "class_names"}
    lists = {key: str(folder / f"coauthor_cs.{name}.txt") for key, name in names.items()}
    found, triples = discovered(tmp_path, edges=str(folder / "coauthor_cs.npz"), **lists)
    assert len(edges_of(triples)) == 81_894 and found.entities == 18_333 + 15
    assert sum(p == TEXT for _, p, _ in triples) > 18_000
