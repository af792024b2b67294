"""The kind `pages`: scanned or printed pages, as PDF, PNG, JPEG or TIFF."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from crmrag_query.config.reading import Count, Positive
from crmrag_query.config.sources import Files, Iri, SourceConfig, is_glob, matching_files


class PagesConfig(SourceConfig):
    """Documents of pages: PDF, PNG, JPEG, and TIFF of one or more pages.

    `files`: names or globs, from the folder that config/ stands in. `language`: of what the pages say. `model`: the language
    model, one that sees images, that reads entities and relationships from each page; "" for none, then the text layer alone
    is used. `profile`: which types it looks for, of `extraction.yaml`. `base`: what the IRIs of documents and pages begin
    with. `decided`: the file of what a person accepted or refused as the same thing (`crmrag pages`), where there is
    one. A document is left out, and
    named, that has more than `most_pages`, is larger than `megabytes`, or needs longer than `page_seconds` for a page or more
    than `memory_megabytes`.
    """

    alone: ClassVar[str] = "files"
    files: Files
    language: Annotated[str, Field(pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{1,8})*)?$")] = ""
    model: str = ""
    profile: str = "heritage"
    base: Iri = "urn:pages:"
    decided: str = "candidates.tsv"
    most_pages: Count = 2000
    megabytes: Positive = 200.0
    page_seconds: Positive = 20.0
    memory_megabytes: Count = 2048

    def places(self) -> tuple[str, ...]:
        return self.files

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        """A glob may match nothing yet, such as that of an inbox, where another entry has files."""
        listed = [file for file in self.files if not is_glob(file) or any(root.glob(file))]
        return matching_files(root, listed or self.files, key)


CONFIG = PagesConfig
