"""Every question that README and the documentation ask has its expected answer, and gets it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from crmrag_query import Client
from tests.docs.test_docs_examples import built  # noqa: F401 - the fixture
from tests.support.documentation import PAGES

QUESTION = re.compile(r"\\?[\"“]([A-ZΑ-Ω¿][^\"“”\n\\]{3,90}\?)\\?[\"”]")
"""A question in quotation marks; those of a notebook stand behind a backslash."""
DATASETS = {"sample": "sample", "museum": "my_museum"}


@dataclass(frozen=True)
class Expected:
    """A question, and what a right answer holds; `questions.yaml` tells each."""

    question: str
    data: str = ""
    history: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    size: int | None = None
    wrong: str = ""


EXPECTED = [
    Expected(**{key: tuple(value) if isinstance(value, list) else value for key, value in one.items()})
    for one in yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
]
ASKED = [
    pytest.param(one, id=one.question, marks=pytest.mark.xfail(reason=one.wrong) if one.wrong else ())
    for one in EXPECTED
    if one.data
]


@pytest.fixture(scope="module")
def client(built: Path) -> Iterator[Client]:  # noqa: F811
    with Client(built) as opened:
        yield opened


def test_every_question_of_the_pages_is_expected_and_no_other() -> None:
    asked = {question for page in PAGES for question in QUESTION.findall(page.read_text(encoding="utf-8"))}
    known = {one.question for one in EXPECTED}
    assert asked - known == set(), "tell in questions.yaml what these are to be answered by"
    earlier = {question for one in EXPECTED for question in one.history}
    assert known - asked - earlier == set(), "no page asks these any more"


@pytest.mark.parametrize("expected", ASKED)
def test_a_question_of_the_pages_is_answered_rightly(client: Client, expected: Expected) -> None:
    answer = client.ask(expected.question, dataset=DATASETS[expected.data], history=expected.history)
    assert [text for text in expected.holds if text not in answer.text] == [], answer.text
    assert [text for text in expected.lacks if text in answer.text] == [], answer.text
    if expected.size is not None:
        assert answer.set is not None and (answer.set.size, answer.set.exhaustive) == (expected.size, True)
