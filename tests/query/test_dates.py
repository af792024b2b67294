"""Dates: against Python's calendar, against what was written, and phrase by phrase."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.dates import (
    MONTHS,
    Interval,
    civil,
    day_number,
    describe,
    parse_date,
    whole_years,
    year_interval,
)

XSD = "http://www.w3.org/2001/XMLSchema#"
DATES = st.dates()
YEARS = st.integers(-9999, 9999)
DAYS = st.integers(day_number(-4000), day_number(3000))


@given(DATES)
def test_day_numbers_are_pythons_ordinals(date: datetime.date) -> None:
    assert day_number(date.year, date.month, date.day) == date.toordinal()
    assert civil(date.toordinal()) == (date.year, date.month, date.day)


@given(st.integers(-4_000_000, 4_000_000))
def test_every_day_number_has_one_date(number: int) -> None:
    assert day_number(*civil(number)) == number
    assert civil(number) < civil(number + 1)


@given(DATES, st.sampled_from(["", "Z", "+02:00"]), st.sampled_from(["date", "dateTime"]))
def test_xsd_dates_are_read_to_the_day(date: datetime.date, zone: str, kind: str) -> None:
    text = date.isoformat() + ("T10:30:00.5" if kind == "dateTime" else "") + zone
    assert parse_date(text, XSD + kind) == Interval(date.toordinal(), date.toordinal())


@given(DATES)
def test_months_and_years_are_read_whole(date: datetime.date) -> None:
    first = date.replace(day=1)
    after = (
        (first + datetime.timedelta(days=31)).replace(day=1) if first < datetime.date(9999, 12, 1) else None
    )
    month = parse_date(f"{date:%Y}-{date:%m}".rjust(7, "0"), XSD + "gYearMonth")
    assert month is not None and month.begin == first.toordinal()
    assert after is None or month.end == after.toordinal() - 1
    assert parse_date(f"{date.year:04}", XSD + "gYear") == year_interval(date.year)


@given(YEARS.filter(lambda year: year < 0))
def test_negative_years_are_years_bc(year: int) -> None:
    assert parse_date(f"-{-year:04}", XSD + "gYear") == parse_date(f"{-year} BC") == year_interval(year + 1)


def test_there_is_no_gap_between_1_bc_and_1_ad() -> None:
    before, after = parse_date("1 BC"), parse_date("AD 1")
    assert before is not None and after is not None and before.end is not None
    assert before.end + 1 == after.begin == datetime.date(1, 1, 1).toordinal()
    assert parse_date("0000", XSD + "gYear") == before


@given(st.sampled_from(sorted(MONTHS)), DAYS, st.integers(0, 200_000), st.booleans())
def test_what_is_written_is_read_back(lang: str, begin: int, length: int, approximate: bool) -> None:
    interval = Interval(begin, begin + length, approximate)
    assert parse_date(describe(interval, lang)) == interval


@given(st.sampled_from(sorted(MONTHS)), st.integers(-999, 2999), st.integers(0, 300))
def test_whole_years_are_written_as_years_and_read_back(lang: str, first: int, more: int) -> None:
    interval = year_interval(first, first + more)
    assert whole_years(interval) == (first, first + more)
    assert parse_date(describe(interval, lang)) == interval


@given(st.sampled_from(sorted(MONTHS)), DAYS, st.booleans())
def test_an_open_end_is_written_and_read_back(lang: str, day: int, begins: bool) -> None:
    interval = Interval(day, None) if begins else Interval(None, day)
    assert parse_date(describe(interval, lang)) == interval


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.begin is not None or found.end is not None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1885", "1885"), ("[1885]", "1885"), ("1885-1890", "1885–1890"), ("1885–90", "1885–1890"),
        ("1105/06", "1105–1106"), ("1105/1106", "1105–1106"), ("1905-10", "1905–1910"), ("2010-05", "May 2010"),
        ("ca. 1885", "ca. 1885"), ("c. 1885", "ca. 1885"), ("1885?", "ca. 1885"), ("vers 1885", "ca. 1885"),
        ("um 1885", "ca. 1885"), ("περ. 1885", "ca. 1885"), ("probably 1871", "ca. 1871"),
        ("12th century", "1101–1200"), ("XIIe siècle", "1101–1200"), ("12. Jahrhundert", "1101–1200"),
        ("12. Jh.", "1101–1200"), ("12ος αιώνας", "1101–1200"), ("12ος αι.", "1101–1200"),
        ("late 12th century", "1168–1200"), ("fin du XIIe siècle", "1168–1200"), ("τέλη του 12ου αιώνα", "1168–1200"),
        ("Ende des 12. Jahrhunderts", "1168–1200"), ("αρχές 14ου αι.", "1301–1333"), ("mid-14th century", "1334–1367"),
        ("first half of the 14th century", "1301–1350"), ("2. Hälfte des 12. Jahrhunderts", "1151–1200"),
        ("4th quarter 19th century", "1876–1900"), ("α΄ μισό του 14ου αιώνα", "1301–1350"),
        ("early 1890s", "1890–1893"), ("mid-1880s", "1883–1886"), ("Ende der 1920er Jahre", "1926–1929"),
        ("fin des années 1920", "1926–1929"), ("αρχές της δεκαετίας του 1920", "1920–1923"),
        ("first half of the 1920s", "1920–1924"),
        ("Summer 1930", "1930"), ("im Herbst 1871", "1871"), ("winter of 1930/31", "1930–1931"),
        ("primavera del 1905", "1905"), ("early 1932", "1932"), ("late 1929", "1929"), ("fin 1921", "1921"),
        ("Anfang 1893", "1893"),
        ("12th-13th century", "1101–1300"), ("late 12th – early 13th century", "1168–1233"),
        ("5th century BC", "500–401 BC"), ("5ος αιώνας π.Χ.", "500–401 BC"), ("5. Jh. v. Chr.", "500–401 BC"),
        ("300-200 BC", "300–200 BC"), ("50 BC – AD 50", "50 BC – 50"), ("480 av. J.-C.", "480 BC"), ("450 AD", "450"),
        ("1880s", "1880–1889"), ("the 1880s", "1880–1889"), ("1800s", "1800–1899"), ("années 1880", "1880–1889"),
        ("δεκαετία του 1880", "1880–1889"), ("before 1900", "until 1899"), ("after 1880", "since 1881"),
        ("between 1880 and 1890", "1880–1890"), ("from 1880 to 1890", "1880–1890"), ("μεταξύ 1880 και 1890", "1880–1890"),
        ("12 May 1885", "12 May 1885"), ("May 12, 1885", "12 May 1885"), ("12. Mai 1885", "12 May 1885"),
        ("12 Μαΐου 1885", "12 May 1885"), ("12.5.1885", "12 May 1885"), ("July 1869", "July 1869"),
        ("12-14 May 1885", "12 May 1885 – 14 May 1885"), ("1923-12-31 23:59:59", "31 December 1923"),
        ("ca. 1880-1885-01-01", "ca. 1880–1885"), ("300 BCE-12-31", "300 BC"), ("1921-31-12", "31 December 1921"),
        ("1910\nca. 1912-01-01", "ca. 1910–1912"), ("1900-02-31", "February 1900"), ("1900-00-00", "1900"),
    ],
)  # fmt: skip
def test_phrases_of_catalogues_are_read(text: str, written: str) -> None:
    found = parse_date(text)
    assert found is not None
    assert describe(found) == written


@pytest.mark.parametrize(
    "text",
    [
        "", "0", "0-01-01", "n.d.", "unknown", "1890-1885", "Room 12", "Oil on canvas", "190512", "1-2-3-4",
        "45th century",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused(text: str) -> None:
    assert parse_date(text, XSD + "date" if text.startswith("0") else "") is None


def test_an_interval_cannot_end_before_it_begins() -> None:
    with pytest.raises(ValueError, match="cannot end"):
        Interval(5, 4)


@given(DAYS, DAYS, DAYS, DAYS)
def test_a_hull_holds_both(a: int, b: int, c: int, d: int) -> None:
    one, other = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
    assert one.hull(other) == other.hull(one) == Interval(min(a, b, c, d), max(a, b, c, d))


@pytest.mark.parametrize(
    ("lang", "until", "since", "year"),
    [
        ("en", "until 19 June 1197", "since 19 June 1197", "until 1197"),
        ("fr", "jusqu'au 19 juin 1197", "depuis le 19 juin 1197", "jusqu'en 1197"),
        ("de", "bis zum 19. Juni 1197", "seit dem 19. Juni 1197", "bis 1197"),
        ("el", "έως 19 Ιουνίου 1197", "από 19 Ιουνίου 1197", "έως 1197"),
        ("it", "fino al 19 giugno 1197", "dal 19 giugno 1197", "fino al 1197"),
        ("es", "hasta el 19 de junio de 1197", "desde el 19 de junio de 1197", "hasta 1197"),
    ],
)
def test_open_ends_are_written_as_each_language_does(lang: str, until: str, since: str, year: str) -> None:
    day = parse_date("19 June 1197")
    assert day is not None
    written = [describe(one, lang) for one in (Interval(None, day.end), Interval(day.begin, None))]
    assert written == [until, since]
    assert describe(Interval(None, year_interval(1197).end), lang) == year
