"""What a blocking check refused is not published, whoever starts the last step, until it is mended."""

from __future__ import annotations

import shutil

import pytest

from crmrag_assets.build.step import BuildContext, run_step
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.finding import held, judge, require_sound
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from crmrag_query.errors import BuildError, ReleaseError
from crmrag_query.verify.check import Check, Finding
from tests.support.quality import lose_a_literal, with_checks

LOST = next(check for check in CHECKS if check.name == "no_triple_lost")


def test_every_check_has_a_name_of_its_own_and_says_what_to_do() -> None:
    assert len({(check.of, check.name) for check in CHECKS}) == len(CHECKS)
    assert all(check.about.endswith(".") for check in CHECKS)


def test_a_finding_counts_for_what_it_was_found_of(copied: BuildContext) -> None:
    assert held(LOST, copied) is None
    assert judge(LOST, copied).holds and held(LOST, copied) is True
    assert held(LOST, with_checks(copied, thin_share=0.1)) is None
    lose_a_literal(copied)
    assert held(LOST, copied) is None
    assert not judge(LOST, copied).holds and held(LOST, copied) is False


def test_what_was_refused_is_not_published_by_another_way(copied: BuildContext) -> None:
    before = pointer(dataset_folder(copied.data, "churches"))
    lose_a_literal(copied)
    judge(LOST, copied)
    with pytest.raises(
        BuildError, match=r"The check 'no_triple_lost' of 'graph' stops this build\. .* 1 were lost"
    ) as caught:
        run_step(STEPS["release"], copied)
    assert "crmrag build churches" in caught.value.remedy
    assert pointer(dataset_folder(copied.data, "churches")) == before


def test_a_refusal_ends_with_what_was_refused(copied: BuildContext) -> None:
    lose_a_literal(copied)
    judge(LOST, copied)
    shutil.rmtree(copied.folder("graph"))
    require_sound(CHECKS, copied)
    run_step(STEPS["graph"], copied)
    require_sound(CHECKS, copied)
    assert judge(LOST, copied).holds


def broken(context: BuildContext) -> Finding:
    raise ReleaseError("The file is damaged.", "Build it again.")


def faulty(context: BuildContext) -> Finding:
    raise ZeroDivisionError("by nothing")


def test_a_check_that_cannot_look_warns_or_stops_by_its_weight(sound: BuildContext) -> None:
    warned = judge(Check("tried", "graph", broken, "warns"), sound)
    assert not warned.holds and warned.says == "This could not be looked at: The file is damaged."
    assert warned.remedy == "Build it again."
    fault = judge(Check("tried", "graph", faulty, "warns"), sound)
    assert "ZeroDivisionError: by nothing" in fault.says and "report it" in fault.remedy
    stopped = judge(Check("tried", "graph", broken), sound)
    assert (stopped.holds, stopped.says) == (False, "The file is damaged.")
    with pytest.raises(ZeroDivisionError):
        judge(Check("tried", "graph", faulty), sound)
