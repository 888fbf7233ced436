"""Where electrons can rest, whether they stay there, and which way they leave.

At rest forces are 0, no more: `at_rest` has the certificate of all electrons together, and a way
out where there is one. `resting_places` are those of one electron in the field of all other
charges,

    E(x) = -2 c C(x),    C(x) = sum_j b_j Phi(x, w_j) - sum of the others' c_l Phi(x, theta_l),

in the plane: where grad C = 0. Where Phi is harmonic no rest is stable: E is harmonic too, the mean
of E on a circle is E in its centre, so E is lower somewhere on it or the same all over (Earnshaw;
EPD Thm 3.3, Full Thm 3.4). The Hessian need not say so: amid four equal protons it vanishes.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.bessel import BesselPotential
from earnshaw.duality.potential import Radial
from earnshaw.dynamics.path import Path
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.landscape.certificate import certificate
from earnshaw.landscape.flat import flat_kind

GRID = 41  # points along each side, from whose smallest slopes Newton's method begins
MOST = 24  # of these
TURNS = 60  # of Newton's method; where the Hessian vanishes each gains a third of a digit only
AT_REST = 1e-6  # of half the width: Newton's last step
FLAT = 1e-6  # curvatures below this part of the usual one are 0
APART = 2e-2  # of half the width: two places nearer than this are one
CIRCLE = 0.05  # of half the width, where the Hessian does not tell which way is down


@dataclasses.dataclass(frozen=True)
class Equilibrium:
    """Electrons at rest.

    Attributes:
        kind: as in certificates, valleys and channels included.
        smallest_eigenvalue: of the Hessian over what moves.
        way_out: a direction (k, d) of positions, of length 1, in which the energy falls; or None.
        harmonic: whether Earnshaw's theorem applies: Phi is harmonic, and no two charges coincide.
    """

    kind: str
    smallest_eigenvalue: float
    way_out: np.ndarray | None
    harmonic: bool

    @property
    def unstable(self) -> bool | None:
        """True where some push makes them leave, False for minima, None where that is not known."""
        if self.kind in ("minimum", "cusp-minimum"):
            return False
        known = self.kind == "strict-saddle" or self.way_out is not None or self.harmonic
        return True if known else None

    @property
    def words(self) -> str:
        """Such as "saddle, unstable: Earnshaw"."""
        # What is harmonic and not constant has saddles only, also where its Hessian vanishes.
        saddle = self.kind == "strict-saddle" or (self.unstable and self.harmonic)
        name = "saddle" if saddle else self.kind.replace("-", " ")
        stands = {True: "unstable", False: "stable", None: "stability not known"}
        because = ": Earnshaw" if self.unstable and self.harmonic else ""
        return f"{name}, {stands[self.unstable]}{because}"

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        value = self.smallest_eigenvalue
        return {
            "kind": self.kind,
            "unstable": self.unstable,
            "smallest_eigenvalue": float(value) if np.isfinite(value) else None,
            "way_out": None if self.way_out is None else self.way_out.tolist(),
            "earnshaw": self.harmonic,
        }


def is_harmonic(teacher: Teacher) -> bool:
    """Whether Phi is harmonic off coincidence."""
    potential = teacher.potential
    if not isinstance(potential, (Radial, BesselPotential)):
        return False
    regions = potential.regions()
    return bool(regions) and all(region.character == "harmonic" for region in regions)


def at_rest(
    teacher: Teacher, student: Student, objective: str = "full", wrt: str = "positions"
) -> Equilibrium:
    """What kind of rest `student` is in; `objective` and `wrt` as in `population_loss`."""
    loss = population_loss(teacher, objective, wrt=wrt)
    found = certificate(loss, student)
    kind, way = str(found.kind), None
    if found.smallest_eigenvalue < -found.tolerance and found.direction is not None:
        way = np.asarray(found.direction.positions)
    elif kind == "degenerate" and (flat := flat_kind(loss, student, found.tolerance)) is not None:
        kind = flat.kind
        if flat.path is not None:
            line = [np.asarray(one.positions) for one in flat.path.students]
            way = next((x - line[0] for x in line[1:] if np.any(x != line[0])), None)
    places = np.concatenate([teacher.positions, student.positions])
    return Equilibrium(
        kind=kind,
        smallest_eigenvalue=float(found.smallest_eigenvalue),
        way_out=None if way is None or not np.any(way) else way / np.linalg.norm(way),
        harmonic=is_harmonic(teacher) and len(np.unique(places, axis=0)) == len(places),
    )


def rest_of(path: Path) -> Equilibrium | None:
    """What kind of rest a path has come to; None if it has not."""
    if path.stop != "equilibrium":
        return None
    pause = path.pause
    asked = ("full", "positions") if pause is None else (pause.objective, pause.wrt)
    return at_rest(path.teacher, path.student, *asked)


class RestingPlace(NamedTuple):
    """A place (2,) where one electron feels no force.

    `kind` is "stable", "saddle", "top" (no direction is uphill) or "degenerate"; `way_out` (2,) is
    a direction in which its energy falls, and `both` whether it falls in the opposite one too.
    """

    place: np.ndarray
    kind: str
    way_out: np.ndarray | None
    both: bool = False


def resting_places(
    teacher: Teacher, others: Student, weight: float, centre: np.ndarray, reach: float
) -> list[RestingPlace]:
    """All that are found in the square of half width `reach` about `centre` (2,).

    `others` are all electrons but the one of that `weight`. Not those on a cusp, where it has no
    gradient; and those nearer to each other than the grid's cells can be missed.
    """
    loss = population_loss(teacher, "without-constants").suited_to(others)
    field = _Field(loss, others, weight)
    side = np.linspace(-reach, reach, GRID)
    grid = np.asarray(centre) + np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    slopes = np.linalg.norm(field.slope(grid), axis=1)
    finite = slopes[np.isfinite(slopes)]
    usual = float(np.median(finite)) if len(finite) else 0.0
    begun = grid[_valleys(slopes.reshape(GRID, GRID))]
    begun = begun[np.argsort(np.linalg.norm(begun - centre, axis=1), kind="stable")][:MOST]
    if not usual > 0 or not len(begun):
        return []
    # Always as many, so that nothing is compiled twice.
    filled = np.concatenate([begun, np.repeat(begun[:1], MOST - len(begun), axis=0)])
    ends, curvatures, good = _newton(field, filled, reach)
    good &= np.max(np.abs(ends - centre), axis=1) <= reach
    found: list[RestingPlace] = []
    for place, matrix in zip(ends[good], curvatures[good], strict=True):
        if all(np.linalg.norm(place - one.place) > APART * reach for one in found):
            found.append(_classified(field, place, matrix, FLAT * usual / reach, CIRCLE * reach))
    return found


class _Field:
    """E of one electron in the field of the others, its slope and its curvature."""

    def __init__(self, loss: PopulationLoss, others: Student, weight: float) -> None:
        self.loss, self.others, self.factor = loss, others, -2.0 * weight

    def energy(self, points: np.ndarray) -> np.ndarray:
        return self.factor * np.asarray(self.loss.potential(points, self.others))

    def slope(self, points: np.ndarray) -> np.ndarray:
        return self.factor * np.asarray(self.loss.potential_gradient(points, self.others))

    def curvature(self, points: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Slopes (n, 2), and Hessians (n, 2, 2) by their central differences."""
        moves = step * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
        around = self.slope((points[:, None] + moves).reshape(-1, 2)).reshape(-1, 5, 2)
        rows = np.stack([around[:, 1] - around[:, 2], around[:, 3] - around[:, 4]], axis=1)
        return around[:, 0], (rows + np.swapaxes(rows, 1, 2)) / (4 * step)


