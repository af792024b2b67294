"""What `attack.py` tries, and how it sees what came of it."""
