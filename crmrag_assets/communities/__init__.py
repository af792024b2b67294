"""Building communities: finding them in the entity graph, and gathering what is told of each."""
