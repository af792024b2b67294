"""Sending documents in the browser: dropped, watched, asked; with a key that may, and what is refused is told."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from crmrag_query.client.local import open_engine
from tests.page.conftest import PATIENCE, answered, watch
from tests.support.builds import Project, build_all
from tests.support.pdf import pdf
from tests.support.service import application, served
from tests.support.shared import own_inbox

TEXT = "The heron of Kestrel Rock nests in the lantern {} of the tower every spring."
DROP = """(box, [name, content]) => {
  const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0)), transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  for (const kind of ["dragenter", "dragover", "drop"])
    box.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Project:
    return own_inbox(tmp_path_factory, tmp_path)


@pytest.fixture
def page(project: Project, browser: Browser, faults: list[str]) -> Iterator[Page]:
    """The page of the data set, on a service that takes documents from who has a key of its own."""
    app = application(
        open_engine(str(project.data)),
        keys=("reader",), uploading=("sender",), uploads={"datasets": ("churches",), "megabytes": 1},
    )  # fmt: skip
    with served(app) as address:
        found = browser.new_page(base_url=address, reduced_motion="reduce", locale="en-GB")
        found.set_default_timeout(PATIENCE)
        watch(found, faults)
        found.goto("/d/churches")
        use_key(found, "reader")
        yield found
        found.close()
    assert not faults


def use_key(page: Page, key: str) -> None:
    page.get_by_label("Your key").fill(key)
    page.get_by_role("button", name="Use it").click()


def drop(page: Page, name: str, content: bytes) -> None:
    page.locator(".upload").evaluate(DROP, [name, b64encode(content).decode()])


def test_what_is_refused_says_why_and_nothing_is_listed(page: Page) -> None:
    page.get_by_label("Drop PDF").set_input_files({
        "name": "program.pdf", "mimeType": "application/pdf", "buffer": b"MZ\x90\0" + bytes(100),
    })  # fmt: skip
    use_key(page, "sender")
    expect(page.get_by_role("alert")).to_contain_text(
        "It is no PDF, PNG, JPEG or TIFF, whatever it is called."
    )
    expect(page.locator(".uploads li")).to_have_count(0)


def test_a_file_is_dropped_watched_and_asked_and_its_name_and_text_run_nothing(
    project: Project, page: Page
) -> None:
    title = "<img src=x onerror=\"window.harmed='name'\"> {{7*7}}"
    drop(page, f"{title}.pdf", pdf(TEXT.format("<script>window.harmed='text'</script>")))
    use_key(page, "sender")  # the one that may ask may not send; the file is not lost by that
    sent = page.locator(".uploads li")
    expect(sent).to_have_text(f"{title}.pdf waiting for the next build")
    build_all(project.context())
    expect(sent).to_have_text(f"{title}.pdf can be asked")
    page.goto("/?dataset=churches")
    page.get_by_role("combobox", name="How to search").select_option(label="By words")
    page.get_by_role("combobox", name="Your question").fill("Where does the heron nest?")
    page.get_by_role("button", name="Ask", exact=True).click()
    answered(page)
    card = page.locator(".source", has_text=f"{title}, p. 1").first
    expect(card).to_contain_text("in the lantern <script>window.harmed='text'</script> of the tower")
    card.get_by_role("button", name=f"{title}, p. 1").click()
    expect(card.get_by_role("img", name=f"Image of {title}, p. 1")).to_be_visible()
    assert page.evaluate("window.harmed") is None
