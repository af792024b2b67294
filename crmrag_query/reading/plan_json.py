"""A plan as language models read and write it: its JSON, with days as dates, an earlier plan and long lists of IRIs by name.

``begin`` and ``end`` of a ``dated`` constraint are dates (``1850``, ``1850-06-30``, ``-0044`` for 44 BC, a century): the
first and the last day of what they say. In place of a plan within a plan, ``earlier`` is the set that was spoken of before;
in a list of IRIs, a name such as ``@1`` stands for all that the message says it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

from crmrag_query.dates import XSD, civil, parse_date
from crmrag_query.llm.model import Schema
from crmrag_query.plans.records import Plan, read_plan

EARLIER = "earlier"
YEAR = 9999  # a whole number up to this is a year, not a day: days 1 to 9999 are before AD 28
NESTED = 40  # objects and lists within each other that are read; a plan within a plan takes some eight
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_DROPPED = frozenset({
    "default", "discriminator", "title", "description", "pattern", "minLength", "maxLength", "format", "minimum", "minItems",
})  # fmt: skip
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


def from_model(
    told: Mapping[str, Any],
    earlier: Plan | None = None,
    groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Plan:
    """The plan that a model wrote; ``earlier`` takes the place of its name, and ``groups`` that of theirs.

    Raises ValueError, QuestionError.
    """
    return read_plan(cast(dict[str, Any], _read(told, earlier, groups, 0)))


def _read(told: Any, earlier: Plan | None, groups: Mapping[str, Sequence[str]], depth: int) -> Any:
    if depth > NESTED:
        raise ValueError("the plan is nested too deep")
    if isinstance(told, list):
        named = (groups.get(one, (one,)) if isinstance(one, str) else (one,) for one in told)
        return [_read(one, earlier, groups, depth + 1) for ones in named for one in ones]
    if not isinstance(told, Mapping):
        return told
    found = {key: _read(one, earlier, groups, depth + 1) for key, one in told.items() if one is not None}
    if found.get("plan") == EARLIER:
        if earlier is None:
            raise ValueError('there is no "earlier" plan: this is the first question')
        found["plan"] = earlier.model_dump(mode="json")
    if found.get("kind") == "dated":
        found |= {key: _day(found[key], key) for key in ("begin", "end") if key in found}
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
    defs = {name: _strict(deepcopy(part)) for name, part in made["$defs"].items()}
    defs["Dated"]["properties"] |= {key: _optional({"type": "string"}) for key in ("begin", "end")}
    for part in defs.values():
        if inner := part.get("properties", {}).get("plan"):
            options = [one for one in inner.get("anyOf", [inner]) if one.get("type") != "null"]
            part["properties"]["plan"] = _optional(*options, {"type": "string", "enum": [EARLIER]})
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
    found = {key: _strict(one) for key, one in part.items() if key not in _DROPPED and key != "properties"}
    if "oneOf" in found:
        found["anyOf"] = found.pop("oneOf")
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "properties" not in part:
        return found
    needed = part.get("required", ())
    return found | _whole({name: _property(one, name in needed) for name, one in part["properties"].items()})


def _property(value: dict[str, Any], needed: bool) -> dict[str, Any]:
    """A key's schema, which may be null where it can be left out; a list is empty then, and a ``kind`` is told."""
    made = cast(dict[str, Any], _strict(value))
    told = (
        needed or "const" in value or made.get("type") == "array" or {"type": "null"} in made.get("anyOf", ())
    )
    return made if told else _optional(made)


def _optional(*options: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [*options, {"type": "null"}]}


def _whole(properties: dict[str, Any]) -> dict[str, Any]:
    keys = {"properties": properties, "required": list(properties)}
    return {"type": "object", **keys, "additionalProperties": False}
