"""Whether the tests notice a fault: small faults are put into the product, one at a time, and the tests that pass there run.

    python -m pytest -m "not slow" --cov=crmrag_query --cov=crmrag_assets --cov-branch --cov-context=test
    python benchmarks/mutants.py --coverage .coverage [--count 60] [--jobs 2] [--seed 1] [--out RESULT.json]

The sample is drawn evenly over all places of the product where a fault of a known kind fits (`KINDS`) and which some
test runs; the same seed on the same code gives the same faults. For each fault the tests whose coverage has the line run in
a copy of the working tree, until one fails. A fault at which all pass survives: it is printed with its line, for a person
to judge, as some change nothing that can be seen. Coverage sees what runs in the tests' own process, so that lines that
only started processes run are not drawn. Needs pytest-cov, which is no part of the environment. Writes RESULT.json, and a
table in Markdown beside it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("crmrag_query", "crmrag_assets")
OUT = Path(__file__).parent / "results" / "mutants.json"
MOST_TESTS = 200  # of those that run a line: the rest would cost minutes a fault
BESIDE = {
    ".git",
    ".venv",
    "data",
    ".coverage",
    ".mypy_cache",
    ".ruff_cache",
    "node_modules",
    "site",
}  # no part of a copy
SECONDS = 300  # for the tests of one fault; a fault that makes them hang is noticed too

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def compared(node: ast.AST) -> ast.AST | None:
    """`<` becomes `<=`, `==` becomes `!=`, `in` becomes `not in`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        return ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators)  # type: ignore[list-item]
    return None


def joined(node: ast.AST) -> ast.AST | None:
    """`and` becomes `or`."""
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(SWAPPED[type(node.op)](), node.values)  # type: ignore[arg-type]
    return None


def summed(node: ast.AST) -> ast.AST | None:
    """`+` becomes `-`, but not between texts."""
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not _has_text(node):
        return ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)  # type: ignore[arg-type]
    return None


def negated(node: ast.AST) -> ast.AST | None:
    """`not x` becomes `x`; a plain condition becomes its opposite."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.IfExp):
        return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    return None


def counted(node: ast.AST) -> ast.AST | None:
    """A whole number becomes the next."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(node.value + 1)
    return None


def emptied(node: ast.AST) -> ast.AST | None:
    """A result becomes None."""
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        return ast.Return(ast.Constant(None))
    return None


def dropped(node: ast.AST) -> ast.AST | None:
    """A call that is made for its effect is left out."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.Pass()
    return None


KINDS: tuple[Callable[[ast.AST], ast.AST | None], ...] = (
    compared,
    joined,
    summed,
    negated,
    counted,
    emptied,
    dropped,
)


def _has_text(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in ast.walk(node)
    )


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


@dataclass(frozen=True)
class Fault:
    """One fault: what stands in a file from one place to another, and what takes its place."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int


def faults_of(path: Path) -> Iterator[Fault]:
    """Every fault that fits into a file; ``start`` and ``end`` count bytes."""
    text = path.read_bytes()
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    for node in ast.walk(ast.parse(text)):
        for kind in KINDS:
            changed = kind(node)
            if changed is None or not isinstance(node, ast.expr | ast.stmt) or node.end_lineno is None:
                continue
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
            after = ast.unparse(ast.fix_missing_locations(changed))
            after = f"({after})" if isinstance(node, ast.expr) else after
            name = path.relative_to(ROOT).as_posix()
            yield Fault(name, node.lineno, kind.__name__, text[start:end].decode(), after, start, end)


