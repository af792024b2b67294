"""What checksums cannot see: artifacts that contradict each other are found by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from crmrag_query.verify.run import REFERENCES, verify_folder
from tests.support.spoiling import Array, Spoil, array, cell, edit_json, put


def swap(values: Array) -> None:
    values[[0, 1]] = values[[1, 0]]


def swap_ends(values: Array) -> Array:
    return np.roll(values, 1)


def other_bridge(folder: Path) -> None:
    """A bridge from another document of the same part."""
    path, part = (
        folder / "partition_edges" / "bridge_low.npy",
        np.load(folder / "graph_partitions" / "part.npy"),
    )
    low = np.load(path)
    at = int(np.flatnonzero(np.bincount(part)[part[low]] > 1)[0])
    low[at] = next(one for one in np.flatnonzero(part == part[low[at]]) if one != low[at])
    np.save(path, low)


def one_edge_less(folder: Path) -> None:
    path = folder / "edges" / "edges.parquet"
    found = pq.read_table(path)
    pq.write_table(found.slice(1), path)


def other_property(folder: Path) -> None:
    path = folder / "edges" / "edges.parquet"
    found = pq.read_table(path)
    values = found.column("p").to_pylist()
    values[0] = "http://example.org/no-property"
    kind = found.schema.field("p")
    pq.write_table(found.set_column(2, kind, pa.array(values, pa.utf8()).dictionary_encode()), path)


def without_a_chunk(folder: Path) -> None:
    last = sorted((folder / "embeddings").iterdir())[-1]
    for path in last.iterdir():
        path.unlink()
    last.rmdir()


def turned_vector(folder: Path) -> None:
    """The last vector that is searched points the other way."""
    path = folder / "dense" / "index.faiss"
    content, vectors = (
        path.read_bytes(),
        np.concatenate([np.load(one) for one in folder.glob("embeddings/*/vectors.npy")]),
    )
    size = vectors[0].nbytes
    vector = np.frombuffer(content[-size:], np.float32)
    path.write_bytes(content[:-size] + (-vector).tobytes())


def turned_row(folder: Path) -> None:
    """The values of a row with several, the other way round."""
    path = folder / "graph" / "backward_val.npy"
    ptr, values = np.load(folder / "graph" / "backward_ptr.npy"), np.load(path)
    row = int(np.argmax(np.diff(ptr)))
    values[ptr[row] : ptr[row + 1]] = values[ptr[row] : ptr[row + 1]][::-1]
    np.save(path, values)


def chunk_of(folder: Path) -> Path:
    """A chunk that has documents, as a path in the release."""
    sizes = {path.parent: len(np.load(path)) for path in sorted(folder.glob("embeddings/*/vectors.npy"))}
    return max(sizes, key=lambda one: sizes[one]).relative_to(folder)


def in_chunk(spoil: Callable[[str], Spoil]) -> Spoil:
    return lambda folder: spoil(chunk_of(folder).as_posix())(folder)


def long_vector(folder: Path) -> None:
    path = folder / chunk_of(folder) / "vectors.npy"
    vectors = np.load(path)
    np.save(path, vectors * 2)


FAULTS: list[tuple[Spoil, str, str]] = [
    (put("graph/forward_val.npy", 0, 10**6), "triples", "graph/forward_val.npy: nodes: not within"),
    (put("graph/backward_row.npy", -1, -1), "triples", "graph/backward_row.npy: nodes: not within"),
    (put("graph/forward_ptr.npy", 1, 0), "triples", "graph/forward_ptr.npy: rows without a value: out of order"),
    (turned_row, "triples", "graph/backward_val.npy: out of order"),
    (put("graph/backward_prop.npy", -1, 7), "triples", "graph/backward_prop.npy: from 0 to 7"),
    (array("graph/backward_val.npy", lambda v: v[:-1]), "triples", "graph/backward_val.npy: triples"),
    (put("graph/triple_graph.npy", 0, 9), "triples", "sets of named graphs: not within"),
    (put("graph/type_val.npy", 0, 99), "nodes", "graph/type_val.npy: classes: not within"),
    (put("graph/category.npy", 0, 3), "nodes", "graph/category.npy: no category"),
    (put("graph/label_ptr.npy", 1, 0), "nodes", "graph/label_ptr.npy: nodes without a name"),
    (cell("graph/nodes.arrow", "iri", 0, "zzz"), "nodes", "graph/nodes.arrow: IRIs: out of order"),
    (cell("graph/timespans.arrow", "node", 0, 10**6), "nodes", "graph/timespans.arrow: nodes: not within"),
    (put("graph/literal_ptr.npy", 1, -1), "literals", "graph/literal_ptr.npy"),
    (cell("graph/literals.arrow", "property", 0, 99), "literals", "graph/literals.arrow: property: not within"),
    (cell("graph/literals.arrow", "subject", 0, 5), "literals", "graph/literals.arrow: rows of another owner"),
    (edit_json("graph/meta.json", lambda m: m.update(literals=1)), "graph counts", "literals: 1 is written"),
    (cell("graph/labels.arrow", "text", 0, None), "graph tables", "graph/labels.arrow: empty places in text"),
    (put("triples_index/tri_s.npy", 0, 1), "triples index", "tri_s.npy: subjects other than the graph's"),
    (put("triples_index/tri_p.npy", 0, 1), "triples index", "tri_p.npy: properties other than the graph's"),
    (array("triples_index/out_tri.npy", swap), "triples index", "triples_index/out_tri.npy"),
    (put("triples_index/in_tri.npy", 0, 10**6), "triples index", "in_tri.npy: triples: not within"),
    (put("triples_index/in_ptr.npy", -1, 3), "triples index", "triples_index/in_ptr.npy: from 0 to 3"),
    (one_edge_less, "edges", "edges/edges.parquet: rows"),
    (other_property, "edges", "1 rows of http://example.org/no-property, the graph has 0"),
    (cell("documents/documents.arrow", "entity", -1, 10**6), "documents", "documents.arrow: entities: not within"),
    (cell("documents/documents.arrow", "entity", -1, 0), "documents", "documents.arrow: entities: out of order"),
    (cell("documents/documents.arrow", "label", 0, "Palace"), "documents", "label other than the graph's"),
    (cell("documents/documents.arrow", "category", 0, 32), "documents", "category other than the graph's"),
    (cell("documents/documents.arrow", "text", 0, "x"), "document lines", "beyond the document's text"),
    (put("documents/entity_document.npy", 3, -1), "entities in documents", "entities without a document"),
    (put("documents/entity_document.npy", 3, 10**6), "entities in documents", "documents: not within"),
    (array("documents/entity_document.npy", lambda v: np.maximum(v, 0) * 0), "entities in documents",
     "leads to another document"),
    (cell("documents/members.arrow", "entity", 0, 10**6), "document members", "members.arrow: entities: not within"),
    (cell("documents/members.arrow", "document", 0, 1), "document members", "members.arrow: rows of another owner"),
    (cell("documents/members.arrow", "role", 0, 2), "document members", "own entity is not its first member"),
    (put("documents/member_ptr.npy", -1, 1), "document members", "documents/member_ptr.npy: from 0 to 1"),
    (cell("documents/lines.arrow", "targets", 0, [10**6]), "document lines", "targets outside the graph: not within"),
    (cell("documents/lines.arrow", "document", 0, 1), "document lines", "lines.arrow: rows of another owner"),
    (cell("documents/lines.arrow", "end", 0, 10**6), "document lines", "beyond the document's text"),
    (cell("documents/passages.arrow", "document", -1, 10**6), "passages", "passages.arrow: documents: not within"),
    (cell("documents/passages.arrow", "document", 0, 1), "passages", "entities that another document holds"),
    (cell("documents/passages.arrow", "source", 0, -1), "passages", "passages.arrow: sources: not within"),
    (cell("documents/passages.arrow", "end", 0, 10**6), "passages", "texts shorter than the part that they hold"),
    (put("dense/window_document.npy", -1, 0), "documents in the dense index", "documents without a vector: 1"),
    (put("dense/window_document.npy", 0, -1), "documents in the dense index", "documents: not within"),
    (turned_vector, "embeddings", "vectors other than those of the dense index: 1"),
    (long_vector, "embeddings", "vectors other than those of the dense index"),
    (without_a_chunk, "embeddings", "windows where the dense index has"),
    (in_chunk(lambda c: cell(f"{c}/windows.arrow", "place", -1, 99)), "embeddings", "windows.arrow: places: not within"),
    (in_chunk(lambda c: cell(f"{c}/windows.arrow", "text_hash", 0, bytes(32))), "embeddings",
     "vectors of another text than the document's: 1"),
    (edit_json("encoder/encoder.json", lambda e: e.update(dimension=7)), "encoder", "dimension: 7 is written"),
    (put("sparse/indices.csc.index.npy", -1, 10**6), "postings", "documents: not within"),
    (put("sparse/indptr.csc.index.npy", 1, 10**6), "postings", "a range ends before it begins"),
    (array("sparse/data.csc.index.npy", lambda v: v[:-1]), "postings", "sparse/data.csc.index.npy: float64"),
    (put("sparse/data.csc.index.npy", 0, np.nan), "postings", "no score: 1"),
    (edit_json("sparse/sparse.json", lambda m: m.update(postings=1)), "postings", "postings: 1 is written"),
    (edit_json("sparse/sparse.json", lambda m: m.update(documents=1)), "postings", "documents: 1 is written"),
    (put("sparse/vocabulary_text.npy", 0, ord("z")), "terms", "sparse/vocabulary_text.npy: out of order"),
    (put("names/entry_entity.npy", 0, 10**6), "names", "names/entry_entity.npy: not within"),
    (put("names/posting.npy", 0, -1), "names", "names/posting.npy: not within"),
    (put("names/entry_degree.npy", 0, 99), "names", "names/entry_degree.npy: other than the graph's"),
    (put("dates/entity.npy", 0, 10**6), "dates", "dates/entity.npy: nodes: not within"),
    (put("dates/end.npy", 0, -(10**9)), "dates", "dates/end.npy: before the begin: 1"),
    (put("lexicon/node.npy", 0, 10**6), "lexicon", "lexicon/node.npy has numbers that are not within"),
    (array("lexicon/node.npy", lambda v: v[::-1]), "lexicon", "lexicon/category.npy: other than the graph's"),
    (put("lexicon/class_number.npy", 0, 1), "lexicon", "lexicon/class_number.npy: other than the graph's"),
    (put("lexicon/labelled.npy", 0, 99), "lexicon", "lexicon/labelled.npy: other than there are: 1"),
    (put("lexicon/step_triples.npy", 0, 99), "lexicon", "lexicon/step_triples.npy: triples of a property: 1"),
    (array("aggregation/pagerank.npy", lambda v: v[:-1]), "PageRank", "aggregation/pagerank.npy: float32"),
    (array("aggregation/pagerank.npy", lambda v: v * 2), "PageRank", "all together 2.0"),
    (edit_json("aggregation/aggregation_index.json", lambda a: a.update(entities=1)), "counts",
     "entities: 1 is written"),
    (edit_json("aggregation/aggregation_index.json", lambda a: a["classes"].pop()), "counts", "entities by class"),
    (put("entity_graph/neighbour.npy", -1, 10**6), "entity graph", "entity_graph/neighbour.npy: not within"),
    (put("entity_graph/weight.npy", 0, 9.0), "entity graph", "edges that do not lead back"),
    (put("entity_graph/weight.npy", 0, np.nan), "entity graph", "entity_graph/weight.npy: no weight: 1"),
    (put("communities/member.npy", 0, 10**6), "communities", "communities/member.npy: not within"),
    (put("communities/id.npy", 0, 7), "communities", "other members than its id says"),
    (array("communities/member.npy", lambda v: np.full_like(v, v[0])), "communities", "documents in two communities"),
    (put("token_vectors/ptr.npy", 1, 10**6), "token vectors", "a range ends before it begins: 1"),
    (array("token_vectors/codes.npy", lambda v: v // 2), "token vectors", "token_vectors/codes.npy: not of length 1"),
    (put("token_vectors/weight.npy", 0, np.nan), "token vectors", "token_vectors/weight.npy: no weight: 1"),
    (put("graph_partitions/part.npy", 0, 10**6), "graph_partitions", "graph_partitions/part.npy: not within"),
    (array("graph_partitions/part.npy", swap_ends), "graph_partitions", "not the part that has the document"),
    (array("graph_partitions/member.npy", lambda v: np.full_like(v, v[0])), "graph_partitions", "documents: "),
    (edit_json("graph_partitions/graph_partitions.json", lambda m: m.update(limit=1)), "graph_partitions",
     "above the limit of 1"),
    (put("graph_partitions/penalty.npy", 0, 1.0), "graph_partitions", "graph_partitions/penalty.npy"),
    (put("partition_edges/bridge_low.npy", 0, 10**6), "partition_edges", "partition_edges/bridge_low.npy: not within"),
    (other_bridge, "partition_edges", "bridges and inner edges are not all edges"),
    (put("partition_edges/high.npy", 0, 0), "partition_edges", "not the parts of the bridges"),
    (array("alignment_model/vectors.npy", lambda v: v * np.nan), "alignment_model", "alignment_model/vectors.npy"),
    (edit_json("alignment_model/alignment_model.json", lambda m: m.update(encoder="another")), "alignment_model",
     "of another encoder"),
    (edit_json("profile/profile.json", lambda p: p["totals"].update(nodes=1)), "profile", "nodes: 1 is written"),
    (edit_json("manifest.json", lambda m: m["counts"].update(documents=1)), "manifest", "documents: 1 is written"),
    (edit_json("validation_report.json", lambda r: r["documents"].update(count=1)), "validation report",
     "documents: 1 is written"),
    (edit_json("config.json", lambda c: c.update(relationships="fr76")), "method", "relationships fr76"),
]  # fmt: skip


def test_what_was_built_fits_together(flat: Path, coded: Path) -> None:
    for folder in (flat, coded):
        report = verify_folder(folder)
        assert report.holds and report.faults == ()
        looked = {check.name: finding.looked for check, finding in report.found}
        assert [name for name, count in looked.items() if not count] == []


@pytest.mark.parametrize(("spoil", "check", "message"), FAULTS, ids=[f"{f[1]}: {f[2]}" for f in FAULTS])
def test_a_contradiction_that_no_checksum_shows_is_found_by_name(
    flat: Path, rewritten: Callable[[Path, Spoil], Path], spoil: Spoil, check: str, message: str
) -> None:
    chosen = [one for one in REFERENCES if one.name == check]
    (_, files), _, (_, found) = verify_folder(rewritten(flat, spoil), checks=chosen).found
    assert not files.faults, "every checksum is right"
    assert message in " ".join(found.faults)


def test_codes_of_other_vectors_and_vectors_without_length_are_found(
    coded: Path, rewritten: Callable[[Path, Spoil], Path]
) -> None:
    def spoil(folder: Path) -> None:
        index = folder / "dense" / "index.faiss"
        content = bytearray(index.read_bytes())
        content[-1] ^= 255
        index.write_bytes(bytes(content))
        vectors = np.load(folder / "dense" / "vectors.npy")
        vectors[0] *= 0.5
        np.save(folder / "dense" / "vectors.npy", vectors)

    report = verify_folder(rewritten(coded, spoil))
    found = {check.name: finding.faults for check, finding in report.found}
    assert [fault.split(": ")[1] for fault in found["vectors"]] == [
        "not of length 1",
        "codes of other vectors",
    ]
    assert "vectors other than those of the dense index" in found["embeddings"][0]


def test_every_check_has_a_contradiction_that_it_finds() -> None:
    """So that a new check comes with its proof."""
    proved = {check for _, check, _ in FAULTS} | {"vectors", "document tables"}
    assert {check.name for check in REFERENCES} == proved


def test_texts_that_are_none_are_found(flat: Path, rewritten: Callable[[Path, Spoil], Path]) -> None:
    def spoil(folder: Path) -> None:
        path = folder / "documents" / "documents.arrow"
        path.write_bytes(path.read_bytes().replace("Εκκλησία".encode(), b"\xff" * len("Εκκλησία".encode())))

    report = verify_folder(rewritten(flat, spoil))
    found = {check.name: finding.faults for check, finding in report.found}
    assert "UTF8" in found["document tables"][0]


@pytest.mark.parametrize(
    ("path", "column", "check"),
    [
        ("graph/nodes.arrow", "iri", "graph tables"),
        ("documents/documents.arrow", "text", "document tables"),
        ("names/texts.arrow", "text", "names"),
    ],
)
def test_a_table_that_a_library_would_not_survive_is_looked_at_no_further(
    flat: Path, rewritten: Callable[[Path, Spoil], Path], path: str, column: str, check: str
) -> None:
    """Where a text is said to begin far outside the file."""

    def spoil(folder: Path) -> None:
        content = (folder / path).read_bytes()
        array = ipc.open_file(pa.BufferReader(content)).get_batch(0).column(column)
        ends = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1)
        wrong = ends.copy()
        wrong[1:-1] += 2**40
        assert content.count(ends.tobytes()) == 1
        (folder / path).write_bytes(content.replace(ends.tobytes(), wrong.tobytes()))

    report = verify_folder(rewritten(flat, spoil))
    assert check in {one.name for one, finding in report.found if finding.faults}
    read = path.split("/")[0]
    others = {one.name for one in REFERENCES if read in one.reads} - {
        check, "method", "manifest", "validation report",
    }  # fmt: skip
    assert others == {one.name for one, finding in report.found if finding.skipped}
