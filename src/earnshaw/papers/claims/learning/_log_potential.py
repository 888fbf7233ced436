"""log|C| off the cores, C = sum_j q_j Phi(|x - y_j|): derivatives, constants, and the ascent.

Phi(r) = (s r)^(-nu) K_nu(s r), nu = d/2 - 1, s = sqrt(lambda), in SciPy alone and scaled so that
nothing underflows; `exact_log` is the same in 60 digits. With a_j = |Phi'|/Phi at r_j = |x - y_j|,
n_j the direction away from y_j and shares t_j = q_j Phi_j/C, which add up to 1,

    kappa = sum |t_j|,   grad log|C| = -sum t_j a_j n_j,
    Hessian = sum t_j (Phi''/Phi n_j n_j + Phi'/(r Phi) (1 - n_j n_j)) - grad grad.

`Constants` are those of the theorem; `climb` is its algorithm. mathematics.md, "A theorem for the
log ascent".
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf
from scipy.special import kve

from earnshaw.papers.claims.claim import Instance

DIGITS = 60


class Jet(NamedTuple):
    """log Phi, |Phi'|/Phi, Phi''/Phi and |Phi'''|/Phi at distances r; all but the first fall."""

    log: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


def jet(dim: int, lam: float, r: Any) -> Jet:
    """By Phi' = -s K_(nu+1)/K_nu Phi and Phi'' + (d - 1) Phi'/r = lambda Phi."""
    r, s, nu = np.asarray(r, dtype=float), math.sqrt(lam), dim / 2 - 1
    x = s * r
    below = kve(nu, x)
    first = s * kve(nu + 1, x) / below
    second = lam + (dim - 1) * first / r
    third = lam * first + (dim - 1) * (second + first / r) / r
    return Jet(np.log(below) - x - nu * np.log(x), first, second, third)


class Here(NamedTuple):
    """log|C| at a point, kappa, gradient (d,), Hessian (d, d) and the nearest charge's distance."""

    log: float
    kappa: float
    gradient: np.ndarray
    hessian: np.ndarray
    nearest: float


@dataclasses.dataclass(frozen=True)
class Charges:
    """Charges q (n,) at y (n, d) under Phi."""

    y: np.ndarray
    q: np.ndarray
    lam: float = 1.0

    @property
    def dim(self) -> int:
        """d."""
        return self.y.shape[1]

    def at(self, x: np.ndarray) -> Here:
        """log|C| and its derivatives at x (d,), off all charges."""
        away = x - self.y
        r = np.linalg.norm(away, axis=1)
        phi = jet(self.dim, self.lam, r)
        top = phi.log.max()
        terms = self.q * np.exp(phi.log - top)
        total = terms.sum()
        shares, n = terms / total, away / r[:, None]
        gradient = -(shares * phi.first) @ n
        across = -shares * phi.first / r
        along = shares * phi.second - across
        hessian = (n.T * along) @ n + across.sum() * np.eye(self.dim)
        hessian -= np.outer(gradient, gradient)
        kappa = float(np.abs(shares).sum())
        log = float(top + math.log(abs(total)))
        return Here(log, kappa, gradient, hessian, float(r.min()))

    def exact_log(self, x: Any) -> mpf:
        """log|C| in DIGITS digits; x may be of mpf."""
        with mp.workdps(DIGITS):
            nu, s = mpf(self.dim) / 2 - 1, mp.sqrt(mpf(self.lam))
            total = mpf(0)
            for q, y in zip(self.q, self.y, strict=True):
                apart = mp.sqrt(sum((a - mpf(float(b))) ** 2 for a, b in zip(x, y, strict=True)))
                z = s * apart
                total += mpf(float(q)) * z**-nu * mp.besselk(nu, z)
            return mp.log(abs(total))

    def gain(self, x: np.ndarray, moved: np.ndarray) -> float:
        """log|C(moved)| - log|C(x)|, by 60 digits."""
        with mp.workdps(DIGITS):
            ends = ([mpf(float(part)) for part in point] for point in (moved, x))
            after, before = (self.exact_log(point) for point in ends)
            return float(after - before)


def charges_of(instance: Instance) -> Charges:
    """The charges of an instance: its y, q and lam."""
    y, q = (np.asarray(instance[name], dtype=float) for name in ("y", "q"))
    return Charges(y, q, float(instance["lam"]))


