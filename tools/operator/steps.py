"""What an operator does with the UI, in order; each step asserts what there is to see."""

from __future__ import annotations

from tools.operator.hands import BUILT, Operator
from tools.operator.project import Project, museum, records, sample
from tools.operator.ui import SIZE

SAMPLE, MUSEUM = "sample", "museum"
RANGE = ("80", "40", "c0")  # chunks beside each other, as the UI lists them
CHECK = "/assets/graph?view=checks&checkDetail=has_entities"


def build(operator: Operator, project: Project) -> None:
    """Materialise a data set by the job `build`, and watch its run to the end."""
    operator.launch(SAMPLE, "operate-launch")
    operator.see("graph (1/1)", BUILT)
    operator.ends("Success")
    operator.see("layers_run")
    operator.picture("operate-run")


def meet_a_failed_check(operator: Operator, project: Project) -> None:
    """Build an export that went wrong: a check stops it, and says why and what to do."""
    project.source(MUSEUM).write_text(records(), encoding="utf-8")
    operator.launch(MUSEUM)
    operator.ends("Failure")
    operator.see("The check 'has_entities' of 'graph' stops this build")
    operator.picture("operate-failure")
    run = operator.page.url
    operator.open(CHECK)
    operator.see("None of the 12 entities has a class of a Fundamental Category")
    operator.see("what_to_do")
    operator.picture("operate-check", 720)
    operator.open(run)


def retry(operator: Operator, project: Project) -> None:
    """Mend the source, and have the failed run executed again from its page; the check then holds."""
    failed = operator.run_shown()
    project.source(MUSEUM).write_text(museum(9, "Museum of vases"), encoding="utf-8")
    operator.press("Re-execute all")
    operator.page.wait_for_url(lambda address: "/runs/" in address and failed not in address)
    operator.ends("Success")
    operator.open(CHECK)
    operator.see("museum: 31 entities, 31 of them of a Fundamental Category")


def backfill(operator: Operator, project: Project) -> None:
    """Make a range of chunks again."""
    operator.open("/assets/embeddings")
    operator.press("Materialize")
    dialog = operator.page.get_by_role("dialog").first
    operator.click("Select a partition or create one", dialog)
    for chunk in RANGE:
        operator.text(chunk).last.click()
    operator.page.keyboard.press("Escape")
    operator.click("Select a partition or create one", dialog)
    operator.text(SAMPLE).last.click()
    operator.page.keyboard.press("Escape")
    operator.see(f"{len(RANGE)} partitions", within=dialog)
    operator.picture("operate-backfill")
    operator.press("Launch backfill")
    operator.open("/runs?tab=backfills")
    operator.ends("Success")


def watch(operator: Operator, project: Project) -> None:
    """Change a watched source, and see the watch ask for a build once the change has settled."""
    project.source(SAMPLE).write_text(f"{sample()}\n{museum(30, 'Museum of the valley')}", encoding="utf-8")
    operator.open("/runs?q[0]=tag:crmrag/why%3Dits%20source%20changed")
    operator.see("watch_sample", BUILT)
    operator.ends("Success")
    operator.open("/locations/crmrag/sensors/watch_sample")
    operator.see("Looks whether the source of 'sample' has changed")
    operator.picture("operate-watch")


def read_plots(operator: Operator, project: Project) -> None:
    """See how the numbers of an asset changed from build to build."""
    operator.open("/assets/graph")
    operator.see("Metadata")
    operator.click("Plots")
    operator.press("Events")
    operator.scroll_to("Metadata")
    operator.see("nodes (sample)")
    operator.picture("operate-plots")


def read_metadata(operator: Operator, project: Project) -> None:
    """Read what a build says of an artifact: tables, bars, samples, where it lies, the page of the data set."""
    operator.open("/assets/documents?view=partitions&partition=sample")
    operator.see("documents_by_category")
    operator.see("folder")
    operator.picture("operate-metadata")
    operator.open("/assets/release")
    operator.see("http://127.0.0.1:8000/d/")


def follow_the_lineage(operator: Operator, project: Project) -> None:
    """See what an asset is made from, and how that stands."""
    operator.open("/assets/documents?view=lineage&lineageScope=upstream&lineageDepth=5")
    operator.see("fr_documents")
    operator.picture("operate-lineage")


def see_the_graph(operator: Operator, project: Project) -> None:
    """The asset graph at a glance."""
    operator.show_graph()
    for group in ("source", "graph", "documents", "indexes", "release", "evaluation"):
        operator.see(group)
    operator.picture("asset-graph", left=370, top=110)
    operator.page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})


def look_after_twenty(operator: Operator, project: Project) -> None:
    """Twenty data sets: all of them in the graph, in the catalogue and in each check, with what has failed."""
    operator.open("/assets/graph?view=partitions&partition=museum_07")
    operator.see("museum_19")
    operator.see("nodes_by_category")
    operator.picture("operate-twenty")
    operator.open(CHECK)
    operator.see("Latest execution")
    operator.text("Partitions").last.click()
    operator.see("museum_19")
    operator.see("Passed (20)")


STEPS = (
    build, meet_a_failed_check, retry, backfill, watch, read_plots, read_metadata, follow_the_lineage,
)  # fmt: skip
