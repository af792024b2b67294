"""The scripts of benchmarks import each other as scripts do, and so do their tests."""

from __future__ import annotations

import sys

from tests.conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))
