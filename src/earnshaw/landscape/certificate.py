"""What kind of point a student is: a minimum, a saddle, or none of these.

With L the loss in the weights c and positions theta that may move, a point is critical when 0 lies
in the Clarke subdifferential of L (mathematics.md, "Cusps"). Split the motions of positions into
those along which L is smooth, E, and the rest: units that sit on a cusp of pull_i (`binding.py`),
on which everything else acts with a force net_i. Then

    gradient_norm^2 = |grad_c L|^2 + |E^T grad L|^2 + sum_i max(0, |net_i| - |pull_i|)^2,
    cusp_margin_i   = pull_i - |net_i|,

and `smallest_eigenvalue` is that of the Hessian over E and the weights, transversal to the orbit of
the symmetries of L (`_curvature.py`): a minimum is one up to these symmetries. Verdicts:

- ``not-critical``   gradient_norm > tolerance;
- ``minimum``, ``cusp-minimum`` (with bound units)   the eigenvalue exceeds the tolerance and every
  bound unit, and every group of them in one place, is held: L grows at first order in their
  motions and at second order in all others, and mixed terms are of higher order. Or L = 0 to
  rounding, where L is a mean square: a global minimum, whatever the Hessian says (relu on R^d has
  directions along which nothing changes);
- ``strict-saddle``  the eigenvalue is below -tolerance; or a bound unit is repelled, pull_i < 0. To
  Clarke the tip of a cone that points up is critical like one that points down; L falls from it at
  first order in every direction, so that a maximum in one unit counts as a saddle of L. Or a unit
  of weight 0 sits on a cusp: with a small weight of the right sign it is repelled;
- ``degenerate``     none of these: an eigenvalue or a margin is 0 to the tolerance. `certify` and
  `hunt` then go and look, and say ``plateau``, ``valley`` or ``channel`` if they can (`flat.py`);
- ``inconclusive``   the residual of the eigenvalue, or the kind of cusp, does not allow a verdict.

A local minimum is one in the sense of Full, Definition 3.2: no smaller value nearby; strict where
every other value nearby is larger. (EPD's Definition 3.2 asks for a Hessian, which the loss does
not have at cusps, where the answers themselves lie.) `strict` says which: True for minima with
positive eigenvalues and margins, False where a motion is known that changes nothing or leads down,
None where that is not known.

A certificate is numerical: it is as good as the floating-point numbers it is made of, and proves
nothing. On a loss of samples every unit counts as free; where the activation has a jump or a kink,
gradient and Hessian are those of `EmpiricalLoss`, with bumps for what samples miss.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.errors import EarnshawError
from earnshaw.landscape._curvature import Curvature, along, smallest_curvature, smooth_directions
from earnshaw.landscape.binding import Binding, bind
from earnshaw.landscape.symmetries import orbit_directions
from earnshaw.limits import check_real
from earnshaw.numerics.fixed_order import one_blas_thread
from earnshaw.results import Result, number
from earnshaw.text import plural

Kind = Literal[
    "minimum",
    "cusp-minimum",
    "strict-saddle",
    "plateau",
    "valley",
    "channel",
    "degenerate",
    "not-critical",
    "inconclusive",
]
Verdict = tuple[Kind, str]

RELATIVE = 1e-6  # the default tolerance, relative to the teacher
HELD = 1e-6  # a margin smaller than this part of the charges' pulls is none
ZERO = "the loss is 0 to rounding, and no loss is less"


@dataclasses.dataclass(frozen=True, repr=False)
class Certificate(Result):
    """What kind of point a student is, and the numbers that say so; see the module's docstring.

    `gradient_norm` is the distance from 0 to the Clarke subdifferential. `smallest_eigenvalue` is
    inf where no motion is smooth, `residual` that of it. `cusp_margins` (k,) are NaN for free
    units; `held_by` (k,) is the proton that the unit sits on, -1 for free units, and -2 - j where
    it is another student unit j. `direction` is that of the smallest eigenvalue, a unit motion of
    positions and weights; None without one. `moved` is how far bound units were from their charges
    (an angle for cusps across rays): all numbers are those of the student with these units put
    exactly there. `strict` says whether the point is a strict local minimum (Full, Definition 3.2),
    None where that is not known.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0], "gaussian")
    >>> loss = ew.population_loss(teacher, wrt="positions")
    >>> found = ew.certify(loss, ew.Student([[0.5, 0.0]], [1.0]))
    >>> isinstance(found, ew.Certificate), found.kind, found.held_by.tolist()
    (True, 'minimum', [-1])
    """

    kind: Kind
    reason: str
    gradient_norm: float
    smallest_eigenvalue: float
    residual: float
    cusp_margins: np.ndarray
    held_by: np.ndarray
    loss: float
    moved: float
    tolerance: float
    direction: Gradient | None = None
    strict: bool | None = None

    @property
    def epsilon(self) -> float:
        """The smallest eps with the point in M_eps: |grad L| <= eps, eigenvalues >= -eps."""
        return max(self.gradient_norm, -self.smallest_eigenvalue, 0.0)

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON; None for what is infinite or does not exist."""
        bound = self.cusp_margins[self.held_by != -1]
        return {
            "kind": self.kind,
            "strict": self.strict,
            "reason": self.reason,
            "gradient_norm": _plain(self.gradient_norm),
            "smallest_eigenvalue": _plain(self.smallest_eigenvalue),
            "smallest_margin": _plain(np.min(bound)) if len(bound) else None,
            "bound_units": len(bound),
            "epsilon": _plain(self.epsilon),
            "tolerance": self.tolerance,
        }

    def _title(self) -> str:
        return f"{self.kind}: {self.reason}"

    def _facts(self) -> dict[str, object]:
        found = self.summary()
        return {
            "loss": number(self.loss),
            "gradient norm": number(self.gradient_norm),
            "smallest eigenvalue": number(self.smallest_eigenvalue),
            "smallest margin": number(found["smallest_margin"]),
            "bound units": found["bound_units"],
            "strict": {True: "yes", False: "no", None: None}[self.strict],
        }


