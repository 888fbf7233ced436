"""Full, Lemma B.10: exp(-r)/r in R^3 and K_1(r)/r, with the factors that it lacks.

For h(r) = pi^(-3/2) s K_1(s r)/r in R^3, in bipolar coordinates around two points delta apart,

    (h * h)(delta) = (2 pi/delta) int_0^inf u h(u) int_|u-delta|^(u+delta) v h(v) dv du
                   = (2 s/(pi^2 delta)) int_0^inf K_1(s u) (K_0(s|u-delta|) - K_0(s(u+delta))) du
                   = exp(-s delta)/delta                                           for delta > 0,

so sigma(x, w) = (2 pi)^(3/4) exp(|x|^2/4) h(|x - w|) realises the Yukawa potential wherever
theta != w. At theta = w both sides are infinite: h goes as 1/r^2, and is not square-integrable, so
that no activation has the potential at all (mathematics.md, error 10).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, special

from earnshaw.duality.families.harmonic import LambdaHarmonic
from earnshaw.duality.realizing.realize import realize
from earnshaw.papers.claims.claim import (
    NO_MINIMUM,
    NOTHING_ASKED,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.duality._expectations import panels, towards


def _draw(rng: np.random.Generator, index: int) -> Instance:
    return {"rate": float(rng.uniform(0.5, 2.0)), "distance": float(rng.uniform(0.1, 4.0))}


def _self_convolution(s: float, delta: float) -> float:
    """(h * h)(delta) of the module's docstring, in units of s."""
    z = s * delta
    u, weights = panels(towards([0.0, z], 0.0, z + 40, 1e-10), 24)
    waves = special.k0(np.abs(u - z)) - special.k0(u + z)
    return float(2 / (math.pi**2 * delta) * np.sum(weights * special.k1(u) * waves))


def _test_off_coincidence(instance: Instance) -> Finding:
    s, delta = float(instance["rate"]), float(instance["distance"])
    yukawa = math.exp(-s * delta) / delta
    # The library's is (s r)^(-1/2) K_(1/2)(s r) = sqrt(pi/2) exp(-s r)/(s r).
    ours = float(LambdaHarmonic(3, s * s).value(delta)) * s / math.sqrt(math.pi / 2)
    numbers = {
        "pair_error": abs(_self_convolution(s, delta) / yukawa - 1),
        "library_error": abs(ours / yukawa - 1),
    }
    return Finding(max(numbers.values()) < 1e-9, numbers)


def _test_root(instance: Instance) -> Finding:
    """h is F^-1 sqrt(F): the transform of s K_1(s r)/(pi^(3/2) r) is sqrt(4 pi/(k^2 + s^2))."""
    s, k = float(instance["rate"]), float(instance["distance"])
    # In R^3 it is (4 pi/k) int r h(r) sin(k r) dr.
    r, weights = panels(towards([0.0], 0.0, 45 / s, 1e-6), 24)
    total = float(np.sum(weights * special.k1(s * r) * np.sin(k * r)))
    found = 4 * s / (math.sqrt(math.pi) * k) * total
    ours = float(LambdaHarmonic(3, s * s).fourier(k)) * s / math.sqrt(math.pi / 2)
    numbers = {
        "root_error": abs(found / math.sqrt(4 * math.pi / (k * k + s * s)) - 1),
        "library_error": abs(ours * (k * k + s * s) / (4 * math.pi) - 1),
    }
    return Finding(max(numbers.values()) < 1e-9, numbers)


