"""What people are told."""

from __future__ import annotations

from dataclasses import asdict, dataclass

LONGEST = 2000  # characters of a reason


@dataclass(frozen=True)
class Message:
    """What happened, why in our own words, and where to look.

    ``kind``: `failure`, `stale` or `test`. ``dataset``, ``run`` (the id of Dagster's run), ``job`` and ``link`` (to the run
    in the UI) are "" where there is none. ``at``: ISO, UTC.
    """

    kind: str
    what: str
    why: str
    dataset: str = ""
    job: str = ""
    run: str = ""
    link: str = ""
    at: str = ""

    @property
    def title(self) -> str:
        """One line, as for a subject."""
        return " ".join(self.what.split())

    @property
    def text(self) -> str:
        """The whole as plain text."""
        return "\n\n".join(part for part in (f"{self.title}.", self.reason, self.link) if part)

    @property
    def reason(self) -> str:
        """Why, not without end."""
        return self.why if len(self.why) <= LONGEST else f"{self.why[:LONGEST]} …"

    def as_dict(self) -> dict[str, str]:
        """For programs."""
        return asdict(self) | {"why": self.reason}
