"""The model's way to a plan, with a scripted model that gives the ideal plan of each question: what is lost on the way.

    python benchmarks/planner.py RELEASE QUESTIONS.json --plans PLANS.json [--data data] [--greek] [--model NAME]

RELEASE is a data set's name or a release's folder; the plans are by the id of their question. Over real HTTP: each question
is linked, told to the model with what the data set offers, and the reply is read, checked and executed. Prints one JSON line
a question that is not answered by its ideal plan, and one for all. With ``--model`` a real model is asked in place of the
scripted one (its key from the environment), and its plans are compared with the ideal ones by what they give.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.llm.model import LiteLLM, Model
from crmrag_query.plans.execute import Outcome, execute
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import World
from crmrag_query.reading.with_model import ModelPlan, plan_with_model
from tests.support.plan_server import MODEL, plan_server, read_ideal


@dataclass(frozen=True, slots=True)
class Replayed:
    """A question, what the model made of it, whether that gives what the ideal plan gives, and how long it took."""

    id: str
    question: str
    found: ModelPlan
    same: bool
    milliseconds: float


def replay(
    release: Release, questions: Mapping[str, str], plans: Mapping[str, Plan], model: Model
) -> Iterator[Replayed]:
    """Each question (by id) that has an ideal plan, asked of the model."""
    for id, question in questions.items():
        if id not in plans:
            continue
        started = time.perf_counter()
        found = plan_with_model(release, question, model)
        spent = (time.perf_counter() - started) * 1000
        same = found.plan is not None and (
            found.plan == plans[id] or _equal(found.outcome, execute(plans[id], release[World]))
        )
        yield Replayed(id, question, found, same, spent)


def _equal(found: Outcome | None, ideal: Outcome) -> bool:
    """Whether two results are the same, but for what was left out."""
    return found is not None and all(
        np.array_equal(np.asarray(getattr(found, name)), np.asarray(getattr(ideal, name)))
        for name in ("members", "values", "value", "groups", "rows")
    )


def read_questions(path: Path, greek: bool = False) -> dict[str, str]:
    """Texts of questions by id."""
    key = "greek_question" if greek else "question"
    rows = json.loads(path.read_text(encoding="utf-8"))
    rows = rows["questions"] if isinstance(rows, dict) else rows
    return {one["id"]: one[key] for one in rows if one.get(key)}


def report(replayed: list[Replayed], plans: Mapping[str, Plan]) -> None:
    for one in replayed:
        if not one.same:
            print(
                json.dumps(
                    {"id": one.id, "question": one.question, "notes": one.found.notes}, ensure_ascii=False
                )
            )
    print(
        json.dumps(
            {
                "plans": len(plans),
                "asked": len(replayed),
                "same": sum(one.same for one in replayed),
                "empty": sum(one.found.empty for one in replayed),
                "rounds": sum(one.found.rounds for one in replayed),
                "tokens sent at most": max(
                    (one.found.sent // max(1, one.found.rounds) for one in replayed), default=0
                ),
                "median ms": round(statistics.median([one.milliseconds for one in replayed] or [0.0]), 1),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("release")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--plans", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--greek", action="store_true")
    parser.add_argument("--model")
    options = parser.parse_args()
    given = Path(options.release)
    release = open_release(given if given.is_dir() else options.release, options.data)
    questions = read_questions(options.questions, options.greek)
    plans = read_ideal(options.plans.read_bytes())
    if options.model:
        model = LiteLLM(options.model, os.environ.get("CRMRAG_API_BASE"))
        report(list(replay(release, questions, plans, model)), plans)
        return
    os.environ.setdefault("OPENAI_API_KEY", "scripted")
    script = {questions[id]: plan for id, plan in plans.items() if id in questions}
    with plan_server(script) as planner:
        report(list(replay(release, questions, plans, LiteLLM(MODEL, planner.address))), plans)


if __name__ == "__main__":
    main()
