"""YAML files into typed records; every mistake with file, key, value and remedy."""

from __future__ import annotations

import difflib
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from crmrag_query.errors import ConfigError, Mistake

Part = TypeVar("Part", bound=BaseModel)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Record(BaseModel):
    """Base of all configuration: frozen, and no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _StrictLoader(_Loader):  # type: ignore[misc]
    """Plain values only, and no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            raise yaml.constructor.ConstructorError(None, None, _repeated(self, node), node.start_mark)
        return mapping


def _repeated(loader: Any, node: yaml.MappingNode) -> str:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            return f"the key {key!r} stands twice, the second time in line {key_node.start_mark.line + 1}"
        seen.add(key)
    return "merge keys (<<) are not supported"


def read_yaml(path: Path) -> Any:
    """The plain values of a YAML file; ConfigError where it is missing, unreadable or has a key twice."""
    return _values(path, _content(path))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError.single(
            path, "", "the file does not exist", remedy="Create it, or check the path."
        ) from None
    except OSError as error:
        raise ConfigError.single(
            path, "", f"cannot be read: {error.strerror}", remedy="Check its permissions."
        ) from None


def _values(path: Path, content: bytes) -> Any:
    try:
        return yaml.load(content, Loader=_StrictLoader)
    except (yaml.reader.ReaderError, UnicodeDecodeError):
        raise ConfigError.single(
            path, "", "not text in UTF-8, or with control characters in it", remedy="Save it in UTF-8."
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error)
        raise ConfigError.single(
            path, where, f"not valid YAML: {reason}", remedy="Correct that line."
        ) from None


def read_part(model: type[Part], path: Path) -> Part:
    """The file as `model`; ConfigError with every mistake in it."""
    return cast(Part, _part(model, path, _content(path)))


def read_over(model: type[Part], path: Path, shipped: Path) -> Part:
    """The file as `model`, where what it leaves out is as in the file that ships; ConfigError with every mistake in it."""
    if path == shipped:
        return read_part(model, path)
    return cast(Part, _over(model, path, _content(path), shipped, _content(shipped)))


@lru_cache(maxsize=16)
def _over(model: type[Part], path: Path, content: bytes, shipped: Path, below: bytes) -> Part:
    return parse_part(model, _laid_over(model, _values(path, content), _values(shipped, below)), path)


def _laid_over(model: type[BaseModel], own: Any, below: Any) -> Any:
    """Values over others, key by key where a record has them; a list, or a dictionary of names, stands for the whole."""
    if own is None:
        return below
    if not isinstance(own, dict) or not isinstance(below, dict):
        return own
    merged = dict(below)
    for key, value in own.items():
        part = _model_at(model, (key,))
        merged[key] = _laid_over(part, value, below.get(key)) if part and key in below else value
    return merged


# Parsing the files that ship takes a third of a second: as long as a file says the same, its record is the same.
@lru_cache(maxsize=64)
def _part(model: type[Part], path: Path, content: bytes) -> Part:
    return parse_part(model, _values(path, content), path)


def parse_part(model: type[Part], values: Any, path: Path | str, prefix: str = "") -> Part:
    """Plain values as `model`; `prefix` is the key path in front of each mistake's."""
    try:
        return model.model_validate({} if values is None else values)
    except ValidationError as error:
        mistakes = tuple(_mistake(model, detail, prefix) for detail in error.errors(include_url=False))
        raise ConfigError(path, mistakes) from None


def _mistake(model: type[BaseModel], detail: ErrorDetails, prefix: str) -> Mistake:
    location = tuple(part for part in detail["loc"] if part != "[key]")
    key = key_path(location, prefix)
    if detail["type"] == "extra_forbidden":
        return Mistake(key, _shown(detail["input"]), "unknown key", _did_you_mean(model, location))
    if detail["type"] == "missing":
        return Mistake(key, "", "required, but missing", "Add it.")
    reason = detail["msg"].rstrip(".")
    ours = reason.removeprefix("Value error, ")
    reason = ours if ours != reason else reason[:1].lower() + reason[1:]
    return Mistake(key, _shown(detail["input"]), reason, _remedy(detail))


def key_path(location: tuple[int | str, ...], prefix: str = "") -> str:
    """`("a", "b", 0)` as `a.b[0]`."""
    text = prefix
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _remedy(detail: ErrorDetails) -> str:
    found = detail["input"]
    if detail["type"] == "string_type" and isinstance(found, bool):
        return "YAML reads yes, no, on and off as true and false: put the word in quotes."
    if detail["type"] == "string_type" and isinstance(found, int | float):
        return "Put it in quotes."
    if detail["type"] in ("tuple_type", "list_type"):
        return "Write a list: [first, second] or one '- item' a line."
    return ""


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:  # lists within lists within lists …
        return "…"
    return text if len(text) <= 80 else text[:77] + "..."


def _did_you_mean(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    parent = _model_at(model, location[:-1])
    known = sorted(_keys(parent)) if parent else []
    near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {near[0]}?"
    return f"Known keys here: {', '.join(known)}." if known else "Remove it."


def _keys(model: type[BaseModel]) -> set[str]:
    return {info.alias or name for name, info in model.model_fields.items() if not info.exclude}


def _model_at(model: type[BaseModel], location: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The model that holds the value at `location`, following fields, dictionaries and lists."""
    current: Any = model
    for part in location:
        if isinstance(current, type) and issubclass(current, BaseModel):
            fields = {info.alias or name: info.annotation for name, info in current.model_fields.items()}
            current = fields.get(str(part))
        else:
            arguments = [argument for argument in get_args(current) if argument is not Ellipsis]
            current = arguments[-1] if arguments else None
        current = _without_none(current)
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _without_none(annotation: Any) -> Any:
    arguments = get_args(annotation)
    return (
        next((a for a in arguments if a is not type(None)), None) if type(None) in arguments else annotation
    )
