"""A search that fails or hangs: the others answer, a note says which failed, and damaged files are told as such."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from crmrag_query.answers.ask import Ask, stream
from crmrag_query.answers.records import Answer, answer_of, is_lasting
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ModelUnreachable, ReleaseError, TookTooLong
from crmrag_query.retrieval import pipeline
from crmrag_query.retrieval import pipeline as parallel
from crmrag_query.retrieval.channels import Channel, channel_of, find_mode
from crmrag_query.retrieval.encoder import QueryEncoder

QUESTION = "The donor with a model of his church"
Failing = Callable[..., object]


def asked(release: Release, mode: str) -> Answer:
    return answer_of(stream(release, QUESTION, Ask(mode=find_mode(release, mode))))


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Failing], None]:
    """Makes the channel of a name do something else than search, from the pipeline on."""
    others: dict[str, Failing] = {}

    def found(name: str) -> Channel:
        channel = channel_of(name)
        return replace(channel, find=others[name]) if name in others else channel  # type: ignore[arg-type,return-value]

    monkeypatch.setattr(pipeline, "channel_of", found)

    def fail(name: str, work: Failing) -> None:
        others[name] = work

    return fail


def broken(*_: object) -> object:
    raise KeyError("odd")


def test_the_others_answer_and_a_note_says_which_failed(
    sample: Release, fails: Callable[[str, Failing], None]
) -> None:
    fails("dense", broken)
    answer = asked(sample, "graph_vector_fulltext")
    assert answer.sources and [note for note in answer.notes if "“dense” failed" in note]
    assert [one.kind for one in answer.remarks] == ["search"] and not is_lasting(answer)
    assert not any("failed" in note for note in asked(sample, "fulltext").notes)


def test_one_that_hangs_is_given_up_after_its_time(
    sample: Release, fails: Callable[[str, Failing], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    forever = threading.Event()
    at_once = parallel.at_once
    monkeypatch.setattr(pipeline, "at_once", lambda work: at_once(work, seconds=0.3))
    fails("dense", lambda *_: forever.wait(60))
    answer = asked(sample, "graph_vector_fulltext")
    forever.set()
    assert answer.sources and any("“dense” failed" in note for note in answer.notes)


def test_where_all_fail_that_is_told(
    sample: Release, fails: Callable[[str, Failing], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fails("dense", lambda *_: threading.Event().wait(0.5) or broken())
    at_once = parallel.at_once
    monkeypatch.setattr(pipeline, "at_once", lambda work: at_once(work, seconds=0.2))
    with pytest.raises(TookTooLong, match=r"'dense' took longer than 0\.2 seconds"):
        asked(sample, "vector")


def test_a_damaged_release_is_no_partial_answer(
    sample: Release, fails: Callable[[str, Failing], None]
) -> None:
    def damaged(*_: object) -> object:
        raise ReleaseError("It is damaged.", "Build it again.")

    fails("dense", damaged)
    with pytest.raises(ReleaseError, match="damaged"):
        asked(sample, "graph_vector_fulltext")


def test_without_its_encoder_a_question_is_answered_by_its_words_and_says_so(
    sample: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(self: QueryEncoder, question: str) -> object:
        raise ModelUnreachable("The embedding model did not answer.", "Wait.")

    monkeypatch.setattr(QueryEncoder, "of_question", unreachable)
    for mode in ("crm", "graph_vector_fulltext"):
        answer = asked(sample, mode)
        assert answer.sources and any(
            "did not answer" in n and "by its words alone" in n for n in answer.notes
        )
        assert [one.kind for one in answer.remarks] == ["meaning"] and not is_lasting(answer)
    alone = asked(sample, "vector")
    assert alone.sources == () and alone.refused and any("by its words alone" in note for note in alone.notes)
