"""How long it takes from a question to its plans: analysed, read, and the sets of the likeliest readings compared.

    python benchmarks/reading_time.py RELEASE QUESTIONS.json … [--data data] [--slowest 5]

RELEASE is a data set's name or a release's folder; a question of another data set's file is a question that finds little, as
many are. After one question that warms up, every question is read once. Prints p50, p95 and highest, in milliseconds as the
clock tells them and as the processor does, which other work on the machine disturbs less; the slowest questions; the peak of
resident memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.evaluation.questions import read_questions
from crmrag_query.evaluation.report import percentiles
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import readings


def spent(release: Release, question: str) -> tuple[float, float]:
    """Milliseconds by the clock and by the processor until a question is read."""
    clock, processor = time.perf_counter(), time.process_time()
    readings(release, analysed(release, question))
    return 1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processor)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("release")
    parser.add_argument("questions", nargs="+", type=Path)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--slowest", type=int, default=5)
    given = parser.parse_args()
    release = open_release(given.release, given.data)
    questions = [one.question for file in given.questions for one in read_questions(file)]
    first = spent(release, questions[0])
    print(f"first question: {first[0]:.0f} ms, processor {first[1]:.0f} ms")
    times = {question: spent(release, question) for question in questions}
    for name, part in (("clock", 0), ("processor", 1)):
        values = [one[part] for one in times.values()]
        p50, p95 = percentiles(values)
        print(
            f"{name}, ms, of {len(values)} questions: p50 {p50:.0f}, p95 {p95:.0f}, highest {max(values):.0f}"
        )
    for question, one in sorted(times.items(), key=lambda one: -one[1][1])[: given.slowest]:
        print(f"  {one[1]:.0f} {question}")
    print(f"peak of resident memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
