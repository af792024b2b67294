"""Read-only SPARQL over a release."""
