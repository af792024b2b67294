"""Language models are reached over HTTP; when they fail, the error says which model and what to check."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from crmrag_query.errors import ModelError
from crmrag_query.llm.model import CannedModel, LiteLLM
from tests.support.model_server import model_server

over_http = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
MESSAGES = [{"role": "user", "content": "Who built it?"}]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_reply_comes_in_pieces_from_an_openai_compatible_server() -> None:
    with model_server("Nikephoros built it [1].") as script:
        pieces = list(LiteLLM("openai/scripted", script.address).complete(MESSAGES))
    assert "".join(pieces) == "Nikephoros built it [1]."
    assert len(pieces) > 1
    assert script.requests[0]["messages"] == MESSAGES


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_failing_server_is_a_model_error_that_names_the_model_and_hides_the_key() -> None:
    with model_server("", status=400) as script, pytest.raises(ModelError, match="openai/scripted") as caught:
        list(LiteLLM("openai/scripted", script.address, timeout=5).complete(MESSAGES))
    assert "sk-secret" not in str(caught.value)


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_server_that_is_not_there_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="CRMRAG_API_BASE"):
        list(LiteLLM("openai/scripted", "http://127.0.0.1:9/v1", timeout=5).complete(MESSAGES))


def test_the_stand_in_gives_its_reply() -> None:
    assert "".join(CannedModel("One.\nTwo.").complete(MESSAGES)) == "One.\nTwo."
