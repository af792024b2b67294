"""Questions for when and where: years, centuries, before and after, places with all that lies in them."""

from __future__ import annotations

import pytest

from tests.support.parse_world import PREFIXES, Museum, build_museum

PAINTING, PRINT, SCULPTURE = (f"?x @type :{name} . " for name in ("painting", "print", "sculpture"))
PRODUCED, BORN, DIED = "?x @made_on ?t . ", "?x @born_on ?t . ", "?x @died_on ?t . "


def within(first: int | None, last: int | None) -> str:
    """The whole of the span ?t lies in these years, None: open. Years of the data are astronomical: 0 is 1 BC."""
    tests = [f"YEAR(?from) >= {first}"] if first is not None else []
    tests += [f"YEAR(?to) <= {last}"] if last is not None else []
    return f"?t @begins ?from ; @ends ?to FILTER({' && '.join(tests)})"


RIGHT = [
    ("Which works are dated 1700?", PRODUCED + within(1700, 1700)),
    ("Which works date from the first half of the 19th century?", PRODUCED + within(1801, 1850)),
    ("Which works from the 18th century does the Harbour Trust own?", PRODUCED + within(1701, 1800) + " ?x @owner :trust"),
    ("Which works were made before 1700?", PRODUCED + within(None, 1699)),
    ("Which works were made after 1870?", PRODUCED + within(1871, None)),
    ("Which prints were made between 1800 and 1840?", PRINT + PRODUCED + within(1800, 1840)),
    ("sculptures made between 1700 and 1710", SCULPTURE + PRODUCED + within(1700, 1710)),
    ("Which paintings were made in the 19th century?", PAINTING + PRODUCED + within(1801, 1900)),
    ("Which works were made in the 1870s?", PRODUCED + within(1870, 1879)),
    ("Which paintings date from 1811?", PAINTING + PRODUCED + within(1811, 1811)),
    ("Which works were made since 1880?", PRODUCED + within(1880, None)),
    ("Which prints were made by 1810?", PRINT + PRODUCED + within(None, 1810)),
    ("Which works were created in the 5th century BC?", PRODUCED + within(-499, -400)),
    ("Which works were made during the 2nd century BC?", PRODUCED + within(-199, -100)),
    ("Who was born in 1655?", BORN + within(1655, 1655)),
    ("Who was born between 1780 and 1815?", BORN + within(1780, 1815)),
    ("Who died before 1720?", DIED + within(None, 1719)),
    ("Which artists were born in the 17th century?", BORN + within(1601, 1700)),
    ("Which works were exhibited in 1936?", "?e @showed ?x ; @on ?t . " + within(1936, 1936)),
    ("Who died in Siena in 1710?", "?x ^crm:P100_was_death_of ?d . ?d @at :siena ; @on ?t . " + within(1710, 1710)),
    ("Which works were exhibited in Paris in 1905?", "?e @showed ?x ; @at :paris ; @on ?t . " + within(1905, 1905)),
    ("Which paintings were made in France in the 19th century?",
     PAINTING + PRODUCED + within(1801, 1900) + " ?x @made_at/@within :france"),
    ("Which works were made in Tuscany?", "?x @made_at/@within :tuscany"),
    ("Which works were made in Ostia?", "?x @made_at :ostia"),
    ("Which paintings were made in Delft?", PAINTING + "?x @made_at :delft"),
    ("Which sculptures were made in Lyon?", SCULPTURE + "?x @made_at :lyon"),
    ("Which works were exhibited in Paris?", "?x @show/@at :paris"),
    ("Who was born in Florence?", "?x @born_at :florence"),
    ("Who died in the Netherlands?", "?x @died_at/@within :netherlands"),
    ("Which works depict a bridge and were made before 1700?", "?x @depicts :bridge . " + PRODUCED + within(None, 1699)),
]  # fmt: skip


