"""What must hold of a published release."""

from __future__ import annotations

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.finding import Finding, Row
from crmrag_query.artifacts.places import find_release
from crmrag_query.errors import ReleaseError
from crmrag_query.verify.check import Checked, Report
from crmrag_query.verify.run import verify_folder


def manifest_verifies(context: BuildContext) -> Finding:
    """The data set's current release is what was built, byte for byte, and its artifacts fit each other."""
    try:
        report = verify_folder(find_release(context.name, context.data))
    except ReleaseError as error:
        return Finding(False, error.what, {"files": 0, "looked_at": 0, "faults": 1}, remedy=error.remedy)
    name = f"Release {report.release}"
    says = f"{name} is what was built, and its parts fit each other."
    if not report.holds:
        says = f"{name} cannot be trusted: {'; '.join(report.faults)}."
    return Finding(
        report.holds,
        says,
        _counts(report),
        {"checks": [_row(checked) for checked in report.checked]},
        f"Go back (crmrag rollback {context.name}) and build again: crmrag build {context.name}.",
    )


def _counts(report: Report) -> dict[str, int | float | str]:
    return {
        "release": report.release,
        "files": report.checked[0].looked,
        "looked_at": sum(checked.looked for checked in report.checked),
        "faults": len(report.faults),
    }


def _row(checked: Checked) -> Row:
    state = "skipped" if checked.skipped else "faulty" if checked.faults else "ok"
    return {"check": checked.name, "looked at": checked.looked, "of": checked.things, "state": state}
