"""Asset checks: invariants of a build that a person can see fulfilled in the catalogue."""

import dagster as dg

from crmrag_assets.assets.graph import graph
from crmrag_assets.assets.indexes import bm25_index, faiss_index
from crmrag_assets.assets.release import release
from crmrag_assets.build import invariants
from crmrag_assets.build.invariants import Finding
from crmrag_assets.resources import BuildResource


def _result(finding: Finding) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=finding.holds, metadata=dict(finding.counts), description=finding.says)


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


checks = [no_triple_lost, dense_covers_documents, sparse_covers_documents, manifest_verifies]
