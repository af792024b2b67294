"""What an operator does at the screen: opens, clicks, reads, and takes a picture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

PATIENCE = 60_000  # milliseconds, on a busy machine
BUILT = 240_000
LOOKS = 20
SETTLED = 1500  # for what is drawn to come to rest before a picture
GRAPH: ViewportSize = {"width": 1800, "height": 1150}  # for all of the asset graph
ROOM = 90.0  # pixels above a heading in a picture


@dataclass(frozen=True)
class Operator:
    """Works one page of the UI; ``pictures``: where pictures go, None where none are wanted."""

    page: Page
    pictures: Path | None = None

    def open(self, path: str) -> None:
        """Go to a page of the UI."""
        self.page.goto(path, wait_until="domcontentloaded", timeout=PATIENCE)

    def text(self, told: str, exact: bool = True, within: Locator | None = None) -> Locator:
        """What shows a text; Dagster measures long ones in invisible copies."""
        return (within or self.page).get_by_text(told, exact=exact).filter(visible=True)

    def click(self, told: str, within: Locator | None = None) -> None:
        """Click the first thing that shows a text."""
        self.text(told, within=within).first.click(timeout=PATIENCE)

    def press(self, name: str) -> None:
        """Press the first button of a name."""
        self.page.get_by_role("button", name=name).first.click(timeout=PATIENCE)

    def see(self, told: str, timeout: float = PATIENCE, within: Locator | None = None) -> Locator:
        """Wait until a text shows, anywhere in a longer one; AssertionError where it does not."""
        found = self.text(told, exact=False, within=within).first
        expect(found).to_be_visible(timeout=timeout)
        return found

    def scroll_to(self, told: str) -> None:
        """Bring the heading of a text near the top of what scrolls."""
        self.text(told).last.evaluate(
            """(found, room) => {
                 let box = found.parentElement
                 while (box && box.scrollHeight <= box.clientHeight + 4) box = box.parentElement
                 if (box) box.scrollTop += found.getBoundingClientRect().top - box.getBoundingClientRect().top - room
               }""",
            ROOM,
        )

    def picture(self, name: str, height: int = 0, left: int = 0, top: int = 0) -> None:
        """Take a picture of the page, without what is left of ``left`` and above ``top``; ``height`` 0: to its end."""
        if self.pictures is None:
            return
        self.page.wait_for_timeout(SETTLED)
        size = self.page.viewport_size or {"width": 0, "height": 0}
        height = height or size["height"] - top
        clip = FloatRect(x=left, y=top, width=size["width"] - left, height=height)
        self.page.screenshot(path=self.pictures / f"{name}.png", clip=clip)

    # --- runs ---

    def launch(self, dataset: str, picture: str = "") -> str:
        """Start the job `build` of a data set from its launchpad, of which a picture is taken; returns the run's id."""
        offered = self.page.get_by_role("menuitem").filter(has_text=dataset).first
        for _ in range(LOOKS):  # it is offered once Dagster's daemon has looked what is declared
            self.open("/locations/crmrag/jobs/build/playground")
            self.page.get_by_placeholder("Partition").click(timeout=PATIENCE)
            self.page.keyboard.insert_text(dataset)
            self.page.wait_for_timeout(SETTLED)
            if offered.is_visible():
                break
        offered.click(timeout=PATIENCE)
        self.see(f"partition: {dataset}")
        self.see("No errors")
        if picture:
            self.picture(picture)
        self.press("Launch Run")
        self.page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}"), timeout=PATIENCE)
        return self.run_shown()

    def run_shown(self) -> str:
        """The id of the run whose page shows."""
        found = re.search(r"/runs/([0-9a-f-]{36})", self.page.url)
        assert found is not None, self.page.url
        return found[1]

    def ends(self, status: str) -> None:
        """Wait until the run that shows has ended so: `Success` or `Failure`."""
        ended = self.page.get_by_text(re.compile("^(Success|Failure|Canceled)$")).filter(visible=True).first
        expect(ended).to_be_visible(timeout=BUILT)
        assert ended.inner_text() == status, f"the run ended as {ended.inner_text()}, not {status}"

    def show_graph(self) -> None:
        """The whole asset graph with all groups open."""
        self.page.set_viewport_size(GRAPH)
        self.open("/asset-groups")
        self.see("evaluation")
        self.click("Hide navigation")
        self.page.locator("button:has([aria-label=panel_show_right])").filter(visible=True).first.click()
        for wish in ("Change graph to vertical", "Expand all groups"):
            self.page.mouse.click(GRAPH["width"] - 200, GRAPH["height"] / 5, button="right")
            self.see(wish).click()
            self.page.wait_for_timeout(SETTLED)
        self.page.reload()  # which fits the graph into the page
        self.see("triples_index")
