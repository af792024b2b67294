"""Which subjects an endpoint holds: pages in the order of their IRIs, after the last one seen, never by OFFSET.

Where an endpoint cannot sort all its subjects they are read class by class, and where it cannot sort those either, by
the MD5 of their IRIs. What was found is compared with what the endpoint counts. The lists that it gave are kept on disk:
a discovery that was interrupted does not ask again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Missing
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import (
    all_subjects,
    class_list,
    count_subjects,
    counted_page,
    counted_subjects,
    digest_filter,
    is_iri,
    listed_as,
    subject_page,
    typed,
    untyped,
)
from crmrag_query.artifacts.files import canonical_json, write_text

KEPT = 86_400.0  # seconds: an interruption may last a night, but old lists belong to another state of the endpoint


@dataclass(frozen=True)
class Journal:
    """Answers by the text of their query, in ``folder``; ``state`` is what else they depend on, such as the address."""

    folder: Path
    state: str

    def strings(self, query: str, ask: Callable[[str], list[str]]) -> list[str]:
        """The list that answers the query: from disk, else asked for and kept."""
        path = self.folder / f"{hashlib.sha256(f'{self.state} {query}'.encode()).hexdigest()[:32]}.json"
        try:
            # of a time to come where the clock was set back since
            is_fresh = abs(time.time() - path.stat().st_mtime) <= KEPT
            kept = json.loads(path.read_bytes()) if is_fresh else None
        except (OSError, ValueError):
            kept = None
        if not isinstance(kept, list) or not all(isinstance(text, str) for text in kept):
            kept = ask(query)
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(path, canonical_json(kept))
        return kept

    def forget(self) -> None:
        """Remove all that is kept."""
        shutil.rmtree(self.folder, ignore_errors=True)


LEAST = 100  # subjects in a page below which sorting is given up
DIGITS = "0123456789abcdef"
DEEPEST = 5  # digits of the MD5: about a million parts
BY_CLASS = "classes whose subjects were read one class after another"
BY_DIGEST = "reads of subjects by the MD5 of their IRIs, as the endpoint would not sort"
AGAIN = "subjects that only a second reading found"
UNCOUNTED = "subjects that no count verified"


@dataclass(frozen=True)
class Subjects:
    """IRIs of subjects as the endpoint spells them, sorted; those of an excluded type; how many it counts.

    ``triples``: the number of a subject's triples, of those that it was given with.
    """

    iris: tuple[str, ...]
    excluded: frozenset[str]
    counted: int | None
    missing: tuple[Missing, ...] = ()
    triples: Mapping[str, int] = field(default_factory=dict)


class _Unsorted(Exception):
    """The endpoint will not give these subjects in order."""


def discover_subjects(
    client: Client, journal: Journal, excluded_types: Sequence[str], progress: Progress
) -> Subjects:
    """Every subject that is an IRI; raises SourceError when the endpoint stops answering."""
    reading = _Reading(client, journal, progress)
    found, counted = reading.all()
    if counted is None:
        client.note(UNCOUNTED, len(found))
    missing: tuple[Missing, ...] = ()
    if counted is not None and len(found) < counted:
        lost = counted - len(found)
        missing = (Missing(f"{lost:,} of {counted:,} subjects are counted and were never given"),)
    excluded = reading.instances(excluded_types)
    return Subjects(tuple(sorted(found)), frozenset(excluded & found), counted, missing, reading.triples)


class _Reading:
    """Reads subjects, and tells how far it is."""

    def __init__(self, client: Client, journal: Journal, progress: Progress) -> None:
        self._client, self._journal, self._progress = client, journal, progress
        self._total: int | None = None
        self.triples: dict[str, int] = {}
        self._counts_each = True  # whether the endpoint gives subjects with the numbers of their triples
        self._limit = client.settings.page_rows  # what the endpoint sorted at most, once it refused more

    def counted(self, only: str = "") -> int | None:
        try:
            found = self._client.count(count_subjects(self._client.scope, only))
        except Unanswered:
            return None
        if not only:
            self._total = found
        return found

    def all(self) -> tuple[set[str], int | None]:
        """All subjects, and their number: read in order, again where some are lacking, then class by class."""
        found, counted = set[str](), self.counted()
        if counted is not None and counted <= self._client.settings.subject_rows:
            # where as many come in one response as are counted, nothing need be sorted
            with suppress(Unanswered):
                found |= set(self._counted(counted_subjects(self._client.scope)))
            if len(found) >= counted:
                return found, counted
        try:
            found |= set(self._pages("", self._client.settings.page_rows))
            if counted is not None and len(found) < counted:
                counted, before = self.counted(), len(found)
                self._journal.forget()
                found |= set(self._pages("", self._client.settings.page_rows // 2 or 1))
                self._client.note(AGAIN, len(found) - before)
            if counted is None or len(found) >= counted:
                return found, counted
        except _Unsorted:
            pass
        return found | self._by_class(), counted

    def instances(self, classes: Sequence[str]) -> set[str]:
        """Subjects of these classes; none where the endpoint does not answer."""
        return self._some(typed(self._client.scope, classes)) if classes else set()

    def _by_class(self) -> set[str]:
        scope = self._client.scope
        try:
            classes = sorted(filter(is_iri, self._client.strings(class_list(scope), "class")))
        except Unanswered:
            return self._by_digest("")
        found = set[str]()
        for one in classes:
            self._client.note(BY_CLASS)
            found |= self._some(typed(scope, [one]))
        return found | self._some(untyped(scope))

    def _some(self, only: str) -> set[str]:
        try:
            found = set(self._pages(only, self._client.settings.page_rows))
        except _Unsorted:
            return self._by_digest(only)
        counted = self.counted(only)
        return found if counted is None or len(found) >= counted else found | self._by_digest(only)

    def _pages(self, only: str, limit: int) -> Iterator[str]:
        """Subjects page by page, until twice none is new: a short page may be a silent cap, an empty one a fault."""
        after, seen, ended = "", set[str](), False
        sorted_rows = limit = min(limit, self._limit)
        while True:
            try:
                page = self._page(only, after, limit)
            except Unanswered as error:
                if limit <= LEAST:
                    raise _Unsorted from error
                sorted_rows = limit = max(LEAST, limit // 10)
                continue
            self._limit = sorted_rows
            fresh = [iri for iri in page if iri not in seen]
            if not fresh and ended:
                return
            ended = not fresh
            limit -= ended and limit > 1  # another text, so that neither the journal nor a cache answers
            seen.update(fresh)
            self._client.brought(len(fresh))
            yield from fresh
            after = page[-1] if fresh else after
            self._progress.advance(len(seen), self._total, "subjects found")
            if self._total is not None and len(seen) >= self._total:
                return

    def _page(self, only: str, after: str, limit: int) -> list[str]:
        if not only and self._counts_each:
            try:
                return self._counted(counted_page(self._client.scope, after, limit))
            except Unanswered:
                self._counts_each = False
        query = subject_page(self._client.scope, after, limit, only)
        return self._journal.strings(query, partial(self._client.strings, variable=listed_as(only)))

    def _counted(self, query: str) -> list[str]:
        """Subjects that a query gives with the numbers of their triples; these are kept."""

        def asked(query: str) -> list[str]:
            return [f"{n} {iri}" for iri, n in self._client.counted_strings(query, patient=False)]

        lines = self._journal.strings(query, asked)
        page = [(iri, n) for n, _, iri in (line.partition(" ") for line in lines)]
        self.triples.update((iri, int(n)) for iri, n in page if n.isdecimal())
        return [iri for iri, _ in page]

    def _by_digest(self, only: str, digest: str = "", found: set[str] | None = None) -> set[str]:
        """Subjects in any order, in as many parts as bring more than was ``found``, which one response gave."""
        self._client.note(BY_DIGEST)
        found = self._listed(only, digest) if found is None else found
        counted = self.counted(self._part(only, digest))
        if (counted is not None and len(found) >= counted) or len(digest) == DEEPEST:
            return found
        parts = {digest + digit: self._listed(only, digest + digit) for digit in DIGITS}
        if found >= set[str]().union(*parts.values()):  # no row is lacking, or none can be had
            return found
        return found.union(*(self._by_digest(only, digit, part) for digit, part in parts.items()))

    def _listed(self, only: str, digest: str) -> set[str]:
        part = self._part(only, digest)
        try:
            return set(self._client.strings(all_subjects(self._client.scope, part), listed_as(part)))
        except Unanswered:
            return set()

    def _part(self, only: str, digest: str) -> str:
        """The pattern of subjects whose MD5 begins so."""
        if not digest:
            return only
        return f"{only or self._client.scope.triples('?e', '?p', '?o')} {digest_filter('?e', digest)}"
