"""Which student units sit on a cusp of the loss, and how strongly it holds them.

Where unit i meets a charge, Phi falls off as Phi(x, x) - kappa |y - x|, and the loss in theta_i is

    L(theta_i + v) = L + pull_i |v| + net_i.v + ...,
    pull_i = 2 c_i kappa (sum of b_j of the protons there - sum of c_l of the other units there),

net_i the force of everything else (mathematics.md, "Cusps"). On the sphere f(x.y) may have a cusp
at the antipode too, of slope kappa' (sign: -kappa, so that -w_j with the opposite weight is as good
as w_j): there the charges count with kappa'. The same holds on R^d for activations that jump, whose
cusp is across a ray: along it the loss is smooth. With biases or correlated inputs the slope of
such a cusp depends on the direction; kappa is then the least, enough to say that a unit is held.

A unit counts as sitting on a charge within 1e-8 of its length, or of the length Phi/kappa of the
cusp if that is more: smooth forces change over that distance by 1e-8 of themselves, less than any
verdict looks at, while positions that a descent has found are right to 1e-14 or so. Such units are
put exactly there, on a copy, since exact coincidence is what the energies have a convention for (no
force, no stiffness); `moved` says how far that was.
"""

from __future__ import annotations

import dataclasses
from itertools import chain, combinations

import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.couplings.coupling import COINCIDENT
from earnshaw.energy.objective import Objective

CANCELLED = 1e-9  # a pull smaller than this part of its terms is none: the terms cancel
SUBSETS = 10  # units in one place up to which every group of them is tried


@dataclasses.dataclass(frozen=True)
class Binding:
    """Where units sit on cusps; arrays over the k student units.

    `student` has bound units exactly on their charges. `rates` are the pulls per weight c_i, 0 for
    units on no cusp, and `scales` the sizes of their terms. Units of one `place` coincide (up to
    `sides`, +1 or -1); `anchored` if protons are there, else the place may move as a whole.
    `held_by` is a proton, -1 for no one, -2 - j for the student unit j. `slopes` (k, 2) are kappa
    and kappa', `from_protons` (k,) the protons' charges there times their slopes. `rays` if cusps
    are across rays only, `flat` if the loss does not change along rays at all, and `product` if the
    cusp is |v|_1, not |v|. `least` if slopes depend on the direction, and are the least of all.
    `unsure` says what this analysis does not cover.
    """

    student: Student
    rates: np.ndarray
    scales: np.ndarray
    place: np.ndarray
    sides: np.ndarray
    anchored: np.ndarray
    held_by: np.ndarray
    slopes: np.ndarray
    from_protons: np.ndarray
    moved: float = 0.0
    rays: bool = False
    flat: bool = False
    product: bool = False
    least: bool = False
    unsure: str = ""

    @property
    def charges(self) -> np.ndarray:
        """The weights (k,); of several outputs their lengths, since no cusp has to do with them."""
        weights = np.asarray(self.student.weights)
        return weights if weights.ndim == 1 else np.linalg.norm(weights, axis=1)

    @property
    def pulls(self) -> np.ndarray:
        """How strongly the cusp draws each unit back; negative if it repels the unit."""
        return self.charges * self.rates

    @property
    def held(self) -> np.ndarray:
        """Which units sit on a cusp, attracted or repelled."""
        return self.held_by != -1

    @property
    def cancelled(self) -> np.ndarray:
        """Which units meet charges whose pulls on them cancel: two of weight 1 on a proton of 1.

        Each alone is free to leave, but not both in the same direction: those in which the loss is
        smooth are no linear space.
        """
        meets = self.anchored | (np.bincount(self.place)[self.place] > 1)
        return meets & (self.rates == 0) & (self.charges != 0)

    def group_margins(self, forces: np.ndarray) -> tuple[float, float]:
        """The least margin of several units of one place that move together: (surely, at most).

        Where units of one place attract each other, each alone may be held though together they
        are not (weights 2 and -3 on a proton of charge 1). With A_i the protons' charges times
        slopes, the cusp's part of a group S that moves by the same v is

            2 sum_S c_i A_i - 2 sum_(i in S, l not in S) kappa_il c_i c_l,

        and |v| is a mean of |u.v| over directions u, on each of which the sum of absolute values is
        least at such a group: where this exceeds the sum of all |forces| of S, for every S, no
        motion whatever lowers the loss. Where it is less than their resultant, S moves away. NaN
        where there are too many units to try.
        """
        c, surely, at_most = self.charges, np.inf, np.inf
        for place in np.unique(self.place[self.held]):
            (here,) = np.nonzero((self.place == place) & (c != 0))
            facing = np.equal.outer(self.sides[here], self.sides[here])
            slope = np.where(facing, self.slopes[here, :1], self.slopes[here, 1:])
            pairs = slope * np.outer(c[here], c[here])
            np.fill_diagonal(pairs, 0.0)
            if len(here) < 2 or pairs.min() >= 0:
                continue  # units that repel each other are held together if each of them is
            if len(here) > SUBSETS:
                return np.nan, np.nan
            movable = range(0 if self.anchored[here[0]] else 1, len(here))
            sizes = range(2, len(movable) + 1)
            for group in chain.from_iterable(combinations(movable, size) for size in sizes):
                inside = np.isin(np.arange(len(here)), group)
                units, turned = here[inside], self.sides[here[inside], None]
                cusp = 2 * c[units] @ self.from_protons[units]
                cusp -= 2 * np.sum(pairs[np.ix_(inside, ~inside)])
                surely = min(surely, cusp - np.sum(np.linalg.norm(forces[units], axis=1)))
                at_most = min(
                    at_most, cusp - np.linalg.norm(np.sum(turned * forces[units], axis=0))
                )
        return surely, at_most


