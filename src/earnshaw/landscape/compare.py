"""Two trained networks: how far apart, which units they share, and where one is on the way.

`compare(f, g, inputs)` takes networks of one hidden layer, of any activations, biases, outputs and
linear parts (`ew.from_torch`, `ew.from_sklearn`, `ew.from_arrays`, teachers, fitted models), and
Gaussian inputs or a mixture of them, and gives, exactly:

- the distance E[|f - g|^2], beside the variances of both;
- which units they share: the correlations of all pairs of units under these inputs, and the
  matching of the units by them. A unit and its flip are the same to a correlation
  of -1, so that nothing needs to be known about symmetries;
- what kind of point g is for someone who learns f: the gradient of the distance in the parameters
  of g and the smallest eigenvalue of its Hessian.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from scipy.optimize import linear_sum_assignment

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.plain_network import HasNetwork, Network, network_of
from earnshaw.duality.affine_dual import Cloud
from earnshaw.energy.distance import (
    Group,
    Parameters,
    clouds_for,
    difference,
    groups_of,
    line,
    mean_square,
    means,
    parameters_of,
)
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian, Inputs
from earnshaw.limits import check_memory, check_real
from earnshaw.numerics.eigenpairs import smallest_eigenpair
from earnshaw.results import Result

SHARED = 0.99  # the correlation from which on a unit counts as shared
SMALL = 1e-6  # a gradient is 0 below this part of its size at an empty network
ROUNDING = 1e-14  # of a correlation's square
FLAT = 1e-8  # an eigenvalue is 0 below this part of the largest one


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """What `compare` finds.

    Attributes
    ----------
    distance
        E[|f - g|^2].
    variances
        E[|f - E f|^2] and the same of g.
    pairs
        (p, 2), a unit of f and its unit of g, as many as the smaller network has.
    correlations
        (p,), of the responses of each pair: 1 the same, -1 its flip.
    table
        (k, l), the correlations of all units of f with all of g.
    gradient_norm
        of the distance in all parameters of g, relative to the size of the terms.
    eigenvalue
        the smallest of the Hessian in the parameters of g.
    kind
        "minimum", "saddle", "flat" or "slope": the last if g is no critical point.

    Examples
    --------
    >>> import earnshaw as ew
    >>> f = ew.from_arrays([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> g = ew.from_arrays([[0.0, -1.0], [1.0, 0.0]], [-1.0, 1.0], "erf")  # the same function
    >>> found = ew.compare(f, g)
    >>> found.pairs.tolist(), found.kind
    ([[0, 1], [1, 0]], 'minimum')
    """

    distance: float
    variances: tuple[float, float]
    pairs: np.ndarray
    correlations: np.ndarray
    table: np.ndarray
    gradient_norm: float
    eigenvalue: float
    kind: str
    first: Network
    second: Network
    _picture: ClassVar[str] = "earnshaw.plots.comparison:draw"

    @property
    def relative(self) -> float:
        """The distance as a part of the variance of f: what g leaves unexplained."""
        return self.distance / self.variances[0] if self.variances[0] > 0 else np.inf

    @property
    def shared(self) -> int:
        """How many pairs have a correlation of 0.99 or more, up to sign."""
        return int(np.sum(np.abs(self.correlations) >= SHARED))

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "distance": self.distance,
            "relative_distance": self.relative,
            "variances": list(self.variances),
            "shared": self.shared,
            "pairs": [
                {"first": int(i), "second": int(j), "correlation": float(correlation)}
                for (i, j), correlation in zip(self.pairs, self.correlations, strict=True)
            ],
            "gradient_norm": self.gradient_norm,
            "smallest_eigenvalue": self.eigenvalue,
            "kind": self.kind,
        }

    def _title(self) -> str:
        sizes = (f"{net.units} {net.activation_name}" for net in (self.first, self.second))
        return f"{' and '.join(sizes)} units in d = {self.first.dim}"

    def _facts(self) -> dict[str, object]:
        return {
            "distance": f"{self.distance:.6g}",
            "of the first's variance": f"{self.relative:.3g}",
            "shared units": f"{self.shared} of {len(self.pairs)}",
            "kind": self.kind,
            "gradient": f"{self.gradient_norm:.2g}",
            "smallest eigenvalue": f"{self.eigenvalue:.3g}",
        }


def compare(
    first: Network | Teacher | HasNetwork,
    second: Network | Teacher | HasNetwork,
    inputs: Inputs | None = None,
    *,
    tolerance: float = SMALL,
) -> Comparison:
    """Two networks of the same inputs and outputs, compared exactly.

    Parameters
    ----------
    first
        f, the teacher.
    second
        g, the student.
    inputs
        ``ew.Gaussian(...)`` or ``ew.GaussianMixture(...)``, N(0, I) by default;
        ``ew.GaussianMixture.fit(X, 3)`` for inputs like one's data.
    tolerance
        below which part of its usual size the gradient counts as 0.

    Returns
    -------
    Comparison
        `.distance`, `.pairs` and their `.correlations`, `.kind`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> f = ew.from_arrays([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> g = ew.from_arrays([[0.0, -1.0], [1.0, 0.0]], [-1.0, 1.0], "erf")  # the same function
    >>> found = ew.compare(f, g)
    >>> bool(abs(found.distance) < 1e-12), found.shared
    (True, 2)
    """
    f, g = (_network(one) for one in (first, second))
    target, moving = parameters_of(f), parameters_of(g)
    if (f.dim, f.outputs) != (g.dim, g.outputs):
        raise EarnshawError(
            f"the networks have {f.dim} and {g.dim} inputs, {f.outputs} and {g.outputs} outputs; "
            "allowed: the same"
        )
    tolerance = check_real("tolerance", tolerance, 0.0)
    check_memory({"pairs of units": (f.units + g.units) ** 2}, copies=64)
    clouds = clouds_for(Gaussian() if inputs is None else inputs, f.dim)
    ours, theirs = groups_of(f.kinds, target), groups_of(g.kinds, moving)
    table = np.zeros((f.units, g.units))
    for (_, rows), first_kind in zip(f.kinds, ours, strict=False):  # without lines, the last group
        for (_, columns), second_kind in zip(g.kinds, theirs, strict=False):
            table[np.ix_(rows, columns)] = _correlations(first_kind, second_kind, clouds)
    # What two units tell of each other, -log(1 - rho^2)/2: a good pair is worth several poor ones.
    rows, columns = linear_sum_assignment(np.log(1 - table**2 + ROUNDING))
    value, norm, eigenvalue, kind = _kind(ours, theirs, g, moving, clouds, tolerance)
    return Comparison(
        distance=value,
        variances=(_variance(ours, clouds), _variance(theirs, clouds)),
        pairs=np.column_stack([rows, columns]),
        correlations=table[rows, columns],
        table=table,
        gradient_norm=norm,
        eigenvalue=eigenvalue,
        kind=kind,
        first=f,
        second=g,
    )


def _network(given: Any) -> Network:
    if isinstance(given, (Teacher, Student)):
        return network_of(given)
    if isinstance(given, HasNetwork):
        return given.to_network()
    raise EarnshawError(
        f"a {type(given).__name__} is no network; allowed: from_torch, from_sklearn, from_arrays, "
        "teachers, fitted models"
    )


def _constant(dim: int) -> Group:
    """The unit that is always 1."""
    return Group(line(), jnp.zeros((1, dim)).at[0, -1].set(1.0), jnp.ones((1, 1)))


def _correlations(first: Group, second: Group, clouds: Cloud) -> np.ndarray:
    """Of the responses of the units of two groups, (k, l); 0 for units that do not vary."""
    one = _constant(first.positions.shape[1])
    together = np.array(means(first, second, clouds))
    middles = [np.array(means(group, one, clouds))[:, 0] for group in (first, second)]
    together -= np.outer(*middles)
    spreads = []
    for group, middle in zip((first, second), middles, strict=True):
        spread = np.diagonal(np.asarray(means(group, group, clouds))) - middle**2
        spreads.append(np.sqrt(np.maximum(spread, 0.0)))
    size = np.outer(*spreads)
    safe = np.where(size > 0, size, 1.0)
    return np.clip(np.where(size > 0, together / safe, 0.0), -1.0, 1.0)


def _variance(groups: list[Group], clouds: Cloud) -> float:
    """E[|f - E f|^2]."""
    one = _constant(groups[0].positions.shape[1])
    middle = sum(group.weights.T @ means(group, one, clouds)[:, 0] for group in groups)
    return max(0.0, float(mean_square(groups, clouds) - jnp.sum(jnp.square(middle))))


def _kind(
    ours: list[Group],
    theirs: list[Group],
    network: Network,
    moving: Parameters,
    clouds: Cloud,
    tolerance: float,
) -> tuple[float, float, float, str]:
    """The distance, its relative slope, the smallest eigenvalue of its Hessian, and the kind."""
    flat, shaped = ravel_pytree(moving)

    def distance(point: Array) -> Array:
        groups = groups_of(network.kinds, shaped(point))
        return mean_square(difference(ours, groups), clouds)

    slope = eqx.filter_jit(jax.value_and_grad(distance))
    value, gradient = slope(flat)
    product = eqx.filter_jit(lambda v: jax.jvp(jax.grad(distance), (flat,), (v,))[1])
    found = smallest_eigenpair(product, len(flat), tolerance=1e-6, max_products=300, seed=0)
    scale = float(mean_square(ours, clouds) + mean_square(theirs, clouds)) or 1.0
    norm = float(jnp.linalg.norm(gradient)) / scale
    eigenvalue, zero = float(found.value), FLAT * float(found.norm)
    if norm > tolerance:
        kind = "slope"
    elif eigenvalue < -zero:
        kind = "saddle"
    else:
        kind = "minimum" if eigenvalue > zero else "flat"
    return max(0.0, float(value)), norm, eigenvalue, kind
