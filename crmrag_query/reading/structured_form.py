"""A plan as language models read and write it: its JSON, with days as dates and an earlier plan by name.

``begin`` and ``end`` of a ``dated`` constraint are dates (``1850``, ``1850-06-30``, ``-0044`` for 44 BC, a century): the
first and the last day of what they say. In place of a plan within a plan, ``earlier`` is the set that was spoken of before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, cast

from crmrag_query.dates import XSD, civil, parse_date
from crmrag_query.llm.model import Schema
from crmrag_query.plans.records import Plan, read_plan

EARLIER = "earlier"
YEAR = 9999  # a whole number up to this is a year, not a day: days 1 to 9999 are before AD 28
NESTED = 40  # objects and lists within each other that are read; a plan within a plan takes some eight
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_DROPPED = frozenset(
    {
        "default",
        "discriminator",
        "title",
        "description",
        "pattern",
        "minLength",
        "maxLength",
        "format",
        "minimum",
        "minItems",
    }
)
"""Keywords that strict structured output refuses, or that tell a model nothing; ``read_plan`` checks what they say."""


def for_model(plan: Plan) -> dict[str, Any]:
    """The plan's JSON as models write it, without what is as it is by default."""
    return cast(dict[str, Any], _dates_out(plan.model_dump(mode="json", exclude_defaults=True), plan))


def _dates_out(told: Any, part: Any) -> Any:
    """``told`` with dates for days; ``kind``, a default, is kept where a part has one."""
    if isinstance(told, dict):
        found = {key: _dates_out(value, getattr(part, key)) for key, value in told.items()}
        kind = getattr(part, "kind", None)
        if kind == "dated":
            found |= {key: _written(found[key]) for key in ("begin", "end") if found.get(key) is not None}
        return {"kind": kind, **found} if kind else found
    if isinstance(told, list):
        return [_dates_out(one, item) for one, item in zip(told, part, strict=True)]
    return told


def _written(day: int) -> str:
    year, month, of_month = civil(day)
    return f"{f'{year:04d}' if year > 0 else f'-{1 - year:04d}'}-{month:02d}-{of_month:02d}"


def read_json(reply: str) -> dict[str, Any]:
    """The JSON object of a reply, in a code fence or among other words too. Raises ValueError for anything else."""
    fenced = _FENCE.search(reply)
    text = fenced[1] if fenced else reply
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0:
        raise ValueError("there is no JSON object in the reply")
    if end < begin:
        raise ValueError("the JSON object does not end; it must be shorter")
    try:
        found = json.loads(text[begin : end + 1])
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    except ValueError as error:
        raise ValueError(f"the JSON cannot be read: {error}"[:300]) from None
    if not isinstance(found, dict):
        raise ValueError("the reply is no JSON object")
    return found


def from_model(told: Mapping[str, Any], earlier: Plan | None = None) -> Plan:
    """The plan that a model wrote; ``earlier`` takes the place of its name. Raises ValueError, QuestionError."""
    return read_plan(cast(dict[str, Any], _read(told, earlier, 0)))


def _read(told: Any, earlier: Plan | None, depth: int) -> Any:
    if depth > NESTED:
        raise ValueError("the plan is nested too deep")
    if isinstance(told, list):
        return [_read(one, earlier, depth + 1) for one in told]
    if not isinstance(told, Mapping):
        return told
    found = {key: _read(value, earlier, depth + 1) for key, value in told.items() if value is not None}
    if found.get("plan") == EARLIER:
        if earlier is None:
            raise ValueError('there is no "earlier" plan: this is the first question')
        found["plan"] = earlier.model_dump(mode="json")
    if found.get("kind") == "dated":
        for key in ("begin", "end"):
            if key in found:
                found[key] = _day(found[key], key)
    return found


def _day(told: object, side: str) -> int:
    if isinstance(told, int) and not isinstance(told, bool):
        if abs(told) > YEAR:
            return told
        told = f"{told:05d}" if told < 0 else f"{told:04d}"
    interval = parse_date(told) or parse_date(told, f"{XSD}date") if isinstance(told, str) else None
    day = None if interval is None else interval.begin if side == "begin" else interval.end
    if day is None:
        raise ValueError(
            f'{side}: {json.dumps(told)[:60]} is no date such as "1850", "1850-06-30" or "-0044"'
        )
    return day


@lru_cache(maxsize=1)
def reply_schema() -> Schema:
    """The JSON schema of a reply, as strict structured output takes it: every key is required, what is left out is null.

    The rules: developers.openai.com, Structured Outputs, "Supported schemas".
    """
    made = Plan.model_json_schema(ref_template="#/$defs/{model}")
    parts = {"Plan": {key: value for key, value in made.items() if key != "$defs"}} | dict(
        made.get("$defs", {})
    )
    if "$ref" in parts["Plan"]:  # a plan that holds plans refers to itself
        parts["Plan"] = made["$defs"]["Plan"]
    defs = {name: _strict(deepcopy(part)) for name, part in parts.items()}
    for name, part in defs.items():
        shown = part.get("properties", {})
        if name == "Dated":
            shown |= {key: _optional({"type": "string"}) for key in ("begin", "end")}
        if "plan" in shown:
            options = [
                one for one in shown["plan"].get("anyOf", [shown["plan"]]) if one.get("type") != "null"
            ]
            shown["plan"] = _optional(*options, {"type": "string", "enum": [EARLIER]})
    reply = {
        "plan": _optional({"$ref": "#/$defs/Plan"}),
        "unmapped": {"type": "array", "items": {"type": "string"}},
        "cannot": {"type": "string"},
    }
    return _whole(reply) | {"$defs": defs}


def _strict(part: Any) -> Any:
    if isinstance(part, list):
        return [_strict(one) for one in part]
    if not isinstance(part, dict):
        return part
    needed = part.get("required", ())
    shown = {name: _property(one, name in needed) for name, one in part.get("properties", {}).items()}
    found = {
        key: _strict(value) for key, value in part.items() if key not in _DROPPED and key != "properties"
    }
    if "oneOf" in found:
        found["anyOf"] = found.pop("oneOf")
    if "const" in found:
        found["enum"] = [found.pop("const")]
    return found | _whole(shown) if "properties" in part else found


def _property(value: dict[str, Any], needed: bool) -> dict[str, Any]:
    """A key's schema, which may be null where it can be left out; a list is empty then, and a ``kind`` is told."""
    made = cast(dict[str, Any], _strict(value))
    if needed or "const" in value or made.get("type") == "array" or {"type": "null"} in made.get("anyOf", ()):
        return made
    return _optional(made)


def _optional(*options: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [*options, {"type": "null"}]}


def _whole(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
