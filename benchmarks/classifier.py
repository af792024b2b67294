"""How often the form of a question is read rightly from its words alone.

    python benchmarks/classifier.py QUESTIONS.json ... [--listed]

A file holds questions with ``question`` and either ``answer_form`` (facts and bool: specific; iris: enumeration; number,
ranking and table: aggregation; refuse is left out) or ``query_type``, which counts first. Without both, only what was read
is told. Prints for each file and for all: right of how many, the confusion (rows: gold) and the questions read wrongly with
the rule that decided; ``--listed`` prints every question. No release, no model and no linked entities are used.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crmrag_query.config import load_method
from crmrag_query.questions.form import Form, analyse

GOLD = {
    "facts": Form.SPECIFIC, "bool": Form.SPECIFIC, "iris": Form.ENUMERATION,
    "number": Form.AGGREGATION, "ranking": Form.AGGREGATION, "table": Form.AGGREGATION,
}  # fmt: skip
Confusion = Counter[tuple[Form, Form]]


def gold_of(question: dict[str, Any]) -> Form | None:
    """The right form, None where the file does not tell."""
    stated = question.get("query_type")
    return Form(stated.lower()) if stated else GOLD.get(question.get("answer_form", ""))


def questions_of(path: Path) -> Iterator[tuple[str, Form | None]]:
    raw = json.loads(path.read_text(encoding="utf-8"))
    for question in raw["questions"] if isinstance(raw, dict) else raw:
        if question.get("answer_form") == "refuse":
            continue
        yield question["question"], gold_of(question)
        if greek := question.get("greek_question"):
            yield greek, gold_of(question)


def told(confusion: Confusion) -> str:
    right, total = sum(n for (gold, read), n in confusion.items() if gold is read), confusion.total()
    return f"{right}/{total} = {right / total:.1%}" if total else "no gold"


def table(confusion: Confusion) -> str:
    lines = [" " * 14 + "".join(f"{read.value:>14}" for read in Form)]
    lines += [f"{gold.value:>14}" + "".join(f"{confusion[gold, read]:>14}" for read in Form) for gold in Form]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", nargs="+", type=Path)
    parser.add_argument("--listed", action="store_true", help="print every question with its form")
    arguments = parser.parse_args()
    lexicon = load_method().questions
    overall: Confusion = Counter()
    times: list[float] = []
    for path in arguments.questions:
        confusion: Confusion = Counter()
        lines = []
        for text, gold in questions_of(path):
            start = time.perf_counter()
            read = analyse(text, lexicon).reading
            times.append(1000 * (time.perf_counter() - start))
            if gold is not None:
                confusion[gold, read.form] += 1
            if arguments.listed or (gold is not None and gold is not read.form):
                lines.append(f"  {read.form.value:>12} ({gold.value if gold else '?'}; {read.rule}) {text}")
        print(f"{path.name}: {told(confusion)}", *lines, sep="\n")
        overall += confusion
    print(f"all: {told(overall)}; median {statistics.median(times):.2f} ms, worst {max(times):.2f} ms")
    print(table(overall))


if __name__ == "__main__":
    main()
