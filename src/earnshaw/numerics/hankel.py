"""The Fourier transform of radial functions on R^d, and its inverse, by quadrature.

    F(k) = integral f(|x|) exp(-i k.x) dx
         = (2 pi)^(d/2) k^(1-d/2) integral_0^inf f(r) r^(d/2) J_(d/2-1)(k r) dr,

without the unitary factor; the inverse is the same integral times (2 pi)^-d. Both are written with
the kernel Lambda_d(x) = Gamma(d/2) (2/x)^(d/2-1) J_(d/2-1)(x), the mean of exp(i x.u) over unit
vectors u, which is 1 at 0:

    F(k) = |S^(d-1)| integral_0^inf f(r) r^(d-1) Lambda_d(k r) dr.

This module runs when an object is built, in NumPy and SciPy; nothing here is traced by JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.polynomial import legendre
from scipy import special

from earnshaw.errors import NotSquareIntegrable
from earnshaw.numerics.budget import checkpoint
from earnshaw.numerics.quadrature import graded, panel_rule, subdivide

Function = Callable[[np.ndarray], np.ndarray]

ORDER = 16
"""Gauss-Legendre nodes in a panel."""
PHASE = 12.0
"""The phase k r that one panel may span: 16 nodes integrate exp(i k r) over it to rounding."""
_BLOCK = 2_000_000
_PERIODS = 40
_NEGLIGIBLE = 1e-17


def sphere_area(dim: int) -> float:
    """|S^(d-1)| = 2 pi^(d/2) / Gamma(d/2); 2 for d = 1."""
    return 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)


def kernel(dim: int, x: np.ndarray) -> np.ndarray:
    """Lambda_d(x) for x >= 0, elementwise.

    Beyond x = d by the recurrence Lambda_(d+2) = d (d-2) (Lambda_d - Lambda_(d-2)) / x^2, which is
    stable there and several times faster than a Bessel function of general order.
    """
    x = np.asarray(x, dtype=float)
    if dim == 1:
        return np.cos(x)
    if dim == 2:
        return special.j0(x)
    if dim == 3:
        return np.sinc(x / math.pi)
    far = x > dim
    out = np.empty_like(x)
    out[far] = _kernel_far(dim, x[far])
    out[~far] = _kernel_near(dim, x[~far])
    return out


def _kernel_far(dim: int, x: np.ndarray) -> np.ndarray:
    if dim % 2:
        low, high, reached = np.cos(x), np.sin(x) / x, 3
    else:
        low, high, reached = special.j0(x), 2 * special.j1(x) / x, 4
    inverse_square = 1 / (x * x)
    while reached < dim:
        low, high = high, (reached * (reached - 2)) * inverse_square * (high - low)
        reached += 2
    return high


def _kernel_near(dim: int, x: np.ndarray) -> np.ndarray:
    order = dim / 2 - 1
    safe = np.maximum(x, 1.0)
    factor = np.exp(special.gammaln(dim / 2) + order * np.log(2 / safe))
    term, series = np.ones_like(x), np.ones_like(x)
    for j in range(1, 12):
        term = term * (-0.25 * np.minimum(x, 1.0) ** 2) / (j * (order + j))
        series = series + term
    return np.where(x < 1.0, series, factor * special.jv(order, safe))


def apply_kernel(dim: int, k: np.ndarray, r: np.ndarray, weighted: np.ndarray) -> np.ndarray:
    """sum_j weighted_j Lambda_d(k_i r_j), shape (len(k),), in blocks that fit the memory."""
    rows = max(1, _BLOCK // max(1, len(r)))
    out = np.zeros(len(k))
    for i in range(0, len(k), rows):
        checkpoint("the Fourier transform")
        out[i : i + rows] = kernel(dim, k[i : i + rows, None] * r[None, :]) @ weighted
    return out


def inverse_transform(
    dim: int, r: np.ndarray, k: np.ndarray, weights: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """(2 pi)^-d |S^(d-1)| sum_j weights_j values_j k_j^(d-1) Lambda_d(k_j r_i), shape (len(r),).

    `k`, `weights` are a quadrature rule on (0, inf) that resolves exp(i k r), and `values` the
    transform at its nodes.
    """
    factor = sphere_area(dim) / (2 * math.pi) ** dim
    # Two half powers: k^(d-1) overflows in dimensions where the product does not.
    half = k ** ((dim - 1) / 2)
    return apply_kernel(dim, r, k, factor * weights * (values * half) * half)


class ForwardTransform:
    """F(k) of a function f(r) that is square-integrable on R^d, with an error estimate.

    The range is split at the `breakpoints`, geometrically towards r = 0, and wherever the Legendre
    coefficients of f say that a panel does not resolve it, so undeclared kinks are found as well.
    It ends at `extent`, beyond which |f| r^d is negligible. If f decays too slowly for that, the
    rest is integrated by half periods of the kernel whose partial sums are averaged (Euler's
    method): F is then an Abel limit.

    Attributes: `scale`, the radius at which f first falls to half of f(0); `extent`; `slow`,
    whether f decays too slowly to be cut off; `edges`, the panels.
    """

    def __init__(self, function: Function, dim: int, breakpoints: Sequence[float] = ()) -> None:
        self.function, self.dim = function, dim
        self.scale, self.extent, self.slow = decay(function, dim)
        base = graded(1e-12 * self.scale, self.extent)
        inside = [b for b in breakpoints if 0 < b < self.extent]
        self.edges = self._refined(np.unique(np.concatenate([base, inside])))

    def __call__(self, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F and its estimated absolute error at frequencies k > 0, each of the shape of `k`."""
        k = np.asarray(k, dtype=float)
        values, errors = np.zeros_like(k), np.zeros_like(k)
        octave = np.floor(np.log2(k))
        for level in np.unique(octave):
            chosen = octave == level
            values[chosen], errors[chosen] = self._octave(k[chosen], 2.0**level)
        return values, errors

    def nodes_at(self, k: float) -> float:
        """About how many nodes the transform at one frequency `k` needs."""
        return ORDER * (len(self.edges) + 2 * self.extent * k / PHASE)

    def _octave(self, k: np.ndarray, low: float) -> tuple[np.ndarray, np.ndarray]:
        """F for frequencies in [low, 2 low], which share their nodes."""
        edges = self.edges
        # Averaging starts where f changes little over a half period.
        start = 20 * math.pi / low
        if self.slow and start > self.extent:
            edges = np.concatenate([edges, graded(self.extent, start)[2:]])
        edges = subdivide(edges, PHASE / (2 * low))
        values, size = self._integrate(k, edges, ORDER)
        probe = np.unique(np.linspace(0, len(k) - 1, 5).astype(int))
        coarse, _ = self._integrate(k[probe], edges, ORDER - 4)
        errors = np.full_like(k, np.max(np.abs(coarse - values[probe])) + 1e-15 * size)
        if not self.slow:
            return values, errors
        rest, rest_error = self._averaged(k, edges[-1])
        return values + rest, errors + rest_error

    def _integrate(self, k: np.ndarray, edges: np.ndarray, order: int) -> tuple[np.ndarray, float]:
        r, w = panel_rule(edges, order)
        weighted = sphere_area(self.dim) * w * self.function(r) * r ** (self.dim - 1)
        return apply_kernel(self.dim, k, r, weighted), float(np.sum(np.abs(weighted)))

    def _averaged(self, k: np.ndarray, start: float) -> tuple[np.ndarray, np.ndarray]:
        """The Abel limit of the integral from `start` to infinity, and the last change of it."""
        nodes, weights = legendre.leggauss(10)
        step = math.pi / k[:, None, None]
        r = start + step * (np.arange(_PERIODS)[None, :, None] + (nodes + 1) / 2)
        shape = sphere_area(self.dim) * self.function(r.ravel()).reshape(r.shape)
        terms = shape * r ** (self.dim - 1) * kernel(self.dim, k[:, None, None] * r)
        sums = np.cumsum((terms @ weights) * (step[..., 0] / 2), axis=1)
        for _ in range(_PERIODS - 2):
            sums = (sums[:, 1:] + sums[:, :-1]) / 2
        return sums[:, 1], np.abs(sums[:, 1] - sums[:, 0])

    def _refined(self, edges: np.ndarray) -> np.ndarray:
        """Bisect panels until f is resolved in each, or the panel too small to matter."""
        nodes, _ = legendre.leggauss(ORDER)
        to_coefficients = np.linalg.inv(legendre.legvander(nodes, ORDER - 1)).T
        found, left, right, largest = [edges[-1:]], edges[:-1], edges[1:], 0.0
        for _ in range(50):
            r = (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * nodes
            values = self.function(r.ravel()).reshape(r.shape)
            volume = (right - left) * right ** (self.dim - 1)
            size = np.max(np.abs(values), axis=1) * volume
            largest = max(largest, float(np.max(size)))
            rough = np.max(np.abs(values @ to_coefficients)[:, -3:], axis=1) * volume
            split = (rough > 1e-15 * largest) & (rough > 1e-14 * size)
            found.append(left[~split])
            left, right = left[split], right[split]
            if len(left) == 0 or len(left) > 2000:
                break
            middle = (left + right) / 2
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        return np.unique(np.concatenate([*found, left]))


def decay(function: Function, dim: int) -> tuple[float, float, bool]:
    """`scale`, `extent` and `slow` of f on R^d (see `ForwardTransform`).

    Raises `NotSquareIntegrable` where f does not fall to half of f(0) before r = 1e6, or where
    f(r)^2 r^d does not decrease between there and 1e8.
    """
    r = np.geomspace(1e-12, 1e8, 2401)
    f = np.abs(function(r))
    if not np.all(np.isfinite(f)):
        first = int(np.argmax(~np.isfinite(f)))
        # A formula may end as inf/inf where it has long become negligible.
        known = _log_mass(f[:first], r[:first], 1, dim)
        if first == 0 or known[-1] > np.max(known) - 69:
            where = f"r = {r[first]:.3g}"
            raise NotSquareIntegrable(f"the potential is not a finite number at {where}")
        f[first:] = 0.0
    origin = float(f[0])
    if origin == 0:
        raise NotSquareIntegrable(f"the potential is 0 at r = {r[0]:g}")
    far = r > 1e6
    later, before = (np.max(_log_mass(f[part], r[part], 2, dim)) for part in (r > 1e7, far))
    halved = np.nonzero(f <= origin / 2)[0]
    if len(halved) == 0 or r[halved[0]] > 1e6:
        raise NotSquareIntegrable("the potential does not fall to half before r = 1e6")
    if later > max(before - 0.05, -np.inf):
        raise NotSquareIntegrable(f"the potential is not square-integrable on R^{dim}")
    scale = float(r[halved[0]])
    mass = _log_mass(f, r, 1, dim)
    peak = float(r[np.argmax(mass)])
    matters = np.nonzero(mass > np.max(mass) + math.log(_NEGLIGIBLE))[0][-1]
    extent = float(r[min(matters + 1, len(r) - 1)])
    limit = 64 * max(scale, min(peak, 16 * scale))
    return scale, min(extent, limit), extent > limit


def _log_mass(f: np.ndarray, r: np.ndarray, power: int, dim: int) -> np.ndarray:
    """log(|f|^power r^dim), which in high dimension is no float itself; -inf where f is 0."""
    with np.errstate(divide="ignore"):
        return power * np.log(np.abs(f)) + dim * np.log(r)