@one_blas_thread()
def certificate(
    objective: Objective, student: Student, *, tolerance: float | None = None
) -> Certificate:
    """What kind of point `student` is in the landscape of `objective`.

    Args:
        objective: a population or an empirical loss.
        student: numbers, not stand-ins inside a compiled function.
        tolerance: of gradient norms and eigenvalues alike; by default 1e-6 times the loss's
            `gradient_scale`.
    """
    if not isinstance(objective, Objective):
        raise EarnshawError(f"a certificate needs a loss, not {type(objective).__name__}")
    if not isinstance(student, Student):
        raise EarnshawError(f"a certificate needs a Student, not {type(student).__name__}")
    objective, student = objective.suited_to(student), objective.check(student)
    if tolerance is None:
        tolerance = RELATIVE * objective.gradient_scale()
    else:
        tolerance = check_real("tolerance", tolerance, 0.0)
    binding = bind(objective, student)
    value, gradient = objective.value_and_gradient(binding.student)
    by_positions, by_weights = (np.asarray(part) for part in gradient)
    if not all(np.all(np.isfinite(part)) for part in (value, by_positions, by_weights)):
        return _infinite(float(value), binding, tolerance)
    smooth = smooth_directions(objective, binding)
    smoothly = smooth.T @ by_positions.ravel()
    net = by_positions - (smooth @ smoothly).reshape(by_positions.shape)
    held, pulls = binding.held, binding.pulls
    # A product's cusp is |v|_1, whose subdifferential is a cube.
    forces = np.abs(net) if binding.product else np.linalg.norm(net, axis=1, keepdims=True)
    excess = np.maximum(0.0, forces - np.abs(pulls)[:, None])[held]
    norm = float(np.linalg.norm(np.concatenate([by_weights.ravel(), smoothly, excess.ravel()])))
    margins = np.where(held, pulls - np.max(forces, axis=1, initial=0.0), np.nan)
    if binding.least and np.any(held & (pulls > 0) & ~(margins > HELD * np.abs(pulls))):
        steeper = "a unit is on a cusp whose slope depends on the direction: held or not"
        binding = dataclasses.replace(binding, unsure=binding.unsure or steeper)
    perfect = abs(float(value)) <= objective.rounding_of_zero(binding.student)
    curvature = smallest_curvature(objective, binding, smooth)
    kind, reason = (
        _by_gradient(objective, binding, norm, tolerance, perfect)
        or _by_cusps(objective, binding, margins, net, tolerance)
        or _by_curvature(curvature, tolerance)
        or _least(bool(np.any(held)), _strict(curvature, held))
    )
    cusps = _by_cusps(objective, binding, margins, net, tolerance)
    rises = cusps is None and _by_curvature(curvature, tolerance) is None
    still = bool(orbit_directions(objective, binding.student).shape[1])
    return Certificate(
        kind=kind,
        reason=reason,
        gradient_norm=norm,
        smallest_eigenvalue=curvature.value,
        residual=curvature.residual,
        cusp_margins=margins,
        held_by=binding.held_by,
        loss=float(value),
        moved=binding.moved,
        tolerance=tolerance,
        direction=along(curvature, binding.student, smooth),
        strict=is_strict(kind, rises, still),
    )


