"""What is excluded leaves lines, sets and context; the rest of them stays."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.answers.ask import prepare
from crmrag_query.answers.understand import Exclusion
from crmrag_query.artifacts.release import Release
from crmrag_query.context.context import Kind
from crmrag_query.context.evidence import Evidence, gather
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.form import Reading
from crmrag_query.text import tokens
from tests.support.small_world import iri

QUESTION = "Which churches are in Kolva?"
MURALS = ("Mural of Saint Anna", "Mural of Saint Bruno", "Mural of Saint Clara")


def node(release: Release, name: str) -> int:
    found = release[Graph].node(iri(name))
    assert found is not None
    return found


def lines_of(release: Release) -> tuple[list[Evidence], Reading]:
    prepared = prepare(release, QUESTION)
    reading = prepared.analysis.reading
    extractive = release.method.questions.extractive
    return gather(release, prepared.retrieved.chosen, reading, extractive), reading


def without(release: Release, names: Sequence[str]) -> tuple[list[Evidence], bool]:
    nodes = frozenset(node(release, name) for name in names)
    return Exclusion(release, nodes).of_lines(*lines_of(release))


def test_nothing_excluded_changes_nothing(small: Release) -> None:
    found, reading = lines_of(small)
    context = prepare(small, QUESTION).context
    assert Exclusion(small).of_lines(found, reading) == (found, False)
    assert Exclusion(small).of_context(context) is context


def test_lines_about_it_go_and_lines_that_name_it_among_others_are_written_without_it(small: Release) -> None:
    kept, _ = without(small, ["anna"])
    anna = node(small, "anna")
    assert all(one.line.entity != anna and anna not in one.line.targets for one in kept)
    held = "currently holds"
    kolva = next(one for one in kept if one.subject == "Kolva" and one.line.label == held)
    before = next(one for one in lines_of(small)[0] if one.subject == "Kolva" and one.line.label == held)
    assert kolva.line.targets == tuple(target for target in before.line.targets if target != anna)
    assert kolva.line.total == before.line.total - 1
    assert kolva.text.startswith("currently holds: ") and "Saint Anna" not in kolva.text
    assert {name for name in ("Saint Bruno", "Saint Clara") if name in kolva.text} == {
        "Saint Bruno",
        "Saint Clara",
    }


def test_lines_that_name_nothing_else_go(small: Release) -> None:
    kept, _ = without(small, ["kolva"])
    assert not any("Kolva" in one.text for one in kept)
    assert any("Orest" in one.text for one in kept)


def test_a_set_whose_members_are_all_excluded_is_exhausted(small: Release) -> None:
    assert not without(small, ["anna", "bruno"])[1]
    assert without(small, ["anna", "bruno", "clara"])[1]
    assert not without(small, ["dunstan", "egidio"])[1]


def test_things_of_an_excluded_type_are_excluded(small: Release) -> None:
    churches = Exclusion(small, types=frozenset({node(small, "church")}))
    assert node(small, "anna") in churches and node(small, "mural-anna") not in churches
    assert node(small, "leon") not in churches and "anna" not in churches
    kept, exhausted = churches.of_lines(*lines_of(small))
    assert exhausted and not any(one.line.entity in churches for one in kept)


def test_a_context_is_left_without_it_and_no_longer_than_it_was(small: Release) -> None:
    context = prepare(small, QUESTION).context
    anna = node(small, "anna")
    assert any(anna in line.entities for line in context.lines())
    left = Exclusion(small, frozenset({anna})).of_context(context)
    told = [line for line in left.lines() if line.kind is not Kind.COUNT]
    assert told and not any(anna in line.entities for line in told)
    assert not any(anna in source.entities for source in left.sources)
    text = left.render()
    assert left.characters == len(text) <= context.characters
    assert left.tokens == tokens(text) <= context.tokens
    assert [source.n for source in left.sources if source.lines] == [
        source.n for source in context.sources if source.entity != anna
    ]


def test_sources_that_are_left_keep_their_numbers(small: Release) -> None:
    context = prepare(small, QUESTION).context
    first = context.sources[0]
    left = Exclusion(small, frozenset({first.entity})).of_context(context)
    assert left.source(first.n) is None
    assert {source.n for source in left.sources} == {source.n for source in context.sources} - {first.n}
