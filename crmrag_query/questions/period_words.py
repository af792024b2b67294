"""Words by which a question names a period, in English, French, German, Greek and Dutch, as patterns over folded text.

Dates themselves are read by ``crmrag_query.dates``; here is what a question adds: bounds ("prior to", "or later"), ordinals
written out ("eighteenth"), and the words before a year. Source: our own lists.
"""

from __future__ import annotations

from typing import Final

from crmrag_query import dates as words

BEFORE: Final = (
    r"(?:before|prior to|earlier than|older than|pre-?(?=\s?\d)|avant|anterieure?s? (?:a|au)|vor|fruher als|alter als|"
    r"πριν απο|πριν|π?ροτου|παλ(?:αι)?οτερ\w* απο|νωριτερα απο|voor|eerder dan|ouder dan)"
)
AFTER: Final = (
    r"(?:after|later than|newer than|younger than|post-?(?=\s?\d)|apres|posterieure?s? (?:a|au)|nach|spater als|junger als|"
    r"μετα απο|μετα|νεοτερ\w* απο|αργοτερα απο|na|later dan)"
)
UNTIL: Final = (
    r"(?:(?:in|on|during) (?:or|and) before|en (?:ou|et) avant|in oder vor|"
    r"until|till|up to|up until|no later than|not later than|not after|by|jusqu'en|jusqu'au|jusqu'a|au plus tard en|"
    r"bis zum|bis|spatestens|εωσ|μεχρι|ωσ|tot)"
)
SINCE: Final = (
    r"(?:since|(?:in|on|from|during) (?:or|and) after|en (?:ou|et) apres|in oder nach|"
    r"no earlier than|not earlier than|not before|starting in|starting from|beginning in|beginning with|"
    r"a partir de|a partir du|a partir d'|depuis|ab|seit|fruhestens|sinds|vanaf)"
)
OR_LATER: Final = (
    r"(?:(?:or|and) (?:later|after|newer|since|afterwards?)|onwards?|and onwards?|(?:ou|et) (?:plus tard|apres)|"
    r"(?:oder|und) (?:spater|danach|junger)|(?:η|και) (?:μεταγενεστερα|μετα|αργοτερα|εξησ|νεοτερα)|(?:of|en) later)"
)
OR_EARLIER: Final = (
    r"(?:(?:or|and) (?:earlier|before|older)|(?:ou|et) (?:plus tot|avant)|(?:oder|und) (?:fruher|davor|alter)|"
    r"(?:η|και) (?:νωριτερα|πριν|παλαιοτερα)|(?:of|en) (?:eerder|vroeger))"
)
RANGES: Final = (
    (r"(?:between|entre|zwischen|μεταξυ|tussen)", r"(?:and|et|und|και|en)"),
    (
        r"(?:from|de|du|von|vom|απο|van)",
        r"(?:up to|to|until|till|through|thru|jusqu'en|jusqu'au|jusqu'a|a|au|bis zum|bis|εωσ|μεχρι|ωσ|στο|tot)",
    ),
)
IN: Final = (
    r"(?:entirely from|dating from|dated|from|in|during|of|within|throughout|en|dans|au|aux|pendant|de|du|im|in den|aus dem|"
    r"aus den|aus|wahrend|von|κατα|στον|στη|στο|στισ|απο|του|uit|tijdens)"
)
GLUE: Final = (
    r"(?:(?:the years?|years?|the|l'annee|les annees|l'an|an|annee|le|la|les|l'|du|des|dem jahr|den jahren|jahre?|den|dem|"
    r"der|das|die|zum|το ετοσ|ετοσ|ετουσ|τον|το|τη|την|του|τησ|τα|τισ|het jaar|jaar|het|de)(?:\s+|(?<='))){0,3}"
)
JOINER: Final = r"[\s,;&]*(?:and|or|et|ou|und|oder|και|η|en|of|to)?[\s,;&]*(?:also|auch|aussi)?\s*"
NO_YEAR_BEFORE: Final = (
    r"(?:than|least|most|over|under|about|nearly|exactly|only|no\.?|nos\.?|nr\.?|number|inv\.?|inventory|accession|item|lot|"
    r"catalogue|plus de|moins de|als|uber|mindestens|hochstens|nummer|numero|n°|αριθμοσ|πανω απο|τουλαχιστον|dan|#)\s*$"
)
"""A number after one of these is a count or an identifier, no year."""

_EN = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty[-\\s]first"
)
_FR = (
    "premiere?|1er deuxieme|second troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme onzieme "
    "douzieme treizieme quatorzieme quinzieme seizieme dix[-\\s]septieme dix[-\\s]huitieme dix[-\\s]neuvieme vingtieme "
    "vingt[-\\s]et[-\\s]unieme"
)
_DE = (
    "erste[nsr]? zweite[nsr]? dritte[nsr]? vierte[nsr]? funfte[nsr]? sechste[nsr]? siebte[nsr]? achte[nsr]? neunte[nsr]? "
    "zehnte[nsr]? elfte[nsr]? zwolfte[nsr]? dreizehnte[nsr]? vierzehnte[nsr]? funfzehnte[nsr]? sechzehnte[nsr]? "
    "siebzehnte[nsr]? achtzehnte[nsr]? neunzehnte[nsr]? zwanzigste[nsr]? einundzwanzigste[nsr]?"
)
_NL = (
    "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde dertiende veertiende vijftiende "
    "zestiende zeventiende achttiende negentiende twintigste eenentwintigste"
)
_EL_UNITS = ["πρωτ", "δευτερ", "τριτ", "τεταρτ", "πεμπτ", "εκτ", "εβδομ", "ογδο", "ενατ"]
_EL_END = "(?:ου|οσ|ον|ο)"
_EL = (
    *(unit + _EL_END for unit in _EL_UNITS),
    *(stem + _EL_END for stem in ("δεκατ", "ενδεκατ", "δωδεκατ")),
    *(f"δεκατ{_EL_END}\\s{unit}{_EL_END}" for unit in _EL_UNITS[2:]),
    f"εικοστ{_EL_END}",
    f"εικοστ{_EL_END}\\sπρωτ{_EL_END}",
)


def _ordinals() -> tuple[tuple[str, int], ...]:
    lists = (*(text.split(" ") for text in (_EN, _FR, _DE, _NL)), _EL)
    pairs = {(pattern, n) for entries in lists for n, pattern in enumerate(entries, 1)}
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0], pair[1])))


ORDINALS: Final = _ordinals()
"""Patterns of ordinals written out, the longest first, and their numbers 1 to 21."""

CENTURY: Final = (
    r"(?:centuries|century|cent\.?|(?<=[a-z] )c\.?|siecles?|jahrhunderts?|jhdt?s?\.?|jhs?\.?|"
    r"αιωνασ?|αιωνων|αιωνεσ|αι\.?|eeuw(?:en)?)"
)
LONG_CENTURY: Final = r"(?:centur(?:y|ies)|siecles?|jahrhunderts?|αιωνα?σ?|αιωνων|eeuw)"
MONTHS: Final = "|".join(sorted(words.MONTH, key=lambda name: (-len(name), name)))
