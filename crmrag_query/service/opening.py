"""What a service does before it is asked: releases opened, read from the disk, and searched once."""

from __future__ import annotations

import logging
from contextlib import suppress

from crmrag_query.answers.ask import prepare
from crmrag_query.artifacts.files import read_ahead, room
from crmrag_query.artifacts.release import Release
from crmrag_query.client.local import FIRST, Library
from crmrag_query.errors import CrmRagError
from crmrag_query.llm.model import LiteLLM, Model

LOG = logging.getLogger("crmrag.service")


def make_ready(releases: Library, model: Model | None = None) -> None:
    """Open every release, read it and search it once, and load what reaches the language model, so that nobody waits for
    that. Asks no language model."""
    left = room()
    for release in open_all(releases):
        with suppress(CrmRagError, OSError):  # whoever asks is told what is the matter
            left = read_ahead(release.folder, left)
            prepare(release, FIRST, wikidata=False)
    if isinstance(model, LiteLLM):
        try:
            model.load()
        except CrmRagError as error:
            LOG.warning("%s", error)


def open_all(releases: Library) -> list[Release]:
    """Every release that can be opened; those that cannot be are told in the log."""
    opened = []
    for name in releases.names():
        try:
            opened.append(releases.release(name)[1])
        except CrmRagError as error:
            LOG.warning("Data set %r: %s", name, error)
    return opened
