"""Relations as they ship name only what exists; every mistake in the file is told with its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from crmrag_query.config import load_method
from crmrag_query.config.loading import Relation, RelationsPart
from crmrag_query.config.reading import default_folder
from crmrag_query.errors import ConfigError
from crmrag_query.language import LANGUAGES
from crmrag_query.ontology.load import load_ontology
from crmrag_query.validation import relation_mistakes

METHOD = load_method()
CRM = "http://www.cidoc-crm.org/cidoc-crm/"


def relation(**more: object) -> Relation:
    values: dict[str, object] = {
        "domain": ["Thing"],
        "paths": ["P46* P45"],
        "labels": {"en": "x"},
        "inverse": {"en": "y"},
    }
    return Relation.model_validate(values | more)


def mistakes(**more: object) -> list[str]:
    method = METHOD.model_copy(update={"relations": {"one": relation(**more)}})
    return [str(one) for one in relation_mistakes(method, load_ontology())]


def test_what_ships_has_no_mistake() -> None:
    assert list(relation_mistakes(METHOD, load_ontology())) == []


@pytest.mark.parametrize("id", METHOD.relations)
def test_every_relation_is_called_by_its_name_in_all_languages(id: str) -> None:
    one = METHOD.relations[id]
    assert set(one.labels) == set(one.inverse) == {*LANGUAGES}


def test_dates_tell_which_end_of_a_span_is_theirs() -> None:
    shown = {id: one.literals.shown for id, one in METHOD.relations.items() if one.value == "date"}
    assert shown["born_on"] == "begin"
    assert shown["died_on"] == "end"
    assert set(shown.values()) == {"begin", "end"}


def test_a_path_is_a_tuple_of_steps_however_it_is_written() -> None:
    assert relation(paths=["P92i P9* P14"]).paths == (("P92i", "P9*", "P14"),)
    assert relation(paths=[["P92i", "P9*", "P14"]]).paths == (("P92i", "P9*", "P14"),)


@pytest.mark.parametrize("path", ["", [], "P46**", "*", "P46^", ["P46 P45"]])
def test_no_path_is_empty_or_ill_formed(path: object) -> None:
    with pytest.raises(ValidationError):
        relation(paths=[path])


def test_a_direct_path_ends_at_what_is_stated() -> None:
    one = relation(paths=["P92i P9* P7 P89*", "P89*", "P46 P46*", "P46"])
    assert one.direct == (("P92i", "P9*", "P7"), ("P89*",), ("P46",))


def test_literals_follow_the_direct_paths_the_preferred_way_of_ending_first() -> None:
    one = relation(
        value="date",
        paths=["P98i P4", "P92i P4 P86*"],
        literals={"begin": ["P82a", "P81a"], "end": ["P82b"], "shown": "end"},
    )
    assert one.literal_paths() == (("P98i", "P4", "P82b"), ("P92i", "P4", "P82b"))
    assert one.literal_paths("begin") == (
        ("P98i", "P4", "P82a"), ("P92i", "P4", "P82a"), ("P98i", "P4", "P81a"), ("P92i", "P4", "P81a"),
    )  # fmt: skip
    assert one.literal_paths("unit") == ()


def test_prefixes_shorten_iris_of_paths_classes_and_types_and_leave_codes_alone() -> None:
    part = RelationsPart.model_validate(
        {
            "prefixes": {"crm": CRM, "aat": "http://vocab.getty.edu/aat/"},
            "relations": {
                "one": relation().model_dump()
                | {
                    "paths": ["^crm:P92_x* P7", ["crm:P1_y", "linked_art:member_of"], "http://a.org/crm:b"],
                    "classes": ["crm:E42_Identifier", "E35"],
                    "types": ["aat:300055644", "height"],
                    "literals": {"value": ["crm:P90_z"], "shown": "value"},
                }
            },
        }
    )
    one = part.relations["one"]
    assert one.paths == (
        (f"^{CRM}P92_x*", "P7"),
        (f"{CRM}P1_y", "linked_art:member_of"),
        ("http://a.org/crm:b",),
    )
    assert one.classes == (f"{CRM}E42_Identifier", "E35")
    assert one.types == ("http://vocab.getty.edu/aat/300055644", "height")
    assert one.literals.value == ((f"{CRM}P90_z",),)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"paths": ["P46 P14x"]}, "relations.one.paths"),
        ({"paths": ["^E22*"]}, "E22"),
        ({"classes": ["E4222"]}, "relations.one.classes"),
        ({"not_classes": ["P46"]}, "P46"),
        ({"relationships": ["thing_actor_zz"]}, "thing_actor_zz"),
        ({"literals": {"value": ["P9000"]}}, "literals.value"),
        ({"value": "date"}, "a date without literals"),
        ({"labels": {"fr": "x"}}, "no English label"),
        ({"inverse": {"en": " "}}, "empty label"),
        ({"labels": {"en": "x", "xx": "x"}}, "no language"),
        ({"words": {"xx": ["teacher"]}}, "no language"),
    ],
)
def test_a_mistake_is_told_with_its_place(more: dict[str, object], told: str) -> None:
    found = mistakes(**more)
    assert len(found) == 1
    assert told in found[0]


def test_iris_are_not_checked_against_the_ontology() -> None:
    assert mistakes(paths=["^http://www.w3.org/2002/07/owl#sameAs*"], classes=["http://x.org/Set"]) == []


def test_a_relation_without_paths_is_known_in_words_only() -> None:
    assert mistakes(paths=[], words={"en": ["teacher"]}) == []


def test_yes_no_and_on_must_be_quoted(tmp_path: Path) -> None:
    shutil.copytree(default_folder(), tmp_path / "config")
    file = tmp_path / "config" / "relations.yaml"
    text = file.read_text("utf-8")
    file.write_text(
        text.replace("    domain: [Thing]\n", "    domain: [Thing]\n    words: {en: [on, of]}\n", 1), "utf-8"
    )
    with pytest.raises(ConfigError, match="put the word in quotes"):
        load_method(tmp_path / "config")
