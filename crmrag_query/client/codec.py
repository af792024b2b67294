"""Records as plain JSON values and back, by their annotations: no field is listed by hand, and every type is checked."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Malformed(ValueError):
    """A value that is not what the record says; the message names the place."""


_SIMPLE = frozenset((str, int, float, bool))


def to_plain(value: Any) -> Any:
    """``value`` in dicts, lists, texts, numbers, booleans and None."""
    if value is None or type(value) in _SIMPLE:  # most values are; the questions below take a while each
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(inner) for inner in value]
    return value


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


def from_plain(kind: type[T], value: object, where: str = "") -> T:
    """``value`` as a ``kind``: keys that the record does not know are ignored, as a newer service may send them.

    Raises Malformed, which names the place below ``where``, for a missing key or a value of another type.
    """
    return cast(T, _read(kind, value, where))


def _read(kind: Any, value: object, where: str) -> Any:
    if kind is Any or kind is object:
        return value
    if kind in _PLAIN:
        return _PLAIN[kind](value, where)
    if is_dataclass(kind):
        return _record(cast(type, kind), value, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind, value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Union or origin is types.UnionType:
        return _one_of(arguments, value, where)
    if origin is Literal:
        if value in arguments and type(value) in {type(one) for one in arguments}:
            return value
        raise _wrong(where, f"one of {', '.join(map(repr, arguments))}", value)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _fixed(arguments, value, where)
    if origin in (tuple, list):
        items = _items(arguments[0], value, where)
        return tuple(items) if origin is tuple else items
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        return {key: _read(arguments[1], inner, _below(where, key)) for key, inner in value.items()}
    raise TypeError(f"no way to read {kind!r}")


def _record(kind: type, value: object, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    given: dict[str, Any] = {}
    for field, hint in _fields(kind):
        if field.name in value:
            given[field.name] = _read(hint, value[field.name], _below(where, field.name))
        elif field.default is MISSING and field.default_factory is MISSING:
            raise Malformed(f"{_below(where, field.name)} is missing")
    return kind(**given)


@cache
def _fields(kind: type) -> tuple[tuple[Field[Any], Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind) if field.init)


def _items(kind: Any, value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise _wrong(where, "a list", value)
    return [_read(kind, inner, f"{where}[{at}]") for at, inner in enumerate(value)]


def _fixed(kinds: tuple[Any, ...], value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) != len(kinds):
        raise _wrong(where, f"a list of {len(kinds)}", value)
    pairs = enumerate(zip(kinds, value, strict=True))
    return tuple(_read(kind, inner, f"{where}[{at}]") for at, (kind, inner) in pairs)


def _one_of(kinds: tuple[Any, ...], value: object, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    wanted = [kind for kind in kinds if kind is not type(None)]
    failures: list[Malformed] = []
    for kind in wanted:
        try:
            return _read(kind, value, where)
        except Malformed as error:
            failures.append(error)
    raise failures[0]


def _enum(kind: type[Enum], value: object, where: str) -> Enum:
    try:
        return kind(value)
    except ValueError:
        raise _wrong(where, f"one of {', '.join(str(one.value) for one in kind)}", value) from None


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, "a text", value)
    return value


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)
    return value


def _whole(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, "a whole number", value)
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong(where, "a finite number", value)
    return number


_PLAIN: dict[Any, Callable[[object, str], Any]] = {str: _text, bool: _truth, int: _whole, float: _number}


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _wrong(where: str, wanted: str, value: object) -> Malformed:
    return Malformed(f"{where or 'it'} is not {wanted} (found {str(value)[:60]!r})")