def is_strict(kind: Kind, rises: bool, still: bool) -> bool | None:
    """Whether a point of this kind is a strict minimum.

    `rises` if its eigenvalues and margins are positive, transversal to the orbit of symmetries;
    `still` if there is such an orbit, along which nothing changes.
    """
    if kind in ("minimum", "cusp-minimum"):
        return False if still else (True if rises else None)
    return None if kind in ("degenerate", "inconclusive") else False


def _infinite(value: float, binding: Binding, tolerance: float) -> Certificate:
    return Certificate(
        kind="inconclusive",
        reason="the energy or its gradient is infinite",
        gradient_norm=math.inf,
        smallest_eigenvalue=math.nan,
        residual=math.inf,
        cusp_margins=np.full(len(binding.held_by), np.nan),
        held_by=binding.held_by,
        loss=value,
        moved=binding.moved,
        tolerance=tolerance,
    )


def _by_gradient(
    objective: Objective, binding: Binding, norm: float, tolerance: float, perfect: bool
) -> Verdict | None:
    """The verdict on a point that is not critical, or the answer."""
    # Bumps at the jumps of an activation make a gradient of samples that is not that of the loss.
    trusted = not (binding.unsure or objective.samples is not None)
    if perfect and (norm <= tolerance or not trusted):
        return _least(bool(np.any(binding.held) or binding.unsure), ZERO)
    if binding.unsure:
        return "inconclusive", binding.unsure
    if norm > tolerance:
        return "not-critical", f"the gradient has norm {norm:.3g}, more than {tolerance:.3g}"
    return None


def _by_cusps(
    objective: Objective,
    binding: Binding,
    margins: np.ndarray,
    net: np.ndarray,
    tolerance: float,
) -> Verdict | None:
    """The verdict on a critical point where not every cusp holds its units."""
    held, weights = binding.held, binding.charges
    least = HELD * binding.scales * np.abs(weights)
    repelled = held & (binding.pulls < -least)
    if np.any(repelled):
        unit = int(np.argmax(repelled))
        return "strict-saddle", f"unit {unit} is repelled by the charge it sits on"
    silent = (weights == 0) & (np.abs(binding.rates) > tolerance)
    if objective.wrt == "both" and np.any(silent):
        unit = int(np.argmax(silent))
        return "strict-saddle", f"unit {unit} of weight 0 sits on a cusp, which repels one sign"
    if np.any(np.bincount(binding.place[binding.cancelled]) > 1):
        return "inconclusive", "units in one place feel no pull alone, but do together"
    surely, at_most = binding.group_margins(net)
    if at_most < -tolerance:
        return "strict-saddle", "units in one place are held each alone, but not together"
    loose = held & ~(margins > least)
    if np.any(loose):
        return "degenerate", f"unit {int(np.argmax(loose))} is held with no margin"
    if not surely > 0:
        return "inconclusive", "whether units in one place are held together is not known"
    return None


def _by_curvature(found: Curvature, tolerance: float) -> Verdict | None:
    """The verdict by the smallest eigenvalue, unless that is positive."""
    value, residual = found.value, found.residual
    if math.isnan(value):
        return "inconclusive", "the Hessian has infinite entries"
    # A Ritz value is never below the smallest eigenvalue, whatever its residual.
    if value < -max(tolerance, 0.0 if not found.settled else residual):
        return "strict-saddle", f"the smallest eigenvalue is {value:.3g}"
    if not found.settled or (residual > tolerance and residual >= abs(value)):
        return "inconclusive", f"the smallest eigenvalue is {value:.3g} up to {residual:.3g}"
    if value <= tolerance:
        return "degenerate", f"the smallest eigenvalue is {value:.3g}, 0 to the tolerance"
    return None


def _least(cusped: bool, why: str) -> Verdict:
    return ("cusp-minimum" if cusped else "minimum"), why


def _strict(found: Curvature, held: np.ndarray) -> str:
    """Why a critical point is a minimum though its loss is not 0."""
    smooth = "nothing else moves"
    if math.isfinite(found.value):
        smooth = f"the smallest eigenvalue is {found.value:.3g}"
    units = plural(int(np.sum(held)), "unit")
    return f"cusps hold {units}, and {smooth}" if np.any(held) else smooth


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
