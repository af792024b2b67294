"""SPARQL 1.1 endpoints as a source."""
