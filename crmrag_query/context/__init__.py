"""What is put before a language model, and what an extractive answer is written from: one budget, every line traceable."""
