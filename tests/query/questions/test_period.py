"""The period that a question names, against intervals made by hand and by the calendar."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.dates import Interval, day_number, year_interval
from crmrag_query.questions.period import find_period

OPEN = None


def interval(text: str) -> Interval | None:
    found = find_period(text)
    return found.interval if found else None


def years(first: int | None, last: int | None) -> Interval:
    begin = None if first is None else day_number(first)
    return Interval(begin, None if last is None else day_number(last + 1) - 1)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("works from before the year 1500?", OPEN, 1499),
        ("paintings made between 1840 and 1849", 1840, 1849),
        ("paintings from 1730 to 1779", 1730, 1779),
        ("What was made in the 1920s?", 1920, 1929),
        ("œuvres datant des années 1920", 1920, 1929),
        ("dès le 15e siècle", 1401, OPEN),
        ("painted in the thirties", 1930, 1939),
        ("painted before the thirties of the 19th century", OPEN, 1829),
        ("negli anni Venti del Novecento", 1920, 1929),
        ("de los años veinte del siglo XIX", 1820, 1829),
        ("in den dreißiger Jahren des 19. Jahrhunderts", 1830, 1839),
        ("Bilder der 20er Jahre", 1920, 1929),
        ("τη δεκαετία του '20", 1920, 1929),
        ("works from the 18th century", 1701, 1800),
        ("objects that date entirely from the eighteenth century", 1701, 1800),
        ("works from 2000 or later", 2000, OPEN),
        ("works made in 1901 or later", 1901, OPEN),
        ("painted after 1350", 1351, OPEN),
        ("coins of the 5th century BC", -499, -400),
        ("coins struck between 500 and 400 BC", -499, -399),
        ("Which paintings were made in 1250 BC?", -1249, -1249),
        ("made 1250 B.C.", -1249, -1249),
        ("1250 v. Chr. gemacht", -1249, -1249),
        ("en 1250 av. J.-C.", -1249, -1249),
        ("από το 1250 π.Χ.", -1249, -1249),
        ("1200 BC to 1100 BC", -1199, -1099),
        ("figures of 1300-1250 BC", -1299, -1249),
        ("in 1250 CE", 1250, 1250),
        ("1850 Americans", 1850, 1850),
        ("in the 1920s and 1930s", 1920, 1939),
        ("after 1840 and before 1850", 1841, 1849),
        ("20th-century paintings", 1901, 2000),
        ("the second half of the 19th century", 1851, 1900),
        ("between the twelfth and fourteenth centuries", 1101, 1400),
        ("bought before the First World War", OPEN, 1913),
        ("gebaut nach dem Zweiten Weltkrieg", 1946, OPEN),
        ("durant la Seconde Guerre mondiale", 1939, 1945),
        ("μετά τον Β' Παγκόσμιο Πόλεμο", 1946, OPEN),
        ("between the Great War and 1930", 1914, 1930),
        ("in the nineteenth or twentieth century", 1801, 2000),
        ("prior to 1800", OPEN, 1799),
        ("no later than 1850", OPEN, 1850),
        ("from 1950 onwards", 1950, OPEN),
        ("1500 or earlier", OPEN, 1500),
        ("post-1945 art", 1946, OPEN),
        ("the 1332/33 cycle", 1332, 1333),
        ("born in 850", 850, 850),
        ("after the 15th century", 1501, OPEN),
        ("œuvres d'avant 1500", OPEN, 1499),
        ("œuvres du XVIIIe siècle", 1701, 1800),
        ("œuvres du dix-huitième siècle", 1701, 1800),
        ("entre 1840 et 1850", 1840, 1850),
        ("dans les années 1920", 1920, 1929),
        ("à partir de 1900", 1900, OPEN),
        ("jusqu'en 1850", OPEN, 1850),
        ("im 18. Jahrhundert", 1701, 1800),
        ("aus dem achtzehnten Jahrhundert", 1701, 1800),
        ("vor dem Jahr 1500", OPEN, 1499),
        ("nach 1900 entstanden", 1901, OPEN),
        ("zwischen 1840 und 1850", 1840, 1850),
        ("ab 1900", 1900, OPEN),
        ("die 1920er Jahre", 1920, 1929),
        ("του 12ου αιώνα", 1101, 1200),
        ("στον 12ο αιώνα", 1101, 1200),
        ("από τον 12ο ως τον 14ο αιώνα", 1101, 1400),
        ("του δέκατου όγδοου αιώνα", 1701, 1800),
        ("μετά το 1350", 1351, OPEN),
        ("πριν από το 1500", OPEN, 1499),
        ("μεταξύ 1840 και 1850", 1840, 1850),
        ("από το 1840 έως το 1850", 1840, 1850),
        ("τη δεκαετία του 1920", 1920, 1929),
        ("opere prima del 1500", OPEN, 1499),
        ("opere del XVIII secolo", 1701, 1800),
        ("nel diciottesimo secolo", 1701, 1800),
        ("nella prima metà del XVI secolo", 1501, 1550),
        ("alla fine del secolo XV", 1468, 1500),
        ("dipinti del Cinquecento", 1501, 1600),
        ("dopo il 1350", 1351, OPEN),
        ("tra il 1840 e il 1850", 1840, 1850),
        ("dal 1840 al 1850", 1840, 1850),
        ("tra il XII e il XIV secolo", 1101, 1400),
        ("dal 1900 in poi", 1900, OPEN),
        ("fino al 1850", OPEN, 1850),
        ("negli anni 1920", 1920, 1929),
        ("nel V secolo a.C.", -499, -400),
        ("obras anteriores a 1500", OPEN, 1499),
        ("antes del año 1500", OPEN, 1499),
        ("obras del siglo XVIII", 1701, 1800),
        ("a finales del siglo XV", 1468, 1500),
        ("la primera mitad del siglo XVI", 1501, 1550),
        ("después de 1350", 1351, OPEN),
        ("entre 1840 y 1850", 1840, 1850),
        ("desde 1840 hasta 1850", 1840, 1850),
        ("entre los siglos XII y XIV", 1101, 1400),
        ("a partir del año 1900", 1900, OPEN),
        ("de 2000 o posteriores", 2000, OPEN),
        ("hasta 1850", OPEN, 1850),
        ("en los años 1920", 1920, 1929),
        ("del siglo V a. C.", -499, -400),
        ("uit de 18e eeuw", 1701, 1800),
        ("voor 1900", OPEN, 1899),
    ],
)
def test_a_period_is_read(question: str, first: int | None, last: int | None) -> None:
    assert interval(question) == years(first, last)


def test_about_a_year_is_approximate() -> None:
    found = interval("a version from around 1910")
    assert found == Interval(day_number(1910), day_number(1911) - 1, approximate=True)


@pytest.mark.parametrize(
    "question",
    [
        "In which year was it made?", "When did he die?", "What is object 1944.100.51606?",
        "artists with more than 1500 works", "inventory no. 1850", "più di 1500 opere", "más de 1500 obras",
        "numero 1850", "the top 20 objects by 12 artists", "a Louis XIV chair in room 12", "before Christ",
        "the five oldest",
    ],
)  # fmt: skip
def test_what_is_no_period_is_none(question: str) -> None:
    assert interval(question) is None


def test_a_number_before_a_plural_is_a_count() -> None:
    assert find_period("the 1500 drawings", {"drawings"}) is None
    assert find_period("the drawings of 1500", {"drawings"}) is not None


def test_the_words_of_a_period_are_told() -> None:
    found = find_period("Which churches were built before the year 1500 in Cyprus?")
    assert found is not None and found.words == {"before", "the", "year", "1500"}


YEARS = st.integers(1000, 2099)


@given(YEARS)
def test_bounds_of_any_year(year: int) -> None:
    expected = {
        "before {}": years(None, year - 1), "after {}": years(year + 1, None), "in {}": year_interval(year),
        "{} or later": years(year, None), "until {}": years(None, year), "since {}": years(year, None),
        "avant {}": years(None, year - 1), "nach {}": years(year + 1, None), "πριν το {}": years(None, year - 1),
        "prima del {}": years(None, year - 1), "dopo il {}": years(year + 1, None), "nel {}": year_interval(year),
        "antes de {}": years(None, year - 1), "después de {}": years(year + 1, None), "en {}": year_interval(year),
    }  # fmt: skip
    for phrase, wanted in expected.items():
        assert interval(f"works made {phrase.format(year)}?") == wanted, phrase


@given(YEARS, st.integers(0, 400))
def test_any_range(first: int, length: int) -> None:
    last = first + length
    for phrase in (
        "between {} and {}",
        "from {} to {}",
        "entre {} et {}",
        "zwischen {} und {}",
        "από το {} έως το {}",
        "tra il {} e il {}",
        "dal {} al {}",
        "entre {} y {}",
        "de {} a {}",
    ):
        assert interval(phrase.format(first, last)) == years(first, last), phrase


@given(st.integers(1, 21))
def test_any_century(number: int) -> None:
    ending = {1: "st", 2: "nd", 3: "rd", 21: "st"}.get(number, "th")
    wanted = years(100 * (number - 1) + 1, 100 * number)
    for phrase in (f"the {number}{ending} century", f"im {number}. Jahrhundert", f"του {number}ου αιώνα"):
        assert interval(phrase) == wanted, phrase


@given(st.integers(100, 202))
def test_any_decade(tens: int) -> None:
    wanted = years(10 * tens, 10 * tens + (99 if tens % 10 == 0 else 9))
    assert interval(f"from the {10 * tens}s") == wanted


@given(st.dates(min_value=date(1000, 1, 1)))
def test_any_day(day: date) -> None:
    number = day.toordinal()
    assert interval(f"on {day.day} {day:%B} {day.year}") == Interval(number, number)


@given(st.text(max_size=300))
def test_any_text_is_searched(text: str) -> None:
    find_period(text)


BOUNDS = [
    "before", "after", "between", "and", "from", "to", "or", "later", "in", "of", "not", "entre", "et", "du",
    "the",
]  # fmt: skip
DATES = [
    "1840", "1850s", "18th", "century", "years", "12", "BC", ".", "-", "/", "siècle", "first", "half", "15.",
    "May",
]  # fmt: skip


@given(st.lists(st.sampled_from([*BOUNDS, *DATES]), max_size=30).map(" ".join))
def test_any_order_of_words_of_dates_is_searched(text: str) -> None:
    found = find_period(text)
    if found is not None and found.interval.begin is not None and found.interval.end is not None:
        assert found.interval.begin <= found.interval.end
