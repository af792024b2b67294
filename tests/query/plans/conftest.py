"""The small museum of ``plan_museum``, made once a module."""

from __future__ import annotations

import pytest

from tests.support.plan_museum import MUSEUM
from tests.support.planworlds import Sample, sample_of


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample_of(MUSEUM, tmp_path_factory.mktemp("museum"))
