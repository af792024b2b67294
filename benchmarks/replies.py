"""Recorded replies of language models, asked again of the prompts and contexts of today, without a model at hand.

    python benchmarks/replies.py [benchmarks/replies/*.jsonl] --data data --out benchmarks/results/replies.md
    python benchmarks/replies.py --record QUESTIONS.jsonl --model openai/gpt-4o --to benchmarks/replies/NEW.jsonl

A line of a file is a question after its earlier ones: ``requests``, what a model was asked, in order (``stage``, the
``user`` message and the ``reply``), and ``replies`` to the last of these by name of their style or model. A sentence that is
false holds one of the texts of ``false``; all others are true. A citation leads to the source of today whose text is most
like that of the source that was cited.

Told are: true sentences that are marked; false ones that are not; planted ones that are not; answers of which more than
the false sentences was cut; sizes of contexts. Planting is mechanical and seeded: in true sentences a name that the data
has, a number or a year is replaced by another. *Invented* is what stands nowhere in what the model was given, *misplaced*
what stands there elsewhere.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crmrag_query.answers.ask import Ask, Turn, state_after, stream
from crmrag_query.answers.exact import Exact, find_exact
from crmrag_query.answers.records import Restart, answer_of
from crmrag_query.answers.support import CITATION, Written, numbers_of, split_sentences
from crmrag_query.answers.understand import FIRST, understand
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import ModelError
from crmrag_query.evaluation.report import table
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import CannedModel, LiteLLM, Message, Model
from crmrag_query.questions.followup import ConversationState
from crmrag_query.text import fold, tokenize

ROOT = Path(__file__).resolve().parent
STAGES = ("analyse", "rewrite", "plan")
UNKNOWN = 999  # a number that no context has


@dataclass
class Recorded:
    """A model that gives the replies of a recording, stage by stage, and keeps what it was asked; asked for more than was
    recorded, it fails as a model does."""

    replies: Mapping[str, Sequence[str]]
    prompts: Any
    name: str = "recorded"
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        stage = stage_of(messages, self.prompts)
        before = sum(one == stage for one, _, _ in self.asked)
        given = self.replies.get(stage, ())
        if before >= len(given):
            raise ModelError(f"No reply was recorded for the stage {stage}.", "Record it.")
        self.asked.append((stage, messages[-1]["content"], given[before]))
        yield given[before]


def stage_of(messages: Sequence[Message], prompts: Any) -> str:
    """What a model is asked for, by its instructions."""
    told = messages[0]["content"]
    return next((name for name in STAGES if told.startswith(getattr(prompts, name))), "answer")


BLOCK = re.compile(r'<source n="(\d+)">\n?(.*?)\n?</source>', re.DOTALL)
MEMBER = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


def sources_of(request: str) -> dict[int, Counter[str]]:
    """The words of each numbered source of a request, those of its line in the set among them."""
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for pattern in (MEMBER, BLOCK):
        for number, text in pattern.findall(request):
            found[int(number)] += Counter(tokenize(html.unescape(text)))
    return found


def name_of(request: str, number: int) -> str:
    """The name of a numbered source: its line's, or its header's, before the first joint."""
    for pattern in (MEMBER, BLOCK):
        for n, text in pattern.findall(request):
            if int(n) == number:
                first = html.unescape(text).split("\n")[0]
                return fold(re.sub(r"^\[\w+\] ", "", first).split(" — ")[0])
    return ""


def moved(reply: str, before: str, now: str) -> str:
    """A reply with its citations as the request of today numbers these sources; of those that it lacks `UNKNOWN`."""
    old, new = sources_of(before), sources_of(now)
    names = {n: name_of(now, n) for n in new}

    def number(n: int) -> int:
        own = name_of(before, n)
        alike = [one for one in new if names[one] == own] if own else []
        if n not in old or not alike:
            return UNKNOWN

        def likeness(one: int) -> float:
            both = (old[n] & new[one]).total()
            return both / max(1, old[n].total() + new[one].total() - both)

        return max(alike, key=likeness)

    def citation(found: re.Match[str]) -> str:
        given = [str(number(n)) for n in numbers_of(found[1])]
        return f"[{', '.join([*(['set'] if 'set' in found[1].lower() else []), *given])}]"

    return CITATION.sub(citation, reply)


@dataclass
class Prepared:
    """A question of a recording as it is asked today: ``request``, what a model is told for its answer."""

    turn: Turn
    request: str
    record: Mapping[str, Any]

    def written(self, reply: str) -> tuple[Written, bool]:
        """What becomes of a reply, and whether sentences of it were replaced."""
        events = list(self.turn.by_model(CannedModel(reply), self.turn.no_sources()))
        written = events[-1]
        assert isinstance(written, Written)
        return written, any(isinstance(one, Restart) for one in events)


def prepared(release: Release, record: Mapping[str, Any]) -> Prepared:
    """The question after its earlier ones, which are answered without a model."""
    state: ConversationState = FIRST
    for question in record.get("history", ()):
        state = state_after(answer_of(stream(release, question, Ask(), state)))
    replies: defaultdict[str, list[str]] = defaultdict(list)
    for request in record["requests"]:
        if request["reply"]:
            replies[request["stage"]].append(request["reply"])
    model = Recorded(replies, release.method.prompts)
    understood = understand(release, record["question"], state, model)
    exact = find_exact(release, understood, state, model, record["dataset"])
    turn = Turn.prepared_for(release, understood, exact, Ask(model), state)
    asked = Asked()
    list(turn.by_model(asked, turn.no_sources()))
    return Prepared(turn, asked.request, record)


@dataclass
class Asked:
    """A model that says little and keeps what it was told."""

    name: str = "asked"
    request: str = ""

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        self.request = messages[-1]["content"]
        yield "OK."


@dataclass(frozen=True)
class Sentence:
    """A sentence of a reply, ``text[start:end]``."""

    start: int
    end: int
    true: bool


def sentences_of(text: str, false: Sequence[str], release: Release) -> list[Sentence]:
    abbreviations = frozenset(map(fold, release.method.sets.answers.abbreviations))
    return [
        Sentence(one.first, one.last, not any(part in text[one.first : one.last] for part in false))
        for one in split_sentences(text, abbreviations)
        if any(map(str.isalnum, CITATION.sub("", text[one.first : one.last])))
    ]


@dataclass(frozen=True)
class Plant:
    """``text`` with another ``new`` in place of what stood at ``at``; ``kind``: name, number or year; ``invented``: nothing
    that the model was given holds it."""

    text: str
    at: int
    old: str
    new: str
    kind: str
    invented: bool


SYLLABLES = (
    *("ba", "dor", "fen", "gil", "har", "kem", "lun", "mor", "nas", "pel"),
    *("quo", "ris", "sto", "tav", "ulm", "ver", "wix", "yar", "zet", "bru"),
)
YEARS = re.compile(r"(?<![\w.,\[–-])\d{2,4}[–/-]\d{2,4}(?![\w\]–/-]|[.,]\d)")
NUMBER = re.compile(r"(?<![\w.,\[–/-])\d{1,6}(?:\.\d+)?(?![\w\]–/-]|[.,]\d)")
PART = re.compile(r"[^\W\d_]+|0*(\d+)")
MARKER = re.compile(r"\s*\d{1,3}[.)]\s")


def plants_of(
    text: str, sentences: Sequence[Sentence], names: Sequence[str], given: str, chance: random.Random
) -> Iterator[Plant]:
    """One plant for each name, number and year of the true sentences; longer names before what stands within them."""
    held = parts_of(given)
    cited = [found.span() for found in CITATION.finditer(text)]
    for sentence in (one for one in sentences if one.true):
        part = text[sentence.start : sentence.end]
        marker = MARKER.match(part)
        taken = [*cited, *([(sentence.start, sentence.start + marker.end())] if marker else [])]
        for start, end, kind in spots_of(part, names):
            start, end = start + sentence.start, end + sentence.start
            if any(first < end and start < last for first, last in taken):
                continue
            taken.append((start, end))
            old = text[start:end]
            new = replaced(old, kind, chance)
            invented = not held.issuperset(parts_of(new))
            yield Plant(text[:start] + new + text[end:], start, old, new, kind, invented)


def parts_of(text: str) -> set[str]:
    """Words and numbers of a text, without leading zeros."""
    return {found[1] or found[0] for found in PART.finditer(fold(text))}


def spots_of(part: str, names: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Where names, years and numbers stand."""
    for name in names:
        for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", part):
            yield *found.span(), "name"
    for found in YEARS.finditer(part):
        yield *found.span(), "year"
    for found in NUMBER.finditer(part):
        yield *found.span(), "year" if len(found[0]) in (3, 4) and found[0].isdigit() else "number"


