"""Records survive the way through JSON, and nothing else passes for one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict

from crmrag_query import errors
from crmrag_query.answers.records import Answer, Source, SourceLink
from crmrag_query.client import wire
from crmrag_query.client.records import Entity
from crmrag_query.codec import (
    KINDS,
    Malformed,
    Problem,
    from_plain,
    from_problem,
    parse_json,
    to_json,
    to_plain,
    to_problem,
)
from crmrag_query.shown import Coordinates, Named, Shown, SourceTriple

texts = st.text(st.characters(codec="utf-8"))
strings = st.lists(texts, max_size=3).map(tuple)
triples = st.builds(SourceTriple, texts, texts, texts, texts, texts, texts, strings)
named = st.builds(Named, texts, texts)
numbers = st.floats(allow_nan=False, allow_infinity=False)
sources = st.builds(
    Source,
    st.integers(1, 999),
    texts,
    texts,
    texts,
    st.lists(triples, max_size=2).map(tuple),
    strings,
    texts,
    st.lists(named, max_size=2).map(tuple),
    links=st.lists(st.builds(SourceLink, texts, texts), max_size=2).map(tuple),
    coordinates=st.none() | st.builds(Coordinates, numbers, numbers, st.none() | named),
)
answers = st.builds(
    Answer, texts, texts, st.lists(sources, max_size=2).map(tuple), texts, texts, st.booleans(), texts,
    timings=st.dictionaries(texts, numbers, max_size=3),
    conversation=st.dictionaries(texts, st.recursive(texts | st.none() | st.booleans(), st.lists), max_size=2),
)  # fmt: skip


@given(answers)
def test_an_answer_comes_back_equal(answer: Answer) -> None:
    read = from_plain(Answer, parse_json(to_json(answer)))
    assert read == answer and read.timings == answer.timings


@pytest.mark.parametrize("kind", [one for route in wire.ROUTES for one in (route.request, route.result)])
def test_every_type_of_every_record_can_be_read(kind: type) -> None:
    """A record that gains a field of a kind that cannot be read fails here, and not in a client."""
    with suppress(Malformed):
        from_plain(kind, {})


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    x: float
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True, slots=True)
class Outer:
    __pydantic_config__: ClassVar[ConfigDict] = Shown.__pydantic_config__

    n: int
    inner: Inner | None
    pair: tuple[int, str]
    many: tuple[Inner, ...] = ()
    named: Mapping[str, bool] = field(default_factory=dict)
    colour: Colour = Colour.RED
    any: Any = None
    either: int | tuple[Inner, ...] = 0


WHOLE = {
    "n": 1, "inner": {"x": 2, "kind": "a"}, "pair": [1, "a"], "many": [{"x": 0.5, "kind": "b"}], "named": {"t": True},
    "colour": "red", "any": {"deep": [1]},
    "either": 0,
}  # fmt: skip


def test_all_kinds_of_fields_are_read_and_unknown_keys_ignored() -> None:
    read = from_plain(Outer, {**WHOLE, "of a newer service": 1})
    assert read == Outer(1, Inner(2.0), (1, "a"), (Inner(0.5, "b"),), {"t": True}, Colour.RED, {"deep": [1]})
    assert isinstance(read.inner and read.inner.x, float)
    assert to_plain(read) == WHOLE
    assert from_plain(Outer, {"n": 1, "inner": None, "pair": [0, ""]}).many == ()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"n": "1"}, "n is not a whole number"),
        ({"n": True}, "n is not a whole number"),
        ({"n": 1.0}, "n is not a whole number"),
        ({"n": None}, "n is not"),
        ({"inner": {}}, r"inner\.x is missing"),
        ({"inner": {"x": "2"}}, r"inner\.x is not a number"),
        ({"inner": {"x": True}}, r"inner\.x is not a number"),
        ({"inner": {"x": 10**400}}, "finite"),
        ({"inner": []}, "inner is not an object"),
        ({"pair": [1]}, r"pair\[1\] is missing"),
        ({"pair": [1, "a", 2]}, "pair: .*at most 2"),
        ({"either": "a"}, "either is not a whole number"),
        ({"many": [{"x": 1}, {"x": 1, "kind": "c"}]}, r"many\[1\]\.kind is not one of 'a', 'b'"),
        ({"many": {}}, "many is not a list"),
        ({"named": {"t": 1}}, r"named\.t is not true or false"),
        ({"named": []}, "named is not an object"),
        ({"colour": "blue"}, "colour is not one of 'red'"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_named_by_its_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(Malformed, match=place):
        from_plain(Outer, {**WHOLE, **change})


@pytest.mark.parametrize("key", [one.name for one in dataclasses.fields(Answer) if one.default is dataclasses.MISSING
                                 and one.default_factory is dataclasses.MISSING])  # fmt: skip
def test_a_missing_key_is_named(key: str) -> None:
    whole = to_plain(Answer("q", "t", (), "crm", "r", False, "x"))
    del whole[key]
    with pytest.raises(Malformed, match=f"{key} is missing"):
        from_plain(Answer, whole)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"NaN", b'{"x": Infinity}', b"[" * 200_000, b"\xff\xfe", b"<html>"]
)
def test_what_is_no_json_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        parse_json(body)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner)
                    | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_any_json_is_a_record_or_malformed(value: Any) -> None:
    for kind in (Answer, Entity, Problem, wire.Ask):
        try:
            assert isinstance(from_plain(kind, value), kind)
        except Malformed as error:
            assert str(error)


# problem documents

ERRORS = [
    errors.QuestionError("What?", "Say."),
    errors.UnknownEntity("No x.", "Try y.", ("http://y", "http://z")),
    errors.ReleaseNotFound("None.", "Build."),
    errors.ModelError("Silent.", "Wait."),
    errors.MissingExtraError("Frames", "frames", "polars"),
    errors.ServiceError("Down.", "Up."),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_as_itself(error: errors.CrmRagError) -> None:
    problem = to_problem(error)
    told = json.loads(to_json(problem))
    assert {"type", "title", "status", "detail"} <= told.keys(), "RFC 9457"
    back = from_problem(told)
    assert type(back) is type(error) and str(back) == str(error)
    assert (back.what, back.remedy) == (error.what, error.remedy)
    assert getattr(back, "suggestions", None) == getattr(error, "suggestions", None)
    assert getattr(back, "extra", None) == getattr(error, "extra", None)
    assert 400 <= problem.status < 600 and KINDS[type(error)][0] == problem.status


def test_no_error_tells_the_files_of_a_service() -> None:
    mistake = errors.ConfigError.single("/secret/place/method.yaml", "a.b", "unknown key")
    damaged = errors.ReleaseError("/secret/place/config.json is damaged.", "Build /secret/place.")
    for error, status, kind in ((mistake, 500, errors.CrmRagError), (damaged, 503, errors.ReleaseError)):
        problem = to_problem(error)
        assert problem.status == status and "/secret/place" not in to_json(problem)
        back = from_problem(to_plain(problem))
        assert type(back) is kind and back.what and back.remedy


def test_a_foreign_problem_is_a_failure_of_the_service() -> None:
    error = from_problem({"title": "Teapot", "status": 418})
    assert isinstance(error, errors.ServiceError) and "418" in str(error) and "Teapot" in str(error)
    assert isinstance(from_problem({"title": "Teapot"}, 418), errors.ServiceError)
    assert isinstance(
        from_problem({"status": 500, "detail": "x", "error": "SystemExit"}), errors.ServiceError
    )
    with pytest.raises(Malformed):
        from_problem(["Teapot"])


# requests


@given(texts, st.none() | texts, st.integers(0, 10**6), st.integers(0, 10**6), texts)
def test_a_request_survives_the_query_string(
    iri: str, dataset: str | None, limit: int, offset: int, language: str
) -> None:
    from urllib.parse import parse_qsl, urlencode

    request = wire.GetNeighbours(iri, dataset, limit, offset, language)
    query = dict(parse_qsl(urlencode(wire.parameters_of(request)), keep_blank_values=True))
    assert wire.read_parameters(wire.GetNeighbours, query) == request


@pytest.mark.parametrize(
    "given_", [{}, {"iri": "x", "limit": "ten"}, {"iri": "x", "offset": "1e3"}, {"iri": "\ud800"}]
)
def test_a_request_that_cannot_be_read_is_a_question_error(given_: dict[str, str]) -> None:
    with pytest.raises(errors.QuestionError):
        wire.read_parameters(wire.GetNeighbours, given_)
    with pytest.raises(errors.QuestionError):
        wire.read_body(wire.Ask, b'{"question": 7}')
    with pytest.raises(errors.QuestionError):
        wire.read_body(wire.Ask, b"not json")


def test_routes_differ() -> None:
    assert len({(route.method, route.path) for route in wire.ROUTES}) == len(wire.ROUTES)
    assert len({route.name for route in wire.ROUTES}) == len(wire.ROUTES)
