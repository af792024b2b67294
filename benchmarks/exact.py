"""The criteria of exact answers: sets, numbers, yes/no, rankings and tables against known ones, without a language model.

    python benchmarks/exact.py SET=RELEASE:QUESTIONS.json … [--data data] --out benchmarks/results/exact.md
        [--saam RELEASE --rdf saam.nt.zst --cache FOLDER [--cidoc-qa FILE] [--ideal PLANS.json] [--saam10k FILE]]

SET is the name in the tables, RELEASE a data set's name or a release's folder. ``--cidoc-qa`` asks the museum questions of
CIDOC-QA in English and Greek and compares whole tables with their gold queries over ``--rdf`` (kept in ``--cache``);
``--ideal`` executes the plans of a file (question's id -> plan) besides, ``--ideal-only`` in place of asking. Writes NAME.md,
and NAME.json with a line for each question, its plan included. The same releases, questions and configuration give the same
files but for latencies.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import exact_cidoc
import exact_saam10k
from evaluate import Wanted, rounded, wanted
from exact_scores import Answered, ExactEvaluation, evaluate_exact_file
from exact_tables import markdown, said_in_short, set_questions
from gold_rows import GoldRows

from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import CrmRagError
from crmrag_query.evaluation.report import mean, number, percentiles, table

CRITERIA = {"exact": 0.60, "F1": 0.70, "sure and wrong": 0.03, "refused": 0.80}
CIDOC_CRITERIA = {"en": 0.50, "el": 0.40, exact_cidoc.IDEAL: 0.95}
SAAM10K_CRITERION = 0.90
LISTS = ("Sure and wrong", "Not exact", "Not refused")
"""Sections that list questions, in their words and with what is known: those of the data set's owner."""


def measured(sets: Sequence[Wanted], data: Path) -> list[ExactEvaluation]:
    found = []
    for one in sets:
        evaluation = evaluate_exact_file(open_release(one.release, data), one.questions)
        found.append(replace(evaluation, dataset=one.name))
        exact = sum(bool(answered.score.exact) for answered in evaluation.answered)
        print(f"{one.name}: {exact} of {len(set_questions(evaluation.answered))} exact", flush=True)
    return found


def verdict(answered: Sequence[Answered]) -> str:
    """The criteria over all data sets."""
    sets = set_questions(answered)
    refusals = [one for one in answered if one.question.answer_form == "refuse"]
    found = {
        "exact": mean(float(bool(one.score.exact)) for one in sets),
        "F1": mean(one.score.f1 for one in sets),
        "sure and wrong": mean(float(one.score.wrong) for one in sets),
        "refused": mean(float(one.score.refused) for one in refusals),
    }
    rows = []
    for name, least in CRITERIA.items():
        value = found[name]
        most = name == "sure and wrong"
        met = value is not None and (value <= least if most else value >= least)
        rows.append(
            (name, number(value), f"{'at most' if most else 'at least'} {least}", "yes" if met else "no")
        )
    return table(("over all data sets", "measured", "criterion", "met"), rows)


def line_of(dataset: str, one: Answered) -> dict[str, Any]:
    """All that was measured of a question; the text only as far as it is shown."""
    question = one.question
    line: dict[str, Any] = {
        "set": dataset,
        "id": question.id,
        "kind": question.kind,
        "form": question.answer_form,
    }
    line |= rounded(asdict(one.score))
    line |= {"said": said_in_short(one.said), "unknown": one.said.unknown, "plan": one.said.plan}
    return line


def json_text(parts: dict[str, Any]) -> str:
    """The file as JSON with a line for each question."""

    def lines() -> Iterator[str]:
        for name, part in parts.items():
            listed = isinstance(part, list)
            body = "[\n" + ",\n".join(map(dumped, part)) + "\n]" if listed else dumped(part)
            yield f'"{name}": {body}'

    return "{\n" + ",\n".join(lines()) + "\n}\n"


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cidoc(given: argparse.Namespace) -> list[exact_cidoc.Tried]:
    release, gold = open_release(given.saam, given.data), GoldRows(given.rdf, given.cache)
    questions = exact_cidoc.read_json(given.cidoc_qa)
    found = [] if given.ideal_only else list(exact_cidoc.by_asking(release, questions, gold))
    if given.ideal:
        found += exact_cidoc.by_plans(release, questions, exact_cidoc.read_json(given.ideal), gold)
    return found


