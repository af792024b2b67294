"""Add, rename and remove a data set in datasets.yaml without touching what else stands there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import yaml

from crmrag_query.config.datasets import DatasetConfig, load_datasets, parse_dataset, require_name
from crmrag_query.config.folders import ENVIRONMENT
from crmrag_query.config.reading import read_yaml
from crmrag_query.errors import ConfigError

Declared: TypeAlias = dict[str, DatasetConfig]
Value: TypeAlias = "str | bool | int | float | Sequence[str] | Mapping[str, Value]"

COMMENTS = {
    "rdf": "files or globs, from the folder that config/ stands in",
    "endpoint": "a SPARQL endpoint; secrets stay in the environment",
    "languages": "labels are taken in this order",
    "image_pattern": "more addresses that are images",
    "wikidata": "texts from Wikidata at question time",
    "questions": "questions with known answers, for `crmrag evaluate`",
}
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ *()+-]*[A-Za-z0-9_./*()+-]|[A-Za-z]")
_WORDS = re.compile(r"(?i)(true|false|yes|no|on|off|null|y|n|~|[\d._+-]+([eE][\d+-]+)?)")
_HEAD = "# Data sets; `crmrag datasets check` validates them.\n\ndatasets:\n"


def own_datasets_file() -> Path:
    """Where a project keeps its data sets: CRMRAG_CONFIG's datasets.yaml, else ./config/datasets.yaml."""
    return Path(os.environ.get(ENVIRONMENT) or "config") / "datasets.yaml"


def add_dataset(file: Path, name: str, values: Mapping[str, Value]) -> DatasetConfig:
    """Validate the entry, append it to the file (created where there is none), and return it as loaded.

    Raises ConfigError, the file untouched, where the entry has a mistake, the name is taken, a file is
    missing, or the file's form does not let text be appended.
    """
    present = load_datasets(file) if file.exists() else {}
    if name in present:
        raise ConfigError.single(
            file, f"datasets.{name}", "a data set of this name exists", remedy="Choose another."
        )
    parsed = parse_dataset(name, dict(values), file)
    parsed.files()
    parsed.questions_file()
    old = file.read_text(encoding="utf-8") if file.exists() else _HEAD
    text = _without_empty(old).rstrip("\n") + "\n\n" + entry_text(name, values, _indent(old))
    file.parent.mkdir(parents=True, exist_ok=True)
    return _replaced(file, text, present | {name: parsed}, f"Add by hand:\n{text}")[name]


def rename_dataset(file: Path, name: str, to: str) -> DatasetConfig:
    """Give a data set another name, and return it as loaded; all else stays, comments too.

    Raises ConfigError, the file untouched, where there is no such data set, the new name is taken or no name, or the file's
    form does not let its text be changed.
    """
    present = load_datasets(file)
    lines, first, _ = _entry(file, name, present)
    require_name(to, file)
    if to in present:
        raise ConfigError.single(
            file, f"datasets.{to}", "a data set of this name exists", remedy="Choose another."
        )
    lines[first] = lines[first].replace(name, to, 1)
    wanted = {to if key == name else key: one for key, one in present.items()}
    called = (
        {} if "title" in read_yaml(file)["datasets"][name] else {"title": to}
    )  # a title that is the name alone
    wanted[to] = wanted[to].model_copy(update={"name": to, **called})
    return _replaced(file, "".join(lines), wanted)[to]


def remove_dataset(file: Path, name: str) -> None:
    """Take a data set out of the file; all else stays.

    Raises ConfigError, the file untouched, where there is no such data set, or the file's form does not let its text be cut.
    """
    present = load_datasets(file)
    lines, first, end = _entry(file, name, present)
    wanted = {key: one for key, one in present.items() if key != name}
    _replaced(file, "".join(lines[:first] + lines[end:]), wanted)


def _entry(file: Path, name: str, present: Declared) -> tuple[list[str], int, int]:
    """The lines of the file, and the first and end of those of an entry: its key, and the deeper lines below it."""
    if name not in present:
        raise ConfigError.single(
            file, f"datasets.{name}", "no such data set", remedy=f"There are: {', '.join(present) or 'none'}."
        )
    text = file.read_text(encoding="utf-8")
    lines, indent = text.splitlines(keepends=True), _indent(text)
    head = re.compile(rf"{indent}(['\"]?){re.escape(name)}\1[ \t]*:")
    first = next((at for at, line in enumerate(lines) if head.match(line)), None)
    if first is None:
        raise ConfigError.single(
            file, f"datasets.{name}", "no program can change its text", remedy="Change the file by hand."
        )
    end = at = first + 1
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith((f"{indent} ", f"{indent}\t"))):
        at += 1
        end = at if lines[at - 1].strip() else end  # what is blank below an entry is between entries
    return lines, first, end


def _replaced(file: Path, text: str, wanted: Declared, remedy: str = "Change the file by hand.") -> Declared:
    """Write the text in place of the file's; ConfigError, the file untouched, where it would not declare what is wanted."""
    draft = file.with_name(f".{file.name}.new")
    draft.write_text(text, encoding="utf-8", newline="\n")
    try:
        loaded = load_datasets(draft)
        if loaded != wanted:
            raise ConfigError.single(file, "datasets", "no program can change its text", remedy=remedy)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return loaded


def entry_text(name: str, values: Mapping[str, Value], indent: str = "  ") -> str:
    """The entry as YAML, with comments."""
    return "\n".join([f"{indent}{name}:", *_lines(values, indent, 2, COMMENTS)]) + "\n"


def _lines(
    values: Mapping[str, Value], indent: str, depth: int, comments: Mapping[str, str]
) -> Iterator[str]:
    """One line a key, mappings below their key; ``depth`` in steps of ``indent``."""
    for key, value in values.items():
        comment = f"    # {comments[key]}" if key in comments else ""
        head = f"{indent * depth}{_scalar(key)}:"
        if isinstance(value, Mapping) and value:
            yield f"{head}{comment}"
            yield from _lines(value, indent, depth + 1, {})
        else:
            yield f"{head} {_value(value)}{comment}"


def _value(value: Value) -> str:
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, bool | int | float | Mapping):
        return str(yaml.safe_dump(value)).partition("\n")[0]
    return f"[{', '.join(_scalar(item, in_list=True) for item in value)}]"


def _scalar(text: str, in_list: bool = False) -> str:
    """The text plain where YAML reads it as itself, else in double quotes (JSON strings are YAML)."""
    plain = _PLAIN.fullmatch(text) and not _WORDS.fullmatch(text)
    return text if plain and not (in_list and "," in text) else json.dumps(text, ensure_ascii=False)


def _indent(text: str) -> str:
    found = re.search(r"^datasets:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*( +)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _without_empty(text: str) -> str:
    """The text with `datasets: {}` opened for entries."""
    return re.sub(r"^datasets:[ \t]*(\{\}|null|~)[ \t]*$", "datasets:", text, flags=re.MULTILINE)
