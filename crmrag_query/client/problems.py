"""Errors as problem documents (RFC 9457) and back: over HTTP the same exceptions as in process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crmrag_query import errors
from crmrag_query.client.codec import from_plain
from crmrag_query.errors import CrmRagError, ServiceError

TYPE = "urn:crmrag:problem:"

# Status and title of each class; a class that is not here takes those of the nearest above it.
KINDS: dict[type[CrmRagError], tuple[int, str]] = {
    errors.UnknownEntity: (404, "Unknown entity"),
    errors.NotKept: (404, "Not kept"),
    errors.NotAllowed: (403, "Not allowed"),
    errors.QuestionError: (400, "A request that cannot be answered"),
    errors.ReleaseNotFound: (404, "No such data set or release"),
    errors.ReleaseError: (503, "A release that cannot be used"),
    errors.ModelError: (502, "A model that failed"),
    errors.MissingExtraError: (501, "Not installed here"),
    errors.Busy: (503, "Too busy"),
    errors.ServiceError: (502, "A service that failed"),
    errors.CrmRagError: (500, "Failed"),
}
_BY_NAME = {kind.__name__: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem document; ``detail`` is what happened, ``remedy`` what to do, ``error`` the class of the exception."""

    status: int
    detail: str = ""
    title: str = ""
    type: str = "about:blank"
    error: str = ""
    remedy: str = ""
    suggestions: tuple[str, ...] = ()
    extra: str = ""


def to_problem(error: CrmRagError) -> Problem:
    """The problem document of an error; where its message may name files of the service, only that it happened."""
    kind = next(known for known in type(error).__mro__ if known in KINDS)
    status, title = KINDS[kind]
    if kind is errors.ReleaseError or (kind is CrmRagError and type(error) is not CrmRagError):
        error = CrmRagError(f"{title} ({type(error).__name__}).", "The service's log has the details.")
    return Problem(
        status,
        error.what,
        title,
        TYPE + kind.__name__,
        kind.__name__,
        error.remedy,
        tuple(getattr(error, "suggestions", ())),
        str(getattr(error, "extra", "")),
    )


def from_problem(value: Any, status: int = 0) -> CrmRagError:
    """The error that a problem document tells; a ServiceError where it tells none of ours. Malformed where it is none."""
    if isinstance(value, dict) and status:
        value = {"status": status, **value}
    problem = from_plain(Problem, value, "problem")
    kind = _BY_NAME.get(problem.error)
    if kind is None:
        return ServiceError(
            f"The service answered {problem.status}: {problem.detail or problem.title}",
            problem.remedy or "Ask those who run it.",
        )
    if kind is errors.UnknownEntity:
        return errors.UnknownEntity(problem.detail, problem.remedy, problem.suggestions)
    error = kind.__new__(kind)
    CrmRagError.__init__(error, problem.detail, problem.remedy)
    if isinstance(error, errors.MissingExtraError):
        error.extra = problem.extra
    return error
