"""Day numbers: Python's proleptic Gregorian ordinal (0001-01-01 = 1), continued to zero and below for BC.

Years here are astronomical: 1 BC is year 0, 5 BC is -4. Formulas after Hinnant, "chrono-Compatible Low-Level Date
Algorithms" (2014): years start in March, so that the leap day is the last of its year.
"""

from __future__ import annotations

from dataclasses import dataclass

_ERA_DAYS = 146_097  # days in 400 years
_SHIFT = 305  # from 0000-03-01 as day 0 to 0001-01-01 as day 1
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Interval:
    """Days ``begin`` to ``end``, both inclusive, None where it is open; ``approximate`` when stated so ("ca.")."""

    begin: int | None
    end: int | None
    approximate: bool = False

    def __post_init__(self) -> None:
        if self.begin is not None and self.end is not None and self.begin > self.end:
            raise ValueError(f"an interval cannot end ({self.end}) before it begins ({self.begin})")

    def hull(self, other: Interval) -> Interval:
        """The shortest interval that holds both."""
        begin = None if self.begin is None or other.begin is None else min(self.begin, other.begin)
        end = None if self.end is None or other.end is None else max(self.end, other.end)
        return Interval(begin, end, self.approximate or other.approximate)


def day_number(year: int, month: int = 1, day: int = 1) -> int:
    """Day number of a date that exists; see ``month_length``."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _ERA_DAYS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _SHIFT


def civil(number: int) -> tuple[int, int, int]:
    """Year, month and day of a day number."""
    era, of_era = divmod(number + _SHIFT, _ERA_DAYS)
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap(year) else _LENGTHS[month - 1]


def year_interval(first: int, last: int | None = None) -> Interval:
    """From the first day of a year to the last day of the same or a later one."""
    return Interval(day_number(first), day_number((first if last is None else last) + 1) - 1)


def month_interval(year: int, month: int) -> Interval:
    start = day_number(year, month)
    return Interval(start, start + month_length(year, month) - 1)


def whole_years(interval: Interval) -> tuple[int, int] | None:
    """First and last year when the interval is closed and made of whole years."""
    if interval.begin is None or interval.end is None:
        return None
    first, month, day = civil(interval.begin)
    last, *rest = civil(interval.end + 1)
    return (first, last - 1) if (month, day) == (1, 1) and rest == [1, 1] else None
