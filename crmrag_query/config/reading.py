"""YAML files into typed records, every mistake with file, key, value and remedy; the types of values that these share, and
the folders that they come from."""

from __future__ import annotations

import difflib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from crmrag_query.errors import ConfigError, Mistake

FORBIDDEN_IN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
"""What the production IRIREF of SPARQL 1.1 and of N-Triples excludes."""
CategoryName = Literal["Thing", "Actor", "Place", "Event", "Concept", "Time"]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Codes = tuple[str, ...]
"""Codes of classes or properties: `E22`, `P108i`."""
Properties = tuple[str, ...]
"""Codes of CRM properties, or IRIs of other vocabularies' properties; their order is their priority."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]

ENVIRONMENT = "CRMRAG_CONFIG"
_PACKAGE = Path(__file__).resolve().parent.parent


def default_folder() -> Path:
    """The configuration that ships: inside the installed package, else beside it in the repository."""
    packaged = _PACKAGE / "_config"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "config"


def config_folder(folder: Path | str | None = None) -> Path:
    """The argument, else CRMRAG_CONFIG, else ./config where it holds any of the files that ship, else what ships."""
    chosen = folder or os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    here = Path("config")
    own = (here / shipped.name for shipped in default_folder().glob("*.yaml"))
    return here if any(file.is_file() for file in own) else default_folder()


def part_file(name: str, folder: Path | str | None = None) -> Path:
    """The file `name` of the chosen folder; what ships where that folder has no such file."""
    own = config_folder(folder) / name
    return own if own.exists() else default_folder() / name


def datasets_file(path: Path | str | None = None) -> Path:
    """The datasets.yaml to use: the argument, else CRMRAG_CONFIG's, else ./config's, else what ships."""
    if path:
        return Path(path)
    environment = os.environ.get(ENVIRONMENT)
    places = [Path(environment)] if environment else []
    for place in (*places, Path("config")):
        if (place / "datasets.yaml").is_file():
            return place / "datasets.yaml"
    return default_folder() / "datasets.yaml"


def ontology_folders(folder: Path | str | None = None) -> tuple[Path, ...]:
    """Folders with ontology tables, the nearest first; tables that a project adds join those that ship."""
    places = (config_folder(folder) / "ontology", Path("config/ontology"), default_folder() / "ontology")
    distinct = {place.resolve(): place for place in reversed(places) if place.is_dir()}
    return tuple(place for place in places if place.is_dir() and distinct.get(place.resolve()) is place)


Part = TypeVar("Part", bound=BaseModel)
OPENED = 10_000
"""Brackets in a file up to which no depth overflows the parser's stack, which ends the process."""
EXPANDED = 1_000_000
"""Values that a file with aliases may stand for: ten lines of them can stand for billions."""
_COMPACT = re.compile(rb"(?:[-?]\s+){1000}")  # lists in lists in one line, as deep
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Record(BaseModel):
    """Base of all configuration: frozen, and no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CategoriesPart(Record):
    """`categories.yaml`: classes of the Fundamental Categories, and which one counts of several."""

    priority: tuple[CategoryName, ...]
    classes: dict[CategoryName, Codes]
    also: dict[CategoryName, Codes] = Field(default_factory=dict)

    @field_validator("classes")
    @classmethod
    def _once(cls, classes: dict[CategoryName, Codes]) -> dict[CategoryName, Codes]:
        seen: dict[str, str] = {}
        for category, codes in classes.items():
            for code in codes:
                if code in seen:
                    raise ValueError(
                        f"{code} stands under {seen[code]} and {category}; further categories go under 'also'"
                    )
                seen[code] = category
        return classes


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
    except OSError as error:
        what, remedy = f"cannot be read: {error.strerror}", "Check its permissions."
        if isinstance(error, FileNotFoundError):
            what, remedy = "the file does not exist", "Create it, or check the path."
        raise ConfigError.single(path, "", what, remedy=remedy) from None


def _values(path: Path, content: bytes) -> Any:
    if content.count(b"[") + content.count(b"{") > OPENED or _COMPACT.search(content):
        raise ConfigError.single(
            path, "", f"more than {OPENED:,} brackets, or lists within lists",
            remedy="Write one item a line, or several files.",
        )  # fmt: skip
    try:
        values = yaml.load(content, Loader=_StrictLoader)
        if b"*" in content and b"&" in content and _held(values, {}) > EXPANDED:
            what = f"its aliases (*name) stand for more than {EXPANDED:,} values"
            raise ConfigError.single(path, "", what, remedy="Write them out.")
        return values
    except (yaml.reader.ReaderError, UnicodeDecodeError):
        what = "not text in UTF-8, or with control characters in it"
        raise ConfigError.single(path, "", what, remedy="Save it in UTF-8.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        what = f"not valid YAML: {getattr(error, 'problem', None) or error}"
        raise ConfigError.single(path, where, what, remedy="Correct that line.") from None


def _held(value: Any, known: dict[int, int]) -> int:
    """How many values a value holds, what aliases repeat counted each time."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = EXPANDED  # of one that holds itself
        parts = value.values() if isinstance(value, dict) else value
        try:
            known[id(value)] = 1 + sum(_held(part, known) for part in parts)
        except RecursionError:  # lists within lists within lists …: the model says what is wrong with them
            known[id(value)] = 1
    return known[id(value)]


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
        return Mistake(key, _shown(detail["input"]), *_of_unknown(model, location))
    if detail["type"] == "missing":
        return Mistake(key, "", "required, but missing", "Add it.")
    reason = detail["msg"].rstrip(".")
    of_validator = reason.removeprefix("Value error, ")
    reason = of_validator if of_validator != reason else reason[:1].lower() + reason[1:]
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