def replaced(old: str, kind: str, chance: random.Random) -> str:
    """A name of as many words, a number of as many digits, years some decades before or after."""
    if kind == "name":
        return re.sub(r"[^\W\d_]{3,}", lambda found: made_up(found[0], chance), old)
    if kind == "year":
        by = chance.choice([-1, 1]) * chance.randint(3, 60)
        return re.sub(r"\d+", lambda found: str(abs(int(found[0]) + by)), old)
    new = old
    while new == old or new.endswith(".0"):
        new = re.sub(r"\d", lambda found: chance.choice("123456789"), old)
    return new


def made_up(word: str, chance: random.Random) -> str:
    """A word that nothing is called by, with a capital where the other has one; small words stay."""
    if word[:1].islower():
        return word
    return "".join(chance.sample(SYLLABLES, 3 if len(word) > 7 else 2)).capitalize()


@dataclass
class Measured:
    """What one reply gave."""

    dataset: str
    id: str
    style: str
    language: str
    true: int = 0
    marked: list[str] = field(default_factory=list)
    false: int = 0
    missed: list[str] = field(default_factory=list)
    thrown: bool = False
    invented: dict[str, int] = field(default_factory=dict)
    unmarked: list[tuple[str, str, str]] = field(default_factory=list)
    misplaced: dict[str, int] = field(default_factory=dict)
    misplaced_unmarked: list[tuple[str, str, str]] = field(default_factory=list)


