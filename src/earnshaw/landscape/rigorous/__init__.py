"""Proofs in ball arithmetic that a point is a minimum or a saddle; see `prove.py`."""
