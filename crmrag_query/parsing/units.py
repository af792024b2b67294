"""Units of time by their words, folded, in each language."""

UNITS = {
    "en": {"decade": "decade", "decades": "decade", "century": "century", "centuries": "century", "year": "year", "years": "year"},
    "fr": {"decennie": "decade", "decennies": "decade", "siecle": "century", "siecles": "century", "annee": "year", "an": "year"},
    "de": {"jahrzehnt": "decade", "jahrzehnte": "decade", "jahrhundert": "century", "jahrhunderte": "century", "jahr": "year"},
    "el": {"δεκαετια": "decade", "δεκαετιεσ": "decade", "αιωνα": "century", "αιωνασ": "century", "ετοσ": "year", "χρονο": "year"},
    "nl": {"decennium": "decade", "eeuw": "century", "jaar": "year"},
}  # fmt: skip
