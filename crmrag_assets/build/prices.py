"""What an embedding API asks for a token."""

from __future__ import annotations

from crmrag_query.llm.loading import load_litellm


def litellm_price(model: str) -> float | None:
    """US dollars a token, from the table that litellm carries; None when it does not list the model."""
    litellm = load_litellm("The price of an embedding API")
    listed = litellm.model_cost.get(model) or litellm.model_cost.get(model.split("/", 1)[-1])
    return float(listed["input_cost_per_token"]) if listed and "input_cost_per_token" in listed else None
