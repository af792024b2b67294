"""Language models: one seam for all that litellm reaches, what goes wrong with them, replies of a given shape."""
