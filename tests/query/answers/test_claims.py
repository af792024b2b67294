"""Names, numbers, dates and addresses of a sentence are found, whatever the language; common words are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.answers.support import Claims, Ground, Known, as_date, claims_of, number_of, numbers_in
from crmrag_query.dates import year_interval

ENGLISH = Known(
    common=frozenset({"the", "it", "in", "according", "they", "is", "two"}),
    joints=frozenset({"of", "the", "de", "von", "tou"}),
    names=frozenset({"asinou", "cyprus", "goul", "παναγια"}),
    numbers={"two": 2},
)
GERMAN = Known(frozenset({"die", "der"}), frozenset({"von", "der"}), frozenset({"asinou", "goul"}), {}, True)


def names(sentence: str, known: Known = ENGLISH) -> tuple[str, ...]:
    return claims_of(sentence, known).names


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It was painted by Philippos Goul in Cyprus.", ("Philippos Goul", "Cyprus")),
        ("The church of the Virgin of Mercy stands.", ("Virgin of Mercy",)),
        ("Painted by nobody.", ()),
        ("Goul painted it.", ("Goul",)),
        ("Michael Psellos painted it.", ("Michael Psellos",)),
        ("According to the data, they painted it.", ()),
        ("PWNED by me.", ("PWNED",)),
        ("It is in Asinou, Cyprus; Paris.", ("Asinou", "Cyprus", "Paris")),
        ("Ζωγραφίστηκε από τον Φίλιππο Γουλ.", ("Φίλιππο Γουλ",)),
        ("построена Иваном Грозным", ("Иваном Грозным",)),
        ("It shows no name at all.", ()),
    ],
)
def test_names_are_capitalised_words_but_where_a_sentence_begins(
    sentence: str, found: tuple[str, ...]
) -> None:
    assert names(sentence) == found


def test_without_a_list_of_nouns_that_have_capitals_a_single_word_is_a_name_only_if_the_sources_have_it() -> (
    None
):
    assert names("Die Kirche wurde vom Stifter bezahlt.", GERMAN) == ()
    assert names("Der Maler Philippos Goul malte Asinou.", GERMAN) == ("Goul", "Asinou")
    assert names("Sie wurde von Michael Psellos bemalt.", GERMAN) == ("Michael Psellos",)


def test_in_scripts_without_capitals_a_word_is_a_name_if_the_sources_have_it() -> None:
    known = Known(names=frozenset({"東京"}))
    assert names("作品は 東京 にある", known) == ("東京",)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1,234", "1234"), ("1.234", "1234"), ("1 234", "1234"), ("1’234’567", "1234567"), ("1,234.50", "1234.5"),
        ("3,50", "3.5"), ("3.5", "3.5"), ("007", "7"), ("0", "0"), ("-12", "-12"), ("−12", "-12"), ("0.5", "0.5"),
    ],
)  # fmt: skip
def test_numbers_have_one_spelling(text: str, plain: str) -> None:
    assert number_of(text) == plain


@given(st.integers(0, 10**9))
def test_a_number_is_the_same_with_and_without_thousands(number: int) -> None:
    spellings = {
        f"{number:,}",
        f"{number:,}".replace(",", "."),
        f"{number:,}".replace(",", "\u202f"),
        str(number),
    }
    assert {number_of(spelling) for spelling in spellings} == {str(number)}


def test_numbers_in_words_are_numbers() -> None:
    assert claims_of("There are two of 1,234.", ENGLISH).numbers == (("1,234", "1234"), ("two", "2"))


def test_a_line_holds_the_parts_of_its_numbers_too() -> None:
    assert {"1105", "6", "1986.12", "12", "3", "21.5", "21"} <= numbers_in("1105/06; 1986.12.3; 21.5cm")


@pytest.mark.parametrize(
    ("sentence", "date"),
    [
        ("It was built in 1105.", year_interval(1105)),
        ("It was built between 1099 and 1104.", year_interval(1099, 1104)),
        ("It is from the 12th century.", year_interval(1101, 1200)),
        ("It is from 1100–1199.", year_interval(1101, 1200)),
        ("It is from the late 12th century, they say.", year_interval(1168, 1200)),
        ("Sie stammt aus dem 12. Jahrhundert.", year_interval(1101, 1200)),
        ("Elle date du XIIe siècle.", year_interval(1101, 1200)),
        ("Είναι του 12ου αιώνα.", year_interval(1101, 1200)),
    ],
)
def test_dates_are_intervals_however_they_are_put(sentence: str, date: object) -> None:
    (found,) = claims_of(sentence, ENGLISH).dates
    assert (found[1].begin, found[1].end) == (date.begin, date.end)  # type: ignore[attr-defined]


def test_what_a_date_takes_is_no_number_and_no_name() -> None:
    claims = claims_of("It happened on 12 May 1885 in Paris.", ENGLISH)
    assert claims.names == ("Paris",) and claims.numbers == ()
    assert [said for said, _ in claims.dates] == ["12 May 1885"]


def test_a_small_bare_number_is_no_date() -> None:
    assert as_date("12") is None
    assert Ground(["12 scenes, 3 walls"]).dates == set()


@pytest.mark.parametrize(
    ("sentence", "address"),
    [
        ("Go to http://evil.example/x?y=1.", "http://evil.example/x?y=1"),
        ("Visit www.evil.org now.", "www.evil.org"),
        ("Write to a.b@evil.example please.", "a.b@evil.example"),
        ("See evil.com for more.", "evil.com"),
    ],
)
def test_addresses_are_claims(sentence: str, address: str) -> None:
    assert claims_of(sentence, ENGLISH).addresses == (address,)


@pytest.mark.parametrize("sign", [".", "-", "@", "+", "://"])
def test_a_model_cannot_hold_the_search_for_addresses(sign: str) -> None:
    """Each of these took the square of its length, some 20 seconds."""
    text = f"a{sign}" * 10_000
    assert claims_of(f"{text} evil.example.com", ENGLISH).addresses[-1].endswith("evil.example.com")


def test_a_sentence_without_any_claims_nothing() -> None:
    assert not claims_of("the walls are painted", ENGLISH)
    assert Claims() == claims_of("", ENGLISH)


@given(st.text(max_size=200))
def test_no_text_makes_reading_claims_fail(text: str) -> None:
    for name in claims_of(text, ENGLISH).names:
        assert all(part in text for part in name.split())