def bind(objective: Objective, student: Student) -> Binding:
    """The binding of `student`; every unit is free in a loss of samples, which has no cusps."""
    count = student.units
    free = Binding(
        student=student,
        rates=np.zeros(count),
        scales=np.zeros(count),
        place=np.arange(count),
        sides=np.ones(count),
        anchored=np.zeros(count, dtype=bool),
        held_by=np.full(count, -1),
        slopes=np.zeros((count, 2)),
        from_protons=np.zeros(count),
    )
    teacher = objective.teacher
    if objective.wrt == "weights" or not count or teacher is None:
        return free
    slopes = cusp_slopes(objective, student.positions)
    if np.any(slopes) and objective.charge_shape:
        several = "charges of several outputs meet at a cusp"
        return dataclasses.replace(free, unsure=several)
    found = _bound(objective, teacher, free, slopes) if np.any(slopes) else free
    return dataclasses.replace(found, unsure=found.unsure or objective.kink_at(found.student))


def cusp_slopes(objective: Objective, positions: Array) -> np.ndarray:
    """kappa and kappa' of each unit, (k, 2); 0 where Phi is infinite, which is no cusp."""
    if objective.invariant == "rotations" and objective.dim == 1:
        return np.zeros((len(positions), 2))  # no direction to turn to
    opposite = np.asarray(objective.antipodal_cusp(positions))
    opposite = np.where(np.isfinite(opposite), opposite, 0.0)
    slopes = np.stack([np.asarray(objective.cusp(positions)), opposite], axis=1)
    bounded = np.isfinite(np.asarray(objective.self_energies(positions)))
    return np.where(bounded[:, None], slopes, 0.0)