def measure(
    asked: Prepared, style: str, reply: str, false: Sequence[str], names: Sequence[str], seed: int
) -> Measured:
    release = asked.turn.release
    language = asked.turn.prepared.analysis.reading.language
    found = Measured(asked.record["dataset"], asked.record["id"], style, language)
    request = next(one["user"] for one in reversed(asked.record["requests"]) if one["stage"] == "answer")
    text = moved(reply, request, asked.request)
    written, again = asked.written(text)
    kept = sentences_of(written.text, false, release)
    marks = [(one.start, one.end, one.missing) for one in written.support.unsupported]
    for one in kept:
        said = written.text[one.start : one.end]
        missing = [m for start, end, m in marks if start < one.end and one.start < end]
        if one.true:
            found.true += 1
            found.marked += [f"{said} ({', '.join(missing[0])})"] if missing else []
        else:
            found.false += 1
            found.missed += [] if missing else [said]
    wanted = [text[one.start : one.end] for one in sentences_of(text, false, release) if one.true]
    found.thrown = again and any(bare(one) not in bare(written.text) for one in wanted)
    chance = random.Random(f"{seed} {asked.record['id']} {style}")
    own = [name for name in names if name in text]
    for plant in plants_of(text, sentences_of(text, false, release), own, asked.request, chance):
        held = is_marked(asked, plant)
        counted = found.invented if plant.invented else found.misplaced
        counted[plant.kind] = counted.get(plant.kind, 0) + 1
        if not held:
            row = (plant.kind, f"{plant.old} → {plant.new}", line_of(plant))
            (found.unmarked if plant.invented else found.misplaced_unmarked).append(row)
    return found


