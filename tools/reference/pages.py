"""The reference pages by their file below `docs/reference/`."""

from __future__ import annotations

from pathlib import Path

from tools.reference import commands, configuration, http

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
NOTE = "<!-- Written by `make docs` from the code; edit the code, not this file. -->\n\n"


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    made = {"configuration.md": configuration.page(), "commands.md": commands.page(), "http.md": http.page()}
    return {name: NOTE + text for name, text in made.items()}


def write() -> list[Path]:
    """Write the pages that changed; gives their paths."""
    FOLDER.mkdir(exist_ok=True)
    changed = []
    for name, text in pages().items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed
