"""Measures in several units made comparable: centimetres and inches, grams and kilograms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints, Longs, distinct
from crmrag_query.plans.records import Way
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import World
from crmrag_query.text import fold

UNIT: Final = Way(paths=(("P91",),))
CURRENCY: Final = Way(paths=(("P180",),))
# Names of units and of their entries in the AAT, by quantity, each with its factor to the SI's unit. Source: NIST SP 811.
_LENGTHS: Final = {
    0.001: "mm millimetre millimeter millimètre millimetro milímetro χιλιοστό 300379097",
    0.01: "cm centimetre centimeter zentimeter centimètre centimetro centímetro εκατοστό 300379098",
    1.0: "m metre meter mètre metro μέτρο 300379099",
    0.0254: "in inch inches zoll pouce pollice pulgada ίντσα 300379100",
    0.3048: "ft foot feet fuß pied piede pie πόδι 300379101",
}
_WEIGHTS: Final = {
    1e-6: "mg milligram milligramm milligramme milligrammo miligramo",
    0.001: "g gram gramm gramme grammo gramo γραμμάριο 300379225",
    1.0: "kg kilogram kilogramm kilogramme chilogrammo kilogramo κιλό 300379226",
    0.028349523125: "oz ounce unze once oncia onza",
    0.45359237: "lb lbs pound pfund livre libbra libra 300379229",
}


def _known() -> Mapping[str, tuple[str, float]]:
    return {
        fold(name): (quantity, factor)
        for quantity, table in (("length", _LENGTHS), ("weight", _WEIGHTS))
        for factor, names in table.items()
        for name in names.split()
    }


FACTORS: Final = _known()


def factor_of(world: World, unit: int) -> tuple[str, float] | None:
    """The quantity that a unit measures, and its factor, by its names or its IRI's last part; None for one not known."""
    texts = [label.text for label in world.graph.labels(unit)]
    texts.append(re.split(r"[/#:]", world.graph.iri(unit).rstrip("/"))[-1])
    for text in texts:
        name = fold(text).strip(" .")
        for one in (name, name.removesuffix("s"), name.removeprefix("unit-")):
            if one in FACTORS:
                return FACTORS[one]
    return None


def units_of(world: World, nodes: Ints) -> tuple[Longs, Ints]:
    """The unit of each of some dimensions or sums of money, -1 for none or several, int64; and all of them, ascending."""
    found = np.full(len(nodes), -1, np.int64)
    every = [np.empty(0, np.int64)]
    for way in (UNIT, CURRENCY):
        stated = pairs(world, way, nodes, literals=False)
        once, first, count = np.unique(stated.index, return_index=True, return_counts=True)
        found[once[count == 1]] = stated.cell[first[count == 1]]
        every.append(stated.cell)
    return found, distinct(np.concatenate(every)).astype(np.int32)


def comparable(world: World, units: Ints) -> bool:
    """Whether numbers in these units can be compared: there is one at most, or all are known and measure one quantity."""
    if len(units) < 2:
        return True
    known = [factor_of(world, int(unit)) for unit in units]
    return None not in known and len({one[0] for one in known if one}) == 1


def in_one_unit(world: World, nodes: Ints, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The values of dimensions in the unit that most of them have; as they are where these cannot be compared."""
    own, units = units_of(world, nodes)
    if len(units) < 2 or not comparable(world, units):
        return values
    factors = {int(unit): found[1] for unit in units if (found := factor_of(world, int(unit)))}
    stated = own[own >= 0]
    kinds, counts = np.unique(stated, return_counts=True)
    most = factors[int(kinds[np.argmax(counts)])]
    by = np.array([factors.get(int(unit), most) for unit in own])
    return np.asarray(values * (by / most))