def sections(given: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """The report's parts and the same as plain values."""
    texts: list[str] = []
    parts: dict[str, Any] = {}
    if given.sets:
        evaluations = measured(given.sets, given.data)
        everything = [one for evaluation in evaluations for one in evaluation.answered]
        told = markdown(evaluations, given.command)
        head, by_set, rest = (told if given.texts else measures(told)).partition("## By data set")
        texts.append(f"{head}## Verdict\n\n{verdict(everything)}\n\n{by_set}{rest}")
        parts["sets"] = [
            {name: getattr(one, name) for name in ("dataset", "release", "encoder", "file", "sha256")}
            for one in evaluations
        ]
        parts["questions"] = [
            line_of(one.dataset, answered) for one in evaluations for answered in one.answered
        ]
        parts["latency"] = {
            one.dataset: rounded(percentiles([answered.milliseconds for answered in one.answered]))
            for one in evaluations
        }
    if given.cidoc_qa:
        tries = cidoc(given)
        if not given.texts:
            tries = [replace(one, question="") for one in tries]
        criteria = ", ".join(f"{name} {least:.0%}" for name, least in CIDOC_CRITERIA.items())
        texts.append(
            f"# CIDOC-QA\n\nCriteria, exact of those with gold rows: {criteria}.\n\n{exact_cidoc.report(tries)}\n"
        )
        parts["cidoc_qa"] = [rounded(asdict(one)) for one in tries]
    if given.saam10k:
        release = open_release(given.saam, given.data)
        singles = list(exact_saam10k.by_asking(release, exact_cidoc.read_json(given.saam10k)))
        if not given.texts:
            singles = [replace(one, question="") for one in singles]
        texts.append(
            f"# SAAM-10K\n\nCriterion: {SAAM10K_CRITERION:.0%} right.\n\n{exact_saam10k.report(singles)}\n"
        )
        parts["saam10k"] = [rounded(asdict(one)) for one in singles]
    return texts, parts


def measures(told: str) -> str:
    """A report without its lists of questions."""
    parts = told.split("\n## ")
    return "\n## ".join(part for part in parts if not part.startswith(LISTS))


def command_of(given: argparse.Namespace) -> str:
    """The command without this machine's folders."""
    sets = [f"{one.name}={Path(one.release).name}:{one.questions.name}" for one in given.sets]
    named = {"--saam": Path(given.saam).name if given.rdf or given.saam10k else None}
    named |= {
        f"--{name}": getattr(given, name.replace("-", "_"))
        for name in ("rdf", "cidoc-qa", "ideal", "saam10k")
    }
    options = [word for name, value in named.items() if value for word in (name, Path(value).name)]
    options += ["--ideal-only"] * given.ideal_only
    return shlex.join(
        ["python", "benchmarks/exact.py", *sets, *options, "--out", f"benchmarks/results/{given.out.name}"]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", type=wanted, metavar="SET=RELEASE:QUESTIONS.json")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--saam", default="saam", help="release that --cidoc-qa and --saam10k are asked of")
    parser.add_argument("--rdf", type=Path, help="the same data, for the gold queries")
    parser.add_argument("--cache", type=Path, default=Path("data/cache/gold"))
    parser.add_argument("--cidoc-qa", type=Path)
    parser.add_argument("--ideal", type=Path)
    parser.add_argument("--ideal-only", action="store_true")
    parser.add_argument("--saam10k", type=Path)
    parser.add_argument(
        "--texts", action="store_true", help="list the questions that went wrong, in their words"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.cidoc_qa and not given.rdf:
        parser.error("--cidoc-qa needs --rdf")
    given.command = command_of(given)
    try:
        texts, parts = sections(given)
    except CrmRagError as error:
        parser.exit(1, f"Error: {error}\n")
    if not given.sets:
        texts.insert(0, f"Made by `{given.command}`. How to read and repeat it: docs/evaluation.md.\n")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text("\n".join(texts), encoding="utf-8")
    given.out.with_suffix(".json").write_text(json_text({"command": given.command} | parts), encoding="utf-8")
    print(f"Written to {given.out} and {given.out.with_suffix('.json').name}.")


if __name__ == "__main__":
    main()
