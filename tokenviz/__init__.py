"""tokenviz: one decode step of a language model as an executable dependency graph, and the numbers read off it."""

__version__ = "0.1.0"
