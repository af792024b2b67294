"""The kind `rdf`: files of RDF with CIDOC-CRM."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from crmrag_query.config.sources import Files, SourceConfig, matching_files, named_file


class RdfConfig(SourceConfig):
    """Files of RDF with CIDOC-CRM.

    `files`: names or globs, from the folder that config/ stands in. `base_iri`: for relative IRIs. `contexts`: files that
    stand in for JSON-LD contexts, by their addresses.
    """

    alone: ClassVar[str] = "files"
    crm: ClassVar[bool] = True
    files: Files
    base_iri: str = ""
    contexts: dict[str, str] = Field(default_factory=dict)

    def places(self) -> tuple[str, ...]:
        return self.files

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        return matching_files(root, self.files, key)

    def require(self, root: Path, key: str) -> None:
        super().require(root, key)
        self.context_files(root, key)

    def context_files(self, root: Path, key: str = "") -> dict[str, Path]:
        """The files that `contexts` names, by the addresses; ConfigError, with the ``key``, where there is no such file."""
        return {
            address: named_file(root, name, f"{key}.contexts.{address}")
            for address, name in self.contexts.items()
        }


CONFIG = RdfConfig
