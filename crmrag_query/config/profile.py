"""How much a data set's profile tells, and which statements it counts for what."""

from __future__ import annotations

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Codes, Count, Properties


class ProfileConfig(Record):
    """Lengths of the profile's lists, so that it stays small whatever the data; what its facts are counted from.

    ``top``: classes, categories, datatypes, … of an entry; ``characters``: of a label or literal that is shown.
    ``makers``, ``places``: relationships from works to makers and to places, by their ids in any set.
    """

    classes: Count
    types: Count
    properties: Count
    examples: Count
    top: Count
    type_top: Count
    type_languages: Count
    characters: Count
    broader_properties: Properties
    type_classes: Codes
    makers: tuple[str, ...]
    places: tuple[str, ...]
    depiction_properties: Codes
    containing_properties: Codes
    coordinate_properties: Properties
    identifier_properties: Properties
