"""What a language model is told of a set: every member by number, its fields, and what is recorded of how many."""

from __future__ import annotations

import re

import pytest

from crmrag_query.answers.exact import tell_set
from crmrag_query.artifacts.release import Release
from crmrag_query.context.context import KnownSet
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Anchor, Compute, Measure, Plan, Related
from crmrag_query.plans.world import World
from crmrag_query.sets.build import WHOLE, Told, answer_set
from tests.support.set_world import ALL, BY_ADA, MADE, MATERIAL, PAINTING, PAINTINGS, iri


def told(release: Release, plan: Plan, known: Told = WHOLE) -> KnownSet:
    outcome = execute(plan, release[World])
    made = answer_set(release, plan, language="en", told=known, outcome=outcome)
    return tell_set(release, made, plan, outcome, "")


def written(known: KnownSet) -> str:
    return "\n".join(known.written())


def test_every_member_has_a_line_with_its_number_date_and_fields(museum: Release) -> None:
    known = told(museum, ALL)
    names = [release_label(museum, node) for node in known.numbers]
    assert len(known.lines) == len(PAINTINGS) and sorted(known.numbers.values()) == list(range(1, 8))
    assert set(names) == {re.sub(r"\s", " ", name) for name, *_ in PAINTINGS.values()}
    [line] = [line for line in known.written() if "Harbour 2 " in line]
    assert re.match(r"\[\d\] Harbour 2 — 1840; created by: Ada Berg; made of: oil", line)


def release_label(release: Release, node: int) -> str:
    return " ".join(release[Graph].label(node, ("en",)).split())


def test_what_all_members_share_is_told_once(museum: Release) -> None:
    known = told(museum, BY_ADA)
    assert "Ada Berg" in known.head[0].text
    assert not any("created by" in line.text for line in known.lines)


def test_groups_and_ranks_have_their_numbers(museum: Release) -> None:
    groups = told(museum, Plan(target=PAINTING, compute=Compute(kind="group", way=MADE)))
    assert {line.text for line in groups.lines} >= {"Ada Berg: 3", "Bo Lind: 2"}
    assert groups.numbers == {} and written(groups).count("\n- ") == len(groups.lines)
    measure = Measure(kind="count", way=MADE)
    ranks = told(museum, Plan(target=PAINTING, compute=Compute(kind="rank", measure=measure, first=3)))
    assert ranks.numbers and all(re.search(r" — .*: 1", line.text) for line in ranks.lines)


def test_of_how_many_something_is_recorded_is_said(museum: Release) -> None:
    """The kind is the condition's own: paintings without it."""
    oil = Related(way=MATERIAL, to=Anchor(iris=(iri("oil"),)))
    assert not any(
        "recorded for" in line.text for line in told(museum, Plan(target=PAINTING, where=(oil,))).head
    )
    by_ada = Plan(where=(Related(way=MADE, to=Anchor(iris=(iri("ada"),))), oil))
    lines = [line.text for line in told(museum, by_ada).head]
    assert not any("{" in line for line in lines)


def test_words_that_do_not_restrict_the_set_are_named(museum: Release) -> None:
    known = told(museum, BY_ADA, Told(False, ("early",)))
    assert any("not restricted by “early”" in line.text for line in known.head) and not known.answers
    assert told(museum, BY_ADA).answers


@pytest.mark.parametrize("characters", [200, 400, 600, 900])
def test_lines_that_have_no_room_are_counted(museum: Release, characters: int) -> None:
    method = museum.method
    context = method.context.model_copy(update={"characters": characters, "set_beside": 0})
    other = Release(museum.folder, museum.manifest)
    other.__dict__.update(museum.__dict__)
    other.__dict__["method"] = method.model_copy(update={"context": context})
    known = told(other, ALL)
    assert len(known.lines) + known.left == len(PAINTINGS)
    assert not known.lines or len(written(known)) <= characters
    if known.left:
        assert f"and {known.left} more" in written(known)
        assert not any("made of" in line.text for line in known.lines), "names before fields"
