"""The papers' variants of the loss, by name: which of its terms each of them counts.

With K the matrix of Phi between the student's units, of weights c at theta, and p what the teacher
makes at them,

    L(c, theta) = c.K c - 2 c.p + const,

const the teacher's own energy b.K b, or for samples the mean of y^2.

- "full"               L (Full, eq. 1);
- "without-constants"  no constant, and no self-energies c_i^2 Phi(theta_i, theta_i) (Full, eq. 2):
                       the only one that is finite for unbounded potentials;
- "regularized"        L + |c|^2, the papers' G (Full, Section 4);
- "assumption-1"       L with all weights 1, teacher's and student's, and only positions moving
                       (Full, eq. 3; the papers drop constants that positions do not change);
- "one-node"           one unit alone, without the constant (Full, eq. 4).

Samples do not tell the energies of pairs apart: for them there are "full", "regularized" and
"assumption-1".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jax import Array

from earnshaw.charges.network import is_concrete
from earnshaw.errors import EarnshawError


class Terms(NamedTuple):
    """Which terms count: the self-energies in c.K c, the constant, and ridge |c|^2 on top."""

    self_energies: bool = True
    constant: bool = True
    ridge: float = 0.0


VARIANTS = {
    "full": Terms(),
    "without-constants": Terms(self_energies=False, constant=False),
    "regularized": Terms(ridge=1.0),
    "assumption-1": Terms(),
    "one-node": Terms(constant=False),
}


def check_ones(what: str, weights: Array) -> None:
    """Refuse weights that are not all 1, as Assumption 1 asks for."""
    if is_concrete(weights) and np.any(np.asarray(weights) != 1):
        raise EarnshawError(f"assumption-1 needs every weight of the {what} to be 1")
