"""A data set that is built again after each change is the one that is built at once from the last state, byte for byte."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.build.step import chunks_of
from crmrag_assets.indexes.encoder import open_embedded, windows
from crmrag_assets.opened import encoder_of
from crmrag_query.artifacts.release import open_release
from crmrag_query.documents.documents import Documents
from tests.support.builds import BASE, CRM, Project, build_all, make_project, turtle
from tests.support.builds import encoded as encoded_in

LABEL = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
CHUNK = 12  # entities of a chunk: the data set has several
Triples = frozenset[ox.Triple]


def first_state() -> Triples:
    """Churches, murals, paintings, painters; blank nodes named, as a change of one is a change of another otherwise."""
    named = ox.parse(turtle(9), format=ox.RdfFormat.TURTLE)
    return frozenset(ox.Triple(_named(quad.subject), quad.predicate, _named(quad.object)) for quad in named)


def _named(term: object) -> object:
    return ox.NamedNode(f"{BASE}blank/{term.value}") if isinstance(term, ox.BlankNode) else term


def renamed(state: Triples, subject: ox.NamedNode, to: str) -> Triples:
    kept = {triple for triple in state if (triple.subject, triple.predicate) != (subject, LABEL)}
    return frozenset({*kept, ox.Triple(subject, LABEL, ox.Literal(to))})


def without(state: Triples, node: ox.NamedNode) -> Triples:
    return frozenset(triple for triple in state if node not in (triple.subject, triple.object))


def changed(state: Triples, kind: str, seed: int) -> Triples:
    """The state after one change of a kind, at places drawn by the seed."""
    draw = random.Random(seed)
    triples = sorted(state, key=str)
    nodes = sorted({triple.subject for triple in triples}, key=str)
    one = draw.choice(nodes)
    match kind:
        case "rename":
            return renamed(state, one, f"Another name {seed}")
        case "rename the hub":
            return renamed(state, ox.NamedNode(f"{BASE}district"), f"District {seed}")
        case "remove":
            return without(state, one)
        case "remove triples":
            return state - set(draw.sample(triples, 3))
        case "link":
            link = draw.choice(
                sorted({t.predicate for t in triples if isinstance(t.object, ox.NamedNode)}, key=str)
            )
            return state | {ox.Triple(one, link, draw.choice(nodes))}
        case _:
            new = ox.NamedNode(f"{BASE}new{seed}")
            made_of = ox.NamedNode(f"{CRM}E22_Human-Made_Object")
            return state | {
                ox.Triple(new, ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), made_of),
                ox.Triple(new, LABEL, ox.Literal(f"Thing {seed}")),
                ox.Triple(one, ox.NamedNode(f"{CRM}P46_is_composed_of"), new),
            }


KINDS = ("rename", "rename the hub", "remove", "remove triples", "link", "add")


def write(project: Project, state: Triples, seed: int) -> None:
    """The state as N-Triples, in an order of its own: the order of a file is no content."""
    lines = [f"{triple} .\n" for triple in sorted(state, key=str)]
    random.Random(seed).shuffle(lines)
    (project.root / "churches.nt").write_text("".join(lines), encoding="utf-8")


def release_of(project: Project) -> str:
    """The release's id, which is the hash of all its files."""
    return open_release("churches", project.data).id


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 999)), min_size=2, max_size=3))
def test_builds_after_each_change_end_as_one_from_nothing(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    root = tmp_path_factory.mktemp("incremental")
    project = make_project(root / "again", rdf=["churches.nt"])
    state = first_state()
    write(project, state, 0)
    build_all(project.context(CHUNK))
    for kind, seed in changes:
        state = changed(state, kind, seed)
        write(project, state, seed)
        build_all(project.context(CHUNK))
    fresh = make_project(root / "fresh", rdf=["churches.nt"])
    write(fresh, state, 1)
    build_all(fresh.context(CHUNK))
    assert release_of(project) == release_of(fresh)


def test_only_documents_that_read_otherwise_are_encoded(tmp_path: Path) -> None:
    project = make_project(tmp_path, rdf=["churches.nt"])
    state = first_state()
    write(project, state, 0)
    build_all(project.context(CHUNK))
    before = texts(project)
    write(project, renamed(state, ox.NamedNode(f"{BASE}painter1"), "Theophanes"), 0)
    outcomes = build_all(project.context(CHUNK))
    encoded = encoded_in(outcomes)
    after = texts(project)
    changed_texts = [text for iri, text in after.items() if before.get(iri) != text]
    assert 0 < len(changed_texts) < len(after) / 2
    encoder = encoder_of(project.context(CHUNK))
    known, new = (
        {window for text in some for window in windows(text, encoder.count, encoder.window)}
        for some in (before.values(), changed_texts)
    )
    assert encoded == len(new - known)


def texts(project: Project) -> dict[str, str]:
    documents = open_release("churches", project.data)[Documents]
    graph = documents.graph
    return {graph.iri(documents.entity(n)): documents.text(n) for n in range(documents.count)}


@pytest.mark.slow
def test_what_no_change_reaches_stays_as_it_is(tmp_path: Path) -> None:
    """A thing by itself touches the triples and the documents of its own chunk only, and the vectors of no other."""
    project = make_project(tmp_path, rdf=["churches.nt"])
    state = first_state()
    write(project, state, 0)
    build_all(project.context(CHUNK))
    records = {
        (artifact, key): project.context(CHUNK).finished(artifact, key).content
        for artifact in ("prefetch", "fr_documents", "embeddings")
        for key in chunks_of(project.context(CHUNK))
    }
    alone = ox.NamedNode(f"{BASE}alone")
    kind = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    state |= {
        ox.Triple(alone, kind, ox.NamedNode(f"{CRM}E22_Human-Made_Object")),
        ox.Triple(alone, LABEL, ox.Literal("A thing that nothing else knows")),
    }
    write(project, state, 0)
    build_all(project.context(CHUNK))
    context = project.context(CHUNK)
    now = {place: context.finished(*place).content for place in records}
    touched = {place for place in records if records[place] != now[place]}
    assert {artifact for artifact, _ in touched} == {"prefetch", "fr_documents", "embeddings"}
    assert len({key for _, key in touched}) == 1


@pytest.mark.slow
def test_what_goes_is_gone_everywhere_and_chunks_with_it(tmp_path: Path) -> None:
    """Of nine churches two stay: fewer chunks are needed, and nothing of the others is left."""
    project = make_project(tmp_path / "again", rdf=["churches.nt"])
    write(project, first_state(), 0)
    build_all(project.context(CHUNK))
    before = chunks_of(project.context(CHUNK))
    gone = {f"{BASE}{kind}{n}" for kind in ("church", "mural", "painting") for n in range(2, 9)}
    gone |= {f"{BASE}painter1", f"{BASE}painter2"}
    state = frozenset(t for t in first_state() if not {t.subject.value, t.object.value} & gone)
    write(project, state, 0)
    build_all(project.context(CHUNK))
    assert len(chunks_of(project.context(CHUNK))) < len(before)
    fresh = make_project(tmp_path / "fresh", rdf=["churches.nt"])
    write(fresh, state, 0)
    build_all(fresh.context(CHUNK))
    assert release_of(project) == release_of(fresh)
    work = project.data / "work" / "churches"
    for artifact in ("prefetch", "fr_documents", "embeddings"):
        assert sorted(path.name for path in (work / artifact).iterdir()) == chunks_of(project.context(CHUNK))


@pytest.mark.slow
def test_more_chunks_than_before_encode_nothing_again(tmp_path: Path) -> None:
    project = make_project(tmp_path, rdf=["churches.nt"])
    write(project, first_state(), 0)
    build_all(project.context(4 * CHUNK))
    for size in (CHUNK, 2 * CHUNK):
        outcomes = build_all(project.context(size))
        assert len(chunks_of(project.context(size))) > 1
        assert encoded_in(outcomes) == 0


@pytest.mark.slow
def test_with_a_real_encoder_known_texts_keep_their_vectors_and_new_ones_get_the_same(tmp_path: Path) -> None:
    embedding = {"model": "all-MiniLM-L6-v2"}
    project = make_project(tmp_path / "again", rdf=["churches.nt"], embedding=embedding)
    state = first_state()
    write(project, state, 0)
    build_all(project.context(CHUNK))
    before = vectors(project)
    state = renamed(state, ox.NamedNode(f"{BASE}painter1"), "Theophanes")
    write(project, state, 0)
    build_all(project.context(CHUNK))
    again = vectors(project)
    fresh = make_project(tmp_path / "fresh", rdf=["churches.nt"], embedding=embedding)
    write(fresh, state, 0)
    build_all(fresh.context(CHUNK))
    known = before.keys() & again.keys()
    assert 0 < len(known) < len(again)
    assert all(before[key] == again[key] for key in known)
    made = vectors(fresh)
    assert made.keys() == again.keys()
    for key, vector in made.items():
        np.testing.assert_allclose(np.frombuffer(again[key], "<f4"), np.frombuffer(vector, "<f4"), atol=1e-5)


def vectors(project: Project) -> dict[bytes, bytes]:
    """The vector of each window by the hash of its text."""
    context = project.context(CHUNK)
    found = {}
    for chunk in chunks_of(context):
        embedded = open_embedded(context.folder("embeddings", chunk))
        for key, vector in zip(
            embedded.windows.column("text_hash").to_pylist(), embedded.vectors, strict=True
        ):
            found[key] = vector.tobytes()
    return found
