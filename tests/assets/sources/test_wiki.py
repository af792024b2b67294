"""Dumps of a MediaWiki become pages that refer to pages: redirects resolved, the last revision of each, in any encoding."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.opened import harvest_of
from crmrag_assets.sources.look import first_statements
from crmrag_assets.sources.wiki.kind import NO_PAGE, NO_TARGET, Site, WikiDumps, read
from crmrag_query import Client
from crmrag_query.artifacts.release import open_release
from crmrag_query.config.datasets import parse_dataset
from crmrag_query.config.loading import load_method
from crmrag_query.config.sources import WikiConfig
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import SourceError
from tests.support.builds import build_all, make_project

METHOD = load_method()
WIKI = "https://bell.example/wiki/"
REFERS, LABEL, OTHER, TEXT = (
    "http://www.cidoc-crm.org/cidoc-crm/P67_refers_to",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.cidoc-crm.org/cidoc-crm/P190_has_symbolic_content",
)
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" xml:lang="en">
<siteinfo><base>https://bell.example/wiki/Main_Page</base><case>first-letter</case><namespaces>
<namespace key="0"/><namespace key="1">Talk</namespace><namespace key="14">Kind</namespace></namespaces></siteinfo>
"""
FOOT = "</mediawiki>"


def page(title: str, *texts: str, ns: int = 0, redirect: str = "") -> str:
    """A page with revisions, oldest first."""
    told = f'<redirect title="{escape(redirect)}"/>' if redirect else ""
    revisions = "".join(
        f"<revision><id>{number}</id><timestamp>20{number:02}-01-01T00:00:00Z</timestamp>"
        f"<contributor><ip>1.2.3.4</ip></contributor><text>{escape(text)}</text></revision>"
        for number, text in enumerate(texts or (f"#REDIRECT [[{redirect}]]",), 1)
    )
    return f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>{abs(hash(title)) % 999}</id>{told}{revisions}</page>\n"


BELLS = (
    HEAD
    + "".join(
        [
            page("Great bell", "It was cast by [[maker]]."),
            page("Bell", redirect="Great bell"),
            page("Big Bell", redirect="Bell"),
            page("Lost", redirect="Nowhere"),
            page("Talk:Great bell", "Not read.", ns=1),
            page(
                "Maker",
                "Old words, [[Great bell]].",
                "'''Ann''' cast the [[Big_Bell#size|largest bell]] in the [[Tower|tower]].<ref>[[Great bell]] note</ref>"
                "\n\n{{Box|name=[[Great bell]]}}\n[[File:Ann.jpg|thumb|Ann at work]] She [[:Kind:Founders|founded]] more."
                "\n\n[[Kind:Founders]] [[Category:People]]",
            ),
        ]
    )
    + FOOT
)


def dumps(*paths: Path, **keys: object) -> WikiDumps:
    config = WikiConfig.model_validate({"files": [path.name for path in paths], **keys})
    return WikiDumps(paths, METHOD, paths[0].parent, config=config)


def written(folder: Path, content: str | bytes = BELLS, name: str = "dump.xml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def discovered(source: WikiDumps, folder: Path) -> tuple[Discovery, set[tuple[str, str, str, str]]]:
    folder.mkdir(exist_ok=True)
    found = source.discover(folder, SilentProgress())
    frame = source.fetch(folder, range(256)).frame
    return found, set(frame.select("s", "p", "o", "lang").iter_rows())


def stated(triples: set[tuple[str, str, str, str]], prop: str) -> set[tuple[str, str]]:
    return {
        (s.removeprefix(WIKI), o.removeprefix(WIKI))
        for s, p, o, _ in triples
        if p == prop and s.startswith(WIKI)
    }


def test_pages_refer_to_pages_through_redirects_and_say_their_last_revision(tmp_path: Path) -> None:
    found, triples = discovered(dumps(written(tmp_path)), tmp_path / "d")
    assert stated(triples, REFERS) == {("Great_bell", "Maker"), ("Maker", "Great_bell")}
    assert stated(triples, OTHER) == {("Great_bell", "Bell"), ("Great_bell", "Big Bell")}
    assert stated(triples, TEXT) == {
        ("Great_bell", "It was cast by maker."),
        ("Maker", "Ann cast the largest bell in the tower.\n\nShe founded more."),
    }
    names = stated(triples, LABEL)
    assert names == {
        ("Great_bell", "Great bell"), ("Maker", "Maker"), ("Category:Founders", "Founders"), ("Category:People", "People"),
    }  # fmt: skip
    assert {language for s, p, _, language in triples if p in (LABEL, TEXT) and s.startswith(WIKI)} == {"en"}
    assert found.report.skipped == {NO_PAGE: 1, NO_TARGET: 1} and not found.report.broken_count


def test_other_namespaces_are_read_where_they_are_asked_for(tmp_path: Path) -> None:
    _, triples = discovered(dumps(written(tmp_path), namespaces=[1]), tmp_path / "d")
    assert stated(triples, TEXT) == {("Talk:Great_bell", "Not read.")}


def multistream(text: str) -> bytes:
    """As Wikipedia publishes them: the head, each hundred pages and the foot are streams of their own."""
    middle = text.index("<page>")
    return b"".join(bz2.compress(part.encode()) for part in (text[:middle], text[middle:-12], text[-12:]))


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("dump.xml.bz2", lambda text: bz2.compress(text.encode())),
        ("dump.xml.bz2", multistream),
        ("dump.xml.gz", lambda text: gzip.compress(text.encode())),
        ("dump.xml", lambda text: text.encode("utf-8-sig")),
        ("dump.xml", lambda text: text.encode("utf-16")),
        ("dump.xml", lambda text: text.encode("utf-16-le")),
        ("dump.xml", lambda text: text.encode("utf-16-be")),
        ("dump.xml.bz2", lambda text: bz2.compress(text.encode("utf-16"))),
    ],
    ids=["bz2", "multistream", "gz", "marked", "utf-16", "utf-16-le", "utf-16-be", "utf-16 bz2"],
)
def test_a_dump_says_the_same_however_it_is_written(
    tmp_path: Path, name: str, packed: Callable[[str], bytes]
) -> None:
    _, expected = discovered(dumps(written(tmp_path, name="plain.xml")), tmp_path / "p")
    text = BELLS.replace("Great bell", "Große Glocke")
    _, plain = discovered(dumps(written(tmp_path, text, "other.xml")), tmp_path / "o")
    assert len(plain) == len(expected) and plain != expected
    found, triples = discovered(dumps(written(tmp_path, packed(text), name)), tmp_path / "d")
    assert triples == plain and not found.report.broken_count


