"""The method as it ships: complete, typed, consistent with the ontology, and stable under hashing."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crmrag_query.config import Method, config_hash, load_method
from crmrag_query.config.loading import read_stored_method, released_method
from crmrag_query.config.reading import config_folder, default_folder
from crmrag_query.context.assemble import HIGH_VALUE
from crmrag_query.errors import ConfigError
from crmrag_query.ontology.load import load_ontology, take_apart
from crmrag_query.retrieval.release_channels import LITTLE, TYPE_MODIFIERS
from crmrag_query.validation import check_method

METHOD = load_method()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the configuration to make mistakes in."""
    shutil.copytree(default_folder(), tmp_path / "config")
    return tmp_path / "config"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_what_ships_has_no_mistake() -> None:
    assert check_method(METHOD, load_ontology()) == ()


@pytest.mark.parametrize(
    ("iri", "empty"),
    [
        ("http://data.gilcrease.org/object//production/timespan", True),
        ("http://data.aaa.si.edu/", True),
        ("http://example.org/object/", True),
        ("http://data.aaa.si.edu/object/6188", False),
        ("http://example.org/person/12/", False),
        ("urn:skolem:12", False),
    ],
)
def test_ids_that_are_empty_are_suspect(iri: str, empty: bool) -> None:
    assert bool(re.search(METHOD.suspects.empty_id, iri)) is empty


def test_constants_are_those_of_the_method() -> None:
    assert METHOD.chunks.entities == 1000
    assert (METHOD.chaining.thin_characters, METHOD.chaining.limit_characters) == (400, 5000)
    assert (METHOD.sparse.k1, METHOD.sparse.b, METHOD.sparse.epsilon) == (1.5, 0.75, 0.25)
    k = METHOD.retrieval.k
    pools = [k.specific, k.enumeration, k.aggregation]
    assert [METHOD.retrieval.pool_factor * number for number in pools] == [60, 120, 150]
    assert METHOD.pagerank.damping == 0.85
    assert METHOD.wikidata.timeout_seconds == 2


def test_weights_are_those_of_the_table(shared_data: Path) -> None:
    text = (shared_data.parent / "facts" / "relationship_weights.csv").read_text("utf-8")
    rows = {row["predicate_local_name"]: float(row["weight"]) for row in csv.DictReader(text.splitlines())}
    assert METHOD.weights.default == rows.pop("(default)")
    assert len(METHOD.weights.properties) == len(rows) == 28
    for name, weight in rows.items():
        spelling = take_apart(name)
        assert spelling is not None
        assert METHOD.weights.of(spelling.code) == weight
    assert METHOD.weights.of("P999") == 0.5


def test_event_classes_are_those_of_the_table(shared_data: Path) -> None:
    text = (shared_data.parent / "facts" / "event_classes.csv").read_text("utf-8")
    names = [
        row["class_uri"].replace("#", "/").rpartition("/")[2] for row in csv.DictReader(text.splitlines())
    ]
    spelled = [spelling.code for name in names if (spelling := take_apart(name))]
    assert list(METHOD.events.classes) == spelled
    assert len(spelled) == 47


def test_a_method_survives_json() -> None:
    assert Method.model_validate(json.loads(METHOD.model_dump_json())) == METHOD


def test_an_older_release_takes_constants_that_it_lacks_from_what_ships() -> None:
    method = load_method()
    stored = method.model_dump(mode="json")
    del (
        stored["wikidata"],
        stored["retrieval"]["k"]["specific"],
        stored["questions"]["languages"]["fr"]["none"],
    )
    stored["retrieval"]["subgraph"]["relevance"] = 0.5
    read = read_stored_method(json.dumps(stored).encode())
    assert (read.wikidata, read.retrieval.k, read.questions) == (
        method.wikidata,
        method.retrieval.k,
        method.questions,
    )
    assert read.retrieval.subgraph.relevance == 0.5


def test_an_older_release_opens_whatever_is_no_setting_any_more() -> None:
    stored = METHOD.model_dump(mode="json")
    places = (
        stored,
        stored["retrieval"],
        stored["questions"]["languages"]["de"],
        stored["relations"]["created_by"],
        stored["relationship_sets"]["fr109"]["relationships"]["thing_place_a"],
    )
    for place in places:
        place |= {"once": {"a": [1]}, "[key]": 2}
    assert read_stored_method(json.dumps(stored).encode()) == METHOD


