"""What is known of entities does not fall from one release to the next unseen."""

from __future__ import annotations

import re

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.finding import earlier_release
from crmrag_assets.quality.indexes import as_much_is_known
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from tests.support.builds import build_all, turtle
from tests.support.quality import build_up_to, with_checks


def test_the_first_release_has_nothing_to_be_compared_with(sound: BuildContext) -> None:
    found = as_much_is_known(sound)
    assert found.holds and "There is no earlier release" in found.says
    assert found.counts["label_share"] > 0.9 and found.counts["largest_fall"] == 0.0


def test_labels_that_are_gone_are_noticed_before_and_after_publishing(copied: BuildContext) -> None:
    first = pointer(dataset_folder(copied.data, "churches"))
    source = copied.config.root / "churches.ttl"
    source.write_text(re.sub(r' ; rdfs:label "Mural \d+"', "", turtle(12)), encoding="utf-8")
    build_up_to(copied, "profile")
    found = as_much_is_known(copied)
    assert not found.holds and f"than in release {first}: labels of " in found.says
    assert found.counts["largest_fall"] > 0.1 and found.tables["fell_most"][0]["kind"] == "label"
    assert as_much_is_known(with_checks(copied, coverage_fall=0.9)).holds
    build_all(copied)
    earlier = earlier_release(copied, "profile")
    assert earlier is not None and earlier.id == first
    assert as_much_is_known(copied).says == found.says


def test_more_of_the_same_is_no_fall(copied: BuildContext) -> None:
    (copied.config.root / "churches.ttl").write_text(turtle(14), encoding="utf-8")
    build_up_to(copied, "profile")
    found = as_much_is_known(copied)
    assert found.holds and "no share fell much since release" in found.says
