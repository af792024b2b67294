"""The method as it ships: complete, typed, consistent with the ontology, and stable under hashing."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from crmrag_query.config import Method, config_hash, load_method
from crmrag_query.config.check import check_folder, check_method
from crmrag_query.config.folders import config_folder, default_folder
from crmrag_query.config.loading import read_stored_method
from crmrag_query.errors import ConfigError
from crmrag_query.ontology import load_ontology
from crmrag_query.ontology.spelling import take_apart

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
    assert check_folder() == ()


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


def test_the_method_is_frozen() -> None:
    with pytest.raises(ValidationError):
        METHOD.chunks.entities = 5


def test_constants_are_those_of_the_method() -> None:
    assert (METHOD.chunks.entities, METHOD.chunks.max_bits) == (1000, 8)
    assert (METHOD.chaining.thin_characters, METHOD.chaining.limit_characters) == (400, 5000)
    assert METHOD.chaining.exempt_categories == ("Event", "Actor")
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
    stored["retrieval"]["subgraph"]["type_modifiers"] = {"E22": 1.0}
    read = read_stored_method(json.dumps(stored).encode())
    assert (read.wikidata, read.retrieval.k, read.questions) == (
        method.wikidata,
        method.retrieval.k,
        method.questions,
    )
    assert read.retrieval.subgraph.type_modifiers == {"E22": 1.0}


@pytest.mark.parametrize("stored", [b"", b"[]", b"{}{", b'{"retrieval": 3}', b'{"unknown": 1}'])
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
    hashes = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
                       cwd=default_folder().parent, capture_output=True, text=True, check=True).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert hashes == {config_hash(METHOD)}


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("method.yaml", "  k1: 1.5", "  k_1: 1.5", "sparse.k_1: unknown key (found 1.5). Did you mean k1?"),
        ("method.yaml", "  k1: 1.5", "  k1: high", "sparse.k1: input should be a valid number"),
        (
            "method.yaml",
            "  damping: 0.85",
            "  damping: 1.85",
            "pagerank.damping: input should be less than or equal to 1 (found 1.85)",
        ),
        (
            "method.yaml",
            "  strategy: richest",
            "  strategy: poorest",
            "chaining.strategy: input should be 'richest' or 'all'",
        ),
        (
            "method.yaml",
            "relationships: fr109",
            "relationships: fr67",
            "relationships: no such set of relationships (found 'fr67'). There are: fr109, fr76.",
        ),
        (
            "method.yaml",
            "pagerank:\n",
            "pagerank: [1]\nnone:\n",
            "pagerank: input should be a valid dictionary",
        ),
        ("method.yaml", "  b: 0.75", "  k1: 0.75", "not valid YAML: the key 'k1' stands twice"),
        (
            "method.yaml",
            "exempt_categories: [Event, Actor]",
            "exempt_categories: Event",
            "chaining.exempt_categories: input should be a valid tuple (found 'Event'). Write a list",
        ),
        (
            "method.yaml",
            "(?i)^https?://\\S+\\.(",
            "(?i)^https?://\\S+\\.((",
            "images.pattern: no regular expression",
        ),
        ("categories.yaml", "    - E39 ", "    - E22 ", "E22 stands under Thing and Actor"),
        ("weights.yaml", "  P89: 0.9", "  P89: 9", "properties.P89: input should be less than or equal to 1"),
        (
            "relationships/fr76.yaml",
            "    domain: Thing",
            "    domain: Thingy",
            "relationships.thing_place_refers_to.domain: input should be 'Thing'",
        ),
        (
            "relationships/fr76.yaml",
            "    label: refers to or is about",
            "    lable: refers to or is about",
            "Did you mean label?",
        ),
        (
            "relationships/fr76.yaml",
            "P62_depicts\n",
            "P62_depicts |\n",
            "relationships.thing_place_refers_to.paths.thing_place_refers_to__p01: string should match",
        ),
        ("prompts.yaml", "answer: |", "answer: [", "not valid YAML"),
    ],
)
def test_a_mistake_is_told_with_file_key_value_and_remedy(
    folder: Path, file: str, old: str, new: str, message: str
) -> None:
    edit(folder / file, old, new)
    with pytest.raises(ConfigError) as caught:
        load_method(folder)
    assert str(folder / file) in str(caught.value)
    assert message in str(caught.value)


def test_all_mistakes_of_a_file_are_told_at_once(folder: Path) -> None:
    edit(folder / "method.yaml", "  k1: 1.5", "  k1: high")
    edit(folder / "method.yaml", "  max_bits: 8", "  maxbits: 8")
    with pytest.raises(ConfigError) as caught:
        load_method(folder)
    assert {mistake.key for mistake in caught.value.mistakes} == {
        "sparse.k1",
        "chunks.maxbits",
    }


def test_a_method_of_ones_own_holds_only_what_differs(tmp_path: Path) -> None:
    def loaded(text: str) -> Method:
        (tmp_path / "method.yaml").write_text(text, encoding="utf-8")
        return load_method(tmp_path)

    assert loaded("") == METHOD
    own = loaded("checks: {entities_fall: 1}\nchaining: {exempt_categories: [Event]}\nrelationships: fr76\n")
    checks = METHOD.checks.model_copy(update={"entities_fall": 1.0})
    chaining = METHOD.chaining.model_copy(update={"exempt_categories": ("Event",)})
    assert own == METHOD.model_copy(update={"checks": checks, "chaining": chaining, "relationships": "fr76"})
    with pytest.raises(
        ConfigError, match=r"(?s)method\.yaml.*checks\.entity_fall: unknown key.*entities_fall\?"
    ):
        loaded("checks: {entity_fall: 1}\n")
    with pytest.raises(ConfigError, match="valid dictionary"):
        loaded("[a, list]\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "reason"),
    [
        (
            "weights.yaml",
            "  P89: 0.9",
            "  P8999: 0.9",
            "properties.P8999",
            "no ontology table declares this code",
        ),
        (
            "event_classes.yaml",
            "  - E5 ",
            "  - E5555 ",
            "classes.E5555",
            "no ontology table declares this code",
        ),
        ("satellites.yaml", "[E52]", "[E552]", "kinds.time.E552", "no ontology table declares this code"),
        (
            "categories.yaml",
            "    - E39 ",
            "    - E939 ",
            "classes.Actor.E939",
            "no ontology table declares this code",
        ),
        (
            "method.yaml",
            "  single_valued: [P4,",
            "  single_valued: [P444,",
            "suspects.single_valued.P444",
            "no ontology table",
        ),
        (
            "relationships/fr76.yaml",
            "P62_depicts",
            "P62_paints",
            "paths.thing_place_refers_to__p01",
            "P62 is P62_depicts",
        ),
        (
            "relationships/fr76.yaml",
            "P62_depicts",
            "depicts",
            "paths.thing_place_refers_to__p01",
            "names a property by its code",
        ),
        (
            "relationships/fr76.yaml",
            "    specialises: thing_place_from",
            "    specialises: from",
            "thing_place_created_in.specialises",
            "no such relationship",
        ),
        (
            "relationships/fr76.yaml",
            "    specialises: thing_place_from",
            "    specialises: actor_place_from",
            "specialises",
            "other categories",
        ),
        (
            "relationships/fr76.yaml",
            "thing_place_refers_to__p02",
            "thing_place_is_referred_to_at__p02",
            "paths.thing_place_is_referred_to_at__p02",
            "has a path of this id",
        ),
    ],
)
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
