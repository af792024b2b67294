"""Configuration that is made to exhaust whoever reads it is a mistake in a file like any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

READ = """
import resource, sys
from pathlib import Path
from crmrag_query.config.datasets import load_datasets
from crmrag_query.errors import ConfigError

resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    load_datasets(Path(sys.argv[1]))
except ConfigError as error:
    print(error)
"""
LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("datasets: " + "[" * 200_000, "more than 10,000 brackets"),
        ("datasets:\n " + "- " * 200_000, "lists within lists"),
        (f"datasets:\n  x:\n    rdf: *a9\n{LAUGHS}", "undefined alias"),
        (f"{LAUGHS}datasets:\n  x:\n    rdf: *a9\n", "aliases (*name) stand for more than 1,000,000 values"),
        ("datasets: &a [*a, *a]\n", "aliases (*name) stand for more than 1,000,000 values"),
    ],
    ids=["brackets", "lists", "undefined", "aliases", "itself"],
)
def test_yaml_that_nests_or_multiplies_is_a_mistake(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "datasets.yaml")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said in done.stdout and "datasets.yaml" in done.stdout
