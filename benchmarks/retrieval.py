"""How many of the entities that answer a question are among the retrieved documents, and how long it takes.

    python benchmarks/retrieval.py RELEASE QUESTIONS.json [--data data]

RELEASE is a data set's name or a release's folder. QUESTIONS is a list of questions with ``question``, ``history`` and
``gold_iris`` (others are left out). An entity counts as found when the document that holds it is among the k retrieved.
Prints one JSON line: questions, mean recall, share of questions with at least one hit, median and 95th percentile of
milliseconds for retrieval and for a whole extractive answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.questions.form import Form, read_question
from crmrag_query.retrieval.channels import ReleaseChannels
from crmrag_query.retrieval.pipeline import retrieve


def recall(release: Release, question: dict[str, Any], k: int) -> float:
    nodes = [node for iri in question["gold_iris"] if (node := release.graph.node(iri)) is not None]
    wanted = {release.documents.document_of(node) for node in nodes}
    searched = " ".join([*question["history"][-1:], question["question"]])
    found = {
        one.document for one in retrieve(ReleaseChannels(release), searched, k, release.method.retrieval)
    }
    return len(wanted & found) / len(wanted) if wanted else 0.0


def timed(action: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = action()
    return result, 1000 * (time.perf_counter() - start)


def percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "p50": round(statistics.median(ordered), 1),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("release")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--data", type=Path, default=Path("data"))
    arguments = parser.parse_args()
    release = open_release(arguments.release, arguments.data)
    raw = json.loads(arguments.questions.read_text(encoding="utf-8"))
    questions = [one for one in (raw if isinstance(raw, list) else raw["questions"]) if one["gold_iris"]]
    k = release.method.retrieval.k
    sizes = {Form.SPECIFIC: k.specific, Form.ENUMERATION: k.enumeration, Form.AGGREGATION: k.aggregation}
    ask(release, questions[0]["question"])
    scores, searching, answering = [], [], []
    for one in questions:
        form = read_question(one["question"], release.method.questions, release.manifest.languages).form
        score, taken = timed(lambda one=one, form=form: recall(release, one, sizes[form]))
        scores.append(score)
        searching.append(taken)
        answering.append(
            timed(lambda one=one: ask(release, one["question"], history=tuple(one["history"])))[1]
        )
    result = {
        "release": release.id,
        "relationships": release.manifest.relationships,
        "questions": len(questions),
        "mean recall": round(statistics.mean(scores), 3),
        "any hit": round(sum(score > 0 for score in scores) / len(scores), 3),
        "retrieval ms": percentiles(searching),
        "answer ms": percentiles(answering),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
