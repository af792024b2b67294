"""Questions asked in six languages: in how many of each does the likeliest reading denote the same set as in English?

    python benchmarks/translated.py [--data data] [--questions FILE] [--differing] --out benchmarks/results/translated.md

FILE holds for each question its data set and its text in each language. Without a language model; the set of the likeliest
reading counts, whether it is sure or not. ``--differing`` lists the questions that differ, in their words. Writes NAME.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.evaluation.report import table
from crmrag_query.language import LANGUAGES
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import readings

QUESTIONS = Path(__file__).parent / "questions" / "translated.json"
CRITERION = 0.85


def sets_of(release: Release, texts: Mapping[str, str]) -> dict[str, bytes | None]:
    """By language the digest of the set that a question's likeliest reading denotes; None where it has no reading."""
    found = {code: readings(release, analysed(release, texts[code])) for code in LANGUAGES}
    return {code: one[0].result if one else None for code, one in found.items()}


def compared(questions: list[dict[str, Any]], data: Path) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Each question with the languages in which it denotes the set that it denotes in English."""
    releases: dict[str, Release] = {}
    for question in questions:
        name = question["dataset"]
        release = releases.get(name) or open_release(name, data)
        releases[name] = release
        found = sets_of(release, question["texts"])
        same = {code for code in LANGUAGES if found["en"] is not None and found[code] == found["en"]}
        yield question, frozenset(same)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--differing", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rows = list(compared(json.loads(given.questions.read_text(encoding="utf-8")), given.data))
    others = [code for code in LANGUAGES if code != "en"]
    names = sorted({question["dataset"] for question, _ in rows})
    body = []
    for name in [*names, "all"]:
        of = [same for question, same in rows if name in ("all", question["dataset"])]
        counts = [sum(code in same for same in of) for code in others]
        body.append((name, len(of), *(f"{count} ({count / len(of):.2f})" for count in counts)))
    text = "# Questions in six languages\n\n"
    text += f"Made by `python benchmarks/translated.py --out {given.out}`; no language model. "
    text += f"Questions that denote the same set as in English; at least {CRITERION:.0%} are asked for.\n\n"
    text += table(("data set", "questions", *others), body) + "\n"
    if given.differing:
        text += "\n" + "\n".join(
            f"- {question['id']} {code}: {question['texts'][code]}"
            for question, same in rows
            for code in others
            if code not in same
        )
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text + "\n" * given.differing, encoding="utf-8")
    print(table(("data set", "questions", *others), body))


if __name__ == "__main__":
    main()
