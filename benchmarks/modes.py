"""Every mode on every data set and kind of question: what is found, what is told, how long it takes, how much is read.

    python benchmarks/modes.py SET=RELEASE:QUESTIONS.json … [--data data] [--modes crm vector …]
        --out benchmarks/results/modes.md

SET is the name in the tables, RELEASE a data set's name or a release's folder. Without a language model, so that what
differs is the mode. By mode, data set and kind of question: nDCG@20 of the ranking; the share of gold facts that stand in
the context; F1 of the set that answers, for questions that ask for one; tokens of the context (estimated); median and 95th
percentile of the milliseconds of a whole answer, every question asked once before. Questions within a conversation are
measured but for their time. Writes NAME.md, and NAME.json with a line a question and mode, from which the tables can be
computed again.

    python benchmarks/modes.py --scripted SET=RELEASE:QUESTIONS.json … --out benchmarks/results/modes_scripted.md

asks in the modes `graph` and `agent` alone, with a stand-in for a model that writes the query that is kept with each
question (`gold_sparql`), as a call of a tool in `agent`: what these modes make of a query that is right, and nothing of how
good models are. Told are the share of questions whose query was run, F1 of the things in the rows, or in the exact set of a
question that is read as a plan, against the gold, and times.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from crmrag_query.answers.ask import Ask, stream
from crmrag_query.answers.records import answer_of
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import CrmRagError, ModelError
from crmrag_query.evaluation.evaluate import PIPELINE, Plan, evaluate_file
from crmrag_query.evaluation.questions import GoldQuestion, read_questions
from crmrag_query.evaluation.report import number, table
from crmrag_query.llm.model import Message, Reply, Request, ToolCall
from crmrag_query.retrieval.channels import find_mode, lacking, modes_of
from crmrag_query.retrieval.release_channels import Calibration

MEASURE = "nDCG@20"
ALL = "all"
HEAD = ("mode", "questions", MEASURE, "gold facts in context", "set F1", "context tokens", "p50 ms", "p95 ms")


@dataclass(frozen=True, slots=True)
class Line:
    """A question in a mode; None where there is nothing to measure."""

    set: str
    id: str
    kind: str
    mode: str
    ndcg: float | None
    facts: float | None
    f1: float | None
    tokens: int
    milliseconds: float | None


def lines(name: str, release: Release, questions: Path, mode: str) -> Iterator[Line]:
    outcome = evaluate_file(release, questions, Plan(stages=(), answers=True, mode=mode)).evaluation
    ranked = outcome.retrieval[PIPELINE][MEASURE]
    took = dict(times(release, read_questions(questions), mode))
    for id, kind in outcome.kinds.items():
        context, answer = outcome.contexts[id], outcome.answers[id]
        yield Line(
            name, id, kind, mode, ranked.get(id), context.facts, answer.f1, context.tokens, took.get(id)
        )


def times(release: Release, questions: Iterable[GoldQuestion], mode: str) -> Iterator[tuple[str, float]]:
    """Milliseconds of each question's answer that needs none before it."""
    how = Ask(mode=find_mode(release, mode))
    for one in questions:
        if not one.history:
            start = time.perf_counter()
            for _ in stream(release, one.question, how):
                pass
            yield one.id, 1000 * (time.perf_counter() - start)


@dataclass(frozen=True)
class Scripted:
    """Writes ``query``, calls the tool `sparql` with it, cites what it gave, and does nothing else."""

    query: str
    name: str = "scripted"

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        raise ModelError("It writes no answers.")

    def whole(self, request: Request) -> Reply:
        if request.tools and all("tool_call_id" not in message for message in request.messages):
            call: ToolCall = {
                "id": "1",
                "type": "function",
                "function": {"name": "sparql", "arguments": json.dumps({"query": self.query})},
            }
            return Reply("", (call,))
        if request.tools:
            return Reply("It is as the query gives [1].")
        return Reply(json.dumps({"query": self.query, "cannot": ""}))


