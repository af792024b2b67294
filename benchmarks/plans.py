"""Time of executing plans, warm, against the criterion: a median under 100 ms and 1 s at worst, self-joins apart.

    python benchmarks/plans.py SET=RELEASE … [--plans benchmarks/plans/museums.json] [--from benchmarks/results/exact.json]
        [--data data] [--repeat 5] --out benchmarks/results/plans.md

A file of plans is a list of {name, kind, plan}. Where a plan has ``label:TEXT`` for an IRI, it stands for everything that has
just this name in the data set; plans without any such thing there are left out. ``--from`` adds the plans of answered
questions (JSON of benchmarks/exact.py). Each plan is executed once and then ``--repeat`` times. Writes NAME.md and NAME.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import CrmRagError
from crmrag_query.evaluation.report import table
from crmrag_query.plans.execute import BLOCK_ROWS, execute
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.world import World

LABEL = "label:"
MEDIAN_MS, WORST_MS = 100.0, 1000.0
SLOWEST = 12


@dataclass(frozen=True, slots=True)
class Timed:
    """A plan and its times in milliseconds; ``first``: the call before those that count; ``streamed``: of all rows of a
    self-join once its size is known, None for others."""

    dataset: str
    name: str
    kind: str
    size: int
    first: float
    median: float
    worst: float
    streamed: float | None = None

    @property
    def joins(self) -> bool:
        return self.kind in ("self-join", "pairs")


class Names:
    """IRIs by name in one data set."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._ptr, self._texts = world.names

    def iris(self, name: str) -> list[str]:
        found = np.flatnonzero(
            pc.equal(self._texts, pa.scalar(name, self._texts.type)).to_numpy(zero_copy_only=False)
        )
        nodes = np.unique(np.searchsorted(self._ptr, found, side="right") - 1)
        return [self.world.graph.iri(int(node)) for node in nodes]


def resolved(part: Any, names: Names) -> Any:
    """A plan with IRIs in place of labels. Raises LookupError where nothing has any of the labels of one list."""
    if isinstance(part, dict):
        return {key: resolved(value, names) for key, value in part.items()}
    if isinstance(part, list):
        if not any(isinstance(one, str) and one.startswith(LABEL) for one in part):
            return [resolved(one, names) for one in part]
        found = [iri for one in part for iri in names.iris(one.removeprefix(LABEL))]
        if not found:
            raise LookupError(part)
        return found
    return part


def timed(dataset: str, world: World, plans: Sequence[dict[str, Any]], repeat: int) -> Iterator[Timed]:
    names = Names(world)
    for one in plans:
        try:
            plan = read_plan(resolved(one["plan"], names))
        except LookupError:
            continue
        spent = []
        for _ in range(repeat + 1):
            started = time.perf_counter()
            outcome = execute(plan, world)
            spent.append((time.perf_counter() - started) * 1000)
        median, streamed = statistics.median(spent[1:]), None
        if outcome.pairing is not None:
            started = time.perf_counter()
            for _ in outcome.blocks(BLOCK_ROWS):
                pass
            streamed = (time.perf_counter() - started) * 1000
        yield Timed(
            dataset, one["name"], one["kind"], outcome.size, spent[0], median, max(spent[1:]), streamed
        )


def plans_of(files: Sequence[Path], answered: Sequence[Path]) -> list[dict[str, Any]]:
    """Plans of the files, and each plan once of those that answered questions."""
    found = [one for file in files for one in json.loads(file.read_text(encoding="utf-8"))]
    known = set()
    for file in answered:
        for one in json.loads(file.read_text(encoding="utf-8")).get("questions", ()):
            text = json.dumps(one["plan"], sort_keys=True)
            if one["plan"] and text not in known:
                known.add(text)
                kind = one["plan"].get("compute", {}).get("kind", "list")
                found.append(
                    {
                        "name": one["id"],
                        "kind": "pairs" if kind == "pairs" else one["kind"],
                        "plan": one["plan"],
                    }
                )
    return found


def report(timings: Sequence[Timed], command: str) -> str:
    datasets = list(dict.fromkeys(one.dataset for one in timings))
    rows = []
    for name in datasets:
        plain = [one for one in timings if one.dataset == name and not one.joins]
        median, worst = statistics.median(one.median for one in plain), max(one.worst for one in plain)
        met = "yes" if median < MEDIAN_MS and worst < WORST_MS else "no"
        firsts = [one.first for one in plain]
        first = f"{statistics.median(firsts):.1f}", f"{max(firsts):.0f}"
        rows.append((name, len(plain), f"{median:.1f}", f"{worst:.0f}", *first, met))
    slow = sorted((one for one in timings if not one.joins), key=lambda one: -one.median)[:SLOWEST]
    return "\n\n".join((
        "# Executing plans",
        f"Made by `{command}`, on the machine that ran it. Milliseconds, warm: after one call of the plan, the *first*.",
        table(("data set", "plans", "median", "worst", "median first", "worst first", "median < 100 ms, worst < 1 s"), rows),
        "## Self-joins",
        "Times up to the size; *streamed*: all rows after that, block by block.",
        table(
            (*HEAD, "streamed"),
            ((*_line(one), f"{one.streamed or 0:.0f}") for one in timings if one.joins),
        ),
        "## The slowest",
        table(HEAD, map(_line, slow)),
        "## By kind",
        table(("data set", "kind", "plans", "median", "worst"), _by_kind(timings)),
    )) + "\n"  # fmt: skip


HEAD = ("data set", "plan", "kind", "members or rows", "first", "median", "worst")


def _line(one: Timed) -> tuple[object, ...]:
    return (
        one.dataset,
        one.name,
        one.kind,
        one.size,
        f"{one.first:.1f}",
        f"{one.median:.1f}",
        f"{one.worst:.1f}",
    )


def _by_kind(timings: Sequence[Timed]) -> Iterator[tuple[object, ...]]:
    for dataset, kind in dict.fromkeys((one.dataset, one.kind) for one in timings):
        here = [one for one in timings if (one.dataset, one.kind) == (dataset, kind)]
        median, worst = statistics.median(one.median for one in here), max(one.worst for one in here)
        yield dataset, kind, len(here), f"{median:.1f}", f"{worst:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="SET=RELEASE")
    parser.add_argument(
        "--plans", type=Path, nargs="*", default=[Path(__file__).parent / "plans" / "museums.json"]
    )
    parser.add_argument("--from", dest="answered", type=Path, nargs="*", default=[])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    plans, found = plans_of(given.plans, given.answered), list[Timed]()
    try:
        for one in given.sets:
            name, _, release = one.partition("=")
            found += timed(name, open_release(release, given.data)[World], plans, given.repeat)
            print(f"{name}: {sum(one.dataset == name for one in found)} plans", flush=True)
    except CrmRagError as error:
        parser.exit(1, f"Error: {error}\n")
    sets = [f"{one.partition('=')[0]}={Path(one.partition('=')[2]).name}" for one in given.sets]
    files = [
        word
        for option, paths in (("--plans", given.plans), ("--from", given.answered))
        for word in (option, *(path.name for path in paths))
        if paths
    ]
    command = shlex.join(
        ["python", "benchmarks/plans.py", *sets, *files, "--out", f"benchmarks/results/{given.out.name}"]
    )
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(report(found, command), encoding="utf-8")
    lines = ",\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in found)
    given.out.with_suffix(".json").write_text(
        f'{{"command": {json.dumps(command)},\n"plans": [\n{lines}\n]}}\n', encoding="utf-8"
    )
    print(f"Written to {given.out}; peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB.")


if __name__ == "__main__":
    main()
