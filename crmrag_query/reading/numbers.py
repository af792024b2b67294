"""The numbers that things of a question have: how the data leads to what a noun, an adjective of size or a verb measures, and
in which units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from crmrag_query.graph.arrays import distinct
from crmrag_query.language import Language
from crmrag_query.plans.execute import comparable, converted, factor_of, in_one_unit, known_unit, units_of
from crmrag_query.plans.records import Valued, Way
from crmrag_query.plans.world import World, leading_to, numbers, pairs, way_literals
from crmrag_query.reading.lexicon import Lexicon, RelationWords, vocabulary
from crmrag_query.reading.records import GIVEN_IN, Amount, Doubt, Item, Meaning, Memory
from crmrag_query.text import fold


class Numbers:
    """What a question of some words (``stems``) may measure of things, in one data set."""

    def __init__(
        self,
        world: World,
        lexicon: Lexicon,
        states: Callable[[str], bool],
        own: Language,
        stems: tuple[str, ...],
        memory: Memory,
    ) -> None:
        """``states``: whether the data states a relation of anything."""
        self._world, self._lexicon, self._states = world, lexicon, states
        self._own, self._stems, self._memory = own, stems, memory

    def amount_way(self, amount: Amount, near: Meaning) -> tuple[Way, frozenset[str], bool] | None:
        """How things lead to the number of an amount, all stems that say it, and whether it may be no other."""
        if amount.size == GIVEN_IN:
            return self._given_in(amount.unit, near)
        if amount.size:
            sized = self.sized(amount.size, near)
            if sized is not None or not amount.unit:
                return None if sized is None else (sized[0], frozenset(), sized[1])
            called = self.number_called(self._own.stem(amount.unit), near)  # "longer than 40 *minutes*"
            return None if called is None else (*called, True)
        stem = self._stems[amount.noun]
        if (called := self.number_called(stem, near)) is not None:
            return *called, True
        asked = (id for id, words in self.quantities.items() if stem in words.says)
        paid = next((way for id in asked if (way := self._quantity(id, near)) is not None), None)
        return None if paid is None else (paid, frozenset({stem}), True)

    def _given_in(self, unit: str, near: Meaning) -> tuple[Way, frozenset[str], bool] | None:
        """How things lead to what they give in a unit: a number of a property that names it, "area in *hectares*", or their
        dimensions, of one type or several, in that unit."""
        called = self.number_called(self._own.stem(unit), near)
        if called is not None:
            return *called, True

        def found() -> tuple[Way, frozenset[str], bool] | None:
            dimension = Way(relations=("dimension",), direct=True)
            ends = distinct(pairs(self._world, dimension, near.nodes, literals=False).cell).astype(np.int32)
            own, every = units_of(self._world, ends)
            fitting = [one for one in every.tolist() if self._is_called(one, unit)]
            among = ends[np.isin(own, fitting)]
            if not len(among):
                return None
            types = distinct(pairs(self._world, Way(paths=(("P2",),)), among, literals=False).cell)
            iris = tuple(self._world.graph.iri(int(one)) for one in types)
            way = Way(paths=self._world.relations["dimension"].paths, types=iris)
            return self.valued(way), frozenset(), len(types) == 1

        return self._memory.once(found, (near,), "given in", unit)

    def _is_called(self, unit: int, word: str) -> bool:
        """Whether a word names a unit, or one that measures the same."""
        known, has = known_unit(word), factor_of(self._world, unit)
        if known is not None and has is not None:
            return known[0] == has[0]
        labels = (label.text for label in self._world.graph.labels(unit))
        return self._own.stem(word) in self._own.all_stems(labels)

    def names_unit(self, word: str) -> bool:
        """Whether the data gives numbers in a unit of that name, or of that quantity."""
        lexicon, code = self._lexicon, self._own.code
        stem, known = self._own.stem(word), known_unit(word)
        if known is not None or stem in lexicon.unit_stems(code):
            return True
        return any(stem in lexicon.step_stems(iri, code) for iri in lexicon.numbers)

    def in_unit(self, amount: Amount, way: Way, near: Meaning) -> tuple[Valued, frozenset[Doubt]] | None:
        """The condition of an amount in a unit that the data have, and its doubts; None for a unit that they do not have, and
        for a thing to compare with that has no number, or several."""
        if amount.than:
            return self._number_than(amount, way, near)
        bounds = Valued(
            way=way, least=amount.least, most=amount.most,
            least_counts=amount.least_counts, most_counts=amount.most_counts,
        )  # fmt: skip
        units = self._units(way, near)
        if not amount.unit:
            return bounds, frozenset({Doubt("several units")} if len(units) > 1 else ())
        stem, known = self._own.stem(amount.unit), known_unit(amount.unit)

        def beside(unit: int) -> frozenset[Doubt]:
            """Of what is measured in a unit that nothing is known of it cannot be told."""
            unknown = any(one != unit and factor_of(self._world, one) is None for one in units)
            return frozenset({Doubt("several units")} if unknown else ())

        for unit in units:
            labels = [one.text for one in self._world.graph.labels(unit)]
            if stem in self._own.all_stems(labels):
                return bounds.model_copy(update={"unit": self._world.graph.iri(unit)}), beside(unit)
        for unit in units if known else ():
            has = factor_of(self._world, unit)
            if known and has and has[0] == known[0]:
                return _scaled(bounds, known[1] / has[1], self._world.graph.iri(unit)), beside(unit)
        says = self._lexicon.step_stems(way.paths[0][0], self._own.code) if way.paths else frozenset()
        if stem in says:  # "weight in kg"
            return bounds, frozenset()
        if units:
            return None
        if known is None:  # "more than 1,000 *copies*" of what is a print run
            return bounds, frozenset({Doubt("which unit", amount.unit)})
        has = next((one for word in says if len(word) > 1 and (one := known_unit(word)) is not None), None)
        if has is not None and has[0] == known[0]:
            return _scaled(bounds, known[1] / has[1]), frozenset()
        return bounds, frozenset({Doubt("which unit", amount.unit)})

    def _number_than(self, amount: Amount, way: Way, near: Meaning) -> tuple[Valued, frozenset[Doubt]] | None:
        row = way_literals(self._world, way.stated(), self._world.nodes_of(amount.than))[1]
        stated, number = numbers(self._world, row)
        owners = np.searchsorted(self._world.graph.literal_ptr, row[stated], side="right") - 1
        number, unit = in_one_unit(self._world, owners.astype(np.int32), number)
        if len(set(number.tolist())) != 1:
            return None
        bound, units = float(number[0]), self._units(way, near)
        least, most = (bound, None) if amount.more else (None, bound)
        doubt = {Doubt("several units")} if unit < 0 and len(units) > 1 else set[Doubt]()
        named = self._world.graph.iri(unit) if unit >= 0 else ""
        valued = Valued(way=way, least=least, most=most, least_counts=False, most_counts=False, unit=named)
        return valued, frozenset(doubt)

    def _units(self, way: Way, near: Meaning) -> list[int]:
        """The units of what things lead to by a way without its last link, to a number, the most frequent first."""
        if way.then is None:
            return []

        def found() -> list[int]:
            alone = way.model_copy(update={"then": None, "direct": True})
            ends = distinct(pairs(self._world, alone, near.nodes, literals=False).cell)
            own, every = units_of(self._world, ends.astype(np.int32))
            return sorted(every.tolist(), key=lambda unit: -int((own == unit).sum()))

        return self._memory.once(found, (near,), "units", way)

    def names_number(self, at: int) -> bool:
        """Whether anything in the data leads to a number that a word of the question names."""
        stem, lexicon, code = self._stems[at], self._lexicon, self._own.code
        return (
            any(stem in one.ends | one.says for one in self.quantities.values())
            or stem in lexicon.dimension_types(code)
            or any(stem in lexicon.step_stems(iri, code) for iri in lexicon.numbers)
        )

    def number_called(self, stem: str, near: Meaning) -> tuple[Way, frozenset[str]] | None:
        """How things lead to the number that a noun names, and all stems that say it: one of the catalogue, a property of the
        data's own, or a dimension of a type of that name; None where none of the things has one."""
        return self._memory.once(lambda: self._find_number(stem, near), (near,), "number", stem)

    def _find_number(self, stem: str, near: Meaning) -> tuple[Way, frozenset[str]] | None:
        lexicon, code, known = self._lexicon, self._own.code, vocabulary(self._own.code).relations
        for id, words in self.quantities.items():
            if stem in words.ends and (way := self._quantity(id, near)) is not None:
                return way, words.ends | words.says
        ways = [
            (Way(paths=((iri,),)), said | (known[like].says if like in known else frozenset()))
            for iri, like in lexicon.numbers.items()
            if stem in (said := lexicon.step_stems(iri, code))
        ]
        ways += [(way, frozenset({stem})) for way in self._dimensions_called((stem,))]
        return next((one for one in ways if leading_to(self._world, one[0], None)[near.nodes].any()), None)

    def _dimensions_called(self, stems: Iterable[str]) -> Iterator[Way]:
        """How things lead to the numbers of dimensions whose type has one of some stems in its name: "service *weight*"."""
        for stem in sorted(stems):
            types = self._lexicon.dimension_types(self._own.code).get(stem, ())
            if len(types):
                iris = tuple(self._world.graph.iri(int(one)) for one in types)
                yield self.valued(Way(paths=self._world.relations["dimension"].paths, types=iris))

    @staticmethod
    def valued(dimension: Way) -> Way:
        return dimension.model_copy(update={"then": Way(relations=("dimension_value",))})

    def _quantity(self, id: str, near: Meaning) -> Way | None:
        """How things lead to a quantity: by the relation or by a property of the data's own that is called like it, whichever
        more of them have; None where none has either."""

        def best() -> Way | None:
            own = [Way(paths=((iri,),)) for iri, like in self._lexicon.numbers.items() if like == id]
            relation = [self.valued(Way(relations=(id,)))] if self._states(id) else []
            measures = self._lexicon.measures.items()
            relation += [self.valued(Way(paths=((iri,),))) for iri, like in measures if like == id]
            called = self.quantities[id].ends if id in self.quantities else ()
            ways = [*relation, *own, *self._dimensions_called(called)]
            has = {way: int(leading_to(self._world, way, None)[near.nodes].sum()) for way in ways}
            way = max(has, key=lambda one: has[one], default=None)
            return way if way is not None and has[way] else None

        return self._memory.once(best, (near,), "quantity", id)

    def measured(self, word: str, near: Meaning) -> tuple[Way, bool] | None:
        """The dimension that an adjective of size speaks of and that things have, and whether it may speak of no other."""
        size = self._own.size_of(fold(word.split()[-1]))
        return self.sized(size, near) if size else None

    def sized(self, name: str, near: Meaning) -> tuple[Way, bool] | None:
        """The way to the dimension of a name, "any" for one of several, and whether things have no other of these."""
        ids = [name] if name != "any" else ["height", "length", "width", "depth"]
        known = [way for id in ids if (way := self._quantity(id, near)) is not None]
        return (known[0], len(known) == 1) if known else None

    def paid(self, near: Meaning) -> Way | None:
        """The number by which a verb of the question measures: to cost, to weigh."""
        said = frozenset(self._stems)
        asked = (id for id, words in self.quantities.items() if said & (words.says | words.ends))
        return next((way for id in asked if (way := self._quantity(id, near)) is not None), None)

    @cached_property
    def quantities(self) -> dict[str, RelationWords]:
        """The relations to numbers that are asked for by a word of their own."""
        known = vocabulary(self._own.code).relations
        numbers = (id for id, one in self._world.relations.items() if one.value == "number")
        return {id: known[id] for id in numbers if id in known and id != "dimension_value"}

    def measures(self, way: Way, near: Meaning, ops: Mapping[str, Item]) -> frozenset[Doubt]:
        """Why things may not be compared by what they measure: in several units, or in which direction is not said."""
        ends = distinct(
            pairs(
                self._world, way.model_copy(update={"then": None, "direct": True}), near.nodes, literals=False
            ).cell
        )
        alike = way.then is None or comparable(self._world, units_of(self._world, ends.astype(np.int32))[1])
        said = next((ops[one].text for one in ("operators.highest", "operators.lowest") if one in ops), "")
        measured = self.measured(said, near) if said else None
        several = len(way.types) > 1 or (measured is not None and not measured[1])
        which = {Doubt("which size", said)} if several else set[Doubt]()
        return frozenset(() if alike else {Doubt("several units")}) | which


def _scaled(bounds: Valued, by: float, unit: str = "") -> Valued:
    """The bounds of a number in another unit."""
    least, most = (None if one is None else converted(one, by) for one in (bounds.least, bounds.most))
    return bounds.model_copy(update={"least": least, "most": most, "unit": unit})
