"""Many people at one service, or several: how long they wait, when it is too many, and whether its memory stays as it is.

    python benchmarks/load.py DATA [--dataset NAME] [--minutes 5] [--users 50] [--workers 1] [--services 1] [--questions FILE]

With several services over the same releases each person stays with one, as behind a proxy that keeps them together. Starts
`crmrag serve` without a language model on DATA and plays people who read for 3 to 7 seconds between requests:
questions (streamed), documents, sets with their facets, entities, names as they are typed. Questions come from FILE (one a
line), else from the data set's examples and its most frequent classes and best-known entities. Then it asks at random
moments, ever more often, until 95 of 100 requests take more than half a second. Prints one JSON object; milliseconds are
those of whole responses, the client's work on the same machine included; memory is what no other process shares, in MiB, of
the services with all their processes. `processor_ms` is theirs for one request, which others on the machine lengthen less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

API = "/api/v1"
THINKING = (3.0, 7.0)  # seconds between two requests of a person
LIMIT = 0.5  # seconds that 95 of 100 requests may take
STEP, LONGER = 10.0, 1.25  # seconds of each rate, and how much more the next one is
FIRST_RATE, MOST_RATE = 4.0, 400.0  # requests a second
SHARES = {"ask": 30, "retrieve": 15, "set": 20, "facets": 10, "entity": 15, "search": 10}  # of 100 requests
COMMAND = "from crmrag_query.cli.main import main; main()"


@dataclass(frozen=True)
class World:
    """What there is to ask of a data set."""

    dataset: str
    questions: tuple[str, ...]
    plans: tuple[Mapping[str, Any], ...]
    entities: tuple[str, ...]
    names: tuple[str, ...]

    def request(self, chance: random.Random) -> tuple[str, str, str, dict[str, Any]]:
        """A request: its kind, method, path, and body or query."""
        [kind] = chance.choices(list(SHARES), list(SHARES.values()))
        about = {"dataset": self.dataset}
        match kind:
            case "ask" | "retrieve":
                return kind, "POST", f"/{kind}", about | {"question": chance.choice(self.questions)}
            case "set" | "facets":
                return kind, "POST", f"/{kind}", about | {"plan": chance.choice(self.plans)}
            case "entity":
                return kind, "GET", "/entity", about | {"iri": chance.choice(self.entities)}
            case _:
                name = chance.choice(self.names)
                return kind, "GET", "/search", about | {"text": name[: chance.randint(3, max(3, len(name)))]}


@dataclass
class Tally:
    """Seconds by kind of request, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)

    def told(self) -> dict[str, Any]:
        every = [one for kind in SHARES for one in self.seconds[kind]]
        return {
            "requests": len(every) + self.errors.total(),
            "errors": dict(self.errors),
            "all": waits(every),
            **{kind: waits(found) for kind, found in sorted(self.seconds.items())},
        }


def waits(seconds: Sequence[float]) -> dict[str, float]:
    """How many there were, and the milliseconds that 50, 95, 99 and 100 of 100 took at most."""
    ordered = sorted(seconds)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}
    told = {name: round(1000 * percentile(ordered, share), 1) for name, share in shares.items()}
    return {"count": len(ordered), **told}


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


@contextmanager
def serving(data: Path, workers: int) -> Iterator[tuple[str, int]]:
    """The address and the process id of a service."""
    with tempfile.TemporaryDirectory() as state, open(Path(state) / "log", "w+", encoding="utf-8") as log:  # noqa: PTH123
        command = [
            sys.executable,
            "-c",
            COMMAND,
            "serve",
            "--data",
            str(data),
            "--port",
            "0",
            "--state",
            state,
        ]
        process = subprocess.Popen([*command, "--workers", str(workers)], stderr=log)
        try:
            while " at http://" not in (said := Path(log.name).read_text(encoding="utf-8")):
                if process.poll() is not None:
                    raise SystemExit(said)
                time.sleep(0.05)
            yield said.partition(" at ")[2].partition(" ")[0], process.pid
        finally:
            process.terminate()
            process.wait()


def memory(pid: int) -> float:
    """MiB that a process and its children share with nobody."""
    own = sum(
        int(line.split()[1])
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        if line.startswith(("Private_Clean:", "Private_Dirty:"))
    )
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return round(own / 1024 + sum(memory(int(child)) for child in children), 1)