@dataclasses.dataclass(frozen=True)
class Constants:
    """The theorem's numbers for charges of radius eps, and kappa <= K at every iterate.

    u >= |grad Phi|/Phi, u^2 >= |Hessian|/Phi, 2 u^3 >= |third derivative|/Phi for r >= eps; on a
    step of length <= 1/(4 u K) kappa <= 2 K, and there the first three derivatives of log|C| are at
    most 2 u K, 6 u^2 K^2 and 32 u^3 K^3.
    """

    dim: int
    radius: float
    lam: float
    kappa: float

    @property
    def u(self) -> float:
        """sqrt(lambda) + (d - 1)/eps."""
        return math.sqrt(self.lam) + (self.dim - 1) / self.radius

    @property
    def longest(self) -> float:
        """1/(4 u K): the step along which kappa at most doubles."""
        return 1 / (4 * self.u * self.kappa)

    @property
    def hessian(self) -> float:
        """B2 = 6 u^2 K^2."""
        return 6 * (self.u * self.kappa) ** 2

    @property
    def third(self) -> float:
        """B3 = 32 u^3 K^3."""
        return 32 * (self.u * self.kappa) ** 3

    @property
    def small(self) -> float:
        """The gradient below which the curvature is used, sqrt(lambda)/2."""
        return math.sqrt(self.lam) / 2

    @property
    def curved_step(self) -> float:
        """beta = lambda/(d B3)."""
        return self.lam / (self.dim * self.third)

    def gains(self, noisy: bool = False) -> tuple[float, float]:
        """What a gradient step and a curvature step gain at least; half of it with errors."""
        share = 0.5 if noisy else 1.0
        curved = self.curved_step**2 * self.lam / (12 * self.dim)
        return share * self.small**2 / (2 * self.hessian), share * curved

    @property
    def tolerated(self) -> float:
        """tau/|C(x_0)| that the ascent bears: lambda^2/(3072 d^2 u^4 K^4)."""
        return self.lam**2 / (3072 * self.dim**2 * (self.u * self.kappa) ** 4)

    def range_of(self, charges: Charges, start: Here) -> float:
        """What log|C| can still gain off the cores: log(sum |q_j| Phi(eps)) - log|C(x_0)|."""
        top = float(jet(self.dim, self.lam, self.radius).log)
        return top + math.log(float(np.abs(charges.q).sum())) - start.log


class Seen(NamedTuple):
    """What the oracle says of C at a point: gradient and Hessian of log|C|."""

    gradient: np.ndarray
    hessian: np.ndarray


def step(constants: Constants, seen: Seen) -> tuple[np.ndarray, bool]:
    """The theorem's step, and whether it is along the curvature."""
    if np.linalg.norm(seen.gradient) >= constants.small:
        return seen.gradient / constants.hessian, False
    v = np.linalg.eigh(seen.hessian)[1][:, -1]
    return constants.curved_step * (v if seen.gradient @ v >= 0 else -v), True


class Climb(NamedTuple):
    """How a climb ended: the place, whether it arrived, steps of both kinds, what it saw."""

    end: np.ndarray
    arrived: bool
    by_gradient: int
    by_curvature: int
    kappa: float  # the largest
    least_gain: float  # of a step, in units of what was promised
    gained: float


def climb(
    charges: Charges,
    constants: Constants,
    start: np.ndarray,
    limit: int,
    sees: Callable[[Here], Seen] | None = None,
) -> Climb:
    """The theorem's algorithm, until it is within 2 eps of a charge or `limit` steps are made."""
    promised = constants.gains(noisy=sees is not None)
    x, here = np.array(start, dtype=float), charges.at(start)
    first, kinds, least, kappa = here.log, [0, 0], math.inf, here.kappa
    while here.nearest > 2 * constants.radius and sum(kinds) < limit:
        seen = Seen(here.gradient, here.hessian) if sees is None else sees(here)
        way, curved = step(constants, seen)
        x = x + way
        there = charges.at(x)
        kinds[curved] += 1
        # Rounding of log|C| is no loss; it is far below what a step gains.
        least = min(least, (there.log - here.log + 1e-14) / promised[curved])
        kappa, here = max(kappa, there.kappa), there
    arrived = here.nearest <= 2 * constants.radius
    return Climb(x, arrived, kinds[0], kinds[1], kappa, least, here.log - first)


class Followed(NamedTuple):
    """Where node-wise's own rule of steps led, and what it saw on the way off the cores."""

    log: float
    nearest: float
    kappa: float
    iterations: int


def follow(charges: Charges, start: np.ndarray, radius: float, limit: int = 400) -> Followed:
    """Steps along the gradient whatever its length, 1.5 times as long after a gain, else halved."""
    x, here, iterations = start, charges.at(start), 0
    length, kappa = 0.7 * float(np.linalg.norm(start)), here.kappa
    log = here.log
    while here.nearest > 2 * radius and iterations < limit:
        tried = x + length * here.gradient / np.linalg.norm(here.gradient)
        there, iterations = charges.at(tried), iterations + 1
        if there.log > here.log:
            x, here, length = tried, there, 1.5 * length
            if here.nearest >= radius:
                log, kappa = here.log, max(kappa, here.kappa)
        else:
            length /= 2
    return Followed(log, here.nearest, kappa, iterations)
