"""The answer to "which activation has this potential?", with evidence either way."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import equinox as eqx
import numpy as np

from earnshaw.duality.activation import Activation
from earnshaw.duality.potential import Potential
from earnshaw.duality.realizing.description import Description, describe
from earnshaw.results import Result, number

ObstructionKind = Literal[
    "negative-coefficient",
    "negative-gegenbauer",
    "negative-frequency",
    "exceeds-origin",
    "unbounded",
    "not-analytic",
]

POOR = 1e-6  # of the largest value: an activation that is further off is warned of


ANSWERS = {True: "realizable", False: "not realizable", None: "inconclusive"}


class Obstruction(Result, eqx.Module):
    """Why no activation exists, in a form that anyone can check (Full, Lemma B.4).

    `kind` and `location` name the negative quantity: the degree of a Taylor or Gegenbauer
    coefficient, a frequency |omega|, or a distance; `value` is that quantity. Where a finite
    witness was found, `points` (n, dim) and `weights` (n,) satisfy

        quadratic_form = sum_ij weights_i weights_j Phi(points_i, points_j) < 0,

    which E[(sum_i weights_i sigma(X, points_i))^2] >= 0 forbids for every activation.

    Examples
    --------
    >>> import earnshaw as ew
    >>> found = ew.realize("(3*rho^2 - 1)/2")
    >>> found.realizable, found.obstruction.location, found.obstruction.value
    (False, 0.0, -0.5)
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

    summary = as_dict

    def _title(self) -> str:
        return f"{self.kind} at {self.location:g}"

    def _facts(self) -> dict[str, object]:
        many = None if self.points is None else len(self.points)
        return {"value": number(self.value), "dim": self.dim, "points of the witness": many}


class Realization(Result, eqx.Module):
    """Whether a potential is realizable, and by what.

    `realizable` is True (then `activation` evaluates), False (then `obstruction` says why), or
    None: inconclusive, for the `reason` given. `check_error` is how far the activation's own
    potential may be from the given one, anywhere: a bound if `check_is_bound`, else an estimate. On
    the sphere,
    `positive_semidefinite` is the weaker property of being a kernel on S^(d-1) for the `dim` asked
    about, with its own witness.

    Examples
    --------
    >>> import earnshaw as ew
    >>> found = ew.realize("exp(rho-1)")
    >>> found.realizable, found.activation.name
    (True, 'exponential')
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

    _picture: ClassVar[str] = "earnshaw.plots.duality:draw_realization"
    _panel: ClassVar[str] = "earnshaw.plots.duality:draw_activation_of"

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: the answer, and the witnesses with their quadratic forms."""
        return {
            "potential": self.potential.name,
            "on": "sphere" if self.potential.kind == "zonal" else "space",
            "dim": getattr(self.potential, "dim", None),
            "realizable": self.realizable,
            "reason": self.reason,
            "check_error": self.check_error,
            "check_is_bound": self.check_is_bound,
            "activation": None if self.activation is None else self.activation.name,
            "activation_is": None if self.found is None else self.found.as_dict(),
            "warning": self.warning,
            "obstruction": self._witness(self.obstruction),
            "positive_semidefinite": self.positive_semidefinite,
            "positive_semidefinite_reason": self.positive_semidefinite_reason,
            "positive_semidefinite_obstruction": self._witness(self.psd_obstruction),
        }

    def _witness(self, obstruction: Obstruction | None) -> dict[str, Any] | None:
        if obstruction is None:
            return None
        form = None
        if obstruction.points is not None:
            form = obstruction.quadratic_form(self.potential)
        return {**obstruction.as_dict(), "quadratic_form": form}

    def _title(self) -> str:
        return f"{self.potential.name}: {ANSWERS[self.realizable]}"

    def _facts(self) -> dict[str, object]:
        return {
            "reason": self.reason.removeprefix("inconclusive: "),
            "activation": None if self.found is None else self.found.sentence(),
            "check error": number(self.check_error),
        }

    @property
    def found(self) -> Description | None:
        """What the activation is, in words and numbers; None if there is none."""
        return None if self.activation is None else describe(self.activation)

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
