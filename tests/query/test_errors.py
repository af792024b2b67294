"""One tree of errors, as its docstring draws it."""

from __future__ import annotations

import inspect
import re

from crmrag_query import errors


def test_every_error_is_drawn_in_the_docstring_below_its_parent() -> None:
    drawn = re.findall(r"^([ │├└─]*)(\w+)", str(errors.__doc__).split("\n\n", 1)[1], re.MULTILINE)
    path: list[str] = []
    parents: dict[str, str] = {}
    for indent, name in drawn:
        depth = 0 if not indent else (len(indent) + 1) // 5
        path[depth:] = [name]
        parents[name] = path[depth - 1] if depth else "Exception"
    classes = {
        name: cls for name, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, Exception)
    }
    assert {name: cls.__base__.__name__ for name, cls in classes.items() if cls.__base__} == parents


def test_a_message_names_the_thing_and_the_remedy() -> None:
    assert str(errors.BuildError("X is missing.", "Make X.")) == "X is missing. Make X."
    error = errors.ConfigError.single("f.yaml", "a.b", "unknown key", value="1", remedy="Did you mean c?")
    assert (
        str(error) == "Mistake in configuration file f.yaml:\n  a.b: unknown key (found 1). Did you mean c?"
    )
    extra = errors.MissingExtraError("Building", "build", "dagster")
    assert str(extra) == (
        "Building needs the extra 'build' (package dagster is missing). Install it: pip install 'crmrag[build]'"
    )
