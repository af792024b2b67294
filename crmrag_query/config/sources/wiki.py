"""The kind `wiki`: dumps of a MediaWiki, such as Wikipedia's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from crmrag_query.config.reading import Positive
from crmrag_query.config.sources import Files, Iri, SourceConfig, matching_files

PAGE = "urn:crmrag:wiki:Page"
"""The class of every page."""


class WikiConfig(SourceConfig):
    """Dumps of a MediaWiki in XML, plain or compressed, of current pages or of whole histories.

    `files`: names or globs, from the folder that config/ stands in. `namespaces`: numbers of those whose pages are read.
    `base`: what the IRI of a page begins with; else as the dump says. `language`: of titles and texts; else as the dump says.
    `text_megabytes`: a longer text of a page is left out, and told.
    """

    alone: ClassVar[str] = "files"
    files: Files
    namespaces: tuple[int, ...] = Field(default=(0,), min_length=1)
    base: Iri | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$")] | None = None
    text_megabytes: Positive = 4.0

    def places(self) -> tuple[str, ...]:
        return self.files

    def whole(self) -> tuple[str, ...]:
        return (PAGE,)

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        return matching_files(root, self.files, key)


CONFIG = WikiConfig