def _valleys(slopes: np.ndarray) -> np.ndarray:
    """Where slopes (n, n) are no larger than at all eight neighbours, not at the edge: (n^2,)."""
    inner = slopes[1:-1, 1:-1]
    least = np.isfinite(inner)
    size = len(slopes)
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            least &= inner <= slopes[1 + i : size - 1 + i, 1 + j : size - 1 + j]
    return np.pad(least, 1).ravel()


def _newton(
    field: _Field, points: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where points (n, 2) come to rest, the Hessians there, and which of them do, (n,)."""
    cell = 2 * reach / (GRID - 1)
    begun, size = points, np.full(len(points), np.inf)
    for _ in range(TURNS):
        slopes, matrices = field.curvature(points, 1e-5 * reach)
        finite = np.isfinite(np.sum(matrices, axis=(1, 2)) + np.sum(slopes, axis=1))
        inverses = np.linalg.pinv(np.where(finite[:, None, None], matrices, 0.0), rcond=1e-12)
        steps = -np.einsum("nij,nj->ni", inverses, np.where(finite[:, None], slopes, 0.0))
        size = np.where(finite, np.linalg.norm(steps, axis=1), np.inf)
        limited = steps * np.minimum(1.0, cell / np.maximum(size, 1e-300))[:, None]
        points = points + limited
        if np.all(size <= AT_REST * reach / 10):
            break
    near = np.linalg.norm(points - begun, axis=1) <= 3 * cell
    return points, field.curvature(points, 1e-5 * reach)[1], near & (size <= AT_REST * reach)


def _classified(
    field: _Field, place: np.ndarray, matrix: np.ndarray, flat: float, radius: float
) -> RestingPlace:
    values, vectors = np.linalg.eigh(matrix)
    if values[0] > flat:
        return RestingPlace(place, "stable", None)
    if values[0] < -flat:
        kind = "top" if values[1] < -flat else "saddle"
        return RestingPlace(place, kind, vectors[:, 0], both=True)
    turn = 2 * np.pi * np.arange(64) / 64
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    levels = field.energy(np.concatenate([place + radius * ring, place[None]]))
    falls = levels[:-1] - levels[-1]
    best = int(np.argmin(falls))
    least = -1e-9 * max(float(np.max(np.abs(falls))), 1e-300)
    if not falls[best] < least:
        return RestingPlace(place, "degenerate", None)
    opposite = bool(falls[(best + 32) % 64] < 0.5 * falls[best])
    kind = "saddle" if np.max(falls) > -least else "top"
    return RestingPlace(place, kind, ring[best], opposite)