def bare(text: str) -> str:
    """The words of a text without its citations."""
    return " ".join(tokenize(CITATION.sub(" ", text)))


def line_of(plant: Plant) -> str:
    start = plant.text.rfind("\n", 0, plant.at) + 1
    end = plant.text.find("\n", plant.at)
    return plant.text[start : end if end >= 0 else len(plant.text)]


def is_marked(asked: Prepared, plant: Plant) -> bool:
    """Whether what was planted is marked, or was cut out of the answer."""
    written, _ = asked.written(plant.text)
    sentence = next(
        one for one in sentences_of(plant.text, (), asked.turn.release) if one.start <= plant.at < one.end
    )
    planted = bare(plant.text[sentence.start : sentence.end])
    marks = (bare(written.text[one.start : one.end]) for one in written.support.unsupported)
    return planted not in bare(written.text) or any(
        mark and (mark in planted or planted in mark) for mark in marks
    )


def names_of(release: Release) -> list[str]:
    """Names of the data that can be replaced in a text, longest first: they have a word with a capital."""
    table, _ = release[Graph].label_rows
    names = {name for name in table.column("text").to_pylist() if 3 < len(name) < 80}
    return sorted(
        (name for name in names if re.search(r"[A-ZÀ-ÞΑ-Ω][^\W\d_]{2,}", name)),
        key=lambda name: (-len(name), name),
    )


def read(paths: Sequence[Path]) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]


def grouped(flat: Sequence[Mapping[str, Any]], dataset: str) -> list[dict[str, Any]]:
    """Records of single calls (question, messages, reply), as a proxy before a model writes them, question by question."""
    found: dict[str, dict[str, Any]] = {}
    for one in flat:
        record = found.setdefault(
            one["id"],
            {"id": one["id"], "dataset": dataset, "question": one["question"], "requests": [], "replies": {}},
        )
        told = one["messages"][0]["content"]
        stage = next((name for name, start in STARTS.items() if told.startswith(start)), "answer")
        record["requests"].append(
            {"stage": stage, "user": one["messages"][-1]["content"], "reply": one["reply"]}
        )
        if stage == "answer":
            record["replies"]["recorded"] = one["reply"]
    return list(found.values())


STARTS = {"analyse": "You classify", "plan": "You write plans", "rewrite": "Rewrite"}


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "none"


@dataclass(frozen=True)
class Size:
    """How large the context of a question is: members of its set, None without one, lines told of it, characters in all."""

    id: str
    members: int | None
    told: int
    characters: int

    @classmethod
    def of(cls, asked: Prepared) -> Size:
        known, exact = asked.turn.prepared.context.known, asked.turn.exact
        members = exact.set.size if known is not None and isinstance(exact, Exact) else None
        return cls(
            asked.record["id"], members, len(known.lines) if known is not None else 0, len(asked.request)
        )


def totals(some: Sequence[Measured]) -> list[str]:
    invented, misplaced = (sum(sum(one.values()) for one in counts) for counts in (
        [one.invented for one in some], [one.misplaced for one in some]
    ))  # fmt: skip
    return [
        str(len(some)),
        share(sum(len(one.marked) for one in some), sum(one.true for one in some)),
        share(sum(len(one.missed) for one in some), sum(one.false for one in some)),
        share(sum(len(one.unmarked) for one in some), invented),
        share(sum(len(one.misplaced_unmarked) for one in some), misplaced),
        share(sum(one.thrown for one in some), len(some)),
    ]


HEAD = (
    "",
    "replies",
    "true and marked",
    "false, not marked",
    "invented, not marked",
    "misplaced, not marked",
    "thrown away",
)


