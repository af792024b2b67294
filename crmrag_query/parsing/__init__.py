"""From a question to a plan: by its words, or by a language model."""
