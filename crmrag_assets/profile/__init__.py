"""The profile of a data set: what occurs in its graph, counted over the arrays."""
