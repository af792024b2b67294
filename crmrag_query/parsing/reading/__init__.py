"""Reading the pieces of a question from left to right into a tree."""