def test_parts_of_a_dump_are_one_wiki(tmp_path: Path) -> None:
    pages = BELLS[len(HEAD) : -len(FOOT)].splitlines(keepends=True)
    first = written(tmp_path, HEAD + "".join(pages[:2]) + FOOT, "1.xml")
    second = written(tmp_path, HEAD + "".join(pages[2:]) + FOOT, "2.xml")
    _, triples = discovered(dumps(first, second), tmp_path / "d")
    assert triples == discovered(dumps(written(tmp_path)), tmp_path / "w")[1]


PAGES = [page(f"Page {n}", f"Words {n}. " * 30 + f"[[Page {n - 1}]]") for n in range(40)]


def of_first(pages: int, folder: Path) -> set[tuple[str, str, str, str]]:
    """The triples of a dump that is whole and has so many pages."""
    whole = written(folder, HEAD + "".join(PAGES[:pages]) + FOOT, "whole.xml")
    return discovered(dumps(whole), folder / "w")[1]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.floats(0.1, 0.99))
def test_a_dump_that_breaks_off_gives_its_first_pages_and_says_so(tmp_path: Path, share: float) -> None:
    text = HEAD + "".join(PAGES) + FOOT
    cut = text[: int(len(text) * share)]
    found, triples = discovered(dumps(written(tmp_path, cut)), tmp_path / "d")
    pages = cut.count("</page>")
    assert triples == of_first(pages, tmp_path)
    (fault,) = found.report.broken
    assert f"after {pages} pages" in fault.text and "the rest cannot be read" in fault.reason


def test_a_compressed_dump_that_breaks_off_gives_what_could_be_unpacked(tmp_path: Path) -> None:
    streams = [HEAD, "".join(PAGES[:10]), "".join(PAGES[10:20]), "".join(PAGES[20:]), FOOT]
    packed = b"".join(bz2.compress(part.encode()) for part in streams[:3])
    cut = packed + bz2.compress(streams[3].encode())[:-20]
    found, triples = discovered(dumps(written(tmp_path, cut, "cut.xml.bz2")), tmp_path / "d")
    (fault,) = found.report.broken
    pages = int(fault.text.split()[1])
    assert 16 <= pages <= 20, "all but the last few kilobytes before the fault"
    assert triples == of_first(pages, tmp_path) and "cannot be read to its end" in fault.reason


def test_a_page_that_cannot_be_understood_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    broken = "<page><title>Odd</title><ns>many</ns><id>1</id><revision/></page><logitem/><unknown>x</unknown>"
    text = BELLS.replace("<page>", broken + "<page>", 1)
    found, triples = discovered(dumps(written(tmp_path, text)), tmp_path / "d")
    assert triples == discovered(dumps(written(tmp_path)), tmp_path / "w")[1]
    assert found.report.broken_count == 1 and "cannot be understood" in found.report.broken[0].reason


