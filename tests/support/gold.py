"""Questions with known answers about the churches of ``builds.turtle``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.support.builds import BASE, Project, build_all, make_project

WHO = "Who painted Mural 4?"
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "who",
        "kind": "specific",
        "question": WHO,
        "gold_iris": [f"{BASE}painter1"],
        "gold_facts": ["Painter 1", "1106"],
    },
    {
        "id": "which",
        "kind": "list",
        "answer_form": "iris",
        "question": "Which murals did Painter 1 paint?",
        "gold_iris": [f"{BASE}mural{n}" for n in (3, 4, 5)],
        "also_ok_iris": [f"{BASE}painting{n}" for n in (3, 4, 5)],
    },
    {
        "id": "when",
        "kind": "time",
        "answer_form": "iris",
        "question": "Which murals were painted in 1105?",
        "gold_iris": [f"{BASE}mural5"],
    },
    {
        "id": "count",
        "kind": "count",
        "answer_form": "number",
        "question": "How many churches are there in Marathasa?",
        "gold_value": 12,
    },
    {
        "id": "then",
        "kind": "follow_up",
        "question": "And Mural 7 <b>|?",
        "history": [WHO],
        "gold_iris": [f"{BASE}painter2"],
        "gold_facts": ["Painter 2"],
    },
    {
        "id": "lost",
        "kind": "specific",
        "question": "Who painted Mural 99?",
        "gold_iris": [f"{BASE}painter33"],
    },
    {"id": "never", "kind": "unanswerable", "question": "What does Mural 4 weigh?", "answer_form": "refuse"},
]


def gold_project(root: Path) -> Project:
    """The churches, built and declared with the questions; each entity keeps a document of its own, however short."""
    project = make_project(root, questions="gold.json")
    write_questions(root)
    method = (ROOT / "config" / "method.yaml").read_text(encoding="utf-8")
    thin = "  thin_characters: 400\n"
    assert thin in method
    (project.config / "method.yaml").write_text(
        method.replace(thin, "  thin_characters: 1\n"), encoding="utf-8"
    )
    build_all(project.context())
    return project


def write_questions(folder: Path, questions: list[dict[str, Any]] | None = None) -> Path:
    """The questions, or others, as a JSON file in ``folder``."""
    path = folder / "gold.json"
    path.write_text(json.dumps(QUESTIONS if questions is None else questions), encoding="utf-8")
    return path
