"""One file a family: activations and potentials, with all that is known about them.

Each file registers its names (`_registry.py`), and being in this folder is all that makes it known:
`named.py` loads every file here. `tabulated.py` holds the activations that `realize` makes from a
potential, and `cores.py` the cores of `almost_harmonic.py`; neither has names of its own.
"""
