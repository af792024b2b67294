"""The account of a harvest: what was counted, fetched, missed and met, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from crmrag_assets.harvest.prefetch import COUNTS, ChunkReport
from crmrag_assets.harvest.report import LEFT_OUT, MERGED, REPEATED, ROUNDED, gathered_as_dict
from crmrag_assets.harvest.traffic import Gathered, Missing

if TYPE_CHECKING:
    from crmrag_assets.sources.base import Counted, Discovery


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
            "before": _counted(account.before),
            "after": _counted(account.after),
            "harvested": {"triples": account.triples, "subjects": account.subjects},
            "unexplained_triples": difference,
        },
        **gathered_as_dict(gathered),
        "repaired": gathered.repaired + account.discovery.report.repaired,
        "missing_triples": {
            "known": sum(one.triples or 0 for one in gathered.missing),
            "unknown": sum(one.triples is None for one in gathered.missing),
        },
        "reading": account.discovery.report.as_dict(),
        "whole": not gathered.missing and not change and (difference or 0) <= 0,
        "verified": len(_counts(account)) == 2 and difference == 0 if account.countable else None,
        "concerns": list(concerns(account)),
    }


def _counted(counted: Counted | None) -> dict[str, int | None] | None:
    return None if counted is None else asdict(counted)


def changes(account: Account) -> list[str]:
    """How the source's own counts differ before and after; empty when they agree or are not known."""
    if account.before is None or account.after is None:
        return []
    pairs = (
        (what, getattr(account.before, what), getattr(account.after, what))
        for what in ("triples", "subjects")
    )
    return [
        f"{before:,} {what} before, {after:,} after"
        for what, before, after in pairs
        if before is not None and after is not None and before != after
    ]


def unexplained(account: Account) -> int | None:
    """Triples counted and neither harvested nor told to be missing, repeated or left out; negative for triples too many.

    A source that changed may hold any number between its two counts: 0 then. None where the triples were not counted, or
    where some are missing in unknown number.
    """
    counts, gathered = _counts(account), account.gathered
    told = sum(gathered.notes[what] for what in (MERGED, REPEATED, LEFT_OUT))
    told += sum(one.triples or 0 for one in gathered.missing)
    if not counts or any(one.triples is None for one in gathered.missing):
        return None
    found = account.triples + told
    return max(0, min(counts) - found) + min(0, max(counts) - found)


def _counts(account: Account) -> list[int]:
    """The source's own counts of triples, before and after, as far as it gave them."""
    return [one.triples for one in (account.before, account.after) if one and one.triples is not None]


def concerns(account: Account) -> Iterator[str]:
    """Sentences for what deserves a look, gravest first."""
    if missing := account.gathered.missing:
        yield missing_text(missing)
    if changed := changes(account):
        yield f"The source changed while it was read: {'; '.join(changed)}."
    if difference := unexplained(account):
        counts = _counts(account)
        held = f"The source counted {min(counts) if difference > 0 else max(counts):,} triples"
        why = f"what became of {difference:,} is not known" if difference > 0 else "more than it counted"
        yield f"{held} and {account.triples:,} were harvested: {why}."
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


def missing_text(missing: Sequence[Missing]) -> str:
    """How many triples are missing, as far as that is known."""
    known, unknown = sum(one.triples or 0 for one in missing), sum(one.triples is None for one in missing)
    places = f"{len(missing):,} place{'s' if len(missing) > 1 else ''}"
    if not unknown:
        return f"{known:,} triples are missing, which the source would not give ({places})."
    least = f"At least {known:,}" if known else "An unknown number of"
    return f"{least} triples are missing, which the source would not give ({places})."


def verdict(values: Mapping[str, Any]) -> str:
    """In one sentence, from an account as a dict, whether the harvest is whole."""
    if not values["whole"]:
        return "The harvest is not whole."
    if values["verified"] is None:
        return "All that could be read was harvested." if values["concerns"] else "The harvest is whole."
    proof = "the source's own counts agree with it"
    return f"The harvest is whole: {proof}." if values["verified"] else "Nothing is known to be missing."
