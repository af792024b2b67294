"""Plans: what a question asks for as a small typed object that is executed exactly on the graph's arrays."""
