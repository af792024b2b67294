"""A Markdown file for each document, for people to read; nothing in the project reads them back."""

from __future__ import annotations

import re
from pathlib import Path

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.documents.chain import SEPARATOR
from crmrag_assets.documents.words import file_name
from crmrag_query.documents.documents import Documents

_ACTIVE = re.compile(r"([\\`*_\[\]<>#|~]|&(?=[#\w]))")


def write_markdown(documents: Documents, out: Path, progress: Progress | None = None) -> int:
    """Write ``<label>-<hash of the IRI>.md`` for each document into ``out``; returns how many."""
    progress = progress or SilentProgress()
    for i in range(documents.count):
        iri = documents.graph.iri(documents.entity(i))
        path = out / file_name(documents.label(i), iri)
        path.write_text(markdown(documents.text(i), iri), encoding="utf-8", newline="\n")
        if i % 1000 == 999 or i + 1 == documents.count:
            progress.advance(i + 1, documents.count, "files")
    return documents.count


def markdown(text: str, iri: str) -> str:
    """A document as Markdown: a heading for each block, its lines as a list; nothing in it is active."""
    blocks = [block.split("\n") for block in text.split(SEPARATOR)]
    parts = [f"{'#' if i == 0 else '##'} {_plain(lines[0])}\n" for i, lines in enumerate(blocks)]
    bodies = ["".join(f"- {_plain(line)}\n" for line in lines[1:]) for lines in blocks]
    parts[0] += f"\n`{iri.replace('`', '%60')}`\n"
    return "\n".join(part + ("\n" + body if body else "") for part, body in zip(parts, bodies, strict=True))


def _plain(text: str) -> str:
    return _ACTIVE.sub(
        lambda match: "&amp;" if match[0] == "&" else "&lt;" if match[0] == "<" else "\\" + match[0], text
    )
