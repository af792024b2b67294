"""Dates as intervals of day numbers: read from XSD types and from words, and written for people."""

from __future__ import annotations

from crmrag_query.dates.calendar import Interval, civil, day_number, whole_years, year_interval
from crmrag_query.dates.describe import describe
from crmrag_query.dates.parse import parse_date

__all__ = ["Interval", "civil", "day_number", "describe", "parse_date", "whole_years", "year_interval"]
