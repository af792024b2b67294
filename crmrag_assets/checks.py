"""Asset checks: invariants of a build that a person can see fulfilled in the catalogue."""

import dagster as dg

from crmrag_assets.assets.graph import graph
from crmrag_assets.assets.indexes import bm25_index, faiss_index
from crmrag_assets.assets.release import release
from crmrag_assets.assets.source import harvest_report
from crmrag_assets.build import invariants
from crmrag_assets.build.invariants import Finding
from crmrag_assets.resources import BuildResource


def _result(
    finding: Finding, severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=finding.holds, metadata=dict(finding.counts), description=finding.says, severity=severity
    )


@dg.asset_check(
    asset=harvest_report,
    description="Nothing that the source holds is missing, and its counts before and after are equal. If not, see the "
    "harvest report for what is missing and why, then read the source again: `crmrag build NAME --refresh`; where it "
    "changes all the time or will not give some triples, ask its operator for a dump and build from files.",
)
def harvest_is_whole(context: dg.AssetCheckExecutionContext, build: BuildResource) -> dg.AssetCheckResult:
    finding = invariants.harvest_is_whole(build.opened(context.partition_key))
    return _result(finding, dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset=graph, description="Every triple of the prefetched chunks is in the graph, once.")
def no_triple_lost(context: dg.AssetCheckExecutionContext, build: BuildResource) -> dg.AssetCheckResult:
    return _result(invariants.no_triple_lost(build.opened(context.partition_key)))


@dg.asset_check(asset=faiss_index, description="Every document has at least one row in the dense index.")
def dense_covers_documents(
    context: dg.AssetCheckExecutionContext, build: BuildResource
) -> dg.AssetCheckResult:
    return _result(invariants.dense_covers_documents(build.opened(context.partition_key)))


@dg.asset_check(asset=bm25_index, description="The sparse index has as many documents as there are.")
def sparse_covers_documents(
    context: dg.AssetCheckExecutionContext, build: BuildResource
) -> dg.AssetCheckResult:
    return _result(invariants.sparse_covers_documents(build.opened(context.partition_key)))


@dg.asset_check(asset=release, description="Every file of the release is what its manifest pins.")
def manifest_verifies(context: dg.AssetCheckExecutionContext, build: BuildResource) -> dg.AssetCheckResult:
    return _result(invariants.manifest_verifies(build.opened(context.partition_key)))


checks = [
    harvest_is_whole,
    no_triple_lost,
    dense_covers_documents,
    sparse_covers_documents,
    manifest_verifies,
]
