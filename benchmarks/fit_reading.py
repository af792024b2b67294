"""Fits what a reading loses for what it is as a whole (`crmrag_query/reading/read.py`), and tells what that brings.

    python benchmarks/fit_reading.py SET=RELEASE:QUESTIONS.json … [--data data] [--encoder all-MiniLM-L6-v2]
        --out benchmarks/results/fit_reading.md

Each question with a set as its answer is read, and its readings are executed and compared with the gold. The points are
those under which the right readings are likeliest: a softmax over the readings of a question, regularised towards the score
of the words alone. The table tells for each data set how many questions are read right with points that were fitted without
it. Questions that go on from others are left out. Points in the code are rounded.

``--encoder`` adds one more point: how alike a sentence encoder finds the question and the reading in words, as a cosine.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from evaluate import Wanted, wanted
from exact_scores import SET_FORMS, said_by, score_exact
from scipy.optimize import minimize

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.evaluation.questions import GoldQuestion, read_questions
from crmrag_query.evaluation.report import table
from crmrag_query.plans.records import Way, parts_of
from crmrag_query.reading import read
from crmrag_query.reading.grammar import Reading
from crmrag_query.reading.items import analysed
from crmrag_query.retrieval.encoder import load_model, model_folder
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.describe import JOINT, title_of
from crmrag_query.sets.records import Page

READINGS = 60  # of a question that are compared with the gold
SHARPNESS = 2.0  # of the softmax, by points
REGULAR = 2.0  # how much a weight of its own costs
FEATURES = (
    "words",
    "EMPTY",
    "NO",
    "WALKED",
    "FARTHER",
    "UNKIND",
    "LOOSE",
)
ALIKE = "unlike the question"


@dataclass(frozen=True)
class Read:
    """The readings of a question: ``features`` float64 [readings, FEATURES], ``right`` bool [readings]."""

    dataset: str
    features: np.ndarray
    right: np.ndarray


def features_of(reading: Reading) -> list[float]:
    """One row of `FEATURES`: the score of the words, and how often each of the others holds."""
    plan, empty, kind = reading.plan, not reading.size, reading.plan.compute.kind
    walks = [path for part in parts_of(plan) if isinstance(part, Way) for path in part.paths]
    steps = sum(not step.endswith("*") for path in walks for step in path)
    target = plan.target
    return [
        reading.worded,
        float(empty and kind != "ask"),
        float(empty and kind == "ask"),
        float(len(walks)),
        float(steps - len(walks)),
        float(bool(target.categories) and not (target.types or target.classes)),
        float(sum(one.why == "without an object" for one in reading.doubt)),
    ]


def is_right(release: Release, reading: Reading, question: GoldQuestion) -> bool:
    try:
        found = answer_set(release, reading.plan, Page(limit=None), "en", sparql=False)
    except QuestionError:
        return False
    nothing = SimpleNamespace(sources=(), text="", exhaustive=False, refused=False)
    return bool(score_exact(question, said_by(release, nothing, found)).exact)  # type: ignore[arg-type]


def likeness(encoder: Any, release: Release, question: str, readings: Sequence[Reading]) -> np.ndarray:
    """The cosine of the question and each reading in words, float64 [readings, 1]."""
    titles = [title_of(release, one.plan).replace(JOINT, ", ") for one in readings]
    vectors = encoder.encode([question, *titles], normalize_embeddings=True)
    return np.asarray(vectors[1:] @ vectors[0], np.float64).reshape(-1, 1)


def read_all(one: Wanted, data: Path, encoder: Any = None) -> list[Read]:
    """The readings of all questions of a file that a set answers."""
    release, found = open_release(one.release, data), []
    for question in read_questions(one.questions):
        if question.answer_form not in SET_FORMS or question.history:
            continue
        known: dict[bytes, bool] = {}
        readings = read.readings(release, analysed(release, question.question))
        for reading in readings:
            if reading.result not in known:
                known[reading.result] = is_right(release, reading, question)
        rows = np.array([features_of(reading) for reading in readings]).reshape(-1, len(FEATURES))
        if encoder is not None:
            rows = np.hstack([rows, likeness(encoder, release, question.question, readings)])
        found.append(Read(one.name, rows, np.array([known[reading.result] for reading in readings], bool)))
    return found


def fitted(questions: Sequence[Read]) -> np.ndarray:
    """The weight of each feature, float64 [FEATURES]."""
    prior = np.eye(questions[0].features.shape[1])[0]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        off = weights - prior
        total, slope = REGULAR * float(off @ off), 2 * REGULAR * off
        for one in questions:
            if not one.right.any() or one.right.all():
                continue
            scores = SHARPNESS * one.features @ weights
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            right = likely * one.right
            total -= float(np.log(right.sum() + 1e-12))
            slope -= SHARPNESS * one.features.T @ (right / (right.sum() + 1e-12) - likely)
        return total, slope

    return np.asarray(minimize(loss, prior, jac=True, method="L-BFGS-B").x)


def hits(questions: Sequence[Read], weights: np.ndarray) -> int:
    """How many questions have a right reading as their likeliest."""
    return sum(bool(one.right[np.argmax(one.features @ weights)]) for one in questions if len(one.right))


def report(questions: Sequence[Read]) -> str:
    plain, names = (
        np.eye(questions[0].features.shape[1])[0],
        list(dict.fromkeys(one.dataset for one in questions)),
    )
    rows, sums = [], [0, 0, 0, 0]
    for name in names:
        own = [one for one in questions if one.dataset == name]
        weights = fitted([one for one in questions if one.dataset != name])
        counts = [len(own), hits(own, plain), hits(own, weights), sum(bool(one.right.any()) for one in own)]
        sums = [a + b for a, b in zip(sums, counts, strict=True)]
        rows.append([name, *map(str, counts)])
    heads = ["data set", "questions", "by words alone", "fitted without it", "right among the readings"]
    every = fitted(questions)
    points = [
        [name, f"{-weight / every[0]:.2f}"]
        for name, weight in zip([*FEATURES, ALIKE][1 : len(every)], every[1:], strict=True)
    ]
    whole = table(heads, [*rows, ["all", *map(str, sums)]])
    return f"{whole}\n\n{table(['loses, in points', 'fitted on all'], points)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="+", type=wanted, metavar="SET=RELEASE:QUESTIONS")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--encoder", default="", help="a model that the package carries, or a folder")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    read.EXECUTED, read.HOPELESS = READINGS, float("inf")  # type: ignore[misc]
    name = arguments.encoder
    encoder = load_model(name, model_folder(name, fetch=False)) if name else None
    questions = [one for each in arguments.sets for one in read_all(each, arguments.data, encoder)]
    sets = shlex.join(f"{one.name}={one.release}:{one.questions.name}" for one in arguments.sets)
    command = f"python benchmarks/fit_reading.py {sets}{f' --encoder {name}' * bool(name)}"
    arguments.out.write_text(
        f"# What readings lose\n\nMade by `{command}`.\n\n{report(questions)}", encoding="utf-8"
    )


if __name__ == "__main__":
    try:
        main()
    except CrmRagError as error:
        sys.exit(str(error))
