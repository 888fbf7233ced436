"""A digest of a training run, to compare runs of different processes."""

import hashlib

import jax
import numpy as np


def bits(run):
    """A digest of all numbers of a run of `ew.train`."""
    arrays = [run.iterations, run.errors, run.scale, *jax.tree.leaves(run.student)]
    return hashlib.sha256(b"".join(np.asarray(array).tobytes() for array in arrays)).hexdigest()
