"""Words for dates in English, French, German and Greek, as they stand after ``fold`` (which writes every sigma as σ)."""

from __future__ import annotations

import unicodedata
from typing import Final

MONTHS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
    "fr": (
        "janvier", "février", "mars", "avril", "mai", "juin",
        "juillet", "août", "septembre", "octobre", "novembre", "décembre",
    ),
    "de": (
        "Januar", "Februar", "März", "April", "Mai", "Juni",
        "Juli", "August", "September", "Oktober", "November", "Dezember",
    ),
    "el": (
        "Ιανουαρίου", "Φεβρουαρίου", "Μαρτίου", "Απριλίου", "Μαΐου", "Ιουνίου",
        "Ιουλίου", "Αυγούστου", "Σεπτεμβρίου", "Οκτωβρίου", "Νοεμβρίου", "Δεκεμβρίου",
    ),
}  # fmt: skip
_MONTHS_MORE: Final = {
    1: "jan janv jän jänner ιανουάριος ιαν", 2: "feb févr fév φεβρουάριος φεβ", 3: "mar mär μάρτιος μαρ",
    4: "apr avr απρίλιος απρ", 5: "μάιος", 6: "jun ιούνιος ιουν", 7: "jul juil ιούλιος ιουλ",
    8: "aug αύγουστος αυγ", 9: "sep sept σεπτέμβριος σεπτ", 10: "oct okt οκτώβριος οκτ", 11: "nov νοέμβριος νοε",
    12: "dec déc dez δεκέμβριος δεκ",
}  # fmt: skip


def fold(text: str) -> str:
    """Lower case without accents, one kind of dash and of apostrophe, single blanks."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c))
    for dash in "‐‑‒–—−":
        text = text.replace(dash, "-")
    return " ".join(text.replace("’", "'").replace("΄", "'").replace("ʹ", "'").replace("´", "'").split())


MONTH: Final[dict[str, int]] = {
    fold(word): number
    for number, words in (
        *((n, names[n - 1].split()) for names in MONTHS.values() for n in range(1, 13)),
        *((n, words.split()) for n, words in _MONTHS_MORE.items()),
    )
    for word in words
}

CIRCA: Final = (
    r"(?:circa|ca\.?|c\.|about|around|approximately|approx\.?|probably|possibly|vers|environ|env\.|um|etwa|wohl|"
    r"περιπου|περ\.|γυρω στο|c(?=\s*\d))"
)
BEFORE: Final = r"(?:before|avant|vor|πριν απο το|πριν το|πριν)"
AFTER: Final = r"(?:after|apres|nach|μετα το|μετα)"
UNTIL: Final = r"(?:until|no later than|not after|up to|by|jusqu'en|jusqu'au|bis|εωσ|μεχρι|ωσ)"
SINCE: Final = r"(?:since|no earlier than|not before|from|a partir de|a partir du|depuis|ab|seit|απο)"
RANGE: Final = (
    (r"(?:between|entre|zwischen|μεταξυ)", r"(?:and|et|und|και)"),
    (r"(?:from|de|du|von|vom|απο)", r"(?:to|until|till|through|-|a|au|jusqu'en|jusqu'au|bis|εωσ|μεχρι|ωσ)"),
)
TO: Final = r"(?:\s*-\s*|\s+(?:to|until|till|through|bis|a|au|εωσ|μεχρι|ωσ|or|ou|oder|η)\s+)"
BC: Final = r"(?:b\.?\s?c\.?(?:\s?e\.?)?|av(?:ant|\.)?\s?j\.?\s?-?\s?c\.?|v\.?\s?chr\.?|v\.?\s?u\.?\s?z\.?|π\.?\s?χ\.?)"
AD: Final = r"(?:a\.?\s?d\.?|c\.?\s?e\.?|ap(?:res|\.)?\s?j\.?\s?-?\s?c\.?|n\.?\s?chr\.?|n\.?\s?u\.?\s?z\.?|μ\.?\s?χ\.?)"
CENTURY: Final = (
    r"(?:centuries|century|cent\.?|c\.?|siecles?|jahrhunderts?|jhdt?s?\.?|jhs?\.?|"
    r"αιωνασ?|αιωνων|αιωνεσ|αι\.?)"
)
ORDINAL: Final = r"(?:st|nd|rd|th|e|eme|er|\.|οσ|ου|ων|ον|ο)?"
DECADE: Final = r"(?:'?s|er(?: jahren?)?)"
DECADE_BEFORE: Final = r"(?:annees|decennie|δεκαετια του|δεκαετια|(?:the|die)(?= ))"

_OF = r"(?: of(?: the)?| du| des| του)?"
_HALF = rf" (?:half|moitie|halfte|μισο){_OF}"
_QUARTER = rf" (?:quarter|quart|viertel|τεταρτο){_OF}"
PARTS: Final[dict[str, tuple[int, int]]] = {
    rf"(?:early|beginning|start|debut|fruhe[sn]?|anfang|αρχεσ){_OF}": (0, 33),
    rf"(?:mid(?:dle)?|milieu|mitte|μεσα){_OF}": (33, 67),
    rf"(?:late|end|fin|spate[sn]?|ende|τελη){_OF}": (67, 100),
    rf"(?:first|1st|premiere|1ere|1re|erste|1\.|πρωτο|α'){_HALF}": (0, 50),
    rf"(?:second|last|2nd|deuxieme|seconde|2e|zweite|2\.|δευτερο|β'){_HALF}": (50, 100),
    rf"(?:first|1st|premier|1er|erstes|1\.|πρωτο|α'){_QUARTER}": (0, 25),
    rf"(?:second|2nd|deuxieme|2e|zweites|2\.|δευτερο|β'){_QUARTER}": (25, 50),
    rf"(?:third|3rd|troisieme|3e|drittes|3\.|τριτο|γ'){_QUARTER}": (50, 75),
    rf"(?:fourth|last|4th|dernier|quatrieme|4e|letztes|viertes|4\.|τελευταιο|δ'){_QUARTER}": (75, 100),
}
"""Parts of a century: from after the first to the second of its hundred years; early, mid and late are thirds."""

ERA: Final[dict[str, str]] = {"en": "BC", "fr": "av. J.-C.", "de": "v. Chr.", "el": "π.Χ."}
ABOUT: Final[dict[str, str]] = {"en": "ca.", "fr": "vers", "de": "um", "el": "περ."}
ONLY_END: Final[dict[str, str]] = {"en": "until", "fr": "jusqu'en", "de": "bis", "el": "έως"}
ONLY_BEGIN: Final[dict[str, str]] = {"en": "since", "fr": "depuis", "de": "seit", "el": "από"}