def drawn(data: CoverageData, count: int, seed: int) -> list[tuple[Fault, list[str]]]:
    """Faults in lines that tests run, each with those tests by their ids."""
    found: list[tuple[Fault, list[str]]] = []
    measured = {Path(name): name for name in data.measured_files()}
    for path, name in sorted(measured.items()):
        inside = Path(*path.parts[next(i for i, part in enumerate(path.parts) if part in PACKAGES) :])
        if not (ROOT / inside).is_file():
            continue
        tests = data.contexts_by_lineno(name)
        for fault in faults_of(ROOT / inside):
            ids = sorted({test.partition("|")[0] for test in tests.get(fault.line, ()) if test})
            if ids:
                found.append((fault, ids))
    found.sort(key=lambda pair: (pair[0].file, pair[0].start, pair[0].kind))
    return random.Random(seed).sample(found, min(count, len(found)))


def verdict(fault: Fault, tests: list[str], tree: Path, seed: int) -> str:
    """`noticed`, `hung` or `survived`, as the tests end in ``tree``, which is left as it was."""
    path = tree / fault.file
    text = path.read_bytes()
    chosen = sorted(random.Random(seed).sample(tests, min(MOST_TESTS, len(tests))))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *chosen]
    path.write_bytes(text[: fault.start] + fault.after.encode() + text[fault.end :])
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "hung"
    finally:
        path.write_bytes(text)
    if done.returncode not in (0, 1, 2, 3):  # 4 and 5: pytest was not called as it should be
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return "noticed" if done.returncode else "survived"


def _short(text: str) -> str:
    return " ".join(text.split())[:80]


def table(summary: dict[str, Any]) -> str:
    """The result as a page: how many faults of each kind were noticed, and those that survived."""
    faults = summary["faults"]
    lines = [
        "# Faults that the tests notice",
        "",
        "| fault | tried | noticed | survived |",
        "|---|---:|---:|---:|",
    ]
    for kind in KINDS:
        own = [fault["result"] for fault in faults if fault["kind"] == kind.__name__]
        survived = own.count("survived")
        lines.append(
            f"| {(kind.__doc__ or '').rstrip('.')} | {len(own)} | {len(own) - survived} | {survived} |"
        )
    whole = summary["counts"].get("survived", 0)
    lines.append(f"| **all** | **{len(faults)}** | **{len(faults) - whole}** | **{whole}** |")
    alive = [fault for fault in faults if fault["result"] == "survived"]
    shown = [f"- `{f['file']}:{f['line']}`: `{_short(f['before'])}` → `{_short(f['after'])}`" for f in alive]
    return "\n".join([*lines, *(["", "## Survived", "", *shown] if shown else []), ""])


def _copied(tree: Path) -> Path:
    """A copy of the working tree, without what builds write."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "__pycache__" or (Path(folder) == ROOT and name in BESIDE)]

    shutil.copytree(ROOT, tree, ignore=left_out)
    shutil.copytree(ROOT / "data" / "sample", tree / "data" / "sample")
    return tree


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--coverage", type=Path, default=Path(".coverage"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2, help="faults tried at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    data = CoverageData(str(given.coverage))
    data.read()
    sample, start, results = drawn(data, given.count, given.seed), time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for job in range(given.jobs):
            trees.put(_copied(Path(folder) / f"tree{job}"))

        def tried(pair: tuple[Fault, list[str]]) -> str:
            tree = trees.get()
            try:
                return verdict(*pair, tree, given.seed)
            finally:
                trees.put(tree)

        for number, ((fault, tests), result) in enumerate(
            zip(sample, pool.map(tried, sample), strict=True), 1
        ):
            results.append({**asdict(fault), "tests": len(tests), "result": result})
            where = f"{fault.file}:{fault.line} {fault.kind}: {fault.before!r:.60} -> {fault.after!r:.60}"
            print(f"{number:3} {result:8} {where} ({len(tests)} tests)", flush=True)
    counts = Counter(str(one["result"]) for one in results)
    summary = {
        "seed": given.seed,
        "seconds": round(time.monotonic() - start),
        "counts": dict(counts),
        "faults": results,
    }
    given.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(table(summary), encoding="utf-8")
    print(", ".join(f"{count} {result}" for result, count in counts.most_common()))


if __name__ == "__main__":
    main()
