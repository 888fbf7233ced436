"""The coefficients of EPD's synthetic potential (Theorem 4.4), and the samples that it takes.

f = sum c_n x^n with c_(n+2) = c_n (n (n - 1) + (d - 1) n + 1)/((n + 2)(n + 1)), cut at an even N;
its activation is sigma = sum sqrt(c_n/f(1)) he_n. The mean of n values of sigma(x, w)^2 has a
standard error of sqrt((E[sigma^4] - 1)/n).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from earnshaw.duality.named import activation
from earnshaw.papers.claims.claim import Finding, Instance, Statement


def even_coefficients(dim: int, degree: int) -> list[Fraction]:
    """c_0, c_2, ..., c_N, exactly."""
    found = [Fraction(1)]
    for n in range(0, degree, 2):
        found.append(found[-1] * (n * (n - 1) + (dim - 1) * n + 1) / ((n + 2) * (n + 1)))
    return found


def leftover(dim: int, degree: int) -> Fraction:
    """kappa = c_N k_N / f(1)."""
    c = even_coefficients(dim, degree)
    return c[-1] * (degree**2 + (dim - 2) * degree + 1) / sum(c)


def needed_degree(dim: int, eps: float, total: float) -> int:
    """The least even N with 2 kappa total (1 - eps)^N <= eps/2."""
    for degree in range(2, 1000, 2):
        if 2 * float(leftover(dim, degree)) * total * (1 - eps) ** degree <= eps / 2:
            return degree
    raise RuntimeError(f"no degree below 1000 is enough for d = {dim}, eps = {eps}")


def _count_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"sizes": [(3, 0.2), (5, 0.2), (10, 0.2), (10, 0.5)], "total": 3.0}


def fourth_moment(dim: int, degree: int) -> float:
    """log of E[sigma^4], sigma = sum sqrt(c_n) he_n: 3-term recurrence, a fine trapezoidal sum."""
    c = even_coefficients(dim, degree)
    total = sum(c)
    x = np.linspace(-30, 30, 120_001)
    weighted = np.exp(-x * x / 8)  # a fourth root of the density, so that nothing overflows
    before, now = np.zeros_like(x), weighted
    sigma = math.sqrt(float(c[0] / total)) * now
    for n in range(1, degree + 1):
        before, now = now, (x * now - math.sqrt(n - 1) * before) / math.sqrt(n)
        if n % 2 == 0:
            sigma = sigma + math.sqrt(float(c[n // 2] / total)) * now
    return math.log(float(np.sum(sigma**4)) * float(x[1] - x[0]) / math.sqrt(2 * math.pi))


def _samples_needed(instance: Instance) -> Finding:
    """n = (E[sigma^4] - 1)/eps^2 for a standard error of eps at theta = w, N as needed."""
    numbers, checked = {}, 0.0
    for dim, eps in instance["sizes"]:
        degree = needed_degree(int(dim), eps, float(instance["total"]))
        samples = fourth_moment(int(dim), degree) - 2 * math.log(eps)
        stated = math.log(dim) ** 2 / eps  # d^(log(d)/eps)
        label = f"d_{dim}_eps_{eps}"
        numbers[f"log10_samples_{label}"] = samples / math.log(10)
        numbers[f"exponent_{label}"] = samples / stated
        checked = max(checked, numbers[f"exponent_{label}"])
    # He_2 alone: sigma = (x^2 - 1)/sqrt(2) has E[sigma^4] = 15; c_0 and c_2 mix it with 1.
    c = [float(one) for one in even_coefficients(3, 2)]
    a, b = (math.sqrt(one / sum(c)) for one in c)
    exact = a**4 + 6 * a**2 * b**2 + 4 * a * b**3 * math.sqrt(8) + 15 * b**4
    numbers["quadrature_error"] = abs(math.exp(fourth_moment(3, 2)) / exact - 1)
    library = np.asarray(activation("sphere-synthetic", dim=3, degree=2)(np.array([0.0, 2.0])))
    stated = np.array([a - b / math.sqrt(2), a + 3 * b / math.sqrt(2)])
    numbers["library_error"] = float(np.max(np.abs(library - stated)))
    errors = max(numbers["quadrature_error"], numbers["library_error"])
    return Finding(errors < 1e-9 and checked < 20, numbers)


SAMPLES_NEEDED = Statement(
    name="samples-needed",
    says="a standard error of eps at theta = w takes (E[sigma^4] - 1)/eps^2 samples, N as "
    "needed: a power of d^(log(d)/eps), as Theorem 4.4 has it, and no number to run",
    draw=_count_instance,
    test=_samples_needed,
    quick=1,
    thorough=1,
    constants={"exponent_d_10_eps_0.2": "EPD, Theorem 4.4: the power of d^(log(d)/eps) in poly()"},
)
