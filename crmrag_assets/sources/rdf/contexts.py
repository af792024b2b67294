"""JSON-LD contexts that a file names by their addresses: put in their places, since nothing is fetched from the network.

Linked Art's context ships with the package; a data set declares others (`contexts` in datasets.yaml).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from crmrag_query.errors import SourceError

SHIPPED = {"https://linked.art/ns/v1/linked-art.json": Path(__file__).parent / "linked-art.json"}
LONGEST = 1 << 16  # bytes from a key "@context" on within which its addresses stand
PORTION = 1 << 20  # bytes
_KEY = b'"@context"'
# Of a key "@context" the addresses that are its value, or begin the list that is. Within a text quotation marks are escaped.
_NAMED = re.compile(rb'(?P<key>"@context"\s*:\s*)(?P<names>"[^"\\]*"|\[\s*"[^"\\]*"(?:\s*,\s*"[^"\\]*")*)')
_NAME = re.compile(rb'"([^"\\]*)"')


@dataclass
class WithContexts:
    """Bytes of JSON-LD with the known contexts in the places of their addresses; ``missing``: addresses of unknown ones."""

    read_bytes: Callable[[int], bytes]
    contexts: Mapping[str, Path]
    missing: dict[str, None] = field(default_factory=dict)
    _known: dict[str, Path] = field(init=False)
    _ready: bytes = b""
    _waiting: bytes = b""
    _ended: bool = False

    def __post_init__(self) -> None:
        self._known = {_plain(address): path for address, path in (SHIPPED | dict(self.contexts)).items()}

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end."""
        while not self._ready and not self._ended:
            part = self.read_bytes(PORTION)
            self._ended = not part
            self._waiting += part
            cut = len(self._waiting) if self._ended else self._whole()
            self._ready, self._waiting = self._replaced(self._waiting[:cut]), self._waiting[cut:]
        given, self._ready = self._ready[:size], self._ready[size:]
        return given

    def _whole(self) -> int:
        """Up to where nothing that comes can belong to a context that has begun."""
        last = self._waiting.rfind(_KEY, max(0, len(self._waiting) - LONGEST))
        return last if last >= 0 else max(0, len(self._waiting) - len(_KEY))

    def _replaced(self, text: bytes) -> bytes:
        if _KEY not in text:
            return text
        return _NAMED.sub(lambda found: found["key"] + _NAME.sub(self._content, found["names"]), text)

    def _content(self, name: re.Match[bytes]) -> bytes:
        address = name[1].decode("utf-8", "replace")
        path = self._known.get(_plain(address))
        if path is None:
            self.missing[address] = None
            return name[0]
        return content_of(path)


def _plain(address: str) -> str:
    """An address whether it is asked for by http or https."""
    return address.removeprefix("https:").removeprefix("http:")


@cache
def content_of(path: Path) -> bytes:
    """The value of a context file's ``@context``, in one line; SourceError for a file that has none, or names others."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))["@context"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(
            f"{path} is no JSON-LD context ({type(error).__name__}).",
            'It must be JSON with a key "@context": fetch the context from its address again.',
        ) from error
    if others := [
        part for part in (content if isinstance(content, list) else [content]) if isinstance(part, str)
    ]:
        raise SourceError(
            f"The JSON-LD context in {path} names others by their addresses ({', '.join(others)}).",
            "Put their content in the places of their addresses in this file.",
        )
    return json.dumps(content, separators=(",", ":")).encode()
