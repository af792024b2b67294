"""Places that are inside others by their names alone: "Athens, Greece", where no triple tells of Greece."""

from __future__ import annotations

import pytest

from tests.support.parse_world import PREFIXES, Museum, build_museum

BIRTHS = {
    "eleni": "Athens, Greece",
    "leonidas": "Sparta, Greece",
    "mabel": "Athens, Georgia, United States",
    "livia": "Rome, Italy",
    "marco": "Rome, Lazio, Italy",
    "hank": "Rome, Georgia, United States",
    "taosi": "Taos, New Mexico, United States",
    "rancho": "Ranchos de Taos, New Mexico, United States",
    "frida": "Mexico City, Mexico",
    "pjotr": "Moskva",
}


def _world() -> str:
    rows = [PREFIXES]
    for key, place in BIRTHS.items():
        rows.append(
            f':{key} a crm:E21_Person ; rdfs:label "{key.title()}" ; crm:P98i_was_born :birth-{key} .'
        )
        rows.append(f":birth-{key} a crm:E67_Birth ; crm:P7_took_place_at :place-{key} .")
        rows.append(f':place-{key} a crm:E53_Place ; rdfs:label "{place}" .')
        rows.append(f':work-{key} a crm:E22_Human-Made_Object ; rdfs:label "Work of {key.title()}" .')
        rows.append(
            f":making-{key} a crm:E12_Production ; crm:P108_has_produced :work-{key} ; crm:P14_carried_out_by :{key} ."
        )
    return "\n".join(rows)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("atlas") / "project", _world())


@pytest.mark.parametrize(
    ("question", "born"),
    [
        ("Which artists were born in Greece?", {"eleni", "leonidas"}),
        ("Quels artistes sont nés en Grèce ?", {"eleni", "leonidas"}),
        ("Welche Künstler wurden in Griechenland geboren?", {"eleni", "leonidas"}),
        ("Ποιοι καλλιτέχνες γεννήθηκαν στην Ελλάδα;", {"eleni", "leonidas"}),
        ("Which artists were born in Athens, Greece?", {"eleni"}),
        ("Which artists were born in New Mexico?", {"taosi", "rancho"}),
        ("Which artists were born in Taos?", {"taosi"}),
        ("Which artists were born in Mexico?", {"frida"}),
        ("Which artists were born in Italy?", {"livia", "marco"}),
        ("Which artists were born in Rome, Italy?", {"livia", "marco"}),
        ("Which artists were born in Moscow?", {"pjotr"}),
        ("Which works were made by artists born in Greece?", {"work-eleni", "work-leonidas"}),
    ],
)
def test_a_place_holds_what_its_name_ends(atlas: Museum, question: str, born: set[str]) -> None:
    assert atlas.sure(question) == born


def test_a_place_that_no_name_holds_is_missing(atlas: Museum) -> None:
    parsed = atlas.parse("Which artists were born in Atlantis?")
    assert not parsed.certain and parsed.missing
