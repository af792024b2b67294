"""Progress and the summary can be followed in a terminal and in a pipe."""

from __future__ import annotations

import hashlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from crmrag_assets.build.step import UNWANTED, LineReporter, Outcome, duration, rows_of
from crmrag_assets.build.store import Record
from crmrag_assets.cli.options import show_concerns, show_summary
from crmrag_query.artifacts.manifest import PROVENANCE, canonical_json

STATS = {"documents": 123456, "windows": 2345678, "encoded": 1111111, "seconds": 1.0, "bytes": 10}
OUTCOME = Outcome(Record("embeddings", "v", (), STATS), False, "00")


def reporter() -> tuple[LineReporter, StringIO, list[float]]:
    """A reporter whose clock stands where the last list's only number says."""
    text, now = StringIO(), [0.0]
    return LineReporter(lambda line: print(line, file=text), clock=lambda: now[0]), text, now


def test_a_pipe_is_told_every_ten_seconds_and_at_the_end() -> None:
    told, text, now = reporter()
    told.started("embeddings", 1)
    for second in range(0, 31, 2):
        now[0] = second
        told.within("embeddings", 10 * second, 600, "")
    told.finished(OUTCOME)
    assert text.getvalue().splitlines() == [
        "embeddings         100 of 600 windows, 50 s left",
        "embeddings         200 of 600 windows, 40 s left",
        "embeddings         300 of 600 windows, 30 s left",
        "embeddings           30.0 s",
    ]


def test_what_was_there_before_does_not_count_as_pace() -> None:
    told, text, now = reporter()
    told.started("embeddings", 1)
    told.within("embeddings", 500, 600, "")
    now[0] = 10
    told.within("embeddings", 510, 600, "")
    assert "510 of 600 windows, 90 s left" in text.getvalue()


def test_chunks_are_told_now_and_then() -> None:
    told, text, now = reporter()
    told.started("embeddings", 4)
    for second in (12, 14, 24, 26):
        now[0] = second
        told.finished(OUTCOME)
    lines = text.getvalue().splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        "1 of 4 chunks, 36 s left", "3 of 4 chunks, 8 s left", "26.0 s",
    ]  # fmt: skip


def test_what_a_data_set_does_without_is_not_told() -> None:
    told, text, _ = reporter()
    without = Outcome(Record("postgres_graph", "v", (), {UNWANTED: True, "seconds": 0.0}), False)
    told.started("postgres_graph", 1)
    told.finished(without)
    assert text.getvalue() == ""
    assert [row.artifact for row in rows_of([OUTCOME, without])] == ["embeddings"]


def test_durations_are_said_as_a_person_would() -> None:
    assert [duration(n) for n in (0.2, 99, 100, 3900)] == ["0 s", "99 s", "2 min", "1 h 05 min"]


def printed(terminal: bool, width: int) -> list[str]:
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, no_color=True, color_system=None)
    show_summary(console, rows_of([OUTCOME]))
    return text.getvalue().splitlines()


def test_the_summary_never_cuts_a_count() -> None:
    whole = "123,456 documents, 2,345,678 windows, 1,111,111 newly encoded"
    piped = next(line for line in printed(False, 80) if line.startswith("embeddings"))
    assert piped.endswith(whole)
    shown = printed(True, 80)
    assert max(map(len, shown)) <= 80
    assert whole in " ".join(line[40:].strip() for line in shown)


def shown_concerns(folder: Path, harvest: dict[str, Any], concerns: list[str]) -> list[str]:
    content = {"harvest": harvest}
    checksum = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    (folder / PROVENANCE).write_text(json.dumps({"content": content, "sha256": checksum}))
    (folder / "validation_report.json").write_text(json.dumps({"concerns": concerns}))
    text = StringIO()
    show_concerns(Console(file=text, width=40), folder)
    return text.getvalue().splitlines()


def test_what_is_worth_a_look_begins_with_how_the_data_was_read(tmp_path: Path) -> None:
    missing = {"reason": "status 500", "subject": "http://x/1", "property": "", "triples": 4}
    broken = {"file": "a.nt", "line": 3, "text": "x y", "reason": "no dot"}
    harvest = {"concerns": ["4 triples are missing."], "missing": [missing], "reading": {"broken": [broken]}}
    assert shown_concerns(tmp_path, harvest, ["2 events without a date."]) == [
        "Worth a look:",
        "- 4 triples are missing.",
        "  4 triples of <http://x/1>: status 500",
        "  a.nt, line 3: no dot | x y",
        "- 2 events without a date.",
        f"  all of it: {tmp_path / 'validation_report.md'}",
    ]


def test_nothing_to_look_at_is_no_word(tmp_path: Path) -> None:
    assert shown_concerns(tmp_path, {"concerns": [], "missing": [], "reading": {"broken": []}}, []) == []
    (tmp_path / PROVENANCE).unlink()
    text = StringIO()
    show_concerns(Console(file=text), tmp_path)
    assert text.getvalue() == ""
