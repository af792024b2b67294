"""The criterion of retrieval over several data sets: the pipeline against plain BM25, dense and RRF, and each stage's worth.

    python benchmarks/evaluate.py SET=RELEASE:QUESTIONS.json … [--data data] [--stages all] [--answers]
        --out benchmarks/results/NAME.md

SET is the name in the tables, RELEASE a data set's name or a release's folder. Each question counts once, whatever its set.
Writes NAME.md, the tables of `crmrag evaluate` over all the sets together with a verdict on each baseline, and NAME.json:
one line a question with the values of every system, from which the tables can be computed again. The same releases,
questions and configuration give the same files, but for what stands under "Latency" and "latency".
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from crmrag_query.artifacts.release import open_release
from crmrag_query.config import load_method
from crmrag_query.config.loading import EvaluationConfig
from crmrag_query.errors import CrmRagError
from crmrag_query.evaluation.evaluate import Plan, evaluate_file, parse_stages
from crmrag_query.evaluation.report import Compared, compare, compare_on, markdown, number, percentiles, table
from crmrag_query.evaluation.scores import BASELINES, MEASURES, Evaluation

PLACES = 4
BEHIND = 1.0  # questions' worth that the pipeline may be behind on a set


class Wanted(NamedTuple):
    """A data set as given on the command line."""

    name: str
    release: str
    questions: Path


def wanted(text: str) -> Wanted:
    name, equals, rest = text.partition("=")
    release, colon, questions = rest.rpartition(":")
    if not (name and equals and release and colon and questions):
        raise argparse.ArgumentTypeError(f"{text!r} is not SET=RELEASE:QUESTIONS.json")
    return Wanted(name, release, Path(questions))


def measured(sets: Sequence[Wanted], data: Path, plan: Plan) -> list[Evaluation]:
    found = []
    for one in sets:
        outcome = evaluate_file(open_release(one.release, data), one.questions, plan)
        found.append(replace(outcome.evaluation, dataset=one.name))
        print(f"{one.name}: {outcome.evaluation.questions} questions")
    return found


def verdict(rows: Sequence[Compared]) -> str:
    """Whether the pipeline beats each plain baseline: its interval above 0, and no set behind by more than a question."""
    lines = []
    for row in rows:
        if row.system in BASELINES:
            ahead, behind = row.ahead.low > 0, row.worse > BEHIND
            beaten = "yes" if ahead and not behind else "no"
            lines.append(
                (row.system, row.questions, number(row.ahead.low), f"{row.worse:.2f}", beaten),
            )
    return table(("baseline", "questions", "lower end of ahead", "most behind", "beaten"), lines)


def line_of(one: Evaluation, id: str) -> dict[str, Any]:
    """All that was measured of a question; not the answer's text, which is the data's."""
    line: dict[str, Any] = {"set": one.dataset, "id": id, "kind": one.kinds[id]}
    line |= {"form": one.form_found[id], "expected": one.form_expected.get(id)}
    line["retrieval"] = {
        system: [rounded(scores[measure][id]) for measure in MEASURES]
        for system, scores in one.retrieval.items()
        if id in scores[MEASURES[0]]
    }
    line["context"] = rounded(asdict(one.contexts[id]))
    if id in one.answers:
        measured = asdict(one.answers[id])
        line["answer"] = rounded({name: value for name, value in measured.items() if name != "text"})
    return line


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return round(value, PLACES) if isinstance(value, float) else value


def json_text(evaluations: Sequence[Evaluation], config: EvaluationConfig, command: str) -> str:
    """The file as JSON with a line for each question."""
    about = ("dataset", "release", "relationships", "encoder", "file", "sha256", "questions", "unheld")
    compared = [*compare(evaluations, config), *compare_on(evaluations, config.overall)]
    parts = {
        "command": command,
        "sets": [{name: getattr(one, name) for name in about} for one in evaluations],
        "measures": MEASURES,
        "compared": [rounded(row._asdict()) for row in compared],
        "questions": [line_of(one, id) for one in evaluations for id in one.kinds],
        "latency": {
            one.dataset: {stage: rounded(percentiles(values)) for stage, values in one.latency.items()}
            for one in evaluations
        },
    }
    return "{\n" + ",\n".join(_members(parts)) + "\n}\n"


def _members(parts: dict[str, Any]) -> Iterator[str]:
    for name, part in parts.items():
        if isinstance(part, list):
            yield f'"{name}": [\n' + ",\n".join(_dumped(one) for one in part) + "\n]"
        else:
            yield f'"{name}": {_dumped(part)}'


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=wanted, metavar="SET=RELEASE:QUESTIONS.json")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--stages", default="all")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if len({one.name for one in given.sets}) < len(given.sets):
        parser.error("two sets have the same name")
    sets = [f"{one.name}={Path(one.release).name}:{one.questions.name}" for one in given.sets]
    words = ["python", "benchmarks/evaluate.py", *sets, "--stages", given.stages]
    command = shlex.join(
        [*words, *["--answers"] * given.answers, "--out", f"benchmarks/results/{given.out.name}"]
    )
    try:
        evaluations = measured(given.sets, given.data, Plan(parse_stages(given.stages), given.answers))
    except CrmRagError as error:
        parser.exit(1, f"Error: {error}\n")
    config = load_method().evaluation
    text = markdown(evaluations, config, command)
    head, worth, rest = text.partition("## What each stage is worth")
    text = f"{head}## Verdict\n\n{verdict(compare(evaluations, config))}\n\n{worth}{rest}"
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text, encoding="utf-8")
    given.out.with_suffix(".json").write_text(json_text(evaluations, config, command), encoding="utf-8")
    print(f"Written to {given.out} and {given.out.with_suffix('.json').name}.")


if __name__ == "__main__":
    main()
