"""Every activation of the library, with its definition in 250 or more digits beside it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import flint
import mpmath
import numpy as np
from mpmath import mp
from scipy import special

import earnshaw as ew
import reference
from earnshaw.duality.named import ACTIVATIONS
from earnshaw.numerics.log_table import LogTable, fit_log_table

PARAMETERS: dict[str, dict[str, Any]] = {
    "leaky-relu": {"negative_slope": 0.2, "positive_slope": 1.5},
    "elu": {"alpha": 0.7},
    "rbf": {"gamma": 0.6},
    "exponential": {"rate": 0.8, "shift": -1.0},
    "gaussian-bump": {"curvature": -0.3},
    "hermite": {"degree": 5},
    "polynomial": {"coefficients": [1.0, -2.0, 0.5, 0.3]},
    "sphere-synthetic": {"dim": 3, "degree": 6},
    "gaussian": {"dim": 3, "rate": 0.7, "width": 1.5},
    "bessel": {"dim": 2},
    "almost-harmonic": {"dim": 3},
}
ON_SPACE = ("gaussian", "bessel", "almost-harmonic")
DOT_PRODUCT = [name for name in ACTIVATIONS if name not in ON_SPACE]
POINTS = np.array([-40.0, -9.0, -3.1, -1.0, -0.4, -1e-8, 1e-8, 0.3, 1.0, 2.7, 8.0, 21.0, 40.0])


def named(name: str) -> Any:
    """The activation of that name, with parameters that are not the default."""
    return ew.activation(name, **PARAMETERS.get(name, {}))


def he(n: int, x: mpmath.mpf) -> mpmath.mpf:
    """The Hermite polynomial orthonormal under N(0, 1), from the physicists' one."""
    return mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2**n * mp.factorial(n))


def synthetic(x: mpmath.mpf) -> mpmath.mpf:
    """sum_n sqrt(c_n) he_n(x), c_n the Taylor coefficients of the potential named so."""
    phi = ew.potential("sphere-synthetic", dim=3, degree=6, normalize=False)
    powers = np.asarray(phi.taylor(7))
    return sum(mp.sqrt(float(c)) * he(n, x) for n, c in enumerate(powers))


# Of activations with parameters; the others are those of `reference.py`.
DEFINITIONS: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "leaky-relu": lambda x: 0.2 * x if x < 0 else 1.5 * x,
    "rbf": lambda x: mp.sqrt(2) * mp.sin(mp.sqrt(2 * mp.mpf(0.6)) * x + mp.pi / 4),
    "exponential": lambda x: mp.exp(mp.mpf(0.8) * x - 1),
    "gaussian-bump": lambda x: mp.exp(mp.mpf(-0.3) * x**2),
    "hermite": lambda x: he(5, x),
    "polynomial": lambda x: 1 - 2 * x + x**2 / 2 + mp.mpf(0.3) * x**3,
    "elu": lambda x: x if x > 0 else mp.mpf(0.7) * mp.expm1(x),
    "sphere-synthetic": synthetic,
}


def exact(name: str, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s and s' at points; at kinks the mean of both slopes."""
    if name not in DEFINITIONS:
        return _in_balls(reference.ACTIVATIONS[name], points)
    with mpmath.workdps(250):
        function = DEFINITIONS[name]
        numbers = [mp.mpf(float(x)) for x in points]
        values = [float(function(x)) for x in numbers]
        slopes = [float(mp.diff(function, x)) for x in numbers]
    return np.array(values), np.array(slopes)


def _in_balls(function: reference.Function, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s, and s' as a central difference of step 1e-60 in 400 digits (erf(21) is 1 for 192)."""
    with flint.ctx.workdps(400):
        step, numbers = flint.arb("1e-60"), [flint.arb(float(x)) for x in points]
        values = [float(function(x)) for x in numbers]
        rises = [function(x + step) - function(x - step) for x in numbers]
        slopes = [float(rise / (2 * step)) for rise in rises]
    return np.array(values), np.array(slopes)


def exact_unit(name: str, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sigma(x, w) and its gradient in w, written out with SciPy, for the closed forms."""
    gap, dim = x - w, x.shape[-1]
    width = PARAMETERS[name].get("width", 1.0)
    density = np.exp(-np.sum(x**2, axis=-1) / (2 * width**2)) / (2 * np.pi * width**2) ** (dim / 2)
    if name == "gaussian":
        h = (1.4 / np.pi) ** (dim / 4) * np.exp(-0.7 * np.sum(gap**2, axis=-1))
        slope = -1.4 * gap * h[:, None]
    else:
        k0, k1 = special.k0(np.abs(gap)), special.k1(np.abs(gap))
        h = 2 / np.pi**2 * np.prod(k0, axis=-1)
        slope = -np.sign(gap) * k1 / k0 * h[:, None]
    return h / np.sqrt(density), -slope / np.sqrt(density)[:, None]


def run(source: str) -> dict[str, Any]:
    """What a file defines; it may import NumPy and math only."""
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    assert {alias.name for node in imported for alias in node.names} <= {"numpy", "math"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(ast.parse(source)))
    assert max(map(len, source.splitlines())) <= 100
    names: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), names)
    return names


def pairs(dim: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and weights (12, dim), near and far from each other, on both sides."""
    rng = np.random.default_rng(seed)
    x, gap = rng.normal(size=(12, dim)), rng.normal(size=(12, dim))
    gap *= (np.geomspace(1e-6, 8, 12) / np.linalg.norm(gap, axis=1))[:, None]
    return x, x - gap


RADII = np.geomspace(1e-5, 30, 401)
CUT = int(np.argmin(np.abs(RADII - 1)))


def yukawa(logarithmic: bool = False) -> LogTable:
    """A table of exp(-r)/r, or of the negative logarithm of r/30."""
    if logarithmic:
        return fit_log_table(RADII, -np.log(RADII / 30), logarithmic=True)
    return fit_log_table(RADII, np.exp(-RADII) / RADII, 1.0, 1.0)


UNITS, DIM, OUTPUTS = 4, 3, 2


def arrays(outputs: tuple[int, ...] = ()) -> dict[str, np.ndarray]:
    """Parts of a network, by name."""
    rng = np.random.default_rng(len(outputs))
    return {
        "positions": rng.normal(size=(UNITS, DIM)),
        "weights": rng.normal(size=(UNITS, *outputs)),
        "biases": rng.normal(size=UNITS),
        "intercept": rng.normal(size=outputs),
        "linear": rng.normal(size=(DIM, *outputs)),
    }
