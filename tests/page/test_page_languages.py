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
from typing import Any, get_args
from urllib.parse import quote

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from crmrag_query.artifacts.release import open_release
from crmrag_query.graph.graph import Graph
from crmrag_query.notes import NoteKind
from tests.conftest import ROOT
from tests.page.conftest import PATIENCE, answered
from tests.page.sets import VASES, open_set
from tests.support.regulation import build_regulation
from tests.support.service import process
from tests.support.shared import made_once

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
def names(folder: Path, *datasets: str) -> re.Pattern[str]:
    """The data's own texts and names, the longest first."""
    found: set[str] = set()
    for dataset in datasets:
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


TAGS = ["de", *(pytest.param(one, marks=pytest.mark.slow) for one in QUESTIONS if one != "de")]


def foreign(
    page: Page, tag: str, interface: dict[str, set[str]], own_names: re.Pattern[str], asked: tuple[str, ...]
) -> list[tuple[list[str], str]]:
    """The texts that show with words of another language, beside names and ``asked``."""
    others = set[str]().union(*(found for other, found in interface.items() if other != tag))
    own = interface[tag] | words(asked) | read_words(tag)
    expect(page.locator("html")).to_have_attribute("lang", tag)
    page.locator("[aria-busy=true], .skeleton").first.wait_for(state="detached")
    told = ((words((own_names.sub(" ", text.lower()),)), text) for text in page.evaluate(SHOWN))
    return [(found, text) for left, text in told if (found := sorted(left & others - own))]


def speaking(page: Page, tag: str) -> Page:
    """The page, which speaks a language from its next address on."""
    page.add_init_script(f"localStorage.setItem('crmrag.language', JSON.stringify('{tag}'))")
    return page


@pytest.mark.parametrize("tag", TAGS)
def test_no_page_has_words_of_another_language(
    page: Page, data: Path, interface: dict[str, set[str]], tag: str
) -> None:
    known = names(data, "sample", "atlas")
    wrong = {
        name: foreign(page, tag, interface, known, QUESTIONS[tag]) for name in pages(speaking(page, tag), tag)
    }
    assert len(wrong) == 12 and not any(wrong.values()), told_of(wrong)


def told_of(wrong: dict[str, list[tuple[list[str], str]]]) -> str:
    return "\n".join(f"{name}: {texts}" for name, texts in wrong.items() if texts)


NEWER = {
    "en": (
        "What are the main topics of the collection?",
        "Who painted the church that Nikephoros founded?",
        "What does 12/1987 amend?",
    ),
    "de": (
        "Was sind die wichtigsten Themen der Sammlung?",
        "Wer malte die Kirche, die Nikephoros gründete?",
        "Was ändert 12/1987?",
    ),
    "fr": (
        "Quels sont les principaux thèmes de la collection ?",
        "Qui a peint l'église que Nikephoros a fondée ?",
        "Que modifie 12/1987 ?",
    ),
    "el": (
        "Ποια είναι τα κύρια θέματα της συλλογής;",
        "Ποιος ζωγράφισε την εκκλησία που ίδρυσε ο Nikephoros;",
        "Τι τροποποιεί το 12/1987;",
    ),
    "it": (
        "Quali sono i temi principali della collezione?",
        "Chi ha dipinto la chiesa fondata da Nikephoros?",
        "Che cosa modifica 12/1987?",
    ),
    "es": (
        "¿Cuáles son los temas principales de la colección?",
        "¿Quién pintó la iglesia que fundó Nikephoros?",
        "¿Qué modifica 12/1987?",
    ),
}
"""In each language: of themes, of what only a path leads to, of what a machine read from a page."""


def ask(page: Page, question: str, mode: str = "", dataset: str = "sample") -> None:
    """Ask it on the first page of a data set and wait for the answer."""
    page.goto(f"/?dataset={dataset}")
    if mode:
        page.locator("select:has(option[value=walker])").select_option(mode)
    page.locator("[role=combobox]:not(select)").first.fill(question)
    page.keyboard.press("Enter")
    answered(page)


@pytest.mark.slow
@pytest.mark.parametrize("tag", TAGS)
def test_neither_have_themes_paths_and_notes_of_what_failed(
    page: Page, data: Path, service: str, interface: dict[str, set[str]], tag: str
) -> None:
    known, wrong = names(data, "sample"), dict[str, list[tuple[list[str], str]]]()
    speaking(page, tag)

    def look(name: str) -> None:
        wrong[name] = foreign(page, tag, interface, known, NEWER[tag])

    of_themes, of_path, _ = NEWER[tag]
    page.goto("/d/sample")
    page.locator(".theme-map a").first.click()
    page.locator(".dataset-head h1").wait_for()
    look("a theme")
    ask(page, of_themes)
    expect(page.locator(".source-kind").first).to_be_visible()
    look("an answer by themes")
    ask(page, of_path, "walker")
    for closed in page.locator(".turn details:not([open]) > summary").all():
        closed.click()
    look("a path")
    kept = httpx.post(f"{service}/api/v1/ask", json={"question": of_path, "dataset": "sample"}).json()
    told = httpx.get(f"{service}/api/v1/answers", params={"id": kept["id"]}).json()
    values = {"n": "3", "all": "5", "score": "0.10", "words": "Asinou"}
    values |= {"label": "Asinou", "labels": "Asinou"}
    remarks = [
        {"note": f"It {kind} failed.", "kind": kind, "values": values, "passing": True}
        for kind in get_args(NoteKind)
    ]
    told["answer"] |= {"notes": [one["note"] for one in remarks], "remarks": remarks}
    page.route("**/api/v1/answers?*", lambda route: route.fulfill(json=told))
    page.goto(f"/a/{kept['id']}")
    expect(page.locator(".notes li")).to_have_count(len(remarks))
    look("what failed")
    assert len(wrong) == 4 and not any(wrong.values()), told_of(wrong)


@pytest.fixture(scope="module")
def regulation(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> Iterator[tuple[str, Path]]:
    """The address of a service over documents that a machine read, and its data folder."""
    folder = made_once(tmp_path_factory, "regulation", build_regulation) / "data"
    with process(folder, forked=forked) as running:
        yield running.address, folder


@pytest.mark.slow
@pytest.mark.parametrize("tag", TAGS)
def test_neither_have_documents_of_pages_candidates_and_what_is_sent(
    browser: Browser, regulation: tuple[str, Path], page: Page, interface: dict[str, set[str]], tag: str
) -> None:
    address, folder = regulation
    known, wrong = names(folder, "churches"), dict[str, list[tuple[list[str], str]]]()
    scans = speaking(browser.new_page(base_url=address), tag)
    scans.set_default_timeout(PATIENCE)
    states = ("waiting", "there", "refused")
    sent = [{"id": state, "name": "regulation.pdf", "state": state, "why": ""} for state in states]
    scans.route(
        "**/api/v1/documents?*", lambda route: route.fulfill(json={"documents": sent, "dataset": "churches"})
    )
    try:
        ask(scans, NEWER[tag][2], dataset="churches")
        scans.locator(".source").first.wait_for()
        wrong["an answer"] = foreign(scans, tag, interface, known, NEWER[tag])
        scans.goto("/d/churches")
        scans.locator(".candidates li").first.wait_for()
        scans.locator(".upload").wait_for()
        wrong["a data set"] = foreign(scans, tag, interface, known, NEWER[tag])
    finally:
        scans.close()
    assert len(wrong) == 2 and not any(wrong.values()), told_of(wrong)
