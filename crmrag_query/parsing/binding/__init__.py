"""Each tie of a question's tree as a constraint that the data answers to."""