@pytest.mark.parametrize(
    "stored",
    [
        b"", b"{}", b"[]", b"{}{", b'{"retrieval": 3}', b'{"unknown": 1}', b'{"relations": {"theirs": {}}}',
        b'{"relations": {"theirs": 3}}',
    ],
)  # fmt: skip
def test_what_is_no_method_is_refused(stored: bytes) -> None:
    with pytest.raises(ValueError):
        read_stored_method(stored)


def test_the_hash_is_of_the_values_alone(folder: Path) -> None:
    weights = folder / "weights.yaml"
    lines = weights.read_text(encoding="utf-8").splitlines()
    start = lines.index("properties:") + 1
    weights.write_text("\n".join(lines[:start] + sorted(lines[start:]) + ["# a comment"]), encoding="utf-8")
    assert config_hash(load_method(folder)) == config_hash(METHOD)
    edit(weights, "0.85", "0.86")
    assert config_hash(load_method(folder)) != config_hash(METHOD)


def test_the_hash_knows_the_order_of_paths() -> None:
    one = {"paths": {"a": "P1_x", "b": "P2_x"}}
    other = {"paths": {"b": "P2_x", "a": "P1_x"}}
    assert config_hash(one) != config_hash(other)


def test_the_hash_is_the_same_in_every_process() -> None:
    code = "from crmrag_query.config import *; print(config_hash(load_method()))"
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    told = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."}, cwd=default_folder().parent,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert told.strip() == config_hash(METHOD)


