"""Reading a question as a plan with the data's own words, without a language model."""
