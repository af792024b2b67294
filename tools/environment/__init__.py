"""What `make` installs: the packages of requirements.lock, each checked by its hash."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
# PyTorch's CPU build for Linux, which PyPI does not have but another index or folder may; and what PyPI's build needs.
CPU_LOCK = ROOT / "requirements-cpu.lock"
CUDA_LOCK = ROOT / "requirements-cuda.lock"
# The parts of the package that a working copy needs: everything that is built, run and tested in it.
EXTRAS = ("build", "llm", "evaluate", "service", "mcp", "dev")
