"""Entity linking: the entities of the data that a question names."""
