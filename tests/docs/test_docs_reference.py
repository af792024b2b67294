"""The reference pages are what the code says today; what people wrote beside them quotes what there is."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crmrag_query import Client
from crmrag_query.client import wire
from crmrag_query.codec import KINDS
from crmrag_query.errors import CrmRagError
from crmrag_query.language import LANGUAGES, READ
from crmrag_query.plans.records import Plan
from crmrag_query.service.openapi import document
from crmrag_query.service.responses import OWN_ROUTES
from tests.conftest import ROOT
from tests.support.documentation import DOCS
from tools.reference.comments import read_comments
from tools.reference.configuration import PARTS
from tools.reference.pages import FOLDER, pages
from tools.reference.text import notes, summary

CODE = [path for name in ("crmrag_query", "crmrag_assets") for path in (ROOT / name).rglob("*.py")]


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


@pytest.mark.parametrize("name", ["configuration.md", "commands.md", "http.md"])
def test_a_page_is_what_the_code_says(name: str, made: dict[str, str]) -> None:
    stored = (FOLDER / name).read_text(encoding="utf-8")
    assert stored == made[name], (
        f"docs/reference/{name} is out of date: run `make docs` and commit what changed"
    )


def test_every_file_of_the_configuration_is_told(made: dict[str, str]) -> None:
    """But for those that are told by another of their kind, words of languages, and the ontology tables."""
    files = {path.relative_to(ROOT / "config").as_posix() for path in (ROOT / "config").rglob("*.yaml")}
    files -= {f"languages/{code}.yaml" for code in READ}
    files -= {f"words/{name}.yaml" for name in (*LANGUAGES, "kinds", "names", "nouns")}
    assert files - {"datasets.yaml", "relationships/fr76.yaml", "ontology/index.yaml"} == set(PARTS)
    assert "## datasets.yaml" in made["configuration.md"]


def test_every_key_of_the_method_has_its_source(made: dict[str, str]) -> None:
    text = made["configuration.md"].partition("## method.yaml")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    assert [row for row in rows if not row.removesuffix(" |").rpartition("| ")[2].strip()] == []


def test_every_endpoint_and_record_is_told(made: dict[str, str]) -> None:
    text = made["http.md"]
    for path, methods in document()["paths"].items():
        for method in methods:
            assert f"\n### {method.upper()} {path}\n" in text
    for route in (*wire.ROUTES, *OWN_ROUTES):
        assert f"\n### {route.method} {wire.PREFIX}{route.path}\n" in text


def test_every_variable_of_the_environment_is_told() -> None:
    """But for what tests alone set."""
    found = {
        name for path in CODE for name in re.findall(r'"(CRMRAG_[A-Z_]+)"', path.read_text(encoding="utf-8"))
    }
    assert {"CRMRAG_DATA", "CRMRAG_API_KEYS"} < found
    told = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert {
        name for name in found - {"CRMRAG_FAILPOINT", "CRMRAG_SERVICE"} if f"`{name}" not in told
    } == set()


def messages() -> Iterator[str]:
    """Each message of the page on errors, cut where something else stands in it each time."""
    for cell in re.findall(r"^\| (`.*?) \|", (DOCS / "errors.md").read_text(encoding="utf-8"), re.MULTILINE):
        for quoted in re.findall(r"`([^`]+)`", cell):
            yield from (part.strip(" '") for part in quoted.split("…") if len(part.strip(" '.")) > 3)


def test_every_error_that_is_quoted_exists() -> None:
    texts = [path.read_text(encoding="utf-8") for path in [*CODE, ROOT / "config" / "questions.yaml"]]
    whole = re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts))
    assert [part for part in messages() if part not in whole] == []


def test_the_help_that_names_a_page_names_one_that_there_is() -> None:
    named = {
        name for path in CODE for name in re.findall(r"docs/(\w+\.md)", path.read_text(encoding="utf-8"))
    }
    assert named and all((DOCS / name).is_file() for name in named)


def test_the_page_on_plans_names_every_key_and_every_value_of_a_plan() -> None:
    page = (DOCS / "plans.md").read_text(encoding="utf-8")
    schema = Plan.model_json_schema()
    keys = {key for part in schema["$defs"].values() for key in part.get("properties", ())}
    text = json.dumps(schema)
    values = set(re.findall(r'"const": "(\w+)"', text))
    values |= set(re.findall(r"\w+", " ".join(re.findall(r'"enum": \[([^\]]*)\]', text))))
    assert {"certain", "then"} <= keys and {"related", "pairs", "century", "same_as"} <= values
    unnamed = [name for name in sorted(keys | values) if not re.search(rf'[`"]{name}[`"]', page)]
    assert unnamed == ["entity", "span"]  # the defaults of `by` and `edge`


def test_the_page_on_the_client_names_every_method_and_error() -> None:
    text = (DOCS / "client.md").read_text(encoding="utf-8")
    for name, _ in inspect.getmembers(Client, inspect.isfunction):
        assert name.startswith("_") or name == "close" or name in text, name
    for kind in KINDS:
        assert kind is CrmRagError or kind.__name__ in text


# How docstrings and comments are read


def test_what_a_docstring_says_of_fields_is_told_with_them() -> None:
    docstring = """A page of a set. ``limit``: members of a page; ``sort``, ``order``: as they say; None for all.

    ``reason``: why. The rest follows."""
    assert notes(docstring) == {
        "limit": "members of a page", "sort": "as they say", "order": "as they say", "reason": "why",
    }  # fmt: skip
    assert summary(docstring) == "A page of a set. None for all. The rest follows."


def test_comments_are_read_with_their_keys_and_sources(tmp_path: Path) -> None:
    path = tmp_path / "part.yaml"
    path.write_text(
        "# The part. Source, unless a comment says otherwise: the published CRM-RAG.\n\n"
        "# How it is cut.\ncut:\n  k: 3     # pieces; ours\n  b: {x: 1}  # of each\n"
        "  # All below: ours.\n  c: 4\n  d: |\n    # no comment\n# Source: ours, but for one.\nasked:\n"
        "  one: 1  # the one; source: Okapi 2009\n  two: 2\n",
        encoding="utf-8",
    )
    found = read_comments(path)
    told: dict[tuple[str, ...], Any] = {
        ("cut",): ("How it is cut", "published"), ("cut", "k"): ("pieces", "ours"), ("cut", "b"): ("of each", "published"),
        ("cut", "b", "x"): ("", "published"), ("cut", "c"): ("", "ours"), ("cut", "d"): ("", "ours"),
        ("asked", "one"): ("the one", "Okapi 2009"), ("asked", "two"): ("", "ours"),
    }  # fmt: skip
    assert {keys: (found.of(keys), found.source(keys)) for keys in told} == told
