"""The words that open a stretch of time, under the name that the parser knows them by."""

RANGES = ((r"(?:between|entre|zwischen|μεταξυ|tussen|tra|fra)", ""),)