def processor(pid: int) -> float:
    """Seconds of a processor that a process and its children have taken."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor(int(child)) for child in children)


async def look(http: httpx.AsyncClient, dataset: str | None, file: Path | None) -> World:
    """What there is to ask: of a file, or of what the data set tells of itself."""
    about = {} if dataset is None else {"dataset": dataset}
    detail = (await http.get(f"{API}/dataset", params=about)).raise_for_status().json()
    name, top = detail["dataset"]["name"], detail["top"]
    if file is not None:
        questions = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        questions = [*detail["dataset"]["examples"], *(f"What is told of {one['label']}?" for one in top)]
        questions += [f"How many {one['label']} are there?" for one in detail["classes"][:10]]
    plans: list[Mapping[str, Any]] = [
        {"target": {"categories": [one["name"]]}} for one in detail["categories"] if one["entities"]
    ]
    for question in questions:
        found = await http.post(f"{API}/plan", json={"question": question, "dataset": name})
        if found.is_success and found.json()["plan"]:
            plans.append(found.json()["plan"])
    return World(
        name,
        tuple(questions),
        tuple(plans),
        tuple(one["iri"] for one in top),
        tuple(one["label"] for one in top),
    )


async def send(
    http: httpx.AsyncClient, world: World, chance: random.Random, tally: Tally, begun: float
) -> None:
    """Send a request and count the seconds since ``begun``; of a question also those to its sources."""
    kind, method, path, given = world.request(chance)
    more: dict[str, Any] = {"json": given} if method == "POST" else {"params": given}
    headers = {"Accept": "text/event-stream"} if kind == "ask" else {}
    try:
        async with http.stream(method, API + path, headers=headers, **more) as response:
            last = ""
            async for piece in response.aiter_text():
                last = (last + piece)[-200:] if kind != "ask" else last + piece
                if kind == "ask" and "event: evidence" in piece:
                    tally.seconds["ask: sources"].append(time.perf_counter() - begun)
        whole = "event: done" in last if kind == "ask" else True
        if response.status_code != 200 or not whole:
            tally.errors[f"{kind}: {response.status_code}"] += 1
            return
    except httpx.HTTPError as error:
        tally.errors[f"{kind}: {type(error).__name__}"] += 1
        return
    tally.seconds[kind].append(time.perf_counter() - begun)


async def person(http: httpx.AsyncClient, world: World, seed: int, tally: Tally, end: float) -> None:
    """Reads, asks, and so on until the end; people come one after another, within the time that one reads."""
    chance = random.Random(seed)
    await asyncio.sleep(chance.uniform(0, THINKING[1]))
    while time.perf_counter() < end:
        await send(http, world, chance, tally, time.perf_counter())
        await asyncio.sleep(min(chance.uniform(*THINKING), max(0.0, end - time.perf_counter())))


async def crowd(
    services: Sequence[httpx.AsyncClient], world: World, users: int, minutes: float, pids: Sequence[int]
) -> dict[str, Any]:
    """What the people met with, and the memory at the start, in the middle and at the end."""
    tally, kept, seconds = Tally(), {"start": sum(map(memory, pids))}, minutes * 60
    before = sum(map(processor, pids))
    end = time.perf_counter() + seconds

    async def measure() -> None:
        await asyncio.sleep(seconds / 2)
        kept["middle"] = sum(map(memory, pids))

    people = (person(services[seed % len(services)], world, seed, tally, end) for seed in range(users))
    await asyncio.gather(measure(), *people)
    took = sum(map(processor, pids)) - before
    kept["end"] = sum(map(memory, pids))
    kept = {name: round(one, 1) for name, one in kept.items()}
    told = tally.told()
    each = round(1000 * took / max(1, told["requests"]), 1)
    return {"users": users, "minutes": minutes, **told, "processor_ms": each, "memory_mib": kept}


async def ever_more(http: httpx.AsyncClient, world: World) -> dict[str, Any]:
    """The highest rate at which 95 of 100 requests take no more than the limit, each counted from when it was due."""
    chance, steps, rate, held = random.Random(7), [], FIRST_RATE, 0.0
    while rate <= MOST_RATE:
        tally, sent, begun = Tally(), [], time.perf_counter()
        due = begun
        while (due := due + chance.expovariate(rate)) < begun + STEP:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            sent.append(asyncio.ensure_future(send(http, world, chance, tally, due)))
        await asyncio.gather(*sent)
        told = waits([one for kind in SHARES for one in tally.seconds[kind]])
        steps.append({"a_second": round(rate, 1), **told, "errors": tally.errors.total()})
        if told["p95"] > 1000 * LIMIT or tally.errors:
            break
        held, rate = rate, rate * LONGER
    return {"requests_a_second": round(held, 1), "steps": steps}


async def measured(given: argparse.Namespace, started: Sequence[tuple[str, int]]) -> dict[str, Any]:
    limits = httpx.Limits(max_connections=1000, max_keepalive_connections=200)
    async with AsyncExitStack() as stack:
        services = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=address, timeout=60, limits=limits))
            for address, _ in started
        ]
        for http in services:
            (await http.get("/ready")).raise_for_status()
        world = await look(services[0], given.dataset, given.questions)
        first = Tally()
        for http in services:
            for seed in range(100):  # every part of the service is used before it is measured
                await send(http, world, random.Random(seed), first, time.perf_counter())
        told = {"dataset": world.dataset, "services": len(services), "workers": given.workers}
        told |= {"questions": len(world.questions), "load_before": [round(one, 1) for one in os.getloadavg()]}
        told |= {
            "people": await crowd(services, world, given.users, given.minutes, [pid for _, pid in started])
        }
        if not given.no_saturation:
            told["saturation"] = await ever_more(services[0], world)
        return told


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--dataset")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--services", type=int, default=1)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--no-saturation", action="store_true")
    given = parser.parse_args()
    with ExitStack() as stack:
        started = [stack.enter_context(serving(given.data, given.workers)) for _ in range(given.services)]
        print(json.dumps(asyncio.run(measured(given, started)), indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
