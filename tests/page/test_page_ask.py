"""Asking: the first page, the box and its proposals, streaming, citations, conversations, kept answers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.conftest import Asked, Axe, answered
from tests.support.modes import SHIPPED, WITHOUT_MODEL

SAINTS = "Which saints are depicted in the church of Panagia Phorbiotissa?"
CHURCHES = "Which churches are in the Troodos mountains?"


def test_the_first_page_says_what_can_be_asked_and_an_example_is_answered_with_sources(
    page: Page, axe: Axe
) -> None:
    page.goto("/?dataset=sample")
    expect(page.get_by_role("heading", level=1)).to_have_text("Painted churches")
    expect(page.get_by_role("link", name="When was Asinou painted?")).to_be_visible()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    axe()
    page.get_by_role("link", name="When was Asinou painted?").click()
    answered(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("When was Asinou painted?")
    expect(page.locator(".prose")).not_to_be_empty()
    assert page.locator(".turn-sources .source").count() > 0
    expect(page.locator(".facts")).to_contain_text("without a language model")
    axe()


def test_a_citation_lights_its_source_and_opens_it(page: Page, asked: Asked, axe: Axe) -> None:
    asked(SAINTS)
    cite = page.locator(".cite").nth(2)
    number = cite.inner_text()
    card = page.locator(f".source[id$='-{number}']")
    cite.hover()
    expect(card).to_have_class(re.compile("active"))
    page.mouse.move(0, 0)
    expect(card).not_to_have_class(re.compile("active"))
    cite.focus()
    expect(card).to_have_class(re.compile("active"))
    cite.click()
    expect(card).to_be_focused()
    expect(card.locator(".triple").first).to_be_visible()
    axe()


@pytest.mark.slow
def test_the_modes_are_asked_for_once_for_all_answers(page: Page, asked: Asked) -> None:
    requests: list[str] = []
    page.on("request", lambda one: requests.append(one.url))
    asked(SAINTS)
    page.get_by_role("combobox", name="Your next question").fill("Any more?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    assert len([url for url in requests if "/api/v1/modes" in url]) == 1


@pytest.mark.slow
def test_why_a_statement_is_here_is_told(page: Page, asked: Asked, axe: Axe) -> None:
    asked(SAINTS)
    page.locator(".cite").nth(1).click()
    page.locator(".source:focus .triple").first.get_by_role("button", name="Why is this here?").click()
    lineage = page.locator(".lineage").first
    expect(lineage).to_contain_text("Stands in the document of")
    expect(lineage).to_contain_text("troodos.ttl")
    axe()


@pytest.mark.slow
def test_names_are_proposed_and_taken_by_the_keyboard_alone(page: Page, axe: Axe) -> None:
    page.goto("/?dataset=sample")
    box = page.get_by_role("combobox", name="Your question")
    expect(box).to_be_focused()
    page.keyboard.type("Who painted Panagia Phorb")
    names = page.get_by_role("listbox", name="Names in the data")
    expect(names).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    axe()
    page.keyboard.press("ArrowDown")
    first = names.get_by_role("option").first
    expect(first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == first.get_attribute("id")
    label = first.locator("bdi").first.inner_text()
    page.keyboard.press("Enter")
    expect(box).to_have_value(f"Who painted {label} ")
    expect(names).to_be_hidden()
    page.keyboard.type("Asi")
    expect(names).to_be_visible()
    page.keyboard.press("Escape")
    expect(names).to_be_hidden()
    page.keyboard.press("Enter")
    answered(page)


def test_a_conversation_goes_on_and_comes_back_at_its_address(page: Page, asked: Asked, axe: Axe) -> None:
    asked("When was Asinou painted?")
    expect(page).to_have_url(re.compile("/c/"))
    box = page.get_by_role("combobox", name="Your next question")
    box.fill("Which saints are depicted there?")
    box.press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    texts = page.locator(".prose").all_inner_texts()
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)
    assert page.locator(".prose").all_inner_texts() == texts
    axe()
    box.fill("How many churches are in the Troodos mountains?")
    box.press("Enter")
    expect(page.locator(".turn")).to_have_count(3)
    answered(page)
    expect(page.locator(".turn").last).to_contain_text("23")


@pytest.mark.slow
def test_a_shared_conversation_can_be_read_and_gone_on_from_but_not_added_to(
    page: Page, asked: Asked, axe: Axe
) -> None:
    asked("When was Asinou painted?")
    page.get_by_role("button", name="Copy the conversation’s link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    page.evaluate("localStorage.clear()")  # another reader
    page.goto(link)
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.get_by_text("Somebody else began this conversation")).to_be_visible()
    axe()
    page.get_by_role("combobox", name="Your next question").fill("Who was the donor?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    expect(page.locator(".problem")).to_have_count(0)
    page.goto(link)
    expect(page.locator(".turn")).to_have_count(1)


def test_an_answer_has_an_address_is_cited_with_its_holder_release_and_day_and_can_be_replayed(
    page: Page, asked: Asked, axe: Axe
) -> None:
    asked(CHURCHES)
    page.get_by_role("button", name="Copy the link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Cite this").click()
    told = page.evaluate("navigator.clipboard.readText()")
    what = rf"Us\. “{re.escape(CHURCHES)}” Data set sample, release [0-9a-f]{{16}}\."
    assert re.fullmatch(rf"{what} Answered by CRM-RAG\. Accessed \w+ \d+, \d{{4}}\. http\S+/a/\S+\.", told), (
        told
    )
    text = page.locator(".prose").inner_text()
    page.goto(link)
    expect(page.locator(".prose")).to_have_text(text)
    axe()
    page.get_by_role("button", name="Ask once more").click()
    expect(page.get_by_text("The answer is the same. The data has not changed.")).to_be_visible()


@pytest.mark.slow
def test_an_answer_can_be_copied_with_its_sources(page: Page, asked: Asked) -> None:
    asked(SAINTS)
    page.get_by_role("button", name="Copy", exact=True).click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(SAINTS)
    said, *sources = re.split(r"\n(?=\[\d+\] )", copied)
    assert sources[0].startswith("[1] Saint Anastasia https://example.org/troodos/character/anastasia")
    assert re.findall(r"\[\d+\]", said) == [
        one.split(" ")[0] for one in sources
    ]  # all that is cited, and no other
    assert "/a/" in copied.splitlines()[-1]


@pytest.mark.slow
def test_feedback_is_taken(page: Page, asked: Asked, axe: Axe) -> None:
    asked(CHURCHES)
    page.get_by_role("button", name="A bad answer").click()
    expect(page.get_by_role("button", name="A bad answer")).to_have_attribute("aria-pressed", "true")
    axe()
    page.get_by_label("What was good or bad about it?").fill("Too short")
    with page.expect_request("**/api/v1/feedback") as sent:
        page.get_by_role("button", name="Send").click()
    assert sent.value.post_data_json["comment"] == "Too short"
    expect(page.get_by_text("Thank you.")).to_be_visible()


@pytest.mark.slow
def test_what_was_asked_is_remembered_in_this_browser_and_can_be_forgotten(page: Page, asked: Asked) -> None:
    asked(CHURCHES)
    page.goto("/?dataset=sample")
    page.get_by_role("link", name=CHURCHES).click()
    expect(page.locator(".prose")).to_contain_text("23")
    page.goto("/?dataset=sample")
    page.get_by_role("button", name="Forget them").click()
    expect(page.get_by_role("link", name=CHURCHES)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("link", name=CHURCHES)).to_have_count(0)


@pytest.mark.slow
def test_back_and_forward_move_between_pages(page: Page, asked: Asked) -> None:
    asked(CHURCHES)
    page.locator(".set-open a").click()
    expect(page).to_have_url(re.compile("/s"))
    page.go_back()
    expect(page.locator(".prose")).to_contain_text("23")
    page.go_forward()
    expect(page.locator(".set-head .figure")).to_have_text("23")


@pytest.mark.slow
def test_an_unknown_page_answer_or_conversation_is_told(page: Page, axe: Axe) -> None:
    page.goto("/a/no-such-answer")
    expect(page.get_by_role("alert")).to_contain_text("There is no such answer.")
    axe()
    page.goto("/c/no-such-conversation")
    expect(page.get_by_role("alert")).to_contain_text("There is no such conversation.")
    page.goto("/?dataset=nowhere&q=Who%3F")
    expect(page.get_by_role("alert").first).to_contain_text("nowhere")


@pytest.mark.slow
def test_the_graph_of_an_answer_is_drawn_when_asked_for(page: Page, asked: Asked) -> None:
    asked(SAINTS)
    page.get_by_role("button", name="How these are connected").click()
    expect(page.locator(".connections svg").last).to_be_visible()


@pytest.mark.slow
def test_a_slow_service_shows_that_it_works(page: Page, axe: Axe) -> None:
    held: list[Route] = []
    page.route("**/api/v1/ask", lambda route: held.append(route))
    page.goto("/?dataset=sample&q=When+was+Asinou+painted%3F")
    expect(page.get_by_text("Reading the question")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    axe()
    held[0].continue_()
    answered(page)


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_a_narrow_phone_never_scrolls_sideways(page: Page, asked: Asked, axe: Axe) -> None:
    def fits() -> None:
        assert (
            page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        )

    page.goto("/")
    fits()
    asked(SAINTS)
    fits()
    axe()
    asked(CHURCHES)
    page.locator(".set-open a").click()
    expect(page.locator(".set-head .figure")).to_have_text("23")
    fits()
    axe()


def test_a_mode_can_be_chosen_and_stays_for_the_questions_that_follow(page: Page, axe: Axe) -> None:
    page.goto("/?dataset=sample")
    pick = page.get_by_label("How to search")
    expect(pick).to_have_value("crm")
    pick.select_option("vector")
    axe()
    page.get_by_role("combobox", name="Your question").fill(CHURCHES)
    with page.expect_request("**/api/v1/ask") as sent:
        page.get_by_role("button", name="Ask", exact=True).click()
    assert sent.value.post_data_json["mode"] == "vector"
    answered(page)
    expect(page.get_by_label("How to search")).to_have_value("vector")


def test_modes_stand_side_by_side_with_the_sources_that_they_share(
    page: Page, asked: Asked, axe: Axe
) -> None:
    asked(CHURCHES)
    page.get_by_role("link", name="compare modes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(CHURCHES)
    rows = page.get_by_role("region", name="Modes side by side").get_by_role("row")
    expect(rows).to_have_count(1 + len(SHIPPED))
    for mode in SHIPPED:
        row = rows.filter(has=page.get_by_text(mode, exact=True))
        expect(row).to_contain_text("ms" if mode in WITHOUT_MODEL else "needs a language model")
    shared = page.get_by_role("region", name="Sources").get_by_role("row")
    assert shared.count() > 1
    first = shared.nth(1).get_by_role("cell")
    said = [first.nth(at).inner_text() for at in range(len(WITHOUT_MODEL))]
    # the one that most of them have comes first
    assert sum(one in ("cited", "looked at") for one in said) > 1
    axe()


def test_a_label_stands_above_an_answer_about_one_thing_and_above_no_other(page: Page, axe: Axe) -> None:
    page.goto("/?dataset=sample&q=When+was+Panagia+tou+Arakos+built%3F")
    answered(page)
    label = page.locator(".caption")
    expect(label.locator(".caption-name")).to_have_text("Panagia tou Arakos, 1151–1192")
    told = label.locator("dl > div")
    expect(told.filter(has_text=re.compile("^made of"))).to_contain_text("stone")
    expect(told.filter(has_text=re.compile("^located in"))).to_contain_text("Lagoudera")
    axe()
    page.goto("/?dataset=sample&q=Which+churches+are+in+the+Troodos+mountains%3F")
    answered(page)
    expect(page.locator(".set-summary")).to_be_visible()
    expect(label).to_have_count(0)


@pytest.mark.slow
def test_the_page_of_a_thing_has_the_lines_of_its_label(page: Page) -> None:
    page.goto("/e?dataset=sample&iri=https://example.org/troodos/church/arakos")
    facts = page.get_by_role("complementary", name="In short")
    expect(facts.locator(".fact").filter(has_text=re.compile("^made of"))).to_contain_text("stone")


@pytest.mark.slow
def test_how_it_was_searched_is_told_in_words_where_it_was_chosen(page: Page) -> None:
    page.goto("/?dataset=sample&q=Who+painted+Asinou%3F")
    answered(page)
    expect(page.locator(".facts")).not_to_contain_text("crm")
    page.get_by_role("combobox", name="How to search").select_option("By words")
    page.get_by_role("combobox", name="Your next question").fill("Who restored Asinou?")
    page.get_by_role("button", name="Ask", exact=True).click()
    answered(page)
    expect(page.locator(".facts").last).to_contain_text("Search: By words")


@pytest.mark.slow
def test_kinds_of_sources_are_told_in_the_language_of_the_page(page: Page) -> None:
    page.add_init_script("localStorage.setItem('crmrag.language', '\"de\"')")
    page.goto("/?dataset=sample&q=Wann+wurde+Panagia+tou+Arakos+gebaut%3F")
    answered(page)
    expect(page.locator(".source-kind").first).to_contain_text("Objekt")
    expect(page.locator(".source-kind").first).not_to_contain_text("Thing")


@pytest.mark.slow
def test_a_long_question_is_a_text_and_no_headline(page: Page, asked: Asked) -> None:
    def size() -> float:
        read = "one => parseFloat(getComputedStyle(one).fontSize)"
        return float(page.locator(".question").evaluate(read))

    asked(CHURCHES)
    headline = size()
    asked(
        f"Please tell me, as I would like to know it for a paper that I write about them all: {CHURCHES} Of any age."
    )
    assert size() < headline / 1.5


@pytest.mark.slow
def test_back_leads_from_an_answer_to_the_page_where_it_was_asked(page: Page, asked: Asked) -> None:
    asked(CHURCHES)
    expect(page).to_have_url(re.compile("/c/"))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Painted churches")
    expect(page.get_by_role("combobox", name="Your question")).to_be_visible()


@pytest.mark.slow
def test_names_with_the_whole_word_come_first_and_paragraphs_are_not_proposed(page: Page) -> None:
    labels = ("Churchyard", "A church and what was written of it, " * 4, "Church of the Cross")
    kept = {"category": "Thing", "classes": [], "how": "label", "score": 1}
    found = [
        {"iri": f"http://a.example/{n}", "label": one, "name": one, **kept} for n, one in enumerate(labels)
    ]
    told = {"text": "church", "entities": found, "dataset": "sample", "release": ""}
    page.route("**/api/v1/search?*", lambda route: route.fulfill(json=told))
    page.goto("/?dataset=sample")
    expect(page.get_by_role("combobox", name="Your question")).to_be_focused()
    page.keyboard.type("Who built Church")
    options = page.get_by_role("listbox", name="Names in the data").get_by_role("option")
    expect(options.locator(".name-label")).to_have_text(["Church of the Cross", "Churchyard"])


def test_a_path_is_drawn_stop_by_stop_and_read_as_a_list(page: Page, axe: Axe) -> None:
    page.goto("/?dataset=sample")
    page.get_by_label("How to search").select_option("walker")
    page.get_by_role("combobox", name="Your question").fill("Who painted the church that Nikephoros founded?")
    page.get_by_role("button", name="Ask", exact=True).click()
    answered(page)
    path = page.get_by_role("list", name="The path, step by step").first
    page.get_by_role("button", name=re.compile("looked at")).click()  # for it is not cited
    expect(path).to_be_visible()
    stops = path.get_by_role("listitem")
    assert stops.count() >= 2
    expect(stops.first.get_by_role("link")).to_have_count(1)
    expect(stops.nth(1).locator(".property")).to_be_visible()
    axe()
