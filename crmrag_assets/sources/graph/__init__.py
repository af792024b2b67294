"""Lists of edges as a source."""
