"""What the Fourier transform of a radial potential looks like, measured.

Phi(r) on R^d is realizable by a translation activation when its transform F is non-negative (Full,
Theorem 2.1; Bochner). A `Spectrum` is F with everything that the inversion of its square root
needs: its error, how far it was computed, its algebraic tail, and the lengths that occur in it.

The tail comes from the odd powers of r in the expansion of Phi at 0: c_n r^n contributes

    c_n 2^(n+d) pi^(d/2) Gamma((n+d)/2) / Gamma(-n/2) k^(-n-d),

so a cusp gives k^(-d-1). Kinks at other radii b add terms that oscillate as cos(k b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from scipy import special

from earnshaw.duality.formulas.expression import RADIUS
from earnshaw.duality.formulas.symbolic import numpy_function
from earnshaw.duality.potential import Radial
from earnshaw.numerics.budget import checkpoint
from earnshaw.numerics.hankel import ForwardTransform, Function
from earnshaw.numerics.jax_as_numpy import as_numpy
from earnshaw.numerics.piecewise import PiecewiseChebyshev, fit_panels

_WORK = 5e7
"""Kernel evaluations that one transform may cost: a few seconds."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """F(k) of a radial function on R^dim.

    `value` evaluates F for 0 < k <= `cutoff`; `error` bounds its estimated absolute error;
    `samples` are frequencies that resolve F. For large k, F = k^(-power) (c_0 + c_1/k^2 + ...) with
    the coefficients `tail` (empty: F decays faster), plus oscillations where there are `kinks`.
    `scale` is the smallest length at 0; `extent` where the profile is negligible; `decay` the rate
    of its exponential decay if known, and then `far`(r) evaluates it accurately for r > `far_from`;
    `root_kink` the amplitude of the oscillation Lambda_d(k b)/k^2, b the first kink, in sqrt(F).
    """

    dim: int
    value: Function
    error: float
    cutoff: float
    samples: np.ndarray
    power: float
    tail: tuple[float, ...]
    kinks: tuple[float, ...]
    scale: float
    extent: float
    decay: float = 0.0
    far: Function | None = None
    far_from: float = math.inf
    root_kink: float = 0.0

    def most_negative(self) -> tuple[float, float] | None:
        """The frequency and value of the lowest F, if it is negative beyond doubt."""
        values = self.value(self.samples)
        lowest = int(np.argmin(values))
        doubt = 50 * self.error + 1e-13 * float(np.max(np.abs(values)))
        if values[lowest] < -doubt:
            return float(self.samples[lowest]), float(values[lowest])
        return None


def measure(potential: Radial) -> Spectrum:
    """The spectrum of a radial potential, by its closed form if it has one, else by quadrature.

    Octave after octave of frequencies is computed until F is negligible, or agrees with its tail,
    or is lost in rounding, or is clearly negative, or the work exceeds what a few seconds allow.
    Raises `NotSquareIntegrable` where the transform does not exist as a function.
    """
    dim = potential.dim
    forward = ForwardTransform(as_function(potential), dim, potential.breakpoints)
    inside = tuple(b for b in potential.breakpoints if 0 < b <= 1.01 * forward.extent)
    power, tail = odd_tail(forward.function, dim, forward.scale, min(inside, default=math.inf))
    worst = recent = 0.0  # the largest error so far, and in this octave

    def evaluate(k: np.ndarray) -> np.ndarray:
        nonlocal worst, recent
        checkpoint("the Fourier transform")
        closed = potential.fourier(k)
        if closed is None:
            values, errors = forward(k)
        else:
            values, errors = np.asarray(closed, dtype=float), 1e-15 * np.abs(closed)
        recent = max(recent, float(np.max(errors)))
        worst = max(worst, recent)
        return values

    lowest = 1e-6 / forward.scale if forward.slow else 0.25 / forward.extent
    start = lowest / 2 if forward.slow else 0.0
    fits = [fit_panels(evaluate, np.array([start, lowest]))]
    k, values = _sampled(fits[0])
    origin = peak = spent = 0.0
    cutoff = lowest
    while cutoff < 1e7 / forward.scale:
        origin = max(origin, float(np.max(np.abs(values))))
        tolerance, recent = recent, 0.0
        fits.append(fit_panels(evaluate, np.array([cutoff, 2 * cutoff]), tolerance, depth=10))
        cutoff *= 2
        k, values = _sampled(fits[-1])
        content = float(np.max(np.abs(values) * k**dim))
        peak = max(peak, content)
        spent += len(k) * forward.nodes_at(cutoff)
        expected = np.polyval(tail[::-1], k**-2) * k**-power if tail else np.zeros_like(k)
        off_tail = np.abs(values - expected)
        negligible = content < 1e-16 * peak or bool(np.all(np.abs(values) < 3 * recent))
        on_tail = bool(tail) and bool(np.all(off_tail < 1e-9 * np.abs(values) + 3 * recent))
        negative = float(np.min(values)) < -1e-4 * origin
        # The next octave would cost about four times as much as this one.
        too_much = potential.fourier(k) is None and 5 * spent > _WORK
        if negligible or on_tail or negative or too_much:
            break
    if not (tail or inside or negligible) and float(np.min(values)) > 10 * recent:
        # Phi starts with a broken power of r: continue F with the slope that it ends with.
        power = float(np.log(values[0] / values[-1]) / np.log(k[-1] / k[0]))
        tail = (float(values[-1] * k[-1] ** power),)
    whole = PiecewiseChebyshev(
        np.concatenate([*(fit.edges[:-1] for fit in fits), fits[-1].edges[-1:]]),
        np.concatenate([fit.coefficients for fit in fits]),
    )
    if negligible:
        # The root of what is only rounding is not small: end where F is lost in it.
        everywhere, transform = _sampled(whole)
        seen = everywhere[np.abs(transform) > 3 * recent]
        cutoff = min(cutoff, 1.05 * float(np.max(seen, initial=lowest)))
    return Spectrum(
        dim=dim,
        value=whole,
        error=worst,
        cutoff=cutoff,
        samples=_sampled(whole)[0],
        power=power,
        tail=tail,
        kinks=inside,
        scale=forward.scale,
        extent=forward.extent * (100 if forward.slow else 8 if inside else 1),
    )


def as_function(potential: Radial) -> Function:
    """f(r) as a NumPy function: by its formula, without compilation, if it has one."""
    expr = getattr(potential, "expr", None)
    return as_numpy(potential.value) if expr is None else numpy_function(expr, RADIUS, (0,))


def combine(parts: list[Spectrum], weights: list[float]) -> Spectrum:
    """The spectrum of a weighted sum of potentials (Full, Lemma B.6)."""
    first = parts[0]
    power = first.dim + 1.0
    tail = np.zeros(3)
    for part, weight in zip(parts, weights, strict=True):
        shift = (part.power - power) / 2
        if shift not in (0, 1, 2):
            continue
        for j, coefficient in enumerate(part.tail[: 3 - int(shift)]):
            tail[j + int(shift)] += weight * coefficient
    lead = int(np.argmax(tail != 0)) if np.any(tail) else 0

    def value(k: np.ndarray) -> np.ndarray:
        return sum(
            (w * evaluate_with_tail(part, k) for part, w in zip(parts, weights, strict=True)),
            start=np.zeros_like(k),
        )

    return Spectrum(
        dim=first.dim,
        value=value,
        error=sum(abs(w) * part.error for part, w in zip(parts, weights, strict=True)),
        cutoff=max(part.cutoff for part in parts),
        samples=np.unique(np.concatenate([part.samples for part in parts])),
        power=power + 2 * lead,
        tail=tuple(tail[lead:]) if np.any(tail) else (),
        kinks=tuple(sorted({kink for part in parts for kink in part.kinks})),
        scale=min(part.scale for part in parts),
        extent=max(part.extent for part in parts),
    )


def evaluate_with_tail(spectrum: Spectrum, k: np.ndarray) -> np.ndarray:
    """F(k), by the algebraic tail beyond the cutoff."""
    values = np.zeros_like(k)
    near = k <= spectrum.cutoff
    values[near] = spectrum.value(k[near])
    if spectrum.tail:
        far = k[~near]
        values[~near] = np.polyval(spectrum.tail[::-1], far**-2) * far**-spectrum.power
    return values


def odd_tail(
    function: Function, dim: int, scale: float, kink: float
) -> tuple[float, tuple[float, ...]]:
    """The leading power of k in the non-oscillating tail of F, and up to three coefficients.

    The odd Taylor coefficients at 0 come from a Chebyshev fit on the longest interval [0, b] on
    which one of degree 16 is exact to rounding; none if there is no such interval (r^(1/2), say),
    nor if they all vanish (even functions of r).
    """
    nodes = (1 + np.cos((2 * np.arange(17) + 1) * math.pi / 34)) / 2
    origin = float(np.abs(function(np.array([1e-12 * scale]))[0]))
    probe = np.linspace(0.02, 0.98, 25)
    for halvings in range(8):
        end = min(scale, kink) / 2**halvings
        fit = chebyshev.Chebyshev.fit(nodes, function(end * nodes) / origin, 16, domain=[0, 1])
        if np.max(np.abs(fit(probe) - function(end * probe) / origin)) < 1e-13:
            break
    else:
        return dim + 1.0, ()
    taylor = [float(fit.deriv(n)(0.0) if n else fit(0.0)) / math.factorial(n) for n in range(8)]
    # The fit amplifies rounding in its n-th derivative at the end of the interval about so much:
    noise = {n: 1e-12 * 64.0**n for n in (1, 3, 5, 7)}
    known = {n: origin * taylor[n] / end**n for n in noise if abs(taylor[n]) > noise[n]}
    if not known:
        return dim + 1.0, ()
    lead = min(known)
    coefficients = tuple(known.get(n, 0.0) * power_transform(dim, n) for n in range(lead, 8, 2))
    return float(dim + lead), coefficients[:3]


def power_transform(dim: int, n: float) -> float:
    """The factor c in F(|x|^n) = c k^(-n-d), a generalised transform; 0 for even n >= 0."""
    gammas = math.gamma((n + dim) / 2) * float(special.rgamma(-n / 2))
    return 2.0 ** (n + dim) * math.pi ** (dim / 2) * gammas


def _sampled(fit: PiecewiseChebyshev) -> tuple[np.ndarray, np.ndarray]:
    """Twelve frequencies in each panel, and F there."""
    left, right = fit.edges[:-1, None], fit.edges[1:, None]
    k = (left + (right - left) * (np.arange(12) + 0.5) / 12).ravel()
    return k, fit(k)
