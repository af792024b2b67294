"""Checks of the final documents."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from crmrag_assets.build.opened import documents_of, graph_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.finding import Finding, Row, made_anew, percent, share
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import FLAG_ENTITY, Longs


def every_entity_is_told(context: BuildContext) -> Finding:
    """Every entity has a document of its own, or stands in that of another."""
    graph, documents = graph_of(context), documents_of(context)
    entity = np.flatnonzero(graph.flags & FLAG_ENTITY != 0)
    home = documents.entity_document[entity]
    untold = entity[(home < 0) | (home >= documents.count)]
    own = len(np.intersect1d(entity, documents.entities))
    counts = {
        "entities": len(entity),
        "untold": len(untold),
        "own_documents": own,
        "within_others": len(entity) - own - len(untold),
    }
    rows: list[Row] = [
        {"iri": graph.iri(n), "label": graph.label(n)} for n in untold[: context.method.checks.shown].tolist()
    ]
    says = (
        f"{len(untold):,} of {len(entity):,} entities stand in no document, the first of them {rows[0]['iri']}."
        if rows
        else f"All {len(entity):,} entities are told: {own:,} in documents of their own, "
        f"{counts['within_others']:,} in those of others."
    )
    return Finding(
        not rows, says, counts, {"first_untold": rows} if rows else {}, made_anew(context, "documents")
    )


def lengths_are_fair(context: BuildContext) -> Finding:
    """Few documents say next to nothing, and few are longer than a context takes."""
    documents, method = documents_of(context), context.method
    length = pc.utf8_length(documents.table.column("text")).to_numpy().astype(np.int64)
    thin, long = length < method.chaining.thin_characters, length > method.chaining.limit_characters
    shares = share(int(thin.sum()), len(length)), share(int(long.sum()), len(length))
    counts = {
        "documents": len(length),
        "thin": int(thin.sum()),
        "thin_share": shares[0],
        "oversized": int(long.sum()),
        "oversized_share": shares[1],
        "median_characters": int(np.median(length)) if len(length) else 0,
    }
    order = np.argsort(length, kind="stable")
    tables = {
        "shortest": _rows(documents, length, order[: method.checks.shown]),
        "longest": _rows(documents, length, order[::-1][: method.checks.shown]),
    }
    says = (
        f"{percent(shares[0])} of {len(length):,} documents have fewer than {method.chaining.thin_characters:,} characters, "
        f"{percent(shares[1])} more than {method.chaining.limit_characters:,}."
    )
    remedy = (
        "Thin documents come from entities with few statements: see the check shapes_hold, or satellites.yaml for kinds that "
        "belong into another's document. Oversized ones come from hubs: see `documents` and `chaining` in method.yaml."
    )
    fair = shares[0] <= method.checks.thin_share and shares[1] <= method.checks.oversized_share
    return Finding(fair, says, counts, {name: rows for name, rows in tables.items() if rows}, remedy)


def _rows(documents: Documents, length: Longs, chosen: Longs) -> list[Row]:
    return [{"document": documents.label(n), "characters": int(length[n])} for n in chosen.tolist()]
