"""Every command and example of the service's page runs against the real service."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "service.md"


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_every_request_of_the_page_is_answered(address: str) -> None:
    commands = [line for block in blocks("") for line in block.splitlines() if line.startswith("curl ")]
    assert len(commands) >= 3
    for command in commands:
        there = command.replace("localhost:8000", address.removeprefix("http://"))
        done = subprocess.run(["bash", "-c", there], capture_output=True, text=True, check=True, timeout=60)
        if "event-stream" in command:
            assert done.stdout.startswith("event: ") and "event: done" in done.stdout
        else:
            assert "release" in json.loads(done.stdout)


def test_every_python_example_of_the_page_runs(
    address: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks("python"):
        exec(compile(block.replace("http://localhost:8000", address), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert "Sources:" in capsys.readouterr().out


def test_the_page_names_every_route_and_option() -> None:
    from crmrag_query.cli.serve import serve
    from crmrag_query.service.records import OWN_ROUTES

    text = PAGE.read_text(encoding="utf-8")
    options = [option for one in serve.params for option in one.opts if option.startswith("--")]
    assert [one for one in options if one not in text] == []
    assert [route.path for route in OWN_ROUTES if route.path not in text] == []