HARD = [
    ("Which works were made in Italy?", "?x @made_at/@within :italy"),
    ("Which sculptures were made before Christ?", SCULPTURE + PRODUCED + within(None, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), RIGHT)
def test_a_period_or_place_has_the_members_that_sparql_finds(
    gallery: Museum, question: str, pattern: str
) -> None:
    gold = gallery.gold(pattern)
    assert gold, "the museum holds none: the question tests nothing"
    assert gallery.read(question) == gold


def test_most_are_told_as_exact(gallery: Museum) -> None:
    assert gallery.share_sure([question for question, _ in RIGHT]) >= 0.8


@pytest.mark.parametrize(("question", "pattern"), HARD)
def test_a_period_or_place_is_right_or_not_told_as_exact(
    gallery: Museum, question: str, pattern: str
) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.listed(parsed) == gallery.gold(pattern)


def test_works_without_a_date_are_left_out_and_told(gallery: Museum) -> None:
    outcome = gallery.outcome(gallery.parse("Which paintings were made before 1700?"))
    left = {gallery.key(node) for nodes in outcome.excluded.values() for node in nodes}
    assert left == gallery.gold(PAINTING + "FILTER NOT EXISTS { ?x @made_on ?t }")


def test_before_and_after_a_year_and_the_year_itself_are_all_that_is_dated(gallery: Museum) -> None:
    parts = [gallery.sure(f"Which prints were made {when} 1810?") for when in ("before", "in", "after")]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert set.union(*parts) == gallery.gold(PRINT + PRODUCED)


@pytest.mark.parametrize(("question", "key"), [
    ("When was A Quiet Canal painted?", "p6"), ("When was Nocturne painted?", "p15"),
    ("When was Marta Lindqvist born?", "birth-lindqvist"), ("When did Claire Duvernay die?", "death-duvernay"),
])  # fmt: skip
def test_when_tells_a_date_or_nothing_exact(gallery: Museum, question: str, key: str) -> None:
    """A table whose last cell is a time-span, or a list of it."""
    parsed = gallery.parse(question)
    if parsed.certain:
        cells = {row[-1] for row in gallery.rows(parsed)} | (gallery.listed(parsed) or set())
        span = "?e (@made_on|@on) ?x" if key.startswith("p") else ":" + key + " @on ?x"
        assert cells & gallery.gold(span.replace("?e", ":" + key))


# places that are inside others by their names alone: "Athens, Greece", where no triple tells of Greece

BIRTHS = {
    "eleni": "Athens, Greece", "leonidas": "Sparta, Greece", "mabel": "Athens, Georgia, United States",
    "livia": "Rome, Italy", "marco": "Rome, Lazio, Italy", "hank": "Rome, Georgia, United States",
    "taosi": "Taos, New Mexico, United States", "rancho": "Ranchos de Taos, New Mexico, United States",
    "frida": "Mexico City, Mexico", "pjotr": "Moskva",
}  # fmt: skip


def _world() -> str:
    rows = [PREFIXES]
    for key, place in BIRTHS.items():
        rows.append(
            f':{key} a crm:E21_Person ; rdfs:label "{key.title()}" ; crm:P98i_was_born :birth-{key} .'
        )
        rows.append(f":birth-{key} a crm:E67_Birth ; crm:P7_took_place_at :place-{key} .")
        rows.append(f':place-{key} a crm:E53_Place ; rdfs:label "{place}" .')
        rows.append(f':work-{key} a crm:E22_Human-Made_Object ; rdfs:label "Work of {key.title()}" .')
        made = f"crm:P108_has_produced :work-{key} ; crm:P14_carried_out_by :{key}"
        rows.append(f":making-{key} a crm:E12_Production ; {made} .")
    return "\n".join(rows)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("atlas") / "project", _world())


@pytest.mark.parametrize(("question", "born"), [
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
])  # fmt: skip
def test_a_place_holds_what_its_name_ends_or_is_not_told_as_exact(
    atlas: Museum, question: str, born: set[str]
) -> None:
    parsed = atlas.parse(question)
    found = atlas.listed(parsed)
    assert found == born if parsed.certain else found and born & found


def test_a_place_that_no_name_holds_is_not_told_as_exact(atlas: Museum) -> None:
    parsed = atlas.parse("Which artists were born in Atlantis?")
    assert (
        not parsed.certain
        and "Atlantis".casefold() in " ".join((*parsed.unknown, *parsed.unnamed)).casefold()
    )
