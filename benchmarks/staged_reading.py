"""An experiment: questions read by staged query graphs over a data set's own schema, compared with the parser that ships.

    python benchmarks/staged_reading.py NAME=RELEASE:QUESTIONS.json … --data data [--verbose]

Names, kinds, dates and numbers are anchors; what ties them is looked for among the ways that occur in this very data (the
relations of config/relations.yaml, and chains of up to four properties), ranked by how much of the question their words say.
The words of a language stand in one file (benchmarks/staged/words). Nothing of it is part of the product, and it needs
PyStemmer besides. For each data set: how many questions with an exact answer are read exactly by both, how often the right
reading is among the first thirty, and how long one takes. Questions that follow others are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from evaluate import wanted
from exact_scores import SET_FORMS, Said, _items, _members, score_exact
from staged.read import readings

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.questions import GoldQuestion, read_questions
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.parse import parse
from crmrag_query.plans.records import Plan
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.describe import title_of
from crmrag_query.sets.records import Page
from crmrag_query.timing import within

LOOKED_AT = 30  # readings among which the right one is looked for
SECONDS = 60.0  # that a question may take here


def is_exact(release: Release, question: GoldQuestion, plan: Plan | None) -> bool:
    """Whether a plan gives just what the question's gold says."""
    if plan is None:
        return False
    try:
        found = answer_set(release, plan, Page(limit=None), "en", sparql=False)
    except QuestionError:
        return False
    value = (
        found.value
        if isinstance(found.value, int)
        else found.size
        if found.kind in ("list", "rank")
        else None
    )
    members = tuple((iri,) for iri in _members(release, found, plan))
    said = Said("", members, value, _items(release, found, plan), by_set=True, confident=True)
    return bool(score_exact(question, said).exact)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=wanted, metavar="NAME=RELEASE:QUESTIONS.json")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--verbose", action="store_true", help="name each question that is not read exactly")
    given = parser.parse_args()
    print("| data set | questions | parser | staged | among the first 30 | ms, mean | ms, longest |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for one in given.sets:
        release = open_release(one.release, given.data)
        count = old = new = among = 0
        spent = []
        for question in read_questions(one.questions):
            if question.answer_form not in SET_FORMS or question.history:
                continue
            count += 1
            analysis = analysed(release, question.question)
            old += is_exact(release, question, parse(release, analysis).plan)
            begun = time.perf_counter()
            try:
                with within(SECONDS, "Reading", "Ask in fewer words."):
                    found = readings(release, analysis)[:LOOKED_AT]
            except QuestionError:
                found = []
            spent.append(1000 * (time.perf_counter() - begun))
            right = next(
                (at for at, reading in enumerate(found) if is_exact(release, question, reading.plan)), None
            )
            new += right == 0
            among += right is not None
            if given.verbose and right != 0:
                best = title_of(release, found[0].plan) if found else "nothing"
                print(f"{question.id}: {question.question} | {right} | {best[:150]}", file=sys.stderr)
        mean, most = (round(sum(spent) / len(spent)), round(max(spent))) if spent else (0, 0)
        print(f"| {one.name} | {count} | {old} | {new} | {among} | {mean} | {most} |", flush=True)


if __name__ == "__main__":
    main()
