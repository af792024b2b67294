"""What curators taught decides how a question is read, in a file that a person can read and edit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from crmrag_query.answers import exact
from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.cli.evaluate import teach as command
from crmrag_query.errors import ConfigError, CrmRagError, QuestionError
from crmrag_query.evaluation.evaluate import replay
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Plan, Target
from crmrag_query.plans.world import World

UNSURE = "Which quiet churches are in Nikitari?"
SURE = "Which churches were built before 1200?"
PLACES = Plan(target=Target(categories=("Place",)))


@pytest.fixture(scope="module")
def own(sample: Release, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The sample in a folder of its own, so that nothing is taught to others."""
    data = tmp_path_factory.mktemp("taught")
    folder = data / "releases" / "churches" / sample.folder.name
    shutil.copytree(sample.folder, folder)
    return open_release(folder, data)


@pytest.fixture
def release(own: Release) -> Release:
    """It, and nothing was taught yet."""
    exact.taught_file(own).unlink(missing_ok=True)
    return own


def run(release: Release, *words: str) -> Result:
    return CliRunner().invoke(command, [str(release.folder), *words])


def test_an_accepted_reading_is_the_answer_from_then_on(release: Release) -> None:
    before = ask(release, UNSURE)
    assert before.set is not None and not before.exhaustive
    assert "From now on read as" in run(release, UNSURE, "--accept", "--who", "Ada").output
    after = ask(release, "  which QUIET churches are in Nikitari ")
    assert (
        after.exhaustive and after.set is not None and after.set.plan == before.set.plan and not after.choices
    )
    assert any("Ada" in note for note in after.notes)


def test_a_corrected_reading_takes_the_plan_that_was_given(release: Release, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(PLACES.model_dump_json())
    assert run(release, SURE, "--plan", str(file)).exit_code == 0
    answer = ask(release, SURE)
    assert answer.exhaustive and answer.set is not None
    assert answer.set.size == len(members_of(release[World], PLACES))


def test_a_refused_reading_gives_no_set(release: Release) -> None:
    assert ask(release, SURE).set is not None
    run(release, SURE, "--refuse", "--note", "too few dates")
    answer = ask(release, SURE)
    assert answer.set is None and not answer.exhaustive
    assert "too few dates" in exact.taught_file(release).read_text()


def test_what_was_taught_is_listed_and_taken_back(release: Release) -> None:
    run(release, SURE, "--refuse", "--who", "Ada")
    assert "refused" in run(release).output and SURE in run(release).output and "Ada" in run(release).output
    assert "Forgotten" in run(release, SURE, "--forget").output
    assert ask(release, SURE).exhaustive and run(release).output == ""
    assert "Nothing was taught" in run(release, SURE, "--forget").output


def test_the_last_lesson_for_the_same_words_counts(release: Release) -> None:
    exact.teach(release, SURE, "refused")
    exact.teach(release, SURE.upper(), "corrected", PLACES)
    (only,) = exact.lessons_of(release)
    assert only.read() == PLACES


def test_the_file_can_be_written_by_hand_and_is_followed_at_once(release: Release) -> None:
    rows = [{"question": SURE, "verdict": "corrected", "plan": json.loads(PLACES.model_dump_json())}]
    exact.taught_file(release).write_text(yaml.safe_dump({"taught": rows}))
    answer = ask(release, SURE)
    assert answer.set is not None and answer.set.size == len(members_of(release[World], PLACES))


@pytest.mark.parametrize(
    "text",
    [
        "taught: [{question: x, verdict: maybe}]",
        "taught: 3",
        "taught: [",
        "other: []",
        "\x00",
        "taught: [{question: '" + SURE + "', verdict: accepted, plan: {target: {classes: [E999]}}}]",
        "taught: [{question: '" + SURE + "', verdict: accepted, plan: {nonsense: true}}]",
        "taught: [{question: '" + SURE + "', verdict: accepted}]",
        "!!python/object/apply:os.system ['true']",
    ],
)
def test_a_mistake_in_the_file_costs_what_it_taught_and_nothing_else(release: Release, text: str) -> None:
    exact.taught_file(release).write_text(text)
    answer = ask(release, SURE)
    assert answer.text and (answer.exhaustive or answer.set is None or answer.choices)
    assert any(exact.TAUGHT in note or "E999" in note for note in answer.notes)


def test_a_question_within_a_conversation_is_not_the_one_that_was_taught(release: Release) -> None:
    exact.teach(release, "And in Nikitari?", "corrected", PLACES)
    _, talk = Conversation().ask(release, SURE)
    answer, _ = talk.ask(release, "And in Nikitari?")
    assert answer.set is None or answer.set.size != len(members_of(release[World], PLACES))


def test_lessons_are_tried_again(release: Release) -> None:
    plan = ask(release, SURE).set
    assert plan is not None
    run(release, SURE, "--accept")
    exact.teach(release, "Show all places of old", "corrected", PLACES)
    rows = yaml.safe_load(exact.taught_file(release).read_text())["taught"]
    rows.append({"question": "Gone", "verdict": "accepted", "plan": {"target": {"classes": ["E999"]}}})
    exact.taught_file(release).write_text(yaml.safe_dump({"taught": rows}))
    own, other, gone = replay(release)
    assert own.alone and own.size == plan.size and not own.mistake
    assert not other.alone and other.size
    assert "E999" in gone.mistake


@pytest.mark.parametrize(
    "words", [(SURE,), (SURE, "--accept", "--refuse"), ("Who was Nikephoros Magistros?", "--accept")]
)
def test_what_cannot_be_taught_is_told(release: Release, words: tuple[str, ...]) -> None:
    result = run(release, *words)
    assert result.exit_code and not exact.taught_file(release).exists()


def test_a_question_without_words_and_an_unknown_class_teach_nothing(release: Release) -> None:
    for question, plan in (("?!", PLACES), (SURE, Plan(target=Target(classes=("E999",))))):
        with pytest.raises(QuestionError):
            exact.teach(release, question, "corrected", plan)
    exact.taught_file(release).write_text("taught: 3")
    with pytest.raises(ConfigError) as error:
        exact.teach(release, SURE, "refused")
    assert isinstance(error.value, CrmRagError) and exact.taught_file(release).read_text() == "taught: 3"
