"""An interface like OpenAI's, so that existing chat front ends can ask: a model for each data set and mode."""
