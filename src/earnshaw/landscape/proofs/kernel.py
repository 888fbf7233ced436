"""What a proof asks of a potential: Phi(x, y) and its derivatives, enclosed.

`jet` is for a pair of different units, `alone` for a unit with itself, Phi(x, x). On the sphere
the same functions of vectors in R^d are used, through a chart (`_charts.py`).
"""

from __future__ import annotations

import abc
from typing import NamedTuple

from flint import arb, arb_mat


class PairJet(NamedTuple):
    """Phi(x, y) to second order: gradients (d, 1) in x and y, Hessian blocks (d, d)."""

    value: arb
    in_x: arb_mat
    in_y: arb_mat
    in_xx: arb_mat
    in_xy: arb_mat
    in_yy: arb_mat


class SelfJet(NamedTuple):
    """Phi(x, x) as a function of x, to second order."""

    value: arb
    gradient: arb_mat
    hessian: arb_mat


class Kernel(abc.ABC):
    """A potential in ball arithmetic, at the precision in force when it is called."""

    cusped = False  # whether Phi has a cusp where two units meet

    @abc.abstractmethod
    def value(self, x: arb_mat, y: arb_mat) -> arb:
        """Phi(x, y)."""

    @abc.abstractmethod
    def jet(self, x: arb_mat, y: arb_mat) -> PairJet:
        """Phi(x, y) and its derivatives; NaN where they do not exist somewhere in the balls."""

    @abc.abstractmethod
    def alone(self, x: arb_mat) -> SelfJet:
        """Phi(x, x) and its derivatives."""

    def cusp(self) -> arb:
        """kappa in Phi(x, y) = Phi(x, x) - kappa |y - x| + ...; 0 where Phi is smooth."""
        return arb(0)
