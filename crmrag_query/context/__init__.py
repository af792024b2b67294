"""The context: what is put before a language model, and what its answer is traced to."""
