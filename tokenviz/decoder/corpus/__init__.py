"""The training text of the tiny decoder: a grammar of the project's own that writes simple English from a seed."""

from tokenviz.decoder.corpus.generate import document, documents

__all__ = ["document", "documents"]
