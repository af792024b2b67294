"""The block of counts: what the aggregation index holds, the most telling first, within its characters."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.context.assemble import CENTRAL, MAKERS, RELATIONSHIPS, TYPES, counts_lines
from crmrag_query.context.context import Budget, frame
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.world import World
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.aggregation import Aggregation
from tests.query.context.conftest import analysis_of


def texts(
    release: Release, characters: int = 3000, targets: int = 0, form: Form = Form.AGGREGATION
) -> list[str]:
    analysis = analysis_of(release, "How many are there?", form, targets=targets)
    return [line.text for line in counts_lines(release, analysis, Budget(characters, 100_000), [])]


def items(texts: list[str], head: str) -> list[str]:
    return next(re.split(r": |; ", text)[1:] for text in texts if text.startswith(head))


def test_categories_are_counted_as_the_graph_has_them(sample: Release) -> None:
    graph = sample[Graph]
    entities = [node for node in range(graph.nodes) if graph.flags[node] & 1]
    counted = Counter(graph.category(node) for node in entities)
    found = dict(item.rsplit(" ", 1) for item in items(texts(sample), "All "))
    assert found == {str(Category(bit).name): str(count) for bit, count in counted.items() if bit}
    assert texts(sample)[0].startswith(f"All {len(entities)} entities")


def test_the_longest_lists_are_as_the_method_says(sample: Release) -> None:
    said = texts(sample, 100_000, int(Category.Place))
    aggregation = sample[Aggregation]
    assert len(items(said, "Entities by class")) == min(TYPES, len(aggregation.classes))
    assert len(items(said, "Most connected of Place")) == len(
        {ranked.label for ranked in aggregation.top("Place", CENTRAL)}
    )
    related = items(said, "Relationships by pairs")
    assert len(related) == min(RELATIONSHIPS, sum(r.pairs > 0 for r in aggregation.relationships))


def test_makers_are_ranked_by_their_works(sample: Release) -> None:
    said = items(texts(sample, targets=int(Category.Actor)), "Actors by number of works")
    numbers = [int(item.rsplit(" ", 1)[1]) for item in said]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == len(sample[Aggregation].actors(MAKERS))


def test_what_was_asked_for_comes_first(sample: Release) -> None:
    for category in (Category.Place, Category.Event, Category.Actor):
        said = texts(sample, targets=int(category))
        assert items(said, "All ")[0].startswith(str(category.name))
        assert next(text for text in said if text.startswith("Most connected")).startswith(
            f"Most connected of {category.name}"
        )
        first = items(said, "Relationships by pairs")[0].split(" (")[0].rsplit(" ", 1)[0]
        ends = [one.domain | one.range for one in sample[World].catalogue if one.label == first]
        assert any(end & category for end in ends)


@given(st.integers(0, 4000))
def test_a_block_stays_within_its_characters_and_cuts_are_told(sample: Release, characters: int) -> None:
    said = texts(sample, characters, int(Category.Thing))
    cost = sum(len(line) + 1 for line in [*said, *frame("counts", 0)]) if said else 0
    assert cost <= characters
    whole = {text.split(": ")[0]: text for text in texts(sample, 100_000, int(Category.Thing))}
    for text in said:
        assert text == whole[text.split(": ")[0]] or re.search(r" and \d+ more$", text)


def test_a_cut_list_counts_what_it_leaves_out(sample: Release) -> None:
    full = items(texts(sample, 100_000), "Entities by class")
    for characters in range(150, 800, 50):
        for text in texts(sample, characters):
            if text.startswith("Entities by class") and (more := re.search(r" and (\d+) more$", text)):
                assert len(items([text], "Entities by class")) + int(more[1]) == len(full)


def test_a_specific_question_has_no_counts_and_costs_nothing(sample: Release) -> None:
    budget = Budget(3000, 3000)
    analysis = analysis_of(sample, form=Form.SPECIFIC)
    assert counts_lines(sample, analysis, budget, []) == ()
    assert budget == Budget(3000, 3000)
    tiny = Budget(15, 15)
    assert counts_lines(sample, analysis_of(sample), tiny, []) == () and tiny == Budget(15, 15)
