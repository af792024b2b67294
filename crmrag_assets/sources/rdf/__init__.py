"""RDF files."""
