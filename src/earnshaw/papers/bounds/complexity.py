"""Rademacher complexity of one unit and of a product of two, and what follows for averages.

For a class F of functions,

    R_n(F) = E sup_f |(2/n) sum_i s_i f(x_i)|,    s_i = +-1 with equal probability,

is its Rademacher complexity, and with probability 1 - delta every f: X -> [0, 1] of F has

    |E f - mean f(x_i)| <= R_n(F) + sqrt(8 log(2/delta)/n)

(EPD, Theorem B.2). With s, t: R -> [-C, C] L-Lipschitz and |x| <= B, directions of length 1,

    R_n{x.theta} = (2/n) E|sum_i s_i x_i| <= 2 B/sqrt(n),
    R_n{s(x.theta) t(x.w)} <= (48 C L B + 24 C^2)/sqrt(n).

EPD's Theorem B.3 prints B sqrt(2/n), false by its own definition (mathematics.md, error 17), and
48 C L B sqrt(2/n), false for constants, whose L is as small as one likes. From U = {s(x.theta)}:
composition with a Lipschitz function that vanishes at 0 costs 2L (Bartlett and Mendelson 2002,
Theorem 12), and s(0) adds at most 2 C/sqrt(n), so R_n(U) <= (4 L B + 2 C)/sqrt(n); and
2 u v = (u + v)^2 - u^2 - v^2 gives R_n(U V) <= 6 C (R_n(U) + R_n(V)).

`uniform.py` has the same for whole networks.
"""

from __future__ import annotations

import math

from earnshaw.limits import check_real
from earnshaw.papers.bounds.checks import check_samples, not_negative


def linear_complexity(radius: float, samples: int) -> float:
    """2 B/sqrt(n), of x.theta with |x| <= B and |theta| = 1."""
    return 2 * check_real("radius", radius, 0.0) / math.sqrt(check_samples(samples))


def product_complexity(size: float, lipschitz: float, radius: float, samples: int) -> float:
    """(48 C L B + 24 C^2)/sqrt(n), of products of two units |sigma| <= C, L-Lipschitz."""
    size, radius = check_real("size", size, 0.0), check_real("radius", radius, 0.0)
    lipschitz = not_negative("Lipschitz constant", lipschitz)
    return (48 * size * lipschitz * radius + 24 * size**2) / math.sqrt(check_samples(samples))


def uniform_deviation(complexity: float, samples: int, confidence: float) -> float:
    """R_n + sqrt(8 log(2/delta)/n) for functions to [0, 1]; delta = 1 - confidence."""
    confidence = check_real("confidence", confidence, 0.0, 1.0)
    return complexity + math.sqrt(8 * math.log(2 / (1 - confidence)) / check_samples(samples))


def product_deviation(
    size: float, lipschitz: float, radius: float, samples: int, confidence: float
) -> float:
    """How far the mean of sigma(x.theta) sigma(x.w) is from Phi, for all theta and w at once.

    (u v/C^2 + 1)/2 is in [0, 1], and 1/2 adds 1/sqrt(n) to its complexity.
    """
    plain = product_complexity(size, lipschitz, radius, samples) / (2 * size**2)
    part = uniform_deviation(plain + 1 / math.sqrt(samples), samples, confidence)
    return 2 * size**2 * part


def samples_needed(
    size: float, lipschitz: float, radius: float, error: float, confidence: float
) -> int:
    """How many samples bring `product_deviation` down to `error`."""
    error = check_real("error", error, 0.0)
    return math.ceil((product_deviation(size, lipschitz, radius, 1, confidence) / error) ** 2)
