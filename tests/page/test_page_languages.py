"""One language at a time: pages, in each language of the interface, hold no word of another one beside names and data.

Asked of each text that shows: the data's own texts and names are taken out of it; what is left must have no word that the
program says in other languages and not in this one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from playwright.sync_api import Page, expect

from crmrag_query.artifacts.release import open_release
from crmrag_query.graph.graph import Graph
from tests.conftest import ROOT
from tests.page.conftest import answered
from tests.page.sets import VASES, open_set

ASINOU = "https://example.org/troodos/church/asinou"
QUESTIONS = {
    "en": ("When was the church of Asinou built?", "Which churches were built before 1200?", "Who was Bessarion?"),
    "de": ("Wann wurde die Kirche von Asinou gebaut?", "Welche Kirchen wurden vor 1200 gebaut?", "Wer war Bessarion?"),
    "fr": ("Quand l'église d'Asinou a-t-elle été construite ?", "Quelles églises sont d'avant 1200 ?", "Qui est Bessarion ?"),
    "el": ("Πότε χτίστηκε η εκκλησία της Ασίνου;", "Ποιες εκκλησίες χτίστηκαν πριν το 1200;", "Ποιος ήταν ο Bessarion;"),
    "it": ("Quando è stata costruita la chiesa di Asinou?", "Quali chiese sono di prima del 1200?", "Chi era Bessarion?"),
    "es": ("¿Cuándo se construyó la iglesia de Asinou?", "¿Qué iglesias son de antes de 1200?", "¿Quién era Bessarion?"),
}  # fmt: skip
"""In each language: of one thing, of a set, of what the data does not have."""
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
SHOWN = """() => {
  const texts = new Set();
  const apart = '.snippet, .document, .release, code, bdi[lang], blockquote, select, .name-list, tspan, [lang]:not(html)';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.checkVisibility({visibilityProperty: true}) && !element.closest(apart))
      texts.add(walker.currentNode.data.trim());
  }
  for (const element of document.querySelectorAll('[aria-label], [placeholder], [title]'))
    if (element.checkVisibility() && !element.closest(apart))
      for (const name of ['aria-label', 'placeholder', 'title']) texts.add((element.getAttribute(name) ?? '').trim());
  return [...texts].filter(Boolean);
}"""
"""What shows, without what is the data's by its markup: quotations, names in their languages, documents, identifiers."""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _by_language(value: Any) -> Iterator[tuple[str, str]]:
    """Texts below the keys that are languages, with their language."""
    if isinstance(value, list):
        for one in value:
            yield from _by_language(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            found = ((key, text) for text in _texts(one)) if key in QUESTIONS else _by_language(one)
            yield from found


@cache
def program_texts() -> dict[str, tuple[str, ...]]:
    """What the program says in each language, but for the words of the page."""
    found: dict[str, list[str]] = {tag: [] for tag in QUESTIONS}
    for name in ("sets", "sentences", "relations", "translations", "modes"):
        value = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
        if name == "translations":
            found["en"] += value["labels"]
        if name == "sets":
            value = value["languages"]
        for tag, text in _by_language(value):
            found[tag].append(text)
    for path in (ROOT / "config" / "ontology").glob("*.csv"):
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
            for tag in QUESTIONS:
                found[tag].append(row.get(f"label@{tag}") or row.get("label") or row.get("label@en") or "")
    return {tag: tuple(texts) for tag, texts in found.items()}


def words(texts: Iterator[str] | tuple[str, ...]) -> set[str]:
    return {word.lower() for text in texts for word in WORD.findall(text)}


@cache
def read_words(tag: str) -> set[str]:
    """Words that questions in a language are read by: words of it, such as those in a date."""
    files = (ROOT / "config" / folder / f"{tag}.yaml" for folder in ("languages", "words"))
    return words(tuple(path.read_text(encoding="utf-8") for path in files))


@cache
def names(folder: Path) -> re.Pattern[str]:
    """The data's own texts and names, the longest first."""
    found: set[str] = set()
    for dataset in ("sample", "atlas"):
        release = open_release(dataset, folder)
        found.update(release[Graph].label_rows[0].column("text").to_pylist())
        found.update(release.manifest.examples)
        found.update(one for one in (release.manifest.title, release.manifest.attribution) if one)
    ordered = sorted((one.lower() for one in found if len(one) > 2), key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)")


@pytest.fixture
def interface(page: Page) -> dict[str, set[str]]:
    """The words of the page's own texts by language."""
    page.goto("/")
    told = page.evaluate(
        """async tags => Object.fromEntries(await Promise.all(tags.map(async tag => [tag, (await Promise.all(
          ["", "visual."].map(name => import(`/static/js/words/${name}${tag}.js`)))).flatMap(one => Object.values(one.default)
          .flatMap(text => typeof text === "string" ? [text] : Object.values(text)))])))""",
        list(QUESTIONS),
    )
    return {tag: words(tuple(texts)) | words(program_texts()[tag]) for tag, texts in told.items()}


def pages(page: Page, tag: str) -> Iterator[str]:
    """Twelve pages, each shown when it is named."""
    page.goto("/?dataset=atlas")
    page.get_by_role("region").nth(1).wait_for()
    yield "home"
    one, many, nobody = QUESTIONS[tag]
    for name, question in (("one thing", one), ("a set", many), ("a refusal", nobody)):
        page.goto(f"/?dataset=sample&q={quote(question)}")
        answered(page)
        yield name
    page.goto(f"/?dataset=sample&q={quote(many)}")
    answered(page)
    page.locator(".set-open a").click()
    expect(page.locator(".facet").first).to_be_visible()
    yield "a whole set"
    for tab in ("table", "map", "time", "graph"):
        open_set(page, "atlas", VASES, "" if tab == "table" else tab)
        page.locator(".set-head .figure").wait_for()
        page.get_by_role("tabpanel").wait_for()
        page.wait_for_load_state("networkidle")
        yield f"tab {tab}"
    page.goto(f"/e?dataset=sample&iri={quote(ASINOU, safe='')}")
    page.locator(".entity-section").first.wait_for()
    yield "an entity"
    page.goto("/d/sample")
    page.locator(".coverage meter").first.wait_for()
    yield "a data set"
    page.goto("/nowhere")
    page.locator("h1").wait_for()
    yield "no page"


@pytest.mark.parametrize(
    "tag", ["de", *(pytest.param(one, marks=pytest.mark.slow) for one in QUESTIONS if one != "de")]
)
def test_no_page_has_words_of_another_language(
    page: Page, data: Path, interface: dict[str, set[str]], tag: str
) -> None:
    page.add_init_script(f"localStorage.setItem('crmrag.language', JSON.stringify('{tag}'))")
    others = set[str]().union(*(found for other, found in interface.items() if other != tag))
    own = interface[tag] | words(tuple(QUESTIONS[tag])) | read_words(tag)
    wrong: dict[str, list[tuple[list[str], str]]] = {}
    shown = 0
    for name in pages(page, tag):
        shown += 1
        expect(page.locator("html")).to_have_attribute("lang", tag)
        page.locator("[aria-busy=true], .skeleton").first.wait_for(state="detached")
        for text in page.evaluate(SHOWN):
            left = words((names(data).sub(" ", text.lower()),))
            if found := sorted(left & others - own):
                wrong.setdefault(name, []).append((found, text))
    assert shown == 12 and not wrong, "\n".join(f"{name}: {texts}" for name, texts in wrong.items())
