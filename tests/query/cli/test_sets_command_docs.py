"""docs/plans.md, and what the README says of exact answers, hold on the sample data set."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.cli.main import group
from crmrag_query.config.check import check_method
from crmrag_query.config.loading import load_method
from crmrag_query.dates import year_interval
from crmrag_query.ontology import load_ontology
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.sets.build import answer_set
from tests.conftest import ROOT
from tests.query.client.conftest import build

PAGE = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```\n> ([^\n]+)$", PAGE, re.MULTILINE | re.DOTALL)
ENTRIES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^crmrag ((?:ask|set) sample [^#\n]*?)(?: +# ([^\n]*))?$", README, re.MULTILINE)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("plans") / "project", ROOT / "data" / "sample" / "troodos.ttl")


@pytest.fixture(scope="module")
def sample(data: Path) -> Release:
    return open_release("sample", data)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_gives_what_stands_below_it(number: int, sample: Release) -> None:
    plan, told = EXAMPLES[number]
    assert answer_set(sample, read_plan(plan)).text.startswith(told)


def test_every_plan_of_the_page_is_such_an_example() -> None:
    assert PAGE.count("```json") == len(EXAMPLES) > 15


def test_the_page_names_every_key_and_every_value_of_a_plan() -> None:
    schema = Plan.model_json_schema()
    keys = {key for part in schema["$defs"].values() for key in part.get("properties", ())}
    text = json.dumps(schema)
    values = set(re.findall(r'"const": "(\w+)"', text))
    values |= set(re.findall(r"\w+", " ".join(re.findall(r'"enum": \[([^\]]*)\]', text))))
    assert {"certain", "then"} <= keys and {"related", "pairs", "century", "same_as"} <= values
    unnamed = [name for name in sorted(keys | values) if not re.search(rf'[`"]{name}[`"]', PAGE)]
    assert unnamed == ["entity", "span"]  # the defaults of `by` and `edge`


def test_days_are_what_the_page_says() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "plans.md", "exec"), {})  # noqa: S102 - our own page
    assert year_interval(1199).end == 437925 and "year_interval(1199).end  # 437925" in code


@pytest.mark.parametrize(("file", "entry"), list(zip(("relations.yaml", "kinds.yaml"), ENTRIES, strict=True)))
def test_an_entry_of_a_project_is_taken_and_has_no_mistake(file: str, entry: str, tmp_path: Path) -> None:
    shipped = (ROOT / "config" / file).read_text(encoding="utf-8")
    (tmp_path / file).write_text(f"{shipped}\n{entry}", encoding="utf-8")
    method, id = load_method(tmp_path), entry.split(":")[0].strip()
    assert id in {**method.relations, **method.kinds.kinds}
    assert not [one for one in map(str, check_method(method, load_ontology())) if id in one]


def test_the_commands_of_the_readme_give_what_it_quotes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, since one writes the plan that the next reads."""
    monkeypatch.chdir(data.parent)
    assert len(COMMANDS) >= 6
    for command, quoted in COMMANDS:
        words, _, file = command.partition(" > ")
        run = CliRunner().invoke(group, [*shlex.split(words), "--data", str(data)], catch_exceptions=False)
        assert run.exit_code == 0, run.output
        if file:
            Path(file).write_text(run.stdout, encoding="utf-8")
        for part in re.findall(r"“([^”]*)”", quoted):
            assert part in run.stdout, command
    assert (data.parent / "undated.csv").read_text(encoding="utf-8").count("\n") == 12
