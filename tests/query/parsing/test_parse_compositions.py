"""Questions of several things at once: both and either, neither, a superlative within, what verbs at the end are said of."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

BY = "?x @maker"
PAINTING, PRINT, SCULPTURE = (f"?x @type :{name} . " for name in ("painting", "print", "sculpture"))
WORK = "?x a crm:E22_Human-Made_Object . "
MADE = "?m @by ?x ; @made/@type :{kind} . "
OLDEST_PRINT = "{ SELECT ?p WHERE { ?p @type :print ; @made_on/@begins ?d } ORDER BY ?d LIMIT 1 }"

SURE = [
    # both … and: each by itself
    ("Which artists made both paintings and sculptures?",
     MADE.format(kind="painting") + "?n @by ?x ; @made/@type :sculpture"),
    ("Welche Künstler schufen sowohl Gemälde als auch Skulpturen?",
     MADE.format(kind="painting") + "?n @by ?x ; @made/@type :sculpture"),
    ("Quels artistes ont fait à la fois des peintures et des estampes ?",
     MADE.format(kind="painting") + "?n @by ?x ; @made/@type :print"),
    # either of them
    ("Which artists made paintings or sculptures?", "?m @by ?x ; @made/@type ?t VALUES ?t { :painting :sculpture }"),
    ("Paintings or prints by Henri Maubert", f"{BY} :maubert ; @type ?t VALUES ?t {{ :painting :print }}"),
    ("List all paintings and sculptures made in Florence",
     "?x @made_at :florence ; @type ?t VALUES ?t { :painting :sculpture }"),
    # neither … nor
    ("Which works are neither paintings nor prints?",
     WORK + "?x @type ?t FILTER(?t != :painting && ?t != :print)"),
    ("Welche Werke zeigen weder ein Pferd noch einen Löwen?",
     WORK + "FILTER NOT EXISTS { ?x @depicts ?k VALUES ?k { :horse :lion } }"),
    # what is denied is the noun, not what follows
    ("Works without a date by Rosa Castelli", f"{BY} :castelli FILTER NOT EXISTS {{ ?x @made_on ?d }}"),
    ("Which works without an owner were made in Paris?", "?x @made_at :paris FILTER NOT EXISTS { ?x @owner ?o }"),
    ("Werke ohne Datum aus Papier", "?x @of :paper FILTER NOT EXISTS { ?x @made_on ?d }"),
    # what is left out ends where the verb begins
    ("Who besides Ida Holm gave works?", "?a @from ?x FILTER(?x != :holm)"),
    ("Which materials other than marble are used in sculptures?",
     "?w @type :sculpture ; @of ?x FILTER(?x != :marble)"),
    ("Which works apart from paintings were given by Ida Holm?",
     "?x @giver :holm FILTER NOT EXISTS { ?x @type :painting }"),
    # shown there, not showing it
    ("Which works were shown in Paris?", "?x @show/@at :paris"),
    ("Welche Werke wurden in Lyon ausgestellt?", "?x @show/@at :lyon"),
    # by another
    ("Which prints were made by someone other than Henri Maubert?",
     PRINT + f"{BY} ?who FILTER NOT EXISTS {{ {BY} :maubert }}"),
    # the first of some things, and what is told of it
    ("Who made the oldest print?", OLDEST_PRINT + " ?p @maker ?x"),
    ("Wer hat die älteste Druckgrafik gemacht?", OLDEST_PRINT + " ?p @maker ?x"),
    # nouns that a verb at the end is said of
    ("What do the paintings by Rosa Castelli depict?", "?p @type :painting ; @maker :castelli ; @depicts ?x"),
    ("What are the sculptures by Rosa Castelli made of?", "?p @type :sculpture ; @maker :castelli ; @of ?x"),
    ("Welche Gemälde, die in Siena gemalt wurden, zeigen Pferde?", PAINTING + "?x @made_at :siena ; @depicts :horse"),
    # where something happened is what is stated
    ("Where was the maker of Windmills born?", ":e2 @maker/@born_at ?x"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), SURE)
def test_the_whole_set_is_found_for_certain(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold, "the museum holds none: the question tests nothing"
    assert gallery.sure(question) == gold


COUNTS = [
    ("How many paintings and prints are there?", "?x @type ?t VALUES ?t { :painting :print }"),
    (
        "How many works are by Aldo Ferrante or Nikos Vafeas?",
        f"{BY} ?who VALUES ?who {{ :ferrante :vafeas }}",
    ),
]


@pytest.mark.parametrize(("question", "pattern"), COUNTS)
def test_things_joined_are_counted_together(gallery: Museum, question: str, pattern: str) -> None:
    assert gallery.value(question) == len(gallery.gold(pattern))


def test_of_three_kinds_each_is_counted(gallery: Museum) -> None:
    parsed = gallery.parse("How many paintings, prints and sculptures are there?")
    assert parsed.certain
    gold = gallery.counts(
        "SELECT ?t (COUNT(?x) AS ?n) WHERE { ?x a crm:E22_Human-Made_Object ; @type ?t } GROUP BY ?t"
    )
    assert gallery.groups(parsed) == gold


BOUNDED = [
    ("Which artists made exactly four works?", "HAVING(COUNT(DISTINCT ?w) = 4)"),
    ("Which artists made at most three works?", "HAVING(COUNT(DISTINCT ?w) <= 3)"),
    ("Which artists made fewer than three works?", "HAVING(COUNT(DISTINCT ?w) < 3)"),
    ("Which artists made more than three works?", "HAVING(COUNT(DISTINCT ?w) > 3)"),
]


@pytest.mark.parametrize(("question", "having"), BOUNDED)
def test_so_many_of_something(gallery: Museum, question: str, having: str) -> None:
    """Of those who made anything: who is no maker has made none, and is not asked for by "artists"."""
    pattern = f"{{ SELECT ?x WHERE {{ ?w @maker ?x }} GROUP BY ?x {having} }}"
    found = gallery.read(question)
    makers = gallery.gold("?w @maker ?x")
    assert found & makers == gallery.gold(pattern)


@pytest.mark.parametrize(
    ("question", "unit", "first"),
    [
        ("Which century has the most works?", "century", 1),
        ("In welchem Jahrhundert entstanden die meisten Werke?", "century", 1),
        ("In which decade were the most paintings made?", "decade", 1),
        ("Which three decades have the most paintings?", "decade", 3),
        ("In which century were the most artists born?", "century", 1),
    ],
)
def test_the_time_of_the_most(gallery: Museum, question: str, unit: str, first: int) -> None:
    parsed = gallery.parse(question)
    assert parsed.certain and parsed.plan is not None
    compute = parsed.plan.compute
    assert (compute.kind, compute.by, compute.first) == ("group", unit, first)


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        ("sculptures and who made them", [("created_by", "")]),
        ("List all prints and where they were made", [("created_in", "")]),
        ("Which artists were born in Leiden, each with the year of death?", [("died_on", "year")]),
        ("Artists born in Leiden with their years of birth", [("born_on", "year")]),
    ],
)
def test_what_is_told_beside_each_thing(
    gallery: Museum, question: str, columns: list[tuple[str, str]]
) -> None:
    parsed = gallery.parse(question)
    assert parsed.certain and parsed.plan is not None and parsed.plan.compute.kind == "table"
    first = parsed.plan.compute.columns
    assert [(first[0].way.relations[0], first[-1].by)] == columns


@pytest.mark.parametrize(
    "question",
    [
        "Are all sculptures made of bronze?",
        "Did more artists die in Paris than were born there?",
        "Which artists made paintings and sculptures?",
        "Works given by Harbour Trust",
        "Which works are made only of marble?",
        "Quels artistes n'ont fait que des estampes ?",
        "Were all the works of Salvemini made in Florence?",
        "Works from the 17th or 19th century",
        "Works made in 1680 or 1690",
        "How many works per artist and decade?",
        "Whose works did Ida Holm donate?",
        "Which works are currently on display?",
        "How many artists are there?",
        "Which artists showed in Paris?",
    ],
)
def test_what_may_be_meant_otherwise_is_not_sure(gallery: Museum, question: str) -> None:
    assert not gallery.parse(question).certain
