"""The version of the program, as releases and requests tell it."""

__version__ = "0.1.0"
