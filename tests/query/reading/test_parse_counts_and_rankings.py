"""Questions for numbers, and for what comes first by number or date."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.parse_world import Museum

MADE = "?x @maker"
YEAR = "?x @made_on/@begins ?day"
PAINTING, PRINT, SCULPTURE = (f"?x @type :{name} . " for name in ("painting", "print", "sculpture"))

COUNTS = [
    ("How many paintings are there?", PAINTING),
    ("How many prints did Henri Maubert make?", PRINT + f"{MADE} :maubert"),
    ("How many prints did Jan Verhoeck make?", PRINT + f'{MADE}/rdfs:label "Jan Verhoeck"'),
    ("How many artists were born in Tuscany?", "?x @born_at/@just_within :tuscany"),
    ("How many works does the Weavers Guild own?", "?x @owner :guild"),
    ("How many sculptures of marble are there?", SCULPTURE + "?x @of :marble"),
    ("How many materials are there?", "?x a crm:E57_Material"),
    ("What is the number of prints by Marta Lindqvist?", PRINT + f"{MADE} :lindqvist"),
    ("How many works were given by Karl Brandt?", "?x @giver :brandt"),
    ("How many paintings were exhibited at Masters of Light?", PAINTING + ":light @showed ?x"),
    ("How many works were made in Ostia?", "?x @made_at :ostia"),
    ("How many artists died in Paris?", "?x @died_at :paris"),
    ("How many artists are there?", "?m @by ?x"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), COUNTS)
def test_a_count_is_that_of_the_members(gallery: Museum, question: str, pattern: str) -> None:
    """Two people are called Jan Verhoeck; nothing says which is meant, so both are."""
    gold = gallery.gold(pattern)
    assert gallery.value(question) == len(gold) > 0
    assert gallery.members(gallery.parse(question)) == gold


def test_most_counts_are_told_as_exact(gallery: Museum) -> None:
    assert gallery.share_sure([question for question, _ in COUNTS]) >= 0.8


# what comes first

Values = Callable[[Museum], dict[str, float]]


def first_by(measure: Values, how_many: int, ascending: bool = False) -> Callable[[Museum], set[str]]:
    """The keys with the best values, ties of the last kept."""

    def best(museum: Museum) -> set[str]:
        values = measure(museum)
        order = sorted(values.values(), reverse=not ascending)
        last = order[min(how_many, len(order)) - 1]
        return {key for key, value in values.items() if (value <= last if ascending else value >= last)}

    return best


def number(query: str) -> Values:
    return lambda museum: {key: float(value) for key, value in museum.counts(query).items()}


def works(pattern: str = "") -> Values:
    return number(f"SELECT ?who (COUNT(DISTINCT ?x) AS ?n) WHERE {{ {pattern} {MADE} ?who }} GROUP BY ?who")


def years(pattern: str) -> Values:
    return number(f"SELECT ?x (YEAR(?day) AS ?n) WHERE {{ {pattern} {YEAR} }}")


def births() -> Values:
    return number("SELECT ?x (YEAR(?day) AS ?n) WHERE { ?b crm:P98_brought_into_life ?x ; @on/@begins ?day }")


RANKINGS = [
    ("Which artist made the most works?", first_by(works(), 1)),
    ("Which artist made the fewest works?", first_by(works(), 1, ascending=True)),
    ("Which three artists have the most paintings?", first_by(works(PAINTING), 3)),
    ("Who gave the most works?",
     first_by(number("SELECT ?who (COUNT(?x) AS ?n) WHERE { ?a @given ?x ; @from ?who } GROUP BY ?who"), 1)),
    ("Who gave the most?",
     first_by(number("SELECT ?who (COUNT(?x) AS ?n) WHERE { ?a @given ?x ; @from ?who } GROUP BY ?who"), 1)),
    ("Who is the biggest donor?",
     first_by(number("SELECT ?who (COUNT(?x) AS ?n) WHERE { ?a @given ?x ; @from ?who } GROUP BY ?who"), 1)),
    ("Who made more paintings than anybody else?", first_by(works(PAINTING), 1)),
    ("Wer hat mehr Gemälde geschaffen als alle anderen?", first_by(works(PAINTING), 1)),
    ("Qui a fait plus de peintures que tous les autres ?", first_by(works(PAINTING), 1)),
    ("Ποιος έκανε περισσότερους πίνακες από όλους τους άλλους;", first_by(works(PAINTING), 1)),
    ("Which place was most often depicted?",
     first_by(number("SELECT ?p (COUNT(?x) AS ?n) WHERE { ?x @depicts ?p . ?p a crm:E53_Place } GROUP BY ?p"), 1)),
    ("Which material is used most often?",
     first_by(number("SELECT ?m (COUNT(?x) AS ?n) WHERE { ?x @of ?m } GROUP BY ?m"), 1)),
    ("What is the oldest work?", first_by(years(""), 1, ascending=True)),  # of 451 BC
    ("What is the oldest painting?", first_by(years(PAINTING), 1, ascending=True)),
    ("What are the five oldest paintings?", first_by(years(PAINTING), 5, ascending=True)),
    ("Which two prints are the most recent?", first_by(years(PRINT), 2)),
    ("What is the earliest print made in Leiden?", first_by(years(PRINT + "?x @made_at :leiden ."), 1, ascending=True)),
    ("Which painting by Henri Maubert is the latest?", first_by(years(PAINTING + f"{MADE} :maubert ."), 1)),
    ("What is the oldest sculpture?", first_by(years(SCULPTURE), 1, ascending=True)),
    ("Who is the oldest artist?", first_by(births(), 1, ascending=True)),
    ("Which artist made the most works of marble?", first_by(works("?x @of :marble ."), 1)),
    ("Who are the three most prolific artists, by number of paintings?", first_by(works(PAINTING), 3)),
]  # fmt: skip


@pytest.mark.parametrize(("question", "gold"), RANKINGS)
def test_a_ranking_keeps_ties_and_is_right(
    gallery: Museum, question: str, gold: Callable[[Museum], set[str]]
) -> None:
    assert gallery.read(question) == gold(gallery)


def test_most_rankings_are_told_as_exact(gallery: Museum) -> None:
    assert gallery.share_sure([question for question, _ in RANKINGS]) >= 0.7


@pytest.mark.parametrize(("question", "gold"), [
    ("Which is older, Harvest or Nocturne?", {"p10"}), ("What is the tallest sculpture?", {"s3"}),
    ("Who was born first, Aldo Ferrante or Pietro Salvemini?", {"salvemini"}),
    ("Wer wurde zuerst geboren, Aldo Ferrante oder Pietro Salvemini?", {"salvemini"}),
    ("Who has more works, Nikos Vafeas or Rosa Castelli?", {"castelli"}),
    ("Who was born first, Nikos Vafeas or Rosa Castelli?", None),  # of one of them nothing is told
])  # fmt: skip
def test_one_of_two_is_right_or_not_told_as_exact(
    gallery: Museum, question: str, gold: set[str] | None
) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.listed(parsed) == gold


def test_what_has_no_date_is_left_out_of_a_ranking_by_date(gallery: Museum) -> None:
    outcome = gallery.outcome(gallery.parse("What is the oldest painting?"))
    left = {gallery.key(node) for nodes in outcome.excluded.values() for node in nodes}
    assert left == gallery.gold(PAINTING + f"FILTER NOT EXISTS {{ {YEAR} }}")


@pytest.mark.parametrize(("question", "query", "least"), [
    ("Which artists made more than three works?",
     f"SELECT ?who (COUNT(DISTINCT ?x) AS ?n) WHERE {{ {MADE} ?who }} GROUP BY ?who", 4),
    ("Which artists made at least four works?",
     f"SELECT ?who (COUNT(DISTINCT ?x) AS ?n) WHERE {{ {MADE} ?who }} GROUP BY ?who", 4),
    ("Which artists made more than one work of bronze?",
     f"SELECT ?who (COUNT(DISTINCT ?x) AS ?n) WHERE {{ ?x @of :bronze . {MADE} ?who }} GROUP BY ?who", 2),
    ("Which exhibitions showed more than seven works?", "SELECT ?e (COUNT(?x) AS ?n) WHERE { ?e @showed ?x } GROUP BY ?e", 8),
])  # fmt: skip
def test_at_least_so_many_of_something(gallery: Museum, question: str, query: str, least: int) -> None:
    gold = {key for key, count in gallery.counts(query).items() if count >= least}
    assert gallery.read(question) == gold
