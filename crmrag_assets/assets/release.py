"""Group ``release``: what was built, reported and pinned."""

from typing import Any

import dagster as dg

from crmrag_assets.assets.common import dataset_asset, made_from
from crmrag_assets.build.release import RELEASE, VALIDATION_REPORT
from crmrag_assets.materialise import build_artifact
from crmrag_assets.resources import BuildResource


@dataset_asset(
    group_name="release",
    kinds={"markdown"},
    deps=made_from(VALIDATION_REPORT),
)
def validation_report(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """What is unlabelled, unmapped, dangling, undated or suspect, and, to read beside it, how it was harvested.

    For curators, who mend the data, and for whoever decides whether to trust it.
    """
    return build_artifact(context, build, VALIDATION_REPORT)


@dataset_asset(group_name="release", kinds={"json"}, deps=made_from(RELEASE))
def release(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """The manifest pins every file by its checksum; its hash is the release's id. Then `current` is switched.

    Read by the service, which swaps to it without dropping a request. It is made only where no blocking check failed.
    """
    return build_artifact(context, build, RELEASE)
