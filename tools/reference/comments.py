"""The comments of a YAML file by the key that they stand at: what a key is and where its value comes from is said there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

Keys = tuple[str, ...]
_RULE = re.compile(r"#\s*-{5,}")
_OURS = re.compile(r"(?i)(?:^|[;:(.]\s*|source: )(?:all )?ours\b|\ball numbers are ours\b")
_SOURCE = re.compile(
    r"(?i)\bsource(?: of the numbers| of all)?(?:, unless a comment says otherwise)?: ([^;.)]+)"
)
_BELOW = re.compile(r"All (?:below: ours|that follows is ours)\.?")
_OF_IT = re.compile(
    r" ?\(ours[^)]*\)|; ours\b[^;.]*|; source: [^;.]+|(?i: ?\bsource(?: of all)?: [^.]+\.)| ?\(source: [^)]+\)"
)
PUBLISHED = "published"


@dataclass(frozen=True)
class Comments:
    """``above``, ``beside``: the comments of a key; ``head``: that of the file; ``sources``: where values come from."""

    head: str
    told: dict[Keys, str]
    sources: dict[Keys, str]

    def of(self, keys: Keys) -> str:
        """What is said of a key, without its source."""
        return _BELOW.sub("", _OF_IT.sub("", self.told.get(keys, ""))).strip(" .:")

    def source(self, keys: Keys) -> str:
        """Where a value comes from: what the key says, else the one around it, else the file."""
        while keys:
            if keys in self.sources:
                return self.sources[keys]
            keys = keys[:-1]
        return self.sources.get((), "")


def read_comments(path: Path) -> Comments:
    """The comments of a file."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    head = _head(lines)
    told: dict[Keys, str] = {}
    sources: dict[Keys, str] = {}
    if source := _source(head):
        sources[()] = source
    root = yaml.compose(text)
    below: set[Keys] = set()
    for keys, key, node in _nodes(root, ()):
        comment = " ".join(filter(None, (_above(lines, key.start_mark), _beside(lines, key, node))))
        if comment:
            told[keys] = comment
        if _BELOW.search(comment):
            below.add(keys[:-1])
        if source := _source(comment) or ("ours" if keys[:-1] in below else ""):
            sources[keys] = source
    return Comments(head, told, sources)


def _nodes(node: yaml.Node | None, keys: Keys) -> Iterator[tuple[Keys, yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            path = (*keys, str(key.value))
            yield path, key, value
            yield from _nodes(value, path)


def _head(lines: list[str]) -> str:
    """The comment that the file begins with, its first paragraph."""
    found = []
    for line in lines:
        if not line.startswith("#") or not line.strip("# "):
            break
        found.append(line.strip("# "))
    return " ".join(found)


def _above(lines: list[str], mark: yaml.Mark) -> str:
    found: list[str] = []
    for line in reversed(lines[: mark.line]):
        if not re.match(rf" {{{mark.column}}}#", line) or _RULE.search(line):
            break
        found.append(line.strip("# "))
    begins_the_file = len(found) == mark.line and found
    return "" if begins_the_file else " ".join(reversed(found))


def _beside(lines: list[str], key: yaml.Node, node: yaml.Node) -> str:
    if getattr(node, "style", None) in ("|", ">"):
        return ""
    block = node.start_mark.line > key.end_mark.line and not getattr(node, "flow_style", False)
    end = key.end_mark if block else node.end_mark
    rest = lines[end.line][end.column :] if end.line < len(lines) else ""
    match = re.match(r":?\s*#\s*(.*)", rest)
    return match[1].strip() if match else ""


def _source(comment: str) -> str:
    if "first implementation's, and ours" in comment:
        return f"{PUBLISHED}, ours"
    if match := _SOURCE.search(comment):
        found = match[1].strip()
        if found.startswith(("ours", "our own")):
            return "ours"
        return (
            PUBLISHED
            if "published CRM-RAG" in found or "first CRM-RAG" in found
            else found.partition(", as ")[0]
        )
    return "ours" if _OURS.search(comment) else ""
