"""The tiny trained decoder: its text, its tokenizer, its weights and how they were made."""