FR76 = "relationships/fr76.yaml"
TABLE = "thing_place_refers_to"


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "message"),
    [
        ("method.yaml", "k1: 1.5", "k_1: 1.5", "sparse.k_1", "unknown key (found 1.5). Did you mean k1?"),
        ("method.yaml", "k1: 1.5", "k1: high", "sparse.k1", "input should be a valid number"),
        ("method.yaml", ": 0.85", ": 1.85", "pagerank.damping", "less than or equal to 1 (found 1.85)"),
        ("method.yaml", ": fr109", ": fr67", "relationships", "no such set of relationships (found 'fr67')"),
        ("method.yaml", "pagerank:", "pagerank: [1]\nnone:", "pagerank", "should be a valid dictionary"),
        ("method.yaml", "  b: 0.75", "  k1: 0.75", "not valid YAML", "the key 'k1' stands twice"),
        ("method.yaml", "single_valued: [P4, ", "single_valued: P4 # [", "suspects.single_valued", "tuple (found 'P4')"),
        ("method.yaml", "'^[a-z]", "'^([a-z]", "suspects.empty_id", "no regular expression"),
        ("categories.yaml", "    - E39 ", "    - E22 ", "classes", "E22 stands under Thing and Actor"),
        ("weights.yaml", "P89: 0.9", "P89: 9", "properties.P89", "input should be less than or equal to 1"),
        (FR76, "domain: Thing", "domain: Thingy", f"{TABLE}.domain", "input should be 'Thing'"),
        (FR76, "label: refers to or", "lable: refers to or", f"{TABLE}.lable", "Did you mean label?"),
        (FR76, "P62_depicts\n", "P62_depicts **\n", f"{TABLE}.paths.{TABLE}__p01[1]", "string should match"),
        ("prompts.yaml", "answer: |", "answer: [", "", "not valid YAML"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_key_value_and_remedy(
    folder: Path, file: str, old: str, new: str, key: str, message: str
) -> None:
    edit(folder / file, old, new)
    with pytest.raises(ConfigError) as caught:
        load_method(folder)
    told = str(caught.value)
    assert str(folder / file) in told and message in told and f"{key}: " in told


def test_a_release_that_pins_words_of_questions_opens_and_is_read_by_those_that_ship() -> None:
    stored = METHOD.model_dump(mode="json")
    old = stored["questions"]
    old |= {"grammar": {"en": {"which": ["which"]}}, "nouns": {"Thing": {"en": ["painting"]}}}
    old["conversation"] = {"pivots": ["but"], "more": ["more"], "references": {"en": {"person": ["he"]}}}
    del old["languages"]["it"], old["languages"]["es"]
    old["languages"]["en"] |= {"stop": ["the"], "count": ["how many"], "counted": "{count} of {what}"}
    assert released_method(json.dumps(stored).encode()).questions == METHOD.questions


def test_the_constants_of_retrieval_and_context_name_codes_of_the_ontology() -> None:
    ontology = load_ontology()
    assert LITTLE | TYPE_MODIFIERS.keys() <= ontology.classes.keys()
    assert ontology.properties.keys() >= {code.removesuffix("i") for code in HIGH_VALUE}


def test_all_mistakes_of_a_file_are_told_at_once(folder: Path) -> None:
    edit(folder / "method.yaml", "  k1: 1.5", "  k1: high")
    edit(folder / "method.yaml", "  entities: 1000", "  entitys: 1000")
    with pytest.raises(ConfigError) as caught:
        load_method(folder)
    assert {mistake.key for mistake in caught.value.mistakes} == {
        "sparse.k1",
        "chunks.entitys",
    }


def test_a_method_of_ones_own_holds_only_what_differs(tmp_path: Path) -> None:
    def loaded(text: str) -> Method:
        (tmp_path / "method.yaml").write_text(text, encoding="utf-8")
        return load_method(tmp_path)

    assert loaded("") == METHOD
    own = loaded("checks: {entities_fall: 1}\nchaining: {thin_characters: 300}\nrelationships: fr76\n")
    checks = METHOD.checks.model_copy(update={"entities_fall": 1.0})
    chaining = METHOD.chaining.model_copy(update={"thin_characters": 300})
    assert own == METHOD.model_copy(update={"checks": checks, "chaining": chaining, "relationships": "fr76"})
    with pytest.raises(
        ConfigError, match=r"(?s)method\.yaml.*checks\.entity_fall: unknown key.*entities_fall\?"
    ):
        loaded("checks: {entity_fall: 1}\n")
    with pytest.raises(ConfigError, match="valid dictionary"):
        loaded("[a, list]\n")


UNKNOWN = "no ontology table declares this code"


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "reason"),
    [
        ("weights.yaml", "  P89: 0.9", "  P8999: 0.9", "properties.P8999", UNKNOWN),
        ("event_classes.yaml", "  - E5 ", "  - E5555 ", "classes.E5555", UNKNOWN),
        ("satellites.yaml", "[E52]", "[E552]", "kinds.time.E552", UNKNOWN),
        ("categories.yaml", "    - E39 ", "    - E939 ", "classes.Actor.E939", UNKNOWN),
        ("method.yaml", "single_valued: [P4,", "single_valued: [P444,", "single_valued.P444", UNKNOWN),
        (FR76, "p01: P62_depicts", "p01: P62_paints", f"paths.{TABLE}__p01", "P62 is P62_depicts"),
        (FR76, "p01: P62_depicts", "p01: depicts", f"paths.{TABLE}__p01", "names a property by its code"),
        (
            FR76, "Shows: [P62_depicts", "Shows: [P7_took_place_at", "told.Shows",
            "follows from none of the paths",
        ),
        (FR76, "ises: thing_place_from", "ises: from", "created_in.specialises", "no such relationship"),
        (FR76, "ises: thing_place_from", "ises: actor_place_from", "specialises", "other categories"),
        (FR76, f"{TABLE}__p02", "thing_place_is_referred_to_at__p02", "at__p02", "has a path of this id"),
    ],
)  # fmt: skip
def test_the_check_finds_what_does_not_exist(
    folder: Path, file: str, old: str, new: str, key: str, reason: str
) -> None:
    edit(folder / file, old, new)
    findings = check_method(load_method(folder), load_ontology())
    assert [finding.file for finding in findings] == [file]
    assert findings[0].mistake.key.endswith(key)
    assert reason in findings[0].mistake.reason


def test_a_missing_part_comes_from_what_ships(folder: Path) -> None:
    (folder / "prompts.yaml").unlink()
    shutil.rmtree(folder / "relationships")
    assert load_method(folder) == METHOD


def test_a_project_adds_its_own_relationships(folder: Path) -> None:
    text = "title: Ours\nrelationships:\n  a:\n    label: b\n    domain: Thing\n    range: Place\n    paths: {p: P55_x}\n"
    (folder / "relationships" / "ours.yaml").write_text(text)
    edit(folder / "method.yaml", "relationships: fr109", "relationships: ours")
    assert list(load_method(folder).relationship_sets) == ["fr109", "fr76", "ours"]


def test_folder_argument_then_environment_then_project_then_what_ships(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRMRAG_CONFIG", raising=False)
    assert config_folder() == Path("config")
    for file in folder.glob("*.yaml"):
        file.unlink()
    assert config_folder() == default_folder()
    (folder / "operations.yaml").write_text("owners: []\n")
    assert config_folder() == Path("config")
    monkeypatch.setenv("CRMRAG_CONFIG", str(tmp_path / "elsewhere"))
    assert config_folder() == tmp_path / "elsewhere"
    assert config_folder(folder) == folder
