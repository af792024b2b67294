"""Entity documents: their tables and how to read them."""
