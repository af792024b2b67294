"""Work the UI and take its pictures: `python -m tools.operator`, or only the steps that are named."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.operator import steps
from tools.operator.hands import Operator
from tools.operator.project import REPOSITORY, build_all, make_project, museum, records, sample
from tools.operator.ui import browsing, serving

PICTURES = REPOSITORY / "docs" / "images"
WATCHED = {"watch": True, "every_seconds": 5, "settle_seconds": 5}


def one(folder: Path) -> None:
    """All that an operator does with a data set of eight chunks, and one that fails."""
    sources = {steps.SAMPLE: sample(), steps.MUSEUM: records()}
    project = make_project(folder / "one", sources, 100, sample=WATCHED)
    with serving(project) as address, browsing(address) as page:
        for step in steps.STEPS:
            print(step.__doc__, flush=True)
            step(Operator(page, PICTURES), project)


def twenty(folder: Path) -> None:
    """A look at twenty data sets, each of one chunk."""
    museums = {f"museum_{n:02}": museum(5 + n, f"Museum {n}") for n in range(1, 20)}
    project = make_project(folder / "twenty", {steps.SAMPLE: sample()} | museums)
    print("Twenty data sets are built.", flush=True)
    build_all(project)
    with serving(project) as address, browsing(address) as page:
        for step in (steps.look_after_twenty, steps.see_the_graph):
            print(step.__doc__, flush=True)
            step(Operator(page, PICTURES), project)


with tempfile.TemporaryDirectory(prefix="operator-") as name:
    for part in (one, twenty):
        if len(sys.argv) == 1 or part.__name__ in sys.argv[1:]:
            part(Path(name))
