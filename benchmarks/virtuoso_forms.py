"""What Virtuoso 7.2 makes of a literal: loaded, then asked for in JSON. It keeps values, not lexical forms.

- Language tags become lower case.
- Integers are written without sign + and leading zeros; decimals without zeros that say nothing, with 15 digits behind the
  point at most; booleans as 1 and 0.
- Doubles and floats come with six significant digits, however many were loaded.
- Years of dates have four characters at least, their minus sign included. What a date lacks is added (the first month, the
  first day, midnight), as its datatype wants; fractions of seconds that are zeros go.

Not followed, since no data set of ours holds them: ill-formed numbers (0), integers from 2^63 - 1 (decimals), xsd:duration
(a number), geometries, rdf:XMLLiteral (plain, its tags written anew), years before 100 BC. Literals of one subject and
property that are equal as values become one triple.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

import pyoxigraph as ox

XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = (
    "integer",
    "long",
    "int",
    "short",
    "byte",
    "nonNegativeInteger",
    "positiveInteger",
    "unsignedInt",
)
_DATE = re.compile(r"(-?\d{1,4})(-\d\d)?(-\d\d)?(T\d\d:\d\d(?::\d\d)?)?(\.\d+)?(Z|[+-]\d\d:\d\d)?")


def all_as_stored(quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
    """The quads with their literals as Virtuoso gives them back."""
    for s, p, o, g in quads:
        yield ox.Quad(s, p, as_stored(o) if isinstance(o, ox.Literal) else o, g)


def as_stored(literal: ox.Literal) -> ox.Literal:
    """The literal as Virtuoso gives it back."""
    if literal.language:
        return ox.Literal(literal.value, language=literal.language.lower())
    rule = _RULES.get(literal.datatype.value.removeprefix(XSD))
    return literal if rule is None else ox.Literal(rule(literal.value), datatype=literal.datatype)


def _integer(text: str) -> str:
    return str(int(text))


def _decimal(text: str) -> str:
    rounded = f"{Decimal(text):.15f}".rstrip("0").rstrip(".")
    return "0" if rounded == "-0" else rounded


def _double(text: str) -> str:
    if text in ("INF", "-INF", "NaN"):
        return text
    short = f"{float(text):g}"
    return short if "e" in short or "." in short else short + ".0"


def _float(text: str) -> str:
    single: float = struct.unpack("f", struct.pack("f", float(text)))[0]
    return _double(str(single))


def _boolean(text: str) -> str:
    return {"true": "1", "false": "0"}.get(text, text)


def _year(text: str) -> str:
    match = _DATE.fullmatch(text)
    return f"{int(match[1]):04}{text[match.end(1) :]}" if match else text


def _date(text: str) -> str:
    match = _DATE.fullmatch(text)
    if match is None or match[4]:
        return text
    return f"{int(match[1]):04}{match[2] or '-01'}{match[3] or '-01'}{match[6] or ''}"


def _date_time(text: str) -> str:
    match = _DATE.fullmatch(text)
    if match is None:
        return text
    time = match[4] or "T00:00:00"
    fraction = match[5] if match[5] and match[5].strip(".0") else ""
    seconds = time if time.count(":") == 2 else time + ":00"
    return f"{int(match[1]):04}{match[2] or '-01'}{match[3] or '-01'}{seconds}{fraction}{match[6] or ''}"


_RULES: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(_INTEGERS, _integer),
    "decimal": _decimal,
    "double": _double,
    "float": _float,
    "boolean": _boolean,
    "date": _date,
    "dateTime": _date_time,
    "gYear": _year,
    "gYearMonth": _year,
}
