"""Potentials and activations as tables, which is what the browser's engine computes with.

A table is a piecewise Chebyshev interpolant of a few functions of one variable t: on a piece
[a, b], function number f is

    sum_n coefficients[piece, f, n] T_n((2 t - a - b)/(b - a)),    n < TERMS.

Pieces are halved until every function is met to `ERROR` times its largest size on the piece, at
points between the nodes. Five kinds, by how Phi is put together from the functions:

- ``radial``       Phi = f(r), t = r = |x - y|;
- ``product``      Phi = prod_i f(|x_i - y_i|), t = |x_i - y_i|;
- ``zonal``        Phi = f(t) for unit vectors, t = the angle between x and y, in [0, pi];
- ``homogeneous``  Phi = |x|^n |y|^n f(t), n the `degree`, t the same angle;
- ``dot``          Phi = E[s(X.x) s(X.y)], of which s itself is the table: the browser sums the
                   series in Hermite's polynomials (`page/series.js`), or with `kinks` integrates
                   between the corners (`page/sectors.js`).

The angle, and not its cosine, because sign and relu are analytic in it. The three functions are f,
f' and f''; where f' is 0 at coincidence (no cusp) the second is f'/t, of an angle f'/sin t, so that
forces keep their digits where two units meet.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Teacher
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.potential import Radial, Zonal
from earnshaw.duality.separable import Separable
from earnshaw.energy.couplings.coupling import Coupling
from earnshaw.energy.couplings.displacement import DisplacementCoupling
from earnshaw.energy.couplings.dots import DotCoupling
from earnshaw.energy.couplings.radial import RadialCoupling
from earnshaw.energy.couplings.sphere import Cap, SphereCoupling
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError

ERROR = 1e-12  # of every function, relative to its largest size on a piece
TERMS = 20  # Chebyshev polynomials on a piece
CHECKED = 24  # points between the nodes at which a piece is compared
FARTHEST = 64.0  # r up to which a radial table goes
NOTHING = 1e-30  # a potential that stays below this has ended; no error is measured by less
NEAREST = 1e-9  # r from which the table of an unbounded potential begins
NARROWEST = 1e-10  # a piece, beyond which a function counts as not to be tabulated
PIECES = 600  # at most
REACH = 12.0  # |x| up to which an activation is tabulated
WIDE = 96.0  # the same for the series of dot-product units: 12 deviations at |w| = 8
NARROW = 3.0  # |x| up to which four derivatives are tabulated too, for short w
ZERO = 1e-3  # a function smaller than this part of the others is measured by them: f'' of sign is 0

Functions = Callable[[Array], Sequence[Array]]

_nodes = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
_to_coefficients = np.cos(np.pi * np.outer(np.arange(TERMS), np.arange(TERMS) + 0.5) / TERMS)
_to_coefficients *= np.where(np.arange(TERMS) == 0, 1, 2)[:, None] / TERMS
_between = np.cos(np.pi * (np.arange(CHECKED) + 0.25) / CHECKED)


@dataclasses.dataclass(frozen=True)
class Pieces:
    """Breakpoints `edges` (p + 1,), `coefficients` (p, functions, TERMS), the largest `error`."""

    edges: np.ndarray
    coefficients: np.ndarray
    error: float

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """The functions (functions, n) at points (n,), as the browser evaluates them."""
        found = np.searchsorted(self.edges, points, side="right") - 1
        piece = np.clip(found, 0, len(self.coefficients) - 1)
        low, high = self.edges[piece], self.edges[piece + 1]
        place = np.clip((2 * points - low - high) / (high - low), -1.0, 1.0)
        waves = np.cos(np.arange(TERMS)[:, None] * np.arccos(place))
        return np.einsum("pfn,np->fp", self.coefficients[piece], waves)

    def packed(self) -> dict[str, Any]:
        """For JSON: float64 numbers as base64."""
        return {
            "edges": _packed(self.edges),
            "coefficients": _packed(self.coefficients),
            "functions": self.coefficients.shape[1],
            "error": self.error,
        }


def pieces_of(functions: Functions, edges: Sequence[float], zero: float = ZERO) -> Pieces:
    """Tabulate smooth `functions` (n,) -> several (n,) between the first and the last edge.

    `edges` has in between where they are not smooth; `zero` as ZERO. Functions that this does not
    follow are refused.
    """
    compiled = jax.jit(lambda t: jnp.stack([jnp.broadcast_to(f, t.shape) for f in functions(t)]))
    waiting = list(reversed(list(pairwise(edges))))
    ends, coefficients, worst = [float(edges[0])], [], 0.0
    while waiting:
        low, high = waiting.pop()
        middle, half = (low + high) / 2, (high - low) / 2
        values = np.asarray(
            compiled(jnp.asarray(middle + half * np.concatenate([_nodes, _between])))
        )
        found = values[:, :TERMS] @ _to_coefficients.T
        waves = np.cos(np.outer(np.arange(TERMS), np.arccos(_between)))
        size = np.max(np.abs(values), axis=1)
        size = np.maximum(np.maximum(size, zero * np.max(size)), NOTHING)
        error = np.max(np.abs(found @ waves - values[:, TERMS:]), axis=1)
        if not np.all(np.isfinite(values)):
            raise EarnshawError(f"the function is not finite between {low:g} and {high:g}")
        if np.all(error <= ERROR * size):
            coefficients.append(found)
            ends.append(high)
            worst = max(worst, float(np.max(error / np.where(size > 0, size, 1.0))))
        elif high - low < NARROWEST * max(1.0, abs(low)) or len(waiting) + len(ends) > PIECES:
            raise EarnshawError(
                f"the function is too rough near {low:.6g} for a table with an error of {ERROR:g}"
            )
        else:
            waiting += [(middle, high), (low, middle)]
    return Pieces(np.asarray(ends), np.asarray(coefficients), worst)


def with_derivative(pieces: Pieces) -> Pieces:
    """The same with one function more: the derivative of the last."""
    last = pieces.coefficients[:, -1, :]
    slopes = np.zeros_like(last)
    slopes[:, :-1] = np.polynomial.chebyshev.chebder(last, axis=1)
    slopes *= (2 / np.diff(pieces.edges))[:, None]
    together = np.concatenate([pieces.coefficients, slopes[:, None]], axis=1)
    return dataclasses.replace(pieces, coefficients=together)


def potential_table(teacher: Teacher) -> dict[str, Any]:
    """The table of a teacher's potential on its manifold, with what the engine must know of it.

    Keys: `kind` (module's docstring), `degree`, `cusp` and `opposite` (slopes at coincidence and at
    the antipode), `divided` (whether the second function is f'/t), `self` (Phi(x, x) of |x| = 1, or
    None where it is infinite), `unbounded`, `regions` (in r, where the Laplacian has a sign), and
    `pieces`.
    """
    loss = population_loss(teacher, "without-constants")
    coupling = loss.field.coupling
    points = teacher.positions[:1]
    unbounded = loss.unbounded
    known: dict[str, Any] = {
        "name": teacher.species.name,
        "on": teacher.manifold.name,
        "degree": 0,
        "cusp": 0.0,
        "opposite": 0.0,
        "unbounded": unbounded,
        "error": ERROR,
    }
    if not unbounded:
        known["cusp"] = float(coupling.cusp(points)[0])
    if isinstance(coupling, DotCoupling) and coupling.degree is None:
        return known | {"kind": "dot"} | _dotted(teacher, coupling)
    if isinstance(coupling, (SphereCoupling, DotCoupling)) or loss.manifold.name == "sphere":
        return known | _angular(coupling, known)
    if isinstance(coupling, RadialCoupling):
        return known | {"kind": "radial"} | _along(coupling.potential, known["cusp"], unbounded)
    if isinstance(coupling, DisplacementCoupling) and isinstance(coupling.potential, Separable):
        factor = coupling.potential.factor
        return known | {"kind": "product"} | _along(factor, known["cusp"], unbounded)
    raise EarnshawError(
        f"{teacher.species.name} on R^{teacher.dim} is no function of one number, so that the lab "
        "has no table of it; allowed: on='sphere', homogeneous activations, potentials of r"
    )


def _along(potential: Radial, cusp: float, unbounded: bool) -> dict[str, Any]:
    """f, f' (or f'/r) and f'' as functions of r."""
    divided = cusp == 0 and not unbounded

    def functions(r: Array) -> tuple[Array, ...]:
        value, slope, _ = potential.jet(r * r)
        first = 2 * slope if divided else potential.first(r)
        return value, first, potential.second(r)

    end = FARTHEST
    looked_at = np.linspace(0.0, FARTHEST, 257)
    there = np.abs(np.asarray(potential.value(jnp.asarray(looked_at)))) >= NOTHING
    if not there[-1]:
        end = float(looked_at[np.flatnonzero(there)[-1] + 1])
    breaks = [point for point in potential.breakpoints if 0 < point < end]
    first = NEAREST if unbounded else 0.0
    return {
        "divided": divided,
        "self": None if unbounded else float(potential.value(0.0)),
        "regions": [_region(*region) for region in potential.regions()],
        "pieces": pieces_of(functions, [first, *breaks, end], 0.0 if unbounded else ZERO).packed(),
    }


def _dotted(teacher: Teacher, coupling: DotCoupling) -> dict[str, Any]:
    """s for |x| <= WIDE, and s with its first four derivatives for |x| <= NARROW.

    With corners, `kinks`: s, s' and s'' for |x| <= WIDE (`page/sectors.js`).
    """
    name, sigma = teacher.species.name, teacher.activation
    if not isinstance(sigma, DotProduct) or not sigma.differentiable:
        raise EarnshawError(
            f"{name} has no derivatives that JAX could take, which the lab needs in R^d; "
            "allowed: on='sphere', activations of the library"
        )
    height, width = np.sqrt(coupling.potential.scale), np.sqrt(coupling.potential.variance)
    kinks = [float(kink / width) for kink in sorted(sigma.kinks)]
    derivatives: list[Callable[[Array], Array]] = [lambda x: height * sigma(width * x)]
    for _ in range(4):
        derivatives.append(jax.grad(derivatives[-1]))

    def first(count: int) -> Functions:
        return lambda x: [jax.vmap(one)(x) for one in derivatives[:count]]

    known: dict[str, Any] = {
        "divided": True,
        "self": None,
        "regions": [],
    }  # Phi(x, x) depends on |x|
    if kinks:
        _check_corners(name, derivatives[0], kinks)
        edges = sorted({-WIDE, 0.0, WIDE, *kinks})
        return known | {"kinks": kinks, "pieces": pieces_of(first(3), edges).packed()}
    return known | {
        "pieces": pieces_of(first(1), [-WIDE, 0.0, WIDE]).packed(),
        "derivatives": pieces_of(first(5), [-NARROW, 0.0, NARROW]).packed(),
    }


def _check_corners(name: str, s: Callable[[Array], Array], kinks: Sequence[float]) -> None:
    """The browser cuts its cells at multiples of 1/8, and s must not jump."""
    for kink in kinks:
        left, right = (float(s(jnp.asarray(kink + gap))) for gap in (-1e-9, 1e-9))
        wrong = ""
        if abs(right - left) > 1e-6:
            wrong = f"jumps at {kink:g}"
        elif kink * 8 != round(kink * 8) or abs(kink) > WIDE / 2:
            wrong = f"has a corner at {kink:g}, which is no multiple of 1/8"
        if wrong:
            raise EarnshawError(
                f"{name} {wrong}: the lab cannot integrate it in R^d; allowed: on='sphere'"
            )


def _angular(coupling: Coupling, known: dict[str, Any]) -> dict[str, Any]:
    """f, f' (or f'/sin t) and f'' as functions of the angle t.

    Through u = |x - y|^2 = 4 sin^2(t/2), or |x + y|^2 beyond the right angle: with g the potential
    as a function of u, f' = 2 g' sin t and f'' = 4 g'' sin^2 t + 2 g' cos t, the signs of g'
    changed at the far side.
    """
    kind, degree = "zonal", 0
    opposite = 0.0
    if isinstance(coupling, DotCoupling):
        kind, degree = "homogeneous", coupling.degree or 0
    potential: Any = coupling.potential  # type: ignore[attr-defined]
    if not isinstance(potential, (Zonal, Radial)):
        raise EarnshawError(f"{known['name']} on the sphere is no function of the angle")
    directed = kind == "homogeneous" and degree == 0  # as on the sphere
    if isinstance(potential, Zonal) and (directed or isinstance(coupling, SphereCoupling)):
        dim = coupling.dim
        point = jnp.zeros((1, dim)).at[0, 0].set(1.0)
        opposite = float(SphereCoupling(potential=potential, dim=dim).antipodal_cusp(point)[0])
    divided = known["cusp"] == 0 and opposite == 0 and not known["unbounded"]

    def side_of(side: float) -> Functions:
        profile: Any = (
            Cap(potential, jnp.asarray(side)) if isinstance(potential, Zonal) else potential
        )

        def functions(t: Array) -> tuple[Array, ...]:
            near = jnp.sin(t / 2) if side > 0 else jnp.cos(t / 2)
            value, slope, bend = jax.vmap(profile.jet)(4 * near**2)
            if not divided:  # the two terms of f'' cancel at a cusp: see `with_derivative`
                return value, 2 * side * slope * jnp.sin(t)
            second = 4 * bend * jnp.sin(t) ** 2 + 2 * side * slope * jnp.cos(t)
            return value, 2 * side * slope, second

        return functions

    if isinstance(potential, Zonal):
        halves = [
            pieces_of(side_of(1.0), [0.0, np.pi / 2]),
            pieces_of(side_of(-1.0), [np.pi / 2, np.pi]),
        ]
        pieces = Pieces(
            np.concatenate([halves[0].edges, halves[1].edges[1:]]),
            np.concatenate([half.coefficients for half in halves]),
            max(half.error for half in halves),
        )
    else:
        pieces = pieces_of(side_of(1.0), [0.0, np.pi])
    if not divided:
        pieces = with_derivative(pieces)
    own = potential.value(1.0 if isinstance(potential, Zonal) else 0.0)
    return {
        "kind": kind,
        "degree": degree,
        "opposite": opposite,
        "divided": divided,
        "self": None if known["unbounded"] else float(own),
        "regions": [],  # of r only
        "pieces": pieces.packed(),
    }


def _region(character: str, low: float, high: float, eigenvalue: float | None) -> dict[str, Any]:
    """For JSON, which has no infinity: None."""
    end = high if np.isfinite(high) else None
    return {"character": character, "low": low, "high": end, "eigenvalue": eigenvalue}


def activation_table(activation: DotProduct) -> dict[str, Any]:
    """s(x) for |x| <= 12, in pieces between its kinks: for the pictures of functions."""
    kinks = sorted(point for point in activation.kinks if -REACH < point < REACH)
    pieces = pieces_of(lambda x: (jax.vmap(activation)(x),), [-REACH, *kinks, REACH])
    return {"name": activation.name, "pieces": pieces.packed()}


def _packed(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()
