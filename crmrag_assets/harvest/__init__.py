"""From RDF terms to chunks of sorted, distinct triples."""
