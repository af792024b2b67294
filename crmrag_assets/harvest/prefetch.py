"""The artifact `prefetch`, the outgoing triples of a chunk's entities; and the account of a harvest: is it whole?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pyarrow as pa

from crmrag_assets.build.step import buckets_of
from crmrag_assets.harvest.report import (
    LEFT_OUT,
    MERGED,
    REPEATED,
    ROUNDED,
    Gathered,
    Missing,
    gathered_as_dict,
    traffic_from,
)
from crmrag_assets.harvest.source import Counted, Discovery, Source, without_schema
from crmrag_assets.harvest.triples import distinct_sorted, to_table, write_triples
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.config.loading import Method

TRIPLES_FILE = "triples.parquet"
REPORT_FILE = "report.json"
COUNTS = ("entities", "triples", "excluded_subjects", "excluded_triples")


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """Entities and distinct triples of one chunk, the schema subjects left out with their triples, and what was met.

    As a dict it holds what is content: what is missing, but no traffic and no notes, which differ from run to run, so that
    a chunk that is harvested again with the same triples is the same artifact. ``at``: when the oldest triples were fetched,
    "" for now.
    """

    chunk: str
    entities: int
    triples: int
    excluded_subjects: int
    excluded_triples: int
    gathered: Gathered = field(default_factory=Gathered)
    at: str = ""

    def as_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in ("chunk", *COUNTS)}
        missing = [asdict(one) for one in self.gathered.missing]
        return counts | {"missing": missing, "repaired": self.gathered.repaired}

    @classmethod
    def read(cls, folder: Path, stats: Mapping[str, Any]) -> ChunkReport:
        """The report in a chunk's folder, with traffic and notes from the counts of its step."""
        raw = json.loads((folder / REPORT_FILE).read_bytes())
        missing = tuple(Missing(**one) for one in raw["missing"])
        gathered = Gathered(missing=missing, repaired=raw["repaired"]) + traffic_from(stats)
        return cls(raw["chunk"], **{name: raw[name] for name in COUNTS}, gathered=gathered)


def prefetch_chunk(
    source: Source, discovery: Path, chunk: str, bits: int, method: Method
) -> tuple[pa.Table, ChunkReport]:
    """The triples of one chunk in schema TRIPLES, sorted and distinct, from the folder that `discover` filled."""
    fetched = source.fetch(discovery, buckets_of(chunk, bits))
    found = without_schema(distinct_sorted(fetched.frame), method.discovery)
    counts = (found.entities, len(found.frame), found.excluded_subjects, found.excluded_triples)
    return to_table(found.frame), ChunkReport(chunk, *counts, fetched.gathered, fetched.at)


def write_prefetch(table: pa.Table, report: ChunkReport, folder: Path) -> None:
    """Write a chunk's triples and report into its folder, which the store flushes."""
    write_triples(table, folder / TRIPLES_FILE)
    (folder / REPORT_FILE).write_text(canonical_json(report.as_dict()), encoding="utf-8")


@dataclass(frozen=True)
class Account:
    """All parts of one harvest, which began with ``discovery``.

    ``after``: what the source counted when all chunks were there; None where it was not asked or did not answer.
    ``countable``: the source is one that can change while it is read, and it was read as a whole: counts are expected.
    """

    discovery: Discovery
    chunks: Sequence[ChunkReport]
    after: Counted | None = None
    countable: bool = False

    @property
    def before(self) -> Counted | None:
        return self.discovery.counted

    @property
    def gathered(self) -> Gathered:
        """Traffic, missing triples and notes of discovery and all chunks."""
        return reduce(add, (chunk.gathered for chunk in self.chunks), self.discovery.gathered)

    def total(self, count: str) -> int:
        """Sum over the chunks of one of COUNTS."""
        return sum(int(getattr(chunk, count)) for chunk in self.chunks)

    @property
    def triples(self) -> int:
        """All distinct triples fetched, those of schema subjects included."""
        return self.total("triples") + self.total("excluded_triples")

    @property
    def subjects(self) -> int:
        return self.total("entities") + self.total("excluded_subjects")


