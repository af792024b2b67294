"""Entity documents: from the graph to texts with lines, satellites absorbed and thin documents chained."""
