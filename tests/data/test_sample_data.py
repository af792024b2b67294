"""The sample data set: what its README promises."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyoxigraph import BlankNode, Literal, NamedNode, QueryBoolean, QuerySolutions, RdfFormat, Store, parse

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
OURS = "https://example.org/troodos/"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
VIR = "http://w3id.org/vir#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
# Reification of properties (CRMpc) is published in a file of its own.
REIFICATION = {"PC14_carried_out_by", "P01_has_domain", "P02_has_range", "P14.1_in_the_role_of"}
# Entities without a label, on purpose: known by content, value or role alone.
UNLABELLED = (
    "appellation/",
    "identifier/",
    "dimension/",
    "creation/",
    "move/",
    "role/",
    "event/katholiki-building",
)
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((SAMPLE / "questions.yaml").read_text(encoding="utf-8"))
ANSWERABLE = [question for question in QUESTIONS if question["gold_sparql"]]


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    store.load(path=str(SAMPLE / "troodos.ttl"), format=RdfFormat.TURTLE)
    return store


def solutions(store: Store, query: str) -> list[dict[str, str]]:
    results = store.query(query)
    assert isinstance(results, QuerySolutions)
    names = [variable.value for variable in results.variables]
    return [{name: row[name].value for name in names} for row in results]


def name_of(term: object) -> str:
    """The IRI or text of a term; ours without the namespace."""
    assert isinstance(term, BlankNode | Literal | NamedNode)
    return term.value.removeprefix(OURS)


def subjects(store: Store) -> set[NamedNode]:
    return {quad.subject for quad in store if isinstance(quad.subject, NamedNode)}


def rebuild(*arguments: str, script: Path = SAMPLE / "build.py") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def copy_of_sample(folder: Path) -> Path:
    for path in [*SAMPLE.glob("*.py"), *SAMPLE.glob("tables/*.csv")]:
        target = folder / path.relative_to(SAMPLE)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    return folder / "build.py"


def test_regenerating_gives_the_committed_bytes(tmp_path: Path) -> None:
    assert rebuild(script=copy_of_sample(tmp_path)).returncode == 0
    assert (tmp_path / "troodos.ttl").read_bytes() == (SAMPLE / "troodos.ttl").read_bytes()


def test_check_tells_a_stale_file_from_a_current_one(tmp_path: Path) -> None:
    script = copy_of_sample(tmp_path)
    assert rebuild("--check", script=script).returncode == 1
    rebuild(script=script)
    assert rebuild("--check", script=script).returncode == 0
    with (tmp_path / "tables" / "places.csv").open("a", encoding="utf-8") as file:
        file.write("agros,Agros,Αγρός,village,pitsilia,\n")
    assert rebuild("--check", script=script).returncode == 1


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nowhere,Nowhere,Πουθενά,village,atlantis,\n", "place/atlantis"),
        ("short,Short\n", "places.csv line"),
        ("cyprus,Cyprus,Κύπρος,country,,\n", "occurs twice"),
    ],
)
def test_a_wrong_row_stops_the_build_and_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    script = copy_of_sample(tmp_path)
    with (tmp_path / "tables" / "places.csv").open("a", encoding="utf-8") as file:
        file.write(line)
    result = rebuild(script=script)
    assert result.returncode == 2
    assert complaint in result.stderr


def test_there_are_at_least_600_entities_and_each_has_a_type(store: Store) -> None:
    entities = subjects(store)
    assert len(entities) >= 600
    assert all(entity.value.startswith(OURS) for entity in entities)
    assert [entity for entity in entities if not any(store.quads_for_pattern(entity, RDF_TYPE, None))] == []


def test_every_entity_has_a_label_but_for_the_listed_kinds(store: Store) -> None:
    bare = {
        e.value.removeprefix(OURS)
        for e in subjects(store)
        if not any(store.quads_for_pattern(e, LABEL, None))
    }
    unexpected = {name for name in bare if not name.startswith(UNLABELLED)}
    assert unexpected == set()
    assert {kind for kind in UNLABELLED if not any(name.startswith(kind) for name in bare)} == set()


def test_labels_are_english_and_greek(store: Store) -> None:
    languages: dict[str, set[str]] = {}
    for quad in store.quads_for_pattern(None, LABEL, None):
        assert isinstance(quad.object, Literal)
        languages.setdefault(name_of(quad.subject), set()).add(quad.object.language or "")
    untagged = {name for name, tags in languages.items() if "" in tags}
    assert all(name.startswith("timespan/") for name in untagged)
    both = [name for name, tags in languages.items() if tags >= {"en", "el"}]
    assert len(both) > 0.85 * len(languages)
    greek_only = {name for name, tags in languages.items() if tags == {"el"}}
    assert "church/andronikos" in greek_only


def test_nothing_in_our_namespace_is_referred_to_but_not_described(store: Store) -> None:
    described = {quad.subject for quad in store}
    referred = {quad.object for quad in store if isinstance(quad.object, BlankNode | NamedNode)}
    ours = {node for node in referred if isinstance(node, BlankNode) or node.value.startswith(OURS)}
    assert ours - described == set()


def test_classes_and_properties_exist_in_the_ontologies(store: Store, shared_data: Path) -> None:
    known: set[str] = {f"{CRM}{name}" for name in REIFICATION}
    for name, syntax in (("cidoc_crm_v7.1.3.rdf", RdfFormat.RDF_XML), ("vir.ttl", RdfFormat.TURTLE)):
        text = (shared_data / "ontologies" / name).read_bytes().removeprefix(b"\xef\xbb\xbf")
        known |= {
            t.subject.value
            for t in parse(text, format=syntax, base_iri=CRM)
            if isinstance(t.subject, NamedNode)
        }
    used = {quad.predicate.value for quad in store}
    used |= {name_of(quad.object) for quad in store.quads_for_pattern(None, RDF_TYPE, None)}
    family = {term for term in used if term.startswith((CRM, VIR))}
    others = used - family
    assert family - known == set()
    assert others == {
        RDF_TYPE.value,
        LABEL.value,
        "http://www.w3.org/2002/07/owl#sameAs",
        "https://schema.org/image",
    }


def test_intervals_begin_before_they_end(store: Store) -> None:
    dates = f"?span <{CRM}P82a_begin_of_the_begin> ?begin ; <{CRM}P82b_end_of_the_end> ?end"
    spans = solutions(store, f"SELECT ?begin ?end {{ {dates} }}")
    assert len(spans) > 50
    for span in spans:
        begin, end = span["begin"], span["end"]
        assert re.fullmatch(r"\d{4}(-\d\d-\d\d)?", begin)
        assert len(begin) == len(end)
        assert begin <= end


def test_the_promised_peculiarities_are_there(store: Store) -> None:
    blank = {quad.subject for quad in store if isinstance(quad.subject, BlankNode)}
    pointed_at = {quad.object for quad in store if isinstance(quad.object, BlankNode)}
    assert (len(blank), len(blank - pointed_at)) == (2, 1)
    words_only = f"SELECT ?s {{ ?s <{CRM}P82_at_some_time_within> ?t }}"
    assert len(solutions(store, words_only)) == 1
    roles = f"SELECT ?who {{ ?r a <{CRM}PC14_carried_out_by> ; <{CRM}P02_has_range> ?who }}"
    assert solutions(store, roles) == [{"who": f"{OURS}person/nikephoros-magistros"}]


def test_the_ten_world_heritage_churches_are_there_with_murals(store: Store) -> None:
    query = f"""SELECT ?church (COUNT(DISTINCT ?mural) AS ?n) {{
      ?church <{CRM}P46i_forms_part_of> <{OURS}object/world-heritage-property> .
      ?mural <{CRM}P56i_is_found_on> ?church }} GROUP BY ?church"""
    counted = {row["church"]: int(row["n"]) for row in solutions(store, query)}
    assert len(counted) == 10
    assert min(counted.values()) >= 5
    assert max(counted, key=lambda church: counted[church]) == f"{OURS}church/asinou"


def test_there_are_twenty_questions_of_many_kinds_and_languages() -> None:
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS) == 20
    kinds = Counter(question["kind"] for question in QUESTIONS)
    expected = "specific list count rank group place time yesno negation unanswerable"
    assert set(kinds) == set(expected.split())
    greek = [question for question in QUESTIONS if re.search("[α-ω]", question["question"])]
    assert len(greek) >= 2
    assert {"French", "German"} <= {question["notes"].split(":")[0] for question in QUESTIONS}


@pytest.mark.parametrize("question", ANSWERABLE, ids=[question["id"] for question in ANSWERABLE])
def test_gold_answers_follow_from_their_sparql(question: dict[str, Any], store: Store) -> None:
    form, query = question["answer_form"], question["gold_sparql"]
    if form == "bool":
        result = store.query(query)
        assert isinstance(result, QueryBoolean)
        assert bool(result) is question["gold_value"]
        return
    rows = solutions(store, query)
    if form == "number":
        assert [int(row["n"]) for row in rows] == [question["gold_value"]]
    elif form in {"ranking", "table"}:
        stated = [(entry["iri"], entry["value"]) for entry in question["gold_value"]]
        assert stated == [(row["x"], int(row["n"])) for row in rows]
        assert question["gold_iris"] == [iri for iri, _ in stated]
    else:
        assert form in {"facts", "iris"}
        assert question["gold_iris"] == sorted({row["x"] for row in rows})
        assert question["gold_facts"] == sorted({row["fact"] for row in rows if "fact" in row})
        assert rows


def test_labels_in_gold_answers_are_labels_of_the_data(store: Store) -> None:
    stated = [
        entry
        for question in QUESTIONS
        if isinstance(question["gold_value"], list)
        for entry in question["gold_value"]
    ]
    assert stated
    for entry in stated:
        labels = {
            name_of(quad.object) for quad in store.quads_for_pattern(NamedNode(entry["iri"]), LABEL, None)
        }
        assert entry.get("label", entry.get("key")) in labels


def test_other_accepted_iris_exist_and_are_no_answers(store: Store) -> None:
    known = {node.value for node in subjects(store)}
    for question in QUESTIONS:
        also = set(question["also_ok_iris"])
        assert also <= known
        assert not also & set(question["gold_iris"])


def test_what_cannot_be_answered_is_not_in_the_data(store: Store) -> None:
    refused = [question for question in QUESTIONS if question["answer_form"] == "refuse"]
    assert [question["gold_value"] for question in refused] == ["refuse"]
    church = f"{OURS}church/moutoullas-panagia"
    painter = f"?campaign <{CRM}P31_has_modified> <{church}> ; <{CRM}P14_carried_out_by> ?x"
    assert solutions(store, f"SELECT ?x {{ {painter} }}") == []
