"""The documentation as a site: it builds without a warning, is whole, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml

from tests.conftest import ROOT
from tests.support.documentation import DOCS

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
pytest.importorskip("material", reason="the extra docs is not installed")

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
LOADED_LINKS = {
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "modulepreload",
    "manifest",
}


class Page(HTMLParser):
    """What a page leads to, what it loads, and the places in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and set(given.get("rel", "").split()) & LOADED_LINKS:
            self.loaded.append(given["href"])
        if address := given.get(LOADED.get(tag, "")):
            self.loaded.append(address)
        self.loaded += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)], cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}


def outside(address: str) -> bool:
    return bool(urlsplit(address).netloc) and urlsplit(address).scheme in ("http", "https", "")


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    lost = []
    for page in pages.values():
        for link in [*page.links, *page.loaded]:
            path, anchor = urldefrag(link)
            if urlsplit(link).scheme or outside(link) or page.path.name == "404.html":
                continue
            target = (page.path.parent / unquote(path)).resolve() if path else page.path.resolve()
            target = target / "index.html" if target.is_dir() else target
            there = target.is_file() and (
                not anchor or target not in pages or unquote(anchor) in pages[target].ids
            )
            if not there:
                lost.append(f"{page.path.name}: {link}")
    assert lost == []


def test_nothing_is_loaded_from_other_hosts(site: Path, pages: dict[Path, Page]) -> None:
    assert [
        f"{page.path.name}: {one}" for page in pages.values() for one in page.loaded if outside(one)
    ] == []
    for page in pages.values():
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", page.text)
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:@import\s+['\"]|url\(\s*['\"]?)(?:https?:)?//", text), sheet
    assert not [path for path in site.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf")]


def test_every_page_is_in_the_navigation() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(named(settings["nav"])) == sorted(
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")
    )


def named(entry: object) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict | list):
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from named(inner)


def test_every_picture_is_there_and_told_in_words(site: Path) -> None:
    shown = set()
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        for words, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert len(words) > 8, f"{page.name}: {path}"
            shown.add((page.parent / path).resolve())
    assert shown == {path.resolve() for path in (DOCS / "images").iterdir()}
    assert {path.name for path in shown} == {path.name for path in (site / "images").iterdir()}


def test_what_a_newcomer_looks_for_is_two_clicks_away(pages: dict[Path, Page], site: Path) -> None:
    first = pages[(site / "index.html").resolve()]
    wanted = {
        "start.html", "data.html", "endpoints.html", "service.html", "client.html", "http.html", "mcp.html", "openai.html",
        "reference/configuration.html", "reference/commands.html", "reference/http.html", "errors.html", "glossary.html",
    }  # fmt: skip
    assert wanted <= {urldefrag(link)[0] for link in first.links}
