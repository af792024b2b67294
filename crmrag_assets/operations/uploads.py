"""What the building side does for documents that were sent to the service: a first look, and a build that takes them up."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from crmrag_assets.sources.pages.render import refusal
from crmrag_query.config.sources import PagesConfig

COMMAND = "from crmrag_query.cli.main import main; main()"
_LOCK = threading.Lock()
_RUNNING: dict[tuple[Path, str], bool] = {}
"""By data folder and data set, of those that a build runs of, whether it is to run once more, as something came meanwhile."""


def inspect(path: Path, pages: int) -> str:
    """Why a document of at most so many pages would be refused, "" where it would not; read in a process with limits."""
    return refusal(path, PagesConfig(files=(path.name,), most_pages=pages))


def build(data: Path, dataset: str) -> None:
    """Start a build beside the service, or have the one that runs begin again at its end."""
    key = (data, dataset)
    with _LOCK:
        running = key in _RUNNING
        _RUNNING[key] = running
    if not running:
        threading.Thread(target=_build, args=key, name="build", daemon=True).start()


def _build(data: Path, dataset: str) -> None:
    key, again = (data, dataset), True
    while again:
        command = [sys.executable, "-c", COMMAND, "build", dataset, "--data", str(data)]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
        with _LOCK:
            again = _RUNNING.pop(key)
            if again:
                _RUNNING[key] = False