def _bound(objective: Objective, teacher: Teacher, free: Binding, slopes: np.ndarray) -> Binding:
    both, rays = bool(np.any(slopes[:, 1])), objective.cusps_across == "rays"
    # Only where the length of a unit does not matter can it be put on its ray exactly.
    stiff = rays and objective.degree != 0
    positions = np.array(free.student.positions)
    w, b = np.asarray(teacher.positions), np.asarray(teacher.weights)
    charged = np.nonzero(b)[0]
    lengths = np.linalg.norm(positions, axis=1)
    cusp = np.where(slopes[:, 0] != 0, slopes[:, 0], slopes[:, 1])
    height = np.abs(np.asarray(objective.self_energies(free.student.positions)))
    reach = np.divide(height, np.abs(cusp), out=np.zeros_like(cusp), where=cusp != 0)
    # At the origin, with Phi = 0 there (distance), nothing but exact coincidence counts.
    radius = np.maximum(COINCIDENT if rays else COINCIDENT * np.maximum(lengths, reach), 1e-150)
    radius = np.broadcast_to(radius, lengths.shape)
    keys, homes = (_directions(x) if rays else x for x in (positions, w[charged]))

    nearest, sides = _nearest(keys, homes, radius, both)
    on, unsure = nearest >= 0, ""
    holder = np.where(on, charged[np.maximum(nearest, 0)], -1) if len(charged) else nearest
    target = sides[:, None] * w[holder]
    if stiff:
        stretched = np.abs(lengths - np.linalg.norm(target, axis=1)) > COINCIDENT * lengths
        if np.any(on & stretched):
            unsure = "a unit is parallel to a proton of another length, across a cusp"
        on &= ~stretched
    snapped = np.where(on[:, None], target, positions)

    proton_place, proton_sides = _places(w, both)
    place = np.where(on, proton_place[holder], -1)
    sides = np.where(on, sides * proton_sides[holder], 1.0)
    rest, offset = np.nonzero(~on)[0], len(w)
    groups, first = _together(keys[rest], float(np.max(radius, initial=0.0)), both)
    place[rest], leader = offset + groups, rest[first]
    facing = np.sum(keys[rest] * keys[leader], axis=1) < 0
    sides[rest] = np.where(both & facing, -1.0, 1.0)
    if not stiff:
        snapped[rest] = sides[rest, None] * positions[leader]
    elif np.any(leader != rest):
        unsure = "units are parallel, across a cusp"

    if rays and not stiff:  # forces are those at the lengths that units have now: pulls too
        slopes = cusp_slopes(objective, jnp.asarray(snapped))
    c, total = np.asarray(free.student.weights), offset + len(place)
    from_protons, of_protons = _felt(b, proton_place, proton_sides, place, sides, slopes, total)
    from_units, of_units = _felt(c, place, sides, place, sides, slopes, total)
    rates = 2 * (from_protons - (from_units - slopes[:, 0] * c))
    scales = 2 * (of_protons + of_units - np.abs(slopes[:, 0] * c))
    anchored = np.abs(from_protons) > CANCELLED * of_protons
    rates = np.where(np.abs(rates) > CANCELLED * scales, rates, 0.0)
    held = (rates != 0) & (c != 0)
    # In a group without protons, what holds one unit is the others: all of them are bound.
    loose = np.unique(place[held & ~anchored])
    held |= np.isin(place, loose) & (c != 0)
    by_unit = held & ~anchored
    holder[by_unit] = [-2 - _partner(place, int(unit)) for unit in np.nonzero(by_unit)[0]]
    gap = snapped - positions
    if rays:
        gap = _directions(snapped) - keys
        parallel = len(cKDTree(homes).query_pairs(COINCIDENT))
        if parallel > len(charged) - len(np.unique(proton_place)):
            unsure = unsure or "protons lie on one ray, across a cusp"
    return dataclasses.replace(
        free,
        student=Student(snapped, free.student.weights),
        rates=rates,
        scales=scales,
        place=place,
        sides=sides,
        anchored=anchored,
        held_by=np.where(held, holder, -1),
        slopes=slopes,
        from_protons=from_protons,
        moved=float(np.max(np.linalg.norm(gap, axis=1), initial=0.0)),
        rays=rays,
        flat=rays and not stiff,
        product=objective.cusps_across == "hyperplanes" and objective.manifold.name == "space",
        least=rays and objective.invariant == "neither",
        unsure=unsure,
    )


def _nearest(
    keys: np.ndarray, homes: np.ndarray, radius: np.ndarray, both: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest home of each key within its radius, or -1; and its side, -1 at the antipode."""
    nearest, sides = np.full(len(keys), -1), np.ones(len(keys))
    if not len(homes):
        return nearest, sides
    tree = cKDTree(homes)
    for side in (1.0, -1.0) if both else (1.0,):
        apart, found = tree.query(side * keys, distance_upper_bound=2 * float(np.max(radius)))
        # Where none is near, it is infinitely far away; so may a radius be, whose square overflows.
        here = (apart <= radius) & np.isfinite(apart) & (nearest < 0)
        nearest[here], sides[here] = found[here], side
    return nearest, sides


def _places(w: np.ndarray, both: bool) -> tuple[np.ndarray, np.ndarray]:
    """A number for each distinct position, up to sign if `both`, and that sign."""
    sides = np.ones(len(w))
    if both:
        leading = w[np.arange(len(w)), np.argmax(w != 0, axis=1)]
        sides = np.where(leading < 0, -1.0, 1.0)
    rows = sides[:, None] * w + 0.0  # -0 is 0
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel(), sides


def _together(keys: np.ndarray, radius: float, both: bool) -> tuple[np.ndarray, np.ndarray]:
    """Units that coincide: the group of each, and the first unit of its group."""
    count = len(keys)
    if not count:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    points = np.concatenate([keys, -keys]) if both else keys
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray") % count
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    groups = connected_components(graph, directed=False)[1]
    return groups, np.unique(groups, return_index=True)[1][groups]


def _felt(
    charges: np.ndarray,
    at: np.ndarray,
    facing: np.ndarray,
    place: np.ndarray,
    sides: np.ndarray,
    slopes: np.ndarray,
    total: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The charges at each unit's place times their slopes, and the same of absolute values."""

    def weighed(values: np.ndarray, slope: np.ndarray) -> np.ndarray:
        plus, minus = (
            np.bincount(at, values * (facing == side), minlength=total)[place] for side in (1, -1)
        )
        front, back = np.where(sides > 0, plus, minus), np.where(sides > 0, minus, plus)
        return slope[:, 0] * front + slope[:, 1] * back

    return weighed(charges, slopes), weighed(np.abs(charges), np.abs(slopes))


def _partner(place: np.ndarray, unit: int) -> int:
    """Another unit of the same place."""
    (here,) = np.nonzero(place == place[unit])
    return int(here[here != unit][0])


def _directions(x: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(length > 0, length, 1.0)
