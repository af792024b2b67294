"""Records as JSON and back, read strictly by pydantic; errors as problem documents (RFC 9457) and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, to_jsonable_python

from crmrag_query import errors
from crmrag_query.errors import CrmRagError, ServiceError

T = TypeVar("T")


class Malformed(ValueError):
    """A value that is not what the record says; the message names the place."""


class NotUnicode(Malformed):
    """A text that holds half of a character (a lone surrogate)."""


def to_plain(value: Any) -> Any:
    """``value`` in dicts, lists, texts, numbers, booleans and None."""
    return to_jsonable_python(value)


def to_json(value: Any) -> str:
    """A record as one line of JSON; ValueError for a number that JSON does not know."""
    return json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def parse_json(body: bytes | str) -> Any:
    """The value of a JSON text; Malformed for anything else, NaN and endless nesting included."""
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"it is no JSON ({str(error)[:200]})") from error


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def from_plain(kind: type[T], value: object, where: str = "", known: bool = False) -> T:
    """``value`` as a ``kind``: keys that the record does not know are ignored, as a newer service may send them.

    Raises Malformed, which names the place below ``where``, for a missing key, for an unknown one (where all must be
    ``known``), and for a value of another type: as in JSON, "7" is no number and 1 is not true.
    """
    extra: Literal["forbid", "ignore"] = "forbid" if known else "ignore"
    try:
        return cast(T, _adapter(cast(Any, kind)).validate_json(to_json(value), strict=True, extra=extra))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "string_unicode":
            raise NotUnicode(f"{where or 'it'} holds characters that are no valid Unicode") from None
        raise Malformed(_mistake(first, where)) from None
    except ValueError as error:
        if "surrogates" in str(error):
            raise NotUnicode(f"{where or 'it'} holds characters that are no valid Unicode") from None
        raise Malformed(f"{where or 'it'} holds a number that is not finite") from error


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


WANTED = {
    "string_type": "a text", "bool_type": "true or false", "int_type": "a whole number", "float_type": "a number",
    "finite_number": "a finite number", "tuple_type": "a list", "list_type": "a list", "dict_type": "an object",
    "dataclass_type": "an object", "model_type": "an object",
}  # fmt: skip
"""What a value should be, by pydantic's name of the mistake."""


def _mistake(found: ErrorDetails, where: str) -> str:
    """A mistake in a sentence; of several types that a field may have, by the first."""
    for part in found["loc"]:
        if isinstance(part, int):
            where += f"[{part}]"
        elif part.isidentifier() and part not in ("str", "int"):  # else the name of one of the types
            where = f"{where}.{part}" if where else part
    if found["type"] == "missing":
        return f"{where} is missing"
    if found["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"the key {where} is unknown"
    wanted = WANTED.get(found["type"], "")
    if found["type"] in ("literal_error", "enum"):
        wanted = f"one of {found['ctx']['expected'].replace(' or ', ', ')}"
    if not wanted:
        return f"{where or 'it'}: {found['msg']}"
    return f"{where or 'it'} is not {wanted} (found {str(found['input'])[:60]!r})"


TYPE = "urn:crmrag:problem:"
# Status and title of each class; a class that is not here takes those of the nearest above it.
KINDS: dict[type[CrmRagError], tuple[int, str]] = {
    errors.UnknownEntity: (404, "Unknown entity"),
    errors.NotKept: (404, "Not kept"),
    errors.NotAllowed: (403, "Not allowed"),
    errors.TookTooLong: (400, "A request that takes too long"),
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
    """The error that a problem document tells; a ServiceError for an unknown class. Malformed where it is none."""
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
