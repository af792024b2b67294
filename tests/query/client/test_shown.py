"""Results print well, show in notebooks without trusting the data, and give frames."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query import Client, errors
from crmrag_query.answers.records import Answer, Lineage, Source
from crmrag_query.client import wire
from crmrag_query.client.records import (
    Dataset,
    Datasets,
    Entity,
    Found,
    FoundEntity,
    Neighbours,
    RankedDocument,
    Ranking,
    Related,
)
from crmrag_query.shown import Named, Shown, SourceTriple, bidi, link, paragraphs, table

QUESTION = "When was the church of Asinou built?"
ASINOU = "https://example.org/troodos/church/asinou"
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "</td></table><h1>",
    "data:text/html,<script>", "&lt;b&gt;", "\u202eevil", "a\nb", "http://e/\" onmouseover=\"x", "JAVASCRIPT:alert(1)",
    "http://e/<script>", "https://", "http:\\\\e", " http://e", "java\tscript:x", "vbscript:x", "//e/x", "x" * 100_000,
)  # fmt: skip
TAGS = {"div", "bdi", "table", "thead", "tbody", "tr", "th", "td", "p", "a"}
ATTRIBUTES = {"style", "href", "target", "rel"}


class Checker(HTMLParser):
    """Fails on a tag or an attribute that the templates do not write, and on a link that leads no web address."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS and {name for name, _ in attrs} <= ATTRIBUTES, (tag, attrs)
        given = dict(attrs)
        if tag == "a":
            assert str(given["href"]).startswith(("http://", "https://")) and "noopener" in str(given["rel"])
        assert given.get("style") in (None, "text-align:left", "white-space:pre-wrap")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(page: str) -> str:
    """The text of a page that holds only what the templates write."""
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert not checker.open
    return checker.text


def results(text: str) -> list[Shown]:
    """Every kind of result, with ``text`` wherever data may stand."""
    triple = SourceTriple(text, text, text, text, text, text, (text,))
    source = Source(1, text, text, text, (triple,), (text,), text, (Named(text, text),), (text,))
    related = (Related(text, text, text, 1, (Named(text, text),)),)
    found = FoundEntity(text, text, text, (text,), text, text, 0.5)
    return [
        Answer(text, text, (source,), text, text, False, text, (text,)),
        Neighbours(text, text, (triple,), 1, 0, text, text),
        Lineage(text, text, text, True, (text,), text, (), None),
        Found(text, (found,), text, text),
        Ranking(text, (RankedDocument(1, text, text, text, 0.5, {text: 1}, text),), text, text),
        Entity(text, text, text, (), text, text, {text: (text,)}, text, relationships=related),
        Dataset(text, text, text, text, text, (text,), (text,), text, {text: 1}),
        Datasets((Dataset(text, text, text),)),
    ]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_the_data_becomes_markup(text: str) -> None:
    for result in results(text):
        checked(result._repr_html_())
        assert "\x1b" not in str(result) and "\u202e" not in str(result) + repr(result)
        assert len(repr(result)) < 500


@given(st.text())
def test_any_text_is_shown_as_itself(text: str) -> None:
    told = checked(table(["x"], [[text]]) + paragraphs(text))
    assert told.replace("\r", "").startswith("x") and len(results(text)) == 8
    assert (
        checked(bidi(text)) == text.replace("\r\n", "\n").replace("\r", "\n") or "\0" in text or "\r" in text
    )


@pytest.mark.parametrize(
    ("address", "is_link"),
    [("http://e/x", True), ("https://e/%C3%A9?a=1&b=2#c", True), ("https://e/é", True), ("ftp://e/x", False),
     ("urn:x", False), ("http:///x", False), ("http://[", False), ("javascript://e/%0aalert(1)", False)],
)  # fmt: skip
def test_only_web_addresses_become_links(address: str, is_link: bool) -> None:
    assert ("<a " in link(address)) is is_link
    assert checked(link(address)) == address


def test_long_tables_say_how_much_more_there_is() -> None:
    triples = tuple(SourceTriple(str(n), "p", "o", str(n), "p", "o") for n in range(120))
    page = Neighbours("i", "Bell", triples, 500, 0, "d", "r", 120)
    assert "and 70 more" in checked(page._repr_html_()) and "and 70 more" in str(page)
    assert "1–120 of 500" in str(page)


def test_every_result_prints_and_shows(local: Client) -> None:
    answer = local.ask(QUESTION)
    for result in (
        answer,
        local.entity(ASINOU),
        local.neighbours(ASINOU),
        local.search("Asinou"),
        local.retrieve(QUESTION),
        local.lineage(answer.sources[0].triples[0]),
        local.datasets(),
        local.datasets()["sample"],
    ):
        assert len(checked(result._repr_html_())) > 20
        assert len(str(result)) > 20 and "\n" not in repr(result)
        frame, other = result.to_polars(), result.to_pandas()
        assert frame.columns == list(other.columns) == list(result.COLUMNS)
        assert len(frame) == len(other) == len(result.rows()) > 0
        for column in frame.columns:
            values = other[column].astype(object).where(other[column].notna(), None).tolist()
            assert values == frame[column].to_list()
        assert result.to_dict().keys() and result.to_json().startswith("{")
    assert "\nSources\n" in str(answer) and "1099–1105" in str(answer)
    assert "Παναγία" in str(local.entity(ASINOU))


def test_an_empty_result_has_the_columns_of_a_full_one(local: Client) -> None:
    full, empty = local.search("Asinou"), local.search("qqqqqqzzzz")
    assert len(empty) == 0 and empty.to_polars().schema == full.to_polars().schema
    assert list(empty.to_pandas().dtypes) == list(full.to_pandas().dtypes)
    assert "0 entities" in str(empty) and "0 entities" in checked(empty._repr_html_())


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_without_the_extra_frames_say_what_to_install(library: str) -> None:
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from crmrag_query import Found, errors\n"
        "try:\n"
        f"    Found('x', (), 'd', 'r').to_{library}()\n"
        "except errors.MissingExtraError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"to_{library}()" in done.stdout and "crmrag[frames]" in done.stdout
    assert issubclass(errors.MissingExtraError, errors.CrmRagError)


def test_every_result_gives_frames() -> None:
    """But an export, which is a file as it stands."""
    without = {
        route.name
        for route in wire.ROUTES
        if not all(callable(getattr(route.result, name, None)) for name in ("to_polars", "to_pandas"))
        or not hasattr(route.result, "rows")
    }
    assert without - {"export"} == set()


def test_one_thing_is_told_in_the_singular(local: Client) -> None:
    one, more = local.search("Asinou", limit=1), local.search("Asinou", limit=2)
    assert str(one).startswith("1 entity for") and "(1 row)" in repr(one)
    assert str(more).startswith("2 entities for") and "(2 rows)" in repr(more)
    assert "1 entity for" in str(local.graph_search("Asinou", limit=1))
