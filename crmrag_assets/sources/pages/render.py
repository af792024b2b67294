"""Documents as images and text layers, each read by a process of its own (``child``) with limits, and kept by its content."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crmrag_assets.build.step import Progress
from crmrag_query.artifacts.manifest import sha256_file, write_text
from crmrag_query.config.sources import PagesConfig
from crmrag_query.documents.pages import HEAD, format_of
from crmrag_query.errors import MissingExtraError

CHILD = Path(__file__).with_name("child.py")
WRITER = 1  # raised when the same document would become other images or texts
TOLD = "pages.jsonl"
SECONDS = 3600  # that a whole document may take
LETTERS = 16  # that a page needs for its text layer to be one
NO_PAGES = "it is no PDF, PNG, JPEG or TIFF, whatever it is called"
BROKEN = 0.2  # share of a text layer's characters that are none, from which on it is no text


@dataclass(frozen=True)
class RenderedPage:
    """``number`` from 1; ``error``: why it cannot be read, "" for none, then ``image`` is there."""

    number: int
    text: str
    error: str = ""
    width: int = 0
    height: int = 0
    image: Path | None = None


@dataclass(frozen=True)
class Rendered:
    """A document and its pages; ``refused``: why it has none; ``kept``: it was taken from the cache."""

    name: str
    sha256: str
    format: str = ""
    pages: tuple[RenderedPage, ...] = ()
    refused: str = ""
    kept: bool = False


def render_all(
    files: Iterable[tuple[str, Path]], config: PagesConfig, cache: Path, workers: int, progress: Progress
) -> list[Rendered]:
    """The documents by name and path, in order; what was read before is taken from ``cache``.

    Raises MissingExtraError where the packages that read pages are not installed.
    """
    if not all(find_spec(name) for name in ("pypdfium2", "PIL")):
        raise MissingExtraError("Reading pages", "pages")
    listed, found = list(files), list[Rendered]()
    with ThreadPoolExecutor(max(1, workers)) as pool:
        for one in pool.map(lambda item: render(item[0], item[1], config, cache), listed):
            found.append(one)
            progress.advance(len(found), len(listed), f"reading pages of {one.name}")
    return found


def render(name: str, path: Path, config: PagesConfig, cache: Path) -> Rendered:
    """One document. What is refused is tried again each time: its limits may be others then."""
    digest = sha256_file(path)

    def refused(why: str) -> Rendered:
        return Rendered(name, digest, refused=why)

    home = cache / f"{digest[:32]}-{WRITER}"
    if not (kept := (home / TOLD).is_file()):
        if (size := path.stat().st_size) > config.megabytes * (1 << 20):
            return refused(f"it is of {size >> 20:,} MB, and {config.megabytes:g} are allowed (megabytes)")
        cache.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=cache, suffix=".part"))
        try:
            told, why = _read(path, config, draft)
            if why:
                return refused(why)
            write_text(draft / TOLD, "".join(f"{json.dumps(line)}\n" for line in told))
            if not home.exists():
                draft.replace(home)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    *pages, end = map(json.loads, (home / TOLD).read_text(encoding="utf-8").splitlines())
    if len(pages) > config.most_pages:
        return refused(f"it has {len(pages):,} pages, and {config.most_pages:,} are allowed (most_pages)")
    return Rendered(name, digest, end["format"], tuple(map(partial(_page, home), pages)), kept=kept)


def _page(home: Path, told: dict[str, Any]) -> RenderedPage:
    if told["error"]:
        return RenderedPage(told["number"], "", told["error"])
    image = home / f"page_{told['number']:03}.png"
    return RenderedPage(told["number"], running(told["text"]), "", told["width"], told["height"], image)


def refusal(path: Path, config: PagesConfig) -> str:
    """Why a document would be refused, by its number of pages and its first page; "" where it would not for these."""
    with tempfile.TemporaryDirectory(prefix="crmrag-page-") as folder:
        return _read(path, config, Path(folder), first=True)[1]


def _read(
    path: Path, config: PagesConfig, folder: Path, first: bool = False
) -> tuple[list[dict[str, Any]], str]:
    """What the process told, and why the document is refused, "" where it is not."""
    with path.open("rb") as file:
        kind = format_of(file.read(HEAD))
    if not kind:
        return [], NO_PAGES
    setup = {
        "path": str(path.resolve()), "format": kind, "first": first, "folder": str(folder), "most_pages": config.most_pages,
        "page_seconds": config.page_seconds, "memory_megabytes": config.memory_megabytes,
    }  # fmt: skip
    with (folder / "told").open("w+b") as out:
        try:
            code = subprocess.run(
                [sys.executable, "-I", str(CHILD)], input=json.dumps(setup).encode(), stdout=out,
                stderr=subprocess.DEVNULL, timeout=SECONDS, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return [], f"it takes longer than {SECONDS / 60:.0f} minutes"
        out.seek(0)
        lines = [json.loads(line) for line in out if line.endswith(b"\n")]
    (folder / "told").unlink()
    if lines and "refused" in lines[-1]:
        return [], lines[-1]["refused"]
    if code or not lines or "format" not in lines[-1]:
        page = sum("number" in line for line in lines) + 1
        if code == -getattr(signal, "SIGALRM", 0):
            return [], f"its page {page} takes longer than {config.page_seconds:g} seconds (page_seconds)"
        memory = f"{config.memory_megabytes:,} MB (memory_megabytes)"
        return [], f"at its page {page} it breaks its reader, or needs more than {memory}"
    return lines, ""


def running(text: str) -> str:
    """A text layer as running text: words that were divided at the end of a line are whole, and characters that
    nobody sees are left out."""
    plain = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    plain = plain.replace("\ufffe\n", "").replace("\ufffe", "").replace("\u00ad\n", "").replace("\u00ad", "")
    plain = "".join(
        char for char in plain if char == "\n" or unicodedata.category(char) not in ("Cc", "Cs", "Co", "Cn")
    )
    lines, joined = [line.strip() for line in plain.split("\n")], ""
    for line in lines:
        if joined.endswith("-") and joined[-2:-1].islower() and line[:1].islower():
            joined = joined[:-1] + line
        else:
            joined += ("\n" if joined else "") + line
    return joined.strip()


def lacks_text(text: str) -> bool:
    """Whether a page has no text layer worth the name: a model, or OCR, has to read it."""
    characters = [char for char in text if not char.isspace()]
    broken = sum(char == "\ufffd" for char in characters)
    return sum(map(str.isalnum, characters)) < LETTERS or broken > BROKEN * len(characters)
