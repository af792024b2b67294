"""SHACL: a sample of the data held against shapes for CIDOC-CRM, and a data set's own."""
