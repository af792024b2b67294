"""What is other in one release than in another: counts, configuration, documents, files."""
