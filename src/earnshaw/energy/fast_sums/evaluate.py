"""Fast sums of NumPy arrays: the potential of charges, its gradient, and their rates of change.

    C_i = sum_j q_j Phi(x_i - y_j),    grad C_i,    and with rates dx, dy, dq    dC_i, d grad C_i.

What is guaranteed, from the window, the reach and FINUFFT's own precision, each with a share:

    |error of C_i|      <= tolerance Phi(0) sum_j |q_j|,
    |error of grad C_i| <= tolerance max|grad Phi| sum_j |q_j|,

up to rounding: some 1e-14 sum_j |q_j| Phi(0), and of the gradient that over the radius at which far
and near meet. Rates are exact derivatives of the split sums, without a
bound of their own. Charges of both signs make sums that are smaller, about by the square root of
their number, and so are the errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earnshaw.energy.fast_sums.columns import in_columns
from earnshaw.energy.fast_sums.far import Far, coefficients, curvature_of, gradient_of
from earnshaw.energy.fast_sums.near import near_sums
from earnshaw.energy.fast_sums.plan import Plan, plan_for
from earnshaw.energy.fast_sums.splitting import Splitting


@dataclass(frozen=True)
class FastSums:
    """Sums for one potential, to one tolerance."""

    splitting: Splitting
    tolerance: float

    def fields(self, x: np.ndarray, sources: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """C and its gradient at x (n, d) for each of the sources (y, q): (sources, n, 1 + d)."""
        dim = self.splitting.dim
        if not len(x) or not any(len(q) for _, q in sources):
            return np.zeros((len(sources), len(x), 1 + dim))
        plan = plan_for(self.splitting, self.tolerance, x, [y for y, _ in sources])
        found = np.zeros((len(sources), len(x), 1 + dim))
        if plan.grid is not None:
            far = self._far(plan)
            wanted = []
            for y, q in sources:
                wanted += gradient_of(far.charges(y, q)[0], dim)
            made = far.fields(x, wanted)
            found += np.moveaxis(made.reshape(len(x), len(sources), 1 + dim), 1, 0)
            constant = self.splitting.constant(plan.cut, self.tolerance, plan.extent)
            for place, (_, q) in enumerate(sources):
                found[place, :, 0] += constant * np.sum(q)
        if plan.cut.radius:
            part = self.splitting.near(plan.cut, self.tolerance)
            for place, (y, q) in enumerate(sources):
                if len(q):
                    columns = in_columns(x, y, plan.cut.radius)
                    found[place] += near_sums(part, plan.cut.radius, columns, (x,), (y, q))
        return found

    def rates(
        self,
        x: np.ndarray,
        dx: np.ndarray,
        sources: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
    ) -> np.ndarray:
        """Their rates of change, from x, dx and (y, q, dy, dq): (sources, n, 1 + d)."""
        dim = self.splitting.dim
        found = np.zeros((len(sources), len(x), 1 + dim))
        if not len(x) or not any(len(source[1]) for source in sources):
            return found
        plan = plan_for(self.splitting, self.tolerance, x, [s[0] for s in sources], rates=True)
        for place, (y, q, dy, dq) in enumerate(sources):
            if not len(q):
                continue
            if plan.grid is not None:
                found[place] += _far_rates(self._far(plan), x, dx, y, q, dy, dq)
                constant = self.splitting.constant(plan.cut, self.tolerance, plan.extent)
                found[place, :, 0] += constant * np.sum(dq)
            if plan.cut.radius:
                columns = in_columns(x, y, plan.cut.radius)
                part = self.splitting.near(plan.cut, self.tolerance)
                moving = (x, dx), (y, q, dy, dq)
                found[place] += near_sums(part, plan.cut.radius, columns, *moving)
        return found

    def _far(self, plan: Plan) -> Far:
        assert plan.grid is not None
        prepared = self.splitting, plan.cut, self.tolerance, plan.extent, plan.grid
        return Far(plan.grid, coefficients(*prepared), plan.centre, self.tolerance)


def _far_rates(
    far: Far,
    x: np.ndarray,
    dx: np.ndarray,
    y: np.ndarray,
    q: np.ndarray,
    dy: np.ndarray,
    dq: np.ndarray,
) -> np.ndarray:
    """The field of what changes, and the change of the field where x goes: (n, 1 + d)."""
    dim = x.shape[1]
    charges = far.charges(y, q)[0]
    still = gradient_of(far.rates(y, q, dy, dq), dim)
    slopes = gradient_of(charges, dim)[1:]
    bends = curvature_of(charges, dim)
    made = far.fields(x, [*still, *slopes, *bends])
    rates = made[:, : 1 + dim]
    rates[:, 0] += np.sum(made[:, 1 + dim : 1 + 2 * dim] * dx, axis=1)
    for column, (_, (a, b)) in enumerate(bends, start=1 + 2 * dim):
        rates[:, 1 + a] += made[:, column] * dx[:, b]
        if a != b:
            rates[:, 1 + b] += made[:, column] * dx[:, a]
    return rates