def _test_unbounded(instance: Instance) -> Finding:
    """The squared norm of h over r > cut is (4 s^2/pi^2) int K_1(s r)^2 dr ~ 4/(pi^2 cut)."""
    s = float(instance["rate"])
    scaled = []
    for cut in (1e-3, 1e-5):
        r, weights = panels(cut * 2.0 ** np.arange(0, 60), 20)
        norm = 4 * s * s / math.pi**2 * float(np.sum(weights * special.k1(s * r) ** 2))
        scaled.append(norm * cut * math.pi**2 / 4)
    result = realize(f"exp(-{s!r}*r)/r", on="space", dim=3)
    why = result.obstruction
    refused = result.realizable is False and why is not None and why.kind == "unbounded"
    numbers = {"norm_times_cut": scaled[1], "library_refuses": float(refused)}
    return Finding(abs(scaled[1] - 1) < 1e-3 and refused, numbers)


def _test_printed(instance: Instance) -> Finding:
    """E[sigma sigma] over X ~ N(0, I_3) for sigma = K_1(r)/r as it stands; theta = -w.

    Prolate coordinates with foci at the units: |x - theta| |x - w| = (delta/2)^2 (c^2 - t^2),
    dx = 2 pi (delta/2)^3 (c^2 - t^2) dc dt and |x|^2 = (delta/2)^2 (c^2 + t^2 - 1).
    """
    half = float(instance["distance"]) / 2

    def density(t: float, c: float) -> float:
        near, far = half * (c - t), half * (c + t)
        gauss = math.exp(-half * half * (c * c + t * t - 1) / 2) / (2 * math.pi) ** 1.5
        return gauss * float(special.k1(near) * special.k1(far)) * 2 * math.pi * half

    # Even in t; K_1 is infinite at c = t = 1, integrably.
    top = 1 + 14 / half
    mean = 2 * integrate.dblquad(density, 1, top, 0, 1, epsabs=1e-7, epsrel=1e-7)[0]
    yukawa = math.exp(-2 * half) / (2 * half)
    return Finding(abs(mean / yukawa - 1) < 1e-3, {"ratio": mean / yukawa})


def _test_without_pi(instance: Instance) -> Finding:
    delta = float(instance["distance"])
    ratio = math.pi**3 * _self_convolution(1.0, delta) * delta * math.exp(delta)
    return Finding(abs(ratio - 1) < 1e-6, {"ratio": ratio})


YUKAWA = Claim(
    id="yukawa-activation",
    title="the Yukawa potential in three dimensions and K_1(r)/r",
    sources=Sources(full="Lemma B.10"),
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
    hypotheses=(
        "d = 3, X ~ N(0, I), sigma = (2 pi)^(3/4) exp(|x|^2/4) pi^(-3/2) s K_1(s r)/r",
        "theta != w: distances from 0.1 to 4, s from 0.5 to 2",
    ),
    statements=(
        Statement(
            "off-coincidence",
            "h = pi^(-3/2) s K_1(s r)/r has the autocorrelation exp(-s r)/r for r > 0",
            _draw,
            _test_off_coincidence,
        ),
        Statement(
            "root-of-the-transform",
            "the transform of h is sqrt(4 pi/(k^2 + s^2)), that of exp(-s r)/r its square",
            _draw,
            _test_root,
        ),
        Statement(
            "not-at-coincidence",
            "h is not square-integrable, its norm over r > cut is 4/(pi^2 cut), and the potential "
            "is refused as infinite at theta = w",
            _draw,
            _test_unbounded,
            quick=2,
            thorough=6,
        ),
        Statement(
            "as-printed",
            "E[sigma(X, theta) sigma(X, w)] = exp(-r)/r with sigma = K_1(r)/r",
            _draw,
            _test_printed,
            role="printed",
            kind="statement-refuted",
            quick=2,
            thorough=3,
        ),
        Statement(
            "without-pi",
            "K_1(r)/r has the autocorrelation exp(-r)/r",
            _draw,
            _test_without_pi,
            role="printed",
            kind="statement-refuted",
            quick=1,
            thorough=3,
        ),
    ),
    remarks=(
        "corrected: the factors pi^(-3/2) and (2 pi)^(3/4) exp(|x|^2/4) are missing, and at "
        "theta = w the potential is infinite (mathematics.md, error 10)",
    ),
)
