"""What is looked at in pages once they are read."""

from __future__ import annotations

from crmrag_assets.build.step import BuildContext
from crmrag_assets.opened import page_rows
from crmrag_assets.quality.finding import SHOWN
from crmrag_query.documents.pages import IMAGES, READINGS
from crmrag_query.text import amount
from crmrag_query.verify.check import Finding, Row


def pages_are_read(context: BuildContext) -> Finding:
    """Every document is read, and every page by its text layer or by a language model. If not, see the table for which are
    not and why: a document may be damaged, locked or too large for its limits; pages that a model failed at are asked for by
    the next build; those without a text layer need a model that sees images, or OCR.
    """
    if not context.store.chunks(IMAGES):
        return Finding(True, "The data set has no pages.", {"pages": 0})
    documents, pages = page_rows(context, IMAGES, "documents"), page_rows(context, IMAGES, "pages")
    readings = {one["page"]: one for one in page_rows(context, READINGS, "readings")}
    rows: list[Row] = [{"what": one["name"], "why": one["refused"]} for one in documents if one["refused"]]
    refused, names = len(rows), {one["iri"]: one["name"] for one in documents}
    for page in pages:
        read = readings.get(page["iri"])
        why = page["error"]
        if not why and read is not None and read["status"] != "read":
            why = f"the model did not read it ({read['status']}): {read['error']}"
        elif not why and read is None and page["needs"]:
            why = "it has no text layer, and no model is named that would read it"
        if why:
            rows.append({"what": f"{names[page['document']]}, p. {page['number']}", "why": why})
    unread = len(rows) - refused
    told = amount(len(documents), "document"), amount(len(pages), "page")
    says = f"Of {told[0]} {refused:,} could not be read, of {told[1]} {unread:,}."
    first = "; ".join(f"{row['what']}: {row['why']}" for row in rows[:SHOWN])
    first += "; …" if len(rows) > SHOWN else ""
    remedy = f"{first}. What a model failed at is asked for by: crmrag build {context.name}"
    counts: dict[str, int | float | str] = {
        "documents": len(documents),
        "refused": refused,
        "pages": len(pages),
        "unread": unread,
    }
    return Finding(not rows, says, counts, {"not_read": rows[:100]}, remedy)