def as_dict(account: Account) -> dict[str, Any]:
    """The account as plain values; ``verified``: the source's own counts prove it whole, None where there are none."""
    gathered, difference, change = account.gathered, unexplained(account), changes(account)
    return {
        "chunks": len(account.chunks),
        **{count: account.total(count) for count in COUNTS},
        "discovered": {"entities": account.discovery.entities, "triples": account.discovery.triples},
        "counted": {
            "before": account.before and asdict(account.before),
            "after": account.after and asdict(account.after),
            "harvested": {"triples": account.triples, "subjects": account.subjects},
            "unexplained_triples": difference,
        },
        **gathered_as_dict(gathered),
        "repaired": gathered.repaired + account.discovery.report.repaired,
        "missing_triples": {
            "known": sum(one.triples or 0 for one in gathered.missing),
            "unknown": sum(one.triples is None for one in gathered.missing),
        },
        "reading": asdict(account.discovery.report),
        "whole": not gathered.missing and not change and (difference or 0) <= 0,
        "verified": len(_counts(account)) == 2 and difference == 0 if account.countable else None,
        "concerns": list(concerns(account)),
    }


def changes(account: Account) -> list[str]:
    """How the source's own counts differ before and after; empty when they agree or are not known."""
    if account.before is None or account.after is None:
        return []
    found = []
    for what in ("triples", "subjects"):
        before, after = getattr(account.before, what), getattr(account.after, what)
        if before is not None and after is not None and before != after:
            found.append(f"{before:,} {what} before, {after:,} after")
    return found


def unexplained(account: Account) -> int | None:
    """Triples counted and neither harvested nor told to be missing, repeated or left out; negative for triples too many.

    A source that changed may hold any number between its two counts: 0 then. None where the triples were not counted, or
    where some are missing in unknown number.
    """
    counts = _counts(account)
    if not counts or any(one.triples is None for one in account.gathered.missing):
        return None
    found = account.triples + _explained(account)
    return max(0, min(counts) - found) + min(0, max(counts) - found)


def _explained(account: Account) -> int:
    """Triples that were not harvested and are accounted for: repeated, left out, or missing by a part's own count."""
    gathered = account.gathered
    noted = sum(gathered.notes[what] for what in (MERGED, REPEATED, LEFT_OUT))
    return noted + sum(one.triples or 0 for one in gathered.missing)


def _counts(account: Account) -> list[int]:
    """The source's own counts of triples, before and after, as far as it gave them."""
    return [one.triples for one in (account.before, account.after) if one and one.triples is not None]


def concerns(account: Account) -> Iterator[str]:
    """Sentences for what deserves a look, gravest first."""
    if missing := account.gathered.missing:
        yield _missing_text(missing)
    if changed := changes(account):
        yield f"The source changed while it was read: {'; '.join(changed)}."
    if difference := unexplained(account):
        yield _discrepancy(account, difference)
    if account.countable and len(_counts(account)) < 2:
        again = " again" if account.before is not None and account.before.triples is not None else ""
        yield f"The source would not count its triples{again}: nothing proves that it gave all of them."
    if account.gathered.notes[ROUNDED]:
        yield "Numbers of type xsd:double and xsd:float came back rounded; the source holds more of their digits."
    report = account.discovery.report
    if report.broken_count:
        yield f"{report.broken_count:,} broken lines were skipped."
    if left := sum(report.skipped.values()) + account.gathered.notes[LEFT_OUT]:
        yield f"{left:,} triples were left out."


def _discrepancy(account: Account, difference: int) -> str:
    """What does not fit between the triples that the source counts in all and those that were met."""
    counted = min(_counts(account)) if difference > 0 else max(_counts(account))
    held = f"The source counted {counted:,} triples and {account.triples:,} were harvested"
    if difference > 0:
        return f"{held}: what became of {difference:,} is not known."
    if account.triples > counted:
        return f"{held}: more than it counted."
    return (
        f"{held}; with {_explained(account):,} more that are missing, repeated or left out, these are more than it counted: "
        "its counts contradict one another."
    )


def _missing_text(missing: Sequence[Missing]) -> str:
    """How many triples are missing, as far as that is known."""
    known, unknown = sum(one.triples or 0 for one in missing), sum(one.triples is None for one in missing)
    places = f"{len(missing):,} place{'s' if len(missing) > 1 else ''}"
    number = f"{known:,}" if not unknown else f"At least {known:,}" if known else "An unknown number of"
    return f"{number} triples are missing, which the source would not give ({places})."


def verdict(values: Mapping[str, Any]) -> str:
    """In one sentence, from an account as a dict, whether the harvest is whole."""
    if not values["whole"]:
        return "The harvest is not whole."
    if values["verified"] is None:
        return "All that could be read was harvested." if values["concerns"] else "The harvest is whole."
    proof = "the source's own counts agree with it"
    return f"The harvest is whole: {proof}." if values["verified"] else "Nothing is known to be missing."
