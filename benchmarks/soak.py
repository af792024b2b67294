"""A hundred small changes of a source, one build after each, some of them killed: the end is what a fresh build gives.

    python benchmarks/soak.py [--file FILE.nt] [--changes 100] [--kills 0.5] [--seed 1] [--out RESULT.json]

FILE is N-Triples (a small museum of `generate.py` where none is given). Every round changes the source: of an entity or two
a name reads otherwise, a triple goes, one comes back, an entity comes or goes. Then `crmrag build` runs in a process of its
own, with the stand-in encoder; with the chance ``--kills`` it is killed (SIGKILL, all its processes) at a random moment,
again and again until one ends by itself. After every round the current release must verify; after the last it must be, byte
for byte, the release of a build from nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from generate import Museum, write
from kills import build, current

from crmrag_query.artifacts.release import open_release

NAME = "soak"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
KINDS = ("renamed", "triple gone", "triple back", "entity gone", "entity back")


class Source:
    """The lines of a file that are there, and those that went."""

    def __init__(self, lines: list[str], chance: random.Random) -> None:
        self.lines, self.gone, self.chance = lines, list[str](), chance
        self.counts = dict.fromkeys(KINDS, 0)

    def change(self, number: int) -> None:
        """One small change of a random kind."""
        kind = self.chance.choice(KINDS)
        if kind.endswith("back") and not self.gone:
            kind = "renamed"
        self.counts[kind] += 1
        at = self.chance.randrange(len(self.lines))
        subject = self.lines[at].partition(" ")[0]
        own = [line for line in self.lines if line.startswith(f"{subject} ")]
        match kind:
            case "renamed":
                kept = [line for line in own if f" {LABEL} " not in line]
                self._replace(own, [*kept, f'{subject} {LABEL} "Renamed {number}" .'])
            case "triple gone":
                loose = [line for line in own if f" {TYPE} " not in line]
                if loose:
                    self._take([self.chance.choice(loose)])
            case "entity gone":
                self._take(own)
            case _:
                back = self.chance.choice(self.gone).partition(" ")[0]
                whole = [line for line in self.gone if line.startswith(f"{back} ")]
                chosen = whole if kind == "entity back" else [self.chance.choice(whole)]
                self.lines.extend(chosen)
                self.gone = [line for line in self.gone if line not in set(chosen)]

    def _take(self, lines: list[str]) -> None:
        self._replace(lines, [])
        self.gone.extend(lines)

    def _replace(self, old: list[str], new: list[str]) -> None:
        taken = set(old)
        self.lines = [line for line in self.lines if line not in taken] + new


def declare(folder: Path, file: Path) -> Path:
    config = folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    text = f"datasets:\n  {NAME}:\n    rdf: ['{file}']\n    embedding: {{model: hash}}\n    write_markdown: false\n"
    (config / "datasets.yaml").write_text(text, encoding="utf-8")
    return config


def soak(source: Source, folder: Path, changes: int, kills: float) -> dict[str, Any]:
    """All rounds; how many builds there were, were killed, and how long the others took."""
    chance, file, data = source.chance, folder / "source.nt", folder / "data"
    config = declare(folder, file)
    usual, spent, killed, releases = 10.0, list[float](), 0, set[str]()
    for number in range(changes + 1):
        if number:
            for _ in range(chance.randint(1, 2)):
                source.change(number)
        file.write_text("\n".join(source.lines) + "\n", encoding="utf-8")
        while True:
            begun = time.monotonic()
            limit = chance.uniform(0.02, 1.0) * usual if number and chance.random() < kills else None
            if build(NAME, data, config, limit):
                break
            killed += 1
        if limit is None:
            spent.append(time.monotonic() - begun)
            usual = sum(spent) / len(spent)
        open_release(NAME, data).verify()
        releases.add(current(NAME, data))
        print(f"{number}/{changes}: {killed} killed, {usual:.1f} s a build", file=sys.stderr, flush=True)
    build(NAME, folder / "fresh", config)
    same = current(NAME, data) == current(NAME, folder / "fresh")
    return {
        "builds": {"ended": changes + 1, "killed": killed, "seconds": round(usual, 1)},
        "releases": len(releases),
        "release_of_a_fresh_build": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path)
    parser.add_argument(
        "--entities", type=int, default=2000, help="of the museum that is made without --file"
    )
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--kills", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = arguments.file or folder / "museum.nt"
        if not arguments.file:
            write(Museum(arguments.entities, arguments.seed), file)
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        source = Source(lines, random.Random(arguments.seed))
        result = {"triples": len(lines), "seed": arguments.seed, "changes": arguments.changes}
        result |= soak(source, folder, arguments.changes, arguments.kills) | {"kinds": source.counts}
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")
    if not result["release_of_a_fresh_build"]:
        raise SystemExit("The release is not that of a build from nothing.")


if __name__ == "__main__":
    main()
