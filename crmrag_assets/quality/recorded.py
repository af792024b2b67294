"""What blocking checks found, kept beside the artifacts: a build that is run again does not go on from what was refused.

Dagster's own records tell the latest result of a check, whichever data set it was of; these tell that of a data set's present
artifacts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.store import data_version
from crmrag_assets.quality.finding import Check, Finding
from crmrag_query import __version__
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.config import config_hash
from crmrag_query.errors import BuildError, CrmRagError

FOLDER = "checks"  # in the working folder of a data set


def judge(check: Check, context: BuildContext) -> Finding:
    """What the check finds of the artifact as it is now; of one that blocks, it is kept.

    One that only warns never raises: that it could not look is what it finds. Of one that blocks BuildError where there is no
    artifact.
    """
    if not check.blocks:
        return _cautious(check, context)
    of = _identity(check, context)
    try:
        finding = check.look(context)
    except CrmRagError as error:
        finding = Finding(False, error.what, remedy=error.remedy)
    told = {"of": of, "holds": finding.holds, "says": finding.says, "remedy": finding.remedy}
    write_text(_path(check, context), canonical_json(told))
    return finding


def _cautious(check: Check, context: BuildContext) -> Finding:
    try:
        return check.look(context)
    except CrmRagError as error:
        return Finding(False, f"This could not be looked at: {error.what}", remedy=error.remedy)
    except Exception as error:
        what = f"This could not be looked at: {type(error).__name__}: {error}"
        return Finding(False, what, remedy="It is a fault of crmrag: report it with this message.")


def held(check: Check, context: BuildContext) -> bool | None:
    """Whether a blocking check held for the artifact as it is now; None where it did not look at that."""
    told = _told(check, context)
    return None if told is None else bool(told["holds"])


def require_sound(checks: Iterable[Check], context: BuildContext) -> None:
    """Raise BuildError where a blocking check refused an artifact that is still there."""
    for check in checks:
        told = _told(check, context) if check.blocks and context.store.record(check.asset) else None
        if told is not None and not told["holds"]:
            raise refusal(check.asset, check.name, str(told["says"]), str(told["remedy"]))


def refusal(asset: str, name: str, says: str, remedy: str) -> BuildError:
    """What a person is told when a blocking check stops a build."""
    return BuildError(f"The check '{name}' of '{asset}' stops this build. {says}", remedy)


def _told(check: Check, context: BuildContext) -> dict[str, object] | None:
    try:
        told = json.loads(_path(check, context).read_bytes())
        return dict(told) if told["of"] == _identity(check, context) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(check: Check, context: BuildContext) -> Path:
    return context.store.root / FOLDER / f"{check.asset}.{check.name}.json"


def _identity(check: Check, context: BuildContext) -> str:
    """Of the artifact, what it was made from, and what the check goes by."""
    record = context.finished(check.asset)
    return data_version(
        FOLDER,
        1,
        {
            "crmrag": __version__,
            "made": record.version,
            "content": record.content,
            "config": config_hash(context.method.checks),
        },
    )
