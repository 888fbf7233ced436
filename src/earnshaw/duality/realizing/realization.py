"""The answer to "which activation has this potential?", with evidence either way."""

from __future__ import annotations

from typing import Any, Literal

import equinox as eqx
import numpy as np

from earnshaw.duality.activation import Activation
from earnshaw.duality.potential import Potential

ObstructionKind = Literal[
    "negative-coefficient",
    "negative-gegenbauer",
    "negative-frequency",
    "exceeds-origin",
    "unbounded",
    "not-analytic",
]

POOR = 1e-6  # of the largest value: an activation that is further off is warned of


class Obstruction(eqx.Module):
    """Why no activation exists, in a form that anyone can check (Full, Lemma B.4).

    `kind` and `location` name the negative quantity: the degree of a Taylor or Gegenbauer
    coefficient, a frequency |omega|, or a distance; `value` is that quantity. Where a finite
    witness was found, `points` (n, dim) and `weights` (n,) satisfy

        quadratic_form = sum_ij weights_i weights_j Phi(points_i, points_j) < 0,

    which E[(sum_i weights_i sigma(X, points_i))^2] >= 0 forbids for every activation.
    """

    kind: ObstructionKind
    location: float
    value: float
    dim: int
    points: np.ndarray | None = None
    weights: np.ndarray | None = None

    def gram(self, potential: Potential) -> np.ndarray:
        """The matrix Phi(points_i, points_j)."""
        points = np.asarray(self.points)
        # In slices of rows: thousands of points in hundreds of dimensions would not fit at once.
        step = max(1, 10_000_000 // points.size)
        return np.concatenate(
            [
                np.asarray(potential.between(points[i : i + step, None, :], points[None, :, :]))
                for i in range(0, len(points), step)
            ]
        )

    def quadratic_form(self, potential: Potential) -> float:
        """Weights' Gram weights / |weights|^2, evaluated anew from the potential."""
        weights = np.asarray(self.weights)
        return float(weights @ self.gram(potential) @ weights / (weights @ weights))

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return {
            "kind": self.kind,
            "location": self.location,
            "value": self.value,
            "dim": self.dim,
            "points": None if self.points is None else np.asarray(self.points).tolist(),
            "weights": None if self.weights is None else np.asarray(self.weights).tolist(),
        }


class Realization(eqx.Module):
    """Whether a potential is realizable, and by what.

    `realizable` is True (then `activation` evaluates), False (then `obstruction` says why), or
    None: inconclusive, for the `reason` given. `check_error` is how far the activation's own
    potential may be from the given one, anywhere: a bound if `check_is_bound`, else an estimate. On
    the sphere,
    `positive_semidefinite` is the weaker property of being a kernel on S^(d-1) for the `dim` asked
    about, with its own witness.
    """

    potential: Potential
    realizable: bool | None
    reason: str
    activation: Activation | None = None
    obstruction: Obstruction | None = None
    check_error: float | None = None
    check_is_bound: bool = False
    positive_semidefinite: bool | None = None
    positive_semidefinite_reason: str = ""
    psd_obstruction: Obstruction | None = None

    @property
    def warning(self) -> str | None:
        """What is wrong with the activation, if its own potential is visibly not the given one."""
        if self.activation is None or self.check_error is None:
            return None
        given = self.potential
        origin = np.zeros(getattr(given, "dim", None) or 1)
        at_one = given.value(1.0) if given.kind == "zonal" else given.between(origin, origin)
        size = float(np.abs(np.ravel(at_one))[0])
        if not self.check_error > POOR * size:
            return None
        terms = getattr(self.activation, "coefficients", None)
        what = "" if terms is None else f": it is the first {len(terms)} terms of a slow series"
        return f"the activation has the potential only to {self.check_error / size:.1e} of it{what}"
