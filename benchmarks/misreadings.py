"""Natural questions aimed at misreadings: how many are told as exact, and how many of these are wrong. No language model.

    python benchmarks/misreadings.py SET=RELEASE:DATA.nt.zst … [--data data] [--questions FILE]
        --out benchmarks/results/misreadings.md

Gold is SPARQL over the source by pyoxigraph, an independent engine, when it is asked. ``refuse``: the data does not tell, so
nothing may be told as exact; ``not_a_set``: a question about one thing or all of the data. Where a question has two honest
readings, ``also_ok_sparql`` gives the other; ``tolerated_sparql`` gives IRIs that count neither way.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyoxigraph import RdfFormat, Store

from crmrag_query.answers.ask import Conversation
from crmrag_query.artifacts.release import open_release
from crmrag_query.evaluation.report import table
from crmrag_query.plans.records import read_plan
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.records import Page

QUESTIONS = Path(__file__).parent / "questions" / "misreadings.json"
OUTCOMES = ("right, as exact", "wrong, as exact", "right, offered", "wrong, offered", "not a set")


def opened(file: Path) -> Store:
    store = Store()
    form = RdfFormat.TURTLE if file.suffix == ".ttl" else RdfFormat.N_TRIPLES
    with pa.input_stream(str(file), compression="detect") as stream:
        store.bulk_load(input=stream.read(), format=form)
    return store


def value_of(store: Store, query: str) -> frozenset[str] | float | bool:
    """What a query gives: the IRIs of ?x, the number ?n, or yes/no."""
    found = store.query(query)
    if isinstance(found, bool) or not hasattr(found, "variables"):
        return bool(found)
    names = [variable.value for variable in found.variables]
    rows = [{name: row[name].value for name in names if row[name] is not None} for row in found]
    if "n" in names and "x" not in names:
        return float(rows[0]["n"]) if rows else 0.0
    return frozenset(row["x"] for row in rows if "x" in row)


def outcome(store: Store, question: dict[str, Any], said: Any, release: Any) -> str:
    """Which of ``OUTCOMES`` an answer is."""
    exact = said.set is not None and said.set.exhaustive
    if said.set is None:
        return "not a set"
    form = question["form"]
    if form in ("refuse", "not_a_set"):
        right = not said.set.size and form == "refuse"
        for query in question.get("also_ok_sparql") or ():
            right = right or matches(store, query, frozenset(), said, release)
    else:
        tolerated: frozenset[str] = frozenset()
        if query := question.get("tolerated_sparql"):
            tolerated |= value_of(store, query)  # type: ignore[operator]
        queries = [question["gold_sparql"], *(question.get("also_ok_sparql") or ())]
        right = any(matches(store, query, tolerated, said, release) for query in queries)
    return f"{'right' if right else 'wrong'}, {'as exact' if exact else 'offered'}"


def matches(store: Store, query: str, tolerated: frozenset[str], said: Any, release: Any) -> bool:
    """Whether the set of an answer is what a query gives."""
    gold = value_of(store, query)
    found = answer_set(release, read_plan(said.set.plan), Page(limit=None), "en", sparql=False)
    if isinstance(gold, bool):
        return found.value == gold if found.kind == "ask" else bool(found.size) == gold
    if isinstance(gold, float):
        value = (
            found.value if isinstance(found.value, int) and not isinstance(found.value, bool) else found.size
        )
        return float(value) == gold
    members = {one.iri for one in found.members}
    return members - tolerated == gold - tolerated if members or gold else True


def asked(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    questions = json.loads(given.questions.read_text(encoding="utf-8"))
    for text in given.sets:
        name, _, rest = text.partition("=")
        where, _, file = rest.rpartition(":")
        release, store = open_release(where, given.data), opened(Path(file))
        for question in (one for one in questions if one["dataset"] == name):
            said, _ = Conversation().ask(release, question["question"])
            result = outcome(store, question, said, release)
            yield {"id": question["id"], "set": name, "pattern": question["id"].split("-")[0], "outcome": result,
                   "question": question["question"],
                   "told": said.set.title if said.set is not None else said.text[:100]}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="SET=RELEASE:DATA")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument(
        "--texts", action="store_true", help="name each question that was told wrong as exact"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rows = list(asked(given))
    patterns = sorted({one["pattern"] for one in rows}, key=lambda name: int(name[1:]))
    counts = Counter((one["pattern"], one["outcome"]) for one in rows)
    body = [(name, *(counts[name, one] for one in OUTCOMES)) for name in patterns]
    body.append(("all", *(sum(counts[name, one] for name in patterns) for one in OUTCOMES)))
    sets = " ".join(f"{text.partition('=')[0]}=…" for text in given.sets)
    text = f"# Misreadings\n\nMade by `python benchmarks/misreadings.py {sets}`; {len(rows)} questions, "
    text += "no language model.\n\n"
    text += table(("pattern", *OUTCOMES), body) + "\n"
    if given.texts:
        text += "\n" + "\n".join(
            f"- {one['id']} {one['set']}: {one['question']} | {one['outcome']} | {one['told']}"
            for one in rows if one["outcome"].startswith("wrong")
        )  # fmt: skip
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text + "\n", encoding="utf-8")
    print(table(("pattern", *OUTCOMES), body))


if __name__ == "__main__":
    main()
