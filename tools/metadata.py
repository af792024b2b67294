"""What a package index shows of the project: its long description, made from README.md, and the addresses of the project.

Links of README.md are relative, so that they work wherever the repository lies. An index has none of its files: there they
lead to the tag of the version at ``CRMRAG_PROJECT_URL``, the address of the repository on the web (GitHub's layout, which
GitLab understands as well). Without an address they are plain text, pictures are left out, and no address is told.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ADDRESS = "CRMRAG_PROJECT_URL"
RELATIVE = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class ProjectMetadata(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        address = os.environ.get(ADDRESS, "").rstrip("/")
        if address and not address.startswith("https://"):
            raise ValueError(
                f"{ADDRESS} is {address!r}. Give the address of the repository, which begins with https://."
            )
        tag = f"v{metadata['version']}"
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text, address, tag)}
        metadata["urls"] = addresses(address, tag)


def addresses(address: str, tag: str) -> dict[str, str]:
    """The addresses that an index shows beside the project; none without that of the repository."""
    if not address:
        return {}
    files = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
    shown = {name: f"{address}/blob/{tag}/{path}" for name, path in files.items()}
    return {"Repository": address, "Issues": f"{address}/issues"} | shown


def description(text: str, address: str, tag: str) -> str:
    """The README with links that lead somewhere from anywhere; code stays as it is."""

    def absolute(found: re.Match[str]) -> str:
        picture, shown, path = found["picture"], found["text"], found["path"]
        if address:
            return f"{picture}[{shown}]({address}/{'raw' if picture else 'blob'}/{tag}/{path})"
        return "" if picture else shown

    parts, at = list[str](), 0
    for code in CODE.finditer(text):
        parts += [RELATIVE.sub(absolute, text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, RELATIVE.sub(absolute, text[at:])])
