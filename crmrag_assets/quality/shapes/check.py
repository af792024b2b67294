"""SHACL over the graph that a build made."""

from __future__ import annotations

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.finding import Finding, Row, percent, share
from crmrag_query.errors import MissingExtraError


def shapes_hold(context: BuildContext) -> Finding:
    """A sample of entities keeps to the shapes that ship and to the data set's own."""
    checks = context.method.checks
    try:
        from crmrag_assets.quality.shapes.look import held_against  # rdflib is imported for it, and slow to

        report = held_against(context)
    except (ImportError, MissingExtraError):
        return Finding(True, "Not looked at: pySHACL is not installed (pip install 'crmrag[build]').")
    part = share(report.violating, report.entities)
    counts: dict[str, int | float | str] = {
        "sampled": report.entities,
        "violating": report.violating,
        "violating_share": part,
        "shapes": len(report.shapes),
        "shapes_broken": len({shape for shape, _ in report.counts}),
    }
    by_shape: list[Row] = [
        {"shape": shape, "grade": grade, "entities": count} for (shape, grade), count in report.counts.items()
    ]
    worst: list[Row] = [
        {"entity": one.label, "iri": one.iri, "what": f"{one.message} {one.value}".strip()}
        for one in report.worst(2 * checks.shown)
    ]
    tables = {"by_shape": by_shape, "examples": worst} if worst else {}
    says = (
        f"{report.violating:,} of {report.entities:,} sampled entities ({percent(part)}) break one of "
        f"{len(report.shapes)} shapes."
    )
    remedy = f"Mend the data where it is made. Every case: crmrag shacl {context.name}."
    return Finding(part <= checks.violating_share, says, counts, tables, remedy)