def scripted(name: str, release: Release, questions: Path) -> Iterator[tuple[object, ...]]:
    """By mode: questions with a query and a gold set, the share that was run, mean F1, median and 95th percentile of ms."""
    asked = [one for one in json.loads(questions.read_text(encoding="utf-8")) if one.get("gold_sparql")]
    asked = [one for one in asked if one["gold_iris"] and one["answer_form"] == "iris" and not one["history"]]
    for mode in ("graph", "agent"):
        scores, took, run = list[float](), list[float](), 0
        for one in asked:
            start = time.perf_counter()
            how = Ask(Scripted(one["gold_sparql"]), mode=find_mode(release, mode), dataset=name)
            answer = answer_of(stream(release, one["question"], how))
            took.append(1000 * (time.perf_counter() - start))
            rows = [source for source in answer.sources if source.kind in ("row", "tool")]
            found, gold = {each.iri for source in rows for each in source.entities}, set(one["gold_iris"])
            run += any(source.entities for source in rows)
            if answer.exhaustive and answer.set is not None:
                found |= {member.iri for member in answer.set.members}
            scores.append(2 * len(found & gold) / (len(found) + len(gold)))
        spread = [f"{np.percentile(took, share):.0f}" for share in (50, 95)]
        yield name, mode, len(asked), number(run / len(asked)), number(float(np.mean(scores))), *spread


def row(mode: str, found: Sequence[Line]) -> tuple[object, ...]:
    def mean(of: Callable[[Line], float | None]) -> str:
        values = [value for one in found if (value := of(one)) is not None]
        return number(float(np.mean(values)) if values else None)

    took = [one.milliseconds for one in found if one.milliseconds is not None]
    spread = [f"{np.percentile(took, share):.0f}" if took else "" for share in (50, 95)]
    tokens = f"{np.mean([one.tokens for one in found]):.0f}"
    return (
        mode, len(found), mean(lambda one: one.ndcg), mean(lambda one: one.facts), mean(lambda one: one.f1), tokens, *spread,
    )  # fmt: skip


def tables(found: Sequence[Line]) -> Iterator[str]:
    """All together; then by data set; then by kind, over all data sets; then by both."""
    modes = list(dict.fromkeys(one.mode for one in found))
    sets, kinds = ([*dict.fromkeys(getattr(one, key) for one in found)] for key in ("set", "kind"))
    chosen = [("All questions", None, None), *((name, name, None) for name in sets)]
    chosen += [(f"Questions of the kind *{kind}*", None, kind) for kind in kinds]
    chosen += [(f"{name}, *{kind}*", name, kind) for name in sets for kind in kinds]
    for title, name, kind in chosen:
        kept = [one for one in found if name in (None, one.set) and kind in (None, one.kind)]
        if kept:
            yield f"## {title}\n\n" + table(
                HEAD, [row(mode, [one for one in kept if one.mode == mode]) for mode in modes]
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="SET=RELEASE:QUESTIONS.json")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--modes", nargs="*", default=[])
    parser.add_argument("--scripted", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.scripted:
        rows = []
        for text in given.sets:
            place, _, questions = text.partition("=")[2].rpartition(":")
            rows += scripted(text.partition("=")[0], open_release(place, given.data), Path(questions))
        told = table(("data set", "mode", "questions", "query was run", "F1", "p50 ms", "p95 ms"), rows)
        head = (
            "# Modes in which a model gathers, with a stand-in\n\n"
            "Made by `python benchmarks/modes.py --scripted`: the head of that file says what it is."
        )
        given.out.write_text(f"{head}\n\n{told}\n", encoding="utf-8")
        return
    found: list[Line] = []
    about = []
    for text in given.sets:
        name, _, rest = text.partition("=")
        place, _, questions = rest.rpartition(":")
        release = open_release(place, given.data)
        for mode in given.modes or [
            one.name for one in modes_of(release).values() if not lacking(release, one)
        ]:
            found += lines(name, release, Path(questions), mode)
            print(f"{name}: {mode}", file=sys.stderr)
        scale = release[Calibration]
        encoder = str(release.manifest.embedding.get("model", ""))
        about.append(
            (name, release.id, encoder, Path(questions).name, f"{scale.unrelated:.2f}", f"{scale.own:.2f}")
        )
    # Paths of whoever measures are nobody else's.
    asked = [f"{one.partition('=')[0]}={Path(one.rpartition(':')[2]).name}" for one in given.sets]
    head = (
        "data set",
        "release",
        "encoder",
        "questions",
        "cosine of what is unrelated",
        "of a thing's own name",
    )
    text = "\n\n".join(
        (
            "# Modes compared",
            f"Made by `python benchmarks/modes.py {shlex.join(asked)}`, without a language model. "
            "What the columns are: the head of that file. Times compare modes with one another: they depend on the machine, "
            "and on what else it does.",
            table(head, about),
            *tables(found),
        )
    )
    given.out.write_text(f"{text}\n", encoding="utf-8")
    rounded = (
        {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(one).items()}
        for one in found
    )
    given.out.with_suffix(".json").write_text(
        "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in rounded) + "\n]\n", encoding="utf-8"
    )


if __name__ == "__main__":
    try:
        main()
    except CrmRagError as error:
        sys.exit(str(error))
