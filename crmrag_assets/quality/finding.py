"""Checks of a build's artifacts: with what they compare, and what those that block have found.

What a blocking check found is kept beside the artifacts, so that a build that is run again does not go on from what was
refused. Dagster's own records tell the latest result of a check, whichever data set it was of; these tell that of a data
set's present artifacts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from crmrag_assets.build.step import PLACES, UNWANTED, BuildContext
from crmrag_assets.build.store import data_version
from crmrag_query.artifacts.manifest import (
    CURRENT,
    PREVIOUS,
    canonical_json,
    dataset_folder,
    pointer,
    read_manifest,
    write_text,
)
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import config_hash
from crmrag_query.errors import BuildError, CrmRagError, ReleaseError
from crmrag_query.verify.check import Check, Finding
from crmrag_query.version import __version__

BuildCheck = Check[BuildContext]
SHOWN = 5  # samples in a check's tables
COMPARED = 20  # entities of a release: of fewer, shares and their falls are chance
FOLDER = "checks"  # in the working folder of a data set


def made_anew(context: BuildContext, artifact: str) -> str:
    """What to do with an artifact that its own step made wrong."""
    return (
        f"Have it made anew: remove {context.folder(artifact)}, then run crmrag build {context.name}. "
        "If that does not help, it is a fault of crmrag: report it with this message."
    )


def share(part: int, whole: int) -> float:
    """The part's share, to six places; 0 of nothing."""
    return round(part / whole, 6) if whole else 0.0


def percent(part: float) -> str:
    """A share of 1 as a person reads it."""
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.0f} %"


def has_same(release: Release, context: BuildContext, artifact: str) -> bool:
    """Whether a release pins the artifact, file by file, as it is now."""
    place = f"{PLACES[artifact]}/"
    pinned = {entry.path: entry.sha256 for entry in release.manifest.files if entry.path.startswith(place)}
    return pinned == {f"{place}{entry.path}": entry.sha256 for entry in context.finished(artifact).files}


def earlier_release(
    context: BuildContext, artifact: str, fits: Callable[[Release], bool] = lambda release: True
) -> Release | None:
    """The current release, or, where that holds the artifact as it is now or does not fit, the previous one; None where
    neither differs and fits.

    So a check says the same before the release is published and after.
    """
    found = (one for name in (CURRENT, PREVIOUS) if (one := named_release(context, name)) is not None)
    return next((one for one in found if fits(one) and not has_same(one, context, artifact)), None)


def named_release(context: BuildContext, name: str = CURRENT) -> Release | None:
    """The release that answers now, or the previous one; None where there is none, or none that can be read."""
    parent = dataset_folder(context.data, context.name)
    try:
        release = pointer(parent, name)
        return None if release is None else Release(parent / release, read_manifest(parent / release))
    except ReleaseError:
        return None


def judge(check: BuildCheck, context: BuildContext) -> Finding:
    """What the check finds of the artifact as it is now; of one that blocks, it is kept.

    One that only warns never raises: that it could not look is what it finds. Of one that blocks BuildError where there is no
    artifact.
    """
    of = _identity(check, context) if check.blocks else ""
    record = context.store.record(check.of)
    try:
        if record is not None and record.stats.get(UNWANTED):
            finding = Finding(True, f"There is no {check.of} to look at: the data set does without for now.")
        else:
            finding = check.found(context)
    except CrmRagError as error:
        unseen = "" if check.blocks else "This could not be looked at: "
        finding = Finding(False, f"{unseen}{error.what}", remedy=error.remedy)
    except Exception as error:
        if check.blocks:
            raise
        what = f"This could not be looked at: {type(error).__name__}: {error}"
        return Finding(False, what, remedy="It is a fault of crmrag: report it with this message.")
    if check.blocks:
        kept = {"of": of, "holds": finding.holds, "says": finding.says, "remedy": finding.remedy}
        write_text(_path(check, context), canonical_json(kept))
    return finding


def held(check: BuildCheck, context: BuildContext) -> bool | None:
    """Whether a blocking check held for the artifact as it is now; None where it did not look at that."""
    kept = _kept(check, context)
    return None if kept is None else bool(kept["holds"])


def require_sound(checks: Iterable[BuildCheck], context: BuildContext) -> None:
    """Raise BuildError where a blocking check refused an artifact that is still there."""
    for check in checks:
        kept = _kept(check, context) if check.blocks and context.store.record(check.of) else None
        if kept is not None and not kept["holds"]:
            raise refusal(check, str(kept["says"]), str(kept["remedy"]))


def refusal(check: BuildCheck, says: str, remedy: str) -> BuildError:
    """What a person is told when a blocking check stops a build."""
    return BuildError(f"The check '{check.name}' of '{check.of}' stops this build. {says}", remedy)


def _kept(check: BuildCheck, context: BuildContext) -> dict[str, object] | None:
    try:
        kept = json.loads(_path(check, context).read_bytes())
        return dict(kept) if kept["of"] == _identity(check, context) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(check: BuildCheck, context: BuildContext) -> Path:
    return context.store.root / FOLDER / f"{check.of}.{check.name}.json"


def _identity(check: BuildCheck, context: BuildContext) -> str:
    """Of the artifact, what it was made from, and what the check goes by."""
    record = context.finished(check.of)
    inputs = {
        "crmrag": __version__,
        "made": record.version,
        "content": record.content,
        "config": config_hash(context.method.checks),
    }
    return data_version(FOLDER, 1, inputs)
