"""The UI as an operator uses it, in a real browser: a build from the launchpad, its run, its checks and its asset."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.operator.hands import Operator
from tools.operator.project import Project, make_project, museum
from tools.operator.ui import browsing, chromium, serving


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("ui") / "project", {"museum": museum(3)})


@pytest.fixture
def operator(project: Project) -> Iterator[Operator]:
    if chromium() is None:
        pytest.skip("Chromium is not at hand (install Debian's chromium, or set CHROMIUM to its path)")
    with serving(project) as address, browsing(address) as page:
        yield Operator(page)


@pytest.mark.slow
def test_a_data_set_is_built_from_the_launchpad_and_what_was_made_and_checked_is_seen(
    operator: Operator,
) -> None:
    operator.launch("museum")
    operator.ends("Success")
    operator.see("layers_run")
    operator.open("/runs")
    operator.see("crmrag/builds: museum")
    operator.see("layer_9_release")
    operator.open("/assets/graph?view=checks&checkDetail=has_entities")
    operator.see("museum: 13 entities, 13 of them of a Fundamental Category")
    operator.open("/assets/embeddings?view=partitions")
    operator.see("Materialized (1)")
    operator.see("Missing (0)")
