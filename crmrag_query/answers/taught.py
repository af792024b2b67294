"""What curators taught: how single questions are to be read, in a file beside a data set's releases.

`taught.yaml` is written by `crmrag teach` and can be read and edited by hand. An accepted or corrected question is read by
its plan from then on, a refused one gives no set; releases that are built later follow it, too. The file is looked at anew
with every question, so that a mistake in it costs what it taught and nothing else.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, StringConstraints

from crmrag_query.artifacts.manifest import write_text
from crmrag_query.artifacts.release import Release
from crmrag_query.config.reading import Record, read_part
from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import LARGEST, Plan, read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets.describe import plan_json
from crmrag_query.text import tokenize

FILE = "taught.yaml"
MOST_BYTES = 50 * LARGEST  # of the file: some hundred thousand questions
Verdict = Literal["accepted", "corrected", "refused"]
Words = tuple[str, ...]


class Lesson(Record):
    """How one question is to be read: by ``plan``, or, where it is refused, by none; ``who`` taught it, and when."""

    question: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    verdict: Verdict
    plan: dict[str, Any] | None = None
    who: Annotated[str, StringConstraints(max_length=200)] = ""
    when: Annotated[str, StringConstraints(max_length=40)] = ""
    note: Annotated[str, StringConstraints(max_length=2000)] = ""

    @property
    def words(self) -> Words:
        """The folded words, by which a question is known again."""
        return tuple(tokenize(self.question))

    def read(self) -> Plan | None:
        """The plan, None for a refused question. Raises QuestionError, which names the question, for one that is none."""
        if self.verdict == "refused":
            return None
        if not self.plan:
            remedy = "Give the plan, or write `verdict: refused`."
            raise QuestionError(f"{FILE}, {self.question!r}: {self.verdict}, and no plan.", remedy)
        try:
            return read_plan(self.plan)
        except QuestionError as error:
            raise QuestionError(f"{FILE}, {self.question!r}: {error.what}", error.remedy) from error


class Lessons(Record):
    """The file, oldest first; of several for the same words the last counts."""

    taught: Annotated[tuple[Lesson, ...], Field(max_length=200_000)] = ()


def taught_file(release: Release) -> Path:
    """Where lessons for the data set of a release stand: beside its releases."""
    return release.folder.parent / FILE


def lessons_of(release: Release) -> tuple[Lesson, ...]:
    """What was taught. Raises ConfigError, with every mistake in the file, or QuestionError for a huge one."""
    path = taught_file(release)
    if not path.is_file():
        return ()
    if path.stat().st_size > MOST_BYTES:
        raise QuestionError(
            f"{path} has more than {MOST_BYTES:,} bytes.", "Remove what is not needed from it."
        )
    return read_part(Lessons, path).taught


def lesson_for(release: Release, question: str) -> Lesson | None:
    """What was taught of a question, whatever its case, accents and punctuation; None for nothing. Raises ConfigError."""
    words = tuple(tokenize(question))
    return next((one for one in reversed(lessons_of(release)) if one.words == words), None)


def teach(
    release: Release, question: str, verdict: Verdict, plan: Plan | None = None, who: str = "", note: str = ""
) -> Lesson:
    """Add a lesson in place of those for the same words. Raises ConfigError where the file cannot be read as it is, and
    QuestionError for a question without words or a plan that cannot be executed."""
    if not tokenize(question):
        raise QuestionError("The question has no words.", "Give the question as it is asked.")
    if plan is not None:
        execute(plan, release[World])
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made = plan_json(plan) if plan is not None else None
    lesson = Lesson(question=question, verdict=verdict, plan=made, who=who, when=when, note=note)
    _write(release, [*(one for one in lessons_of(release) if one.words != lesson.words), lesson])
    return lesson


def forget(release: Release, question: str) -> bool:
    """Take back what was taught of a question; whether there was anything. Raises ConfigError."""
    words, known = tuple(tokenize(question)), lessons_of(release)
    kept = [one for one in known if one.words != words]
    if len(kept) < len(known):
        _write(release, kept)
    return len(kept) < len(known)


def _write(release: Release, lessons: list[Lesson]) -> None:
    rows = [one.model_dump(exclude_defaults=True) for one in lessons]
    head = "# How questions are to be read; see `crmrag teach --help`. It may be edited by hand.\n"
    write_text(
        taught_file(release), head + yaml.safe_dump({"taught": rows}, allow_unicode=True, sort_keys=False)
    )
