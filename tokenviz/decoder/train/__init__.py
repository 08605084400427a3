"""How the tiny decoder is made: ``python -m tokenviz.decoder.train`` (needs the extra ``train``)."""
