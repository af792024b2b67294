"""The same question is answered once for a while: of one release, mode, part and conversation; never what failed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from crmrag_query.answers.exact import forget, teach
from crmrag_query.answers.records import Done, Used
from crmrag_query.artifacts.release import open_release
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.errors import ModelError
from crmrag_query.llm.model import Message, Usage
from crmrag_query.service.answering import Desk
from tests.service.test_observe import metrics, value
from tests.support.service import PATIENCE, application, beside, configured, served

QUESTION = "Who painted the murals of Asinou?"
ASINOU = "https://example.org/troodos/church/asinou"


@dataclass
class Counted:
    """A model that counts what it is asked, and fails at whatever it is asked that has the words ``fails_at``."""

    name: str = "counted"
    times: int = 0
    fails_at: str | None = None

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        self.times += 1
        asked = " ".join(str(message) for message in messages)
        if self.fails_at is not None and self.fails_at in asked:
            raise ModelError("It failed.", "Try again.")
        reading = '{"query_type": "specific", "target_categories": ["Actor"], "context_categories": []}'
        yield reading if "You classify" in asked else "{}" if "JSON" in asked else "Theodore painted it [1]."
        return Usage(1, 1)  # type: ignore[return-value]


def desk(engine: Engine, model: Counted | None = None, **work: float) -> Desk:
    return Desk(beside(engine, model), configured(work=work or {"answer_seconds": 300}))


def test_the_same_is_given_again_without_asking_the_model(engine: Engine) -> None:
    model = Counted()
    asked = desk(engine, model)
    first = [*asked.stream(wire.Ask(QUESTION))]
    times = model.times
    second = [*asked.stream(wire.Ask(QUESTION))]
    assert times > 0 and model.times == times
    last, again = first[-1], second[-1]
    assert isinstance(last, Done) and isinstance(again, Done)
    assert again.answer == last.answer and not again.answer.timings
    assert [one for one in first[:-1] if not isinstance(one, Used)] == second[:-1]


@pytest.mark.parametrize(
    "other",
    [
        wire.Ask(QUESTION, mode="vector"),
        wire.Ask(QUESTION, within={"iris": [ASINOU]}),
        wire.Ask(QUESTION, history=("Where is Asinou?",)),
        wire.Ask("Who painted the murals of Lagoudera?"),
    ],
)
def test_what_is_asked_otherwise_is_answered_anew(engine: Engine, other: wire.Ask) -> None:
    asked = desk(engine)
    first = asked.ask(wire.Ask(QUESTION))
    assert asked.ask(other) == engine.ask(other) != first
    assert asked.ask(wire.Ask(QUESTION, mode="crm")) == first  # the default by its name


def test_an_answer_that_failed_in_part_is_made_anew(engine: Engine) -> None:
    model = Counted(fails_at="")
    asked = desk(engine, model)
    assert asked.ask(wire.Ask(QUESTION)).written_by == "extractive"
    model.fails_at = None
    assert asked.ask(wire.Ask(QUESTION)).written_by == "counted"


@pytest.mark.parametrize(
    ("mode", "question", "fails_at"),
    [
        ("graph", "Which donor is shown with a model of his church?", "You write SPARQL"),
        ("global_vector", "What are the main themes?", "You read one theme"),
    ],
)
def test_where_the_model_failed_before_it_wrote_it_is_asked_again(
    engine: Engine, mode: str, question: str, fails_at: str
) -> None:
    model = Counted(fails_at=fails_at)
    asked = desk(engine, model)
    request = wire.Ask(question, mode=mode)
    assert any("It failed." in note for note in asked.ask(request).notes)
    times = model.times
    asked.ask(request)
    assert model.times == 2 * times > 0


def test_after_its_time_or_where_none_is_wanted_it_is_made_anew(engine: Engine) -> None:
    model = Counted()
    asked = desk(engine, model, answer_seconds=0)
    asked.ask(wire.Ask(QUESTION))
    times = model.times
    asked.ask(wire.Ask(QUESTION))
    assert model.times == 2 * times > 0


def test_what_a_curator_teaches_counts_at_once(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, release = engine.releases.release(None)
    # in a folder of its own: other tests ask the same question of the release that they share
    mine = open_release(Path(shutil.copytree(release.folder, tmp_path / name / release.id)))
    monkeypatch.setattr(type(engine.releases), "release", lambda self, dataset: (name, mine))
    asked, question = desk(engine), "Which churches were built before 1200?"
    before = asked.ask(wire.Ask(question))
    teach(mine, question, "refused")
    after = asked.ask(wire.Ask(question))
    assert before.set is not None and after != before
    forget(mine, question)
    assert asked.ask(wire.Ask(question)) == before


def test_hits_are_counted_in_the_metrics(engine: Engine) -> None:
    with (
        served(application(beside(engine))) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        for _ in range(3):
            http.post(
                f"{wire.PREFIX}/ask", json={"question": "Who painted Asinou?", "mode": "vector"}
            ).raise_for_status()
        found = metrics(http)
    lookups = "crmrag_cache_lookups_total"
    assert value(found, lookups, cache="answers", outcome="hit") == 2
    assert value(found, lookups, cache="answers", outcome="miss") == 1
    assert value(found, lookups, cache="question_vectors", outcome="miss") >= 1