def _of_unknown(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, str]:
    """What is wrong with a key that is not declared, and what to do."""
    parent = _model_at(model, location[:-1])
    known = (
        sorted(info.alias or name for name, info in parent.model_fields.items() if not info.exclude)
        if parent
        else []
    )
    near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.6)
    if near:
        return "unknown key", f"Did you mean {near[0]}?"
    return "unknown key", f"Known keys here: {', '.join(known)}." if known else "Remove it."


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


class Requests(Record):
    """How a SPARQL endpoint is asked: sizes, patience and politeness; a data set may set its own.

    `batch_entities` IRIs in one VALUES request; up to `subject_rows` subjects are discovered in one response, more of them
    in pages of `page_rows`. `pause_seconds` between the starts of two requests, at most `parallel` at once. A request that
    fails is tried `retries` times more, after `first_wait_seconds`, doubled each time up to `longest_wait_seconds`. Up to
    `blank_rows` triples with blank nodes are fetched in one response; more of them tree by tree, to `blank_depth` blank
    nodes below an entity. A build stops after `request_budget` times the requests that an endpoint of its size needs at best.
    """

    batch_entities: Count
    page_rows: Count
    subject_rows: int = Field(ge=0)
    timeout_seconds: Positive
    pause_seconds: NotNegative
    parallel: Count
    retries: int = Field(ge=0)
    first_wait_seconds: NotNegative
    longest_wait_seconds: NotNegative
    response_bytes: Count
    blank_rows: int = Field(ge=0)
    blank_depth: Count
    request_budget: Count


# Capitals only, as is the custom: nearly every secret that is pasted here by mistake has a small letter or a sign.
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = {
    "accept", "accept-charset", "accept-encoding", "connection", "content-encoding", "content-length", "content-type",
    "cookie", "host", "transfer-encoding",
}  # fmt: skip


def _variable(text: str) -> str:
    if text.startswith("$"):
        raise ValueError("the name of an environment variable stands here without $ and braces")
    if not _VARIABLE.fullmatch(text):
        raise ValueError(
            "not the name of an environment variable in capitals, as MUSEUM_TOKEN; the secret itself never stands here"
        )
    return text


def _header(text: str) -> str:
    if not _HEADER.fullmatch(text):
        raise ValueError("not the name of an HTTP header")
    if text.lower() == "user-agent":
        raise ValueError("who asks is said by `contact`, which goes into this header")
    if text.lower() in _OWN_HEADERS:
        raise ValueError("this header belongs to each request itself")
    return text


Variable = Annotated[str, AfterValidator(_variable)]
HeaderName = Annotated[str, AfterValidator(_header)]