def report(found: Sequence[Measured], sizes: Sequence[Size], command: str, texts: bool) -> str:
    styles = dict.fromkeys(one.style for one in found)
    rows = [("all", *totals(found))]
    rows += [(style, *totals([one for one in found if one.style == style])) for style in styles]
    for language in dict.fromkeys(one.language for one in found):
        rows.append((f"in {language}", *totals([one for one in found if one.language == language])))
    kinds, lost = Counter[str](), Counter[str]()
    for one in found:
        kinds.update(one.invented)
        lost.update(kind for kind, _, _ in one.unmarked)
    told = [
        (one.id, "" if one.members is None else str(one.members), str(one.told or ""), str(one.characters))
        for one in sizes
    ]
    parts = [
        f"# Recorded replies\n\nMade by `{command}`. How to read and repeat it: docs/evaluation.md.",
        table(HEAD, rows),
        table(
            ("invented", "planted", "not marked"),
            [(kind, str(kinds[kind]), str(lost[kind])) for kind in sorted(kinds)],
        ),
        table(("question", "members of its set", "lines told of it", "characters"), told),
    ]
    lists = {
        "True and marked": [(one, text) for one in found for text in one.marked],
        "False and not marked": [(one, text) for one in found for text in one.missed],
        "Invented and not marked": [(one, " | ".join(row)) for one in found for row in one.unmarked],
        "Misplaced and not marked": [
            (one, " | ".join(row)) for one in found for row in one.misplaced_unmarked
        ],
        "Thrown away": [(one, "") for one in found if one.thrown],
    }
    for title, lines in lists.items() if texts else ():
        parts.append(
            "\n".join([f"## {title}\n", *(f"- {one.id} {one.style}: {text}" for one, text in lines)])
        )
    return "\n\n".join(part.strip() for part in parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument(
        "--calls", help="DATASET: the files hold single calls (question, messages, reply) about it"
    )
    parser.add_argument("--record", type=Path, help="questions to be asked of --model, to --to")
    parser.add_argument("--model", help="by litellm's name")
    parser.add_argument("--to", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--texts", action="store_true", help="list the sentences that went wrong")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.record:
        record(given)
        return
    files = given.files or sorted((ROOT / "replies").glob("*.jsonl"))
    records = read(files)
    if given.calls:
        records = grouped(records, given.calls)
    found: list[Measured] = []
    sizes: list[Size] = []
    releases: dict[str, tuple[Release, list[str]]] = {}
    for one in records:
        if one["dataset"] not in releases:
            release = open_release(one["dataset"], given.data)
            releases[one["dataset"]] = release, names_of(release)
        release, names = releases[one["dataset"]]
        asked = prepared(release, one)
        sizes.append(Size.of(asked))
        for style, reply in one["replies"].items():
            found.append(measure(asked, style, reply, one.get("false", {}).get(style, ()), names, given.seed))
        print(one["id"], len(one["replies"]), "replies", flush=True)
    command = " ".join(
        ["python benchmarks/replies.py", *(f"benchmarks/replies/{path.name}" for path in given.files)]
    )
    text = report(found, sizes, command, given.texts)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    print(text)


def record(given: argparse.Namespace) -> None:
    """Ask the questions of a model, or of nobody, and keep what it was asked and what it said."""
    with given.to.open("w", encoding="utf-8") as out:
        for one in read([given.record]):
            release = open_release(one["dataset"], given.data)
            prompts = release.method.prompts
            inner = LiteLLM(given.model) if given.model else Recorded(one.pop("given", {}), prompts)
            model = Kept(inner, prompts)
            state: ConversationState = FIRST
            for question in one.get("history", ()):
                state = state_after(answer_of(stream(release, question, Ask(), state)))
            answer_of(stream(release, one["question"], Ask(model), state))
            replies = {given.model: model.asked[-1]["reply"]} if given.model else {}
            line = {**one, "version": prompts.version, "requests": model.asked, "replies": replies}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()


@dataclass
class Kept:
    """A model whose requests and replies are kept."""

    inner: Model
    prompts: Any
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        said = ""
        try:
            for piece in self.inner.complete(messages):
                said += piece
                yield piece
        finally:
            stage = stage_of(messages, self.prompts)
            self.asked.append({"stage": stage, "user": messages[-1]["content"], "reply": said})


if __name__ == "__main__":
    main()