LEVELS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
BOMB = f'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a0 "aaaaaaaaaa">{LEVELS}]>'


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (BOMB + HEAD + page("A", "&a8;").replace("&amp;a8;", "&a8;") + FOOT, "declares entities"),
        ('<!DOCTYPE m SYSTEM "file:///etc/passwd">' + HEAD + FOOT, "declares entities"),
        ((BOMB + HEAD + FOOT).encode("utf-16"), "declares entities"),
        ("<!-- " + "x" * 70_000 + " -->" + BOMB + HEAD + FOOT, "is no dump of a MediaWiki"),
        ("<html><body>Log in</body></html>", "is no dump of a MediaWiki"),
        ("", "is no dump of a MediaWiki"),
        (b"\x00\xff" * 50, "is no dump of a MediaWiki"),
        (HEAD + FOOT, "there is no triple"),
    ],
)
def test_what_is_no_dump_or_a_trap_is_refused_by_name(
    tmp_path: Path, content: str | bytes, told: str
) -> None:
    with pytest.raises(SourceError, match=told) as caught:
        discovered(dumps(written(tmp_path, content)), tmp_path / "d")
    assert "dump.xml" in str(caught.value)


@pytest.mark.parametrize("language", ["-", "en-", "abcdefghijklmnop"])
@pytest.mark.parametrize(
    "base", ["https://bell example/wiki/Main_Page", "https://bell.example/{x}/", "//x/wiki/Main_Page", ""]
)
def test_a_dump_that_says_nonsense_of_its_wiki_is_read_as_if_it_said_nothing(
    tmp_path: Path, base: str, language: str
) -> None:
    head = HEAD.replace(f"{WIKI}Main_Page", base).replace('"en"', f'"{language}"')
    path = written(tmp_path, head + page("Great bell", "It was cast.") + FOOT)
    _, triples = discovered(dumps(path), tmp_path / "d")
    assert {
        ("urn:wiki:Great_bell", LABEL, "Great bell", ""),
        ("urn:wiki:Great_bell", TEXT, "It was cast.", ""),
    } <= triples


def test_a_check_reads_the_first_page_of_each_dump(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, BOMB + HEAD + FOOT, "bomb.xml")
    written(tmp_path, HEAD + FOOT, "none.xml")
    file = tmp_path / "config" / "datasets.yaml"
    dataset = parse_dataset("bells", {"sources": [{"wiki": "*.xml"}]}, file)
    bomb, none = first_statements(dataset, METHOD)
    assert (
        "bomb.xml declares entities" in bomb
        and "none.xml: there is no page in it. Export its pages again" in none
    )


def test_a_compressed_bomb_is_let_alone_where_it_begins_to_expand(tmp_path: Path) -> None:
    bomb = bz2.compress((HEAD + page("First", "One.") + page("Bomb", "0" * 60_000_000) + FOOT).encode())
    found, triples = discovered(dumps(written(tmp_path, bomb, "dump.xml.bz2")), tmp_path / "d")
    assert stated(triples, TEXT) == {("First", "One.")}
    assert "expands to over" in found.report.broken[0].reason


@given(st.text(alphabet="[]{}|'=<>/!-#*: \nabFile", max_size=60))
def test_any_wikitext_is_read(text: str) -> None:
    said = read(text, Site())
    assert "''" not in said.text and all(link == Site().title(link) for link in said.links)


def test_a_wiki_becomes_a_release_that_answers_without_any_cidoc_crm_of_its_own(tmp_path: Path) -> None:
    story = (
        "The tower was built on a hill of chalk. " * 60
        + "In the last year of all a heron nested in its lantern."
    )
    text = BELLS.replace(FOOT, page("Kestrel Rock", story) + FOOT)
    for plain, name in (
        ("[[Tower|tower]]", "[[Kestrel Rock]]"),
        ("[[maker]]", "[[Brenna Tollan]]"),
        ("Maker", "Brenna Tollan"),
    ):
        text = text.replace(plain, name)
    project = make_project(
        tmp_path / "project", sources=[{"wiki": "dump.xml"}], languages=["en"], write_markdown=False
    )
    written(project.root, text)
    build_all(project.context())
    assert harvest_of(project.context())["concerns"] == ["1 triples were left out."], (
        "the redirect to nowhere"
    )
    documents = open_release("churches", project.data)[Documents]
    own = {documents.label(number) for number in range(documents.count)}
    assert {"Great bell", "Kestrel Rock", "Brenna Tollan"} <= own, "thin as they are"
    with Client(project.data) as client:
        late = client.ask("Where did a heron nest?", dataset="churches")
        told = client.ask("Which pages refer to Kestrel Rock?", dataset="churches")
    assert "lantern" in late.text, "by the end of its long text"
    assert "Brenna Tollan" in told.text and "Great bell" not in told.text


@pytest.mark.slow
def test_a_piece_of_wikipedia_has_the_pages_and_links_that_were_counted_otherwise(
    shared_data: Path, tmp_path: Path
) -> None:
    path = shared_data / "wiki" / "enwiki-shortened.xml.bz2"
    source = dumps(path)
    found, triples = discovered(source, tmp_path / "d")
    assert (sum(p == TEXT for _, p, _, _ in triples), len(source._index.redirects)) == (106, 100)
    assert sum(p == REFERS for _, p, _, _ in triples) == 87
    assert sum(p == OTHER for _, p, _, _ in triples) == 13
    assert found.report.broken_count == 0
    frame = pl.DataFrame([o for _, p, o, _ in triples if p == TEXT])
    assert not frame.to_series().str.contains(r"\{\{|\}\}|'''|<ref|\[\[File").any()
