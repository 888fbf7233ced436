"""The potential of tanh at a million values of rho, beside the plain Gauss-Hermite grid.

The grid of deg^2 Gauss-Hermite nodes, sigma(u) sigma(v) with v = rho u + sqrt(1 - rho^2) z, is
what neural-tangents uses for activations without a closed form. Both run in JAX, compiled, in
float64, in one process; each is timed after its compilation, the grid in chunks that stay in cache.
Errors are against the 50-digit arithmetic of tests/reference.py.

    python benchmarks/duality.py            (about a minute on 2 cores)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import earnshaw as ew
from reference import ACTIVATIONS, plane_mean

COUNT = 1_000_000
CHUNK = 1000
PROBES = (-0.999999, -0.7, 0.1, 0.6, 0.95, 0.999999)


def grid_potential(nodes: int) -> Callable[[jax.Array], jax.Array]:
    """E[tanh(u) tanh(v)] on the full nodes x nodes grid."""
    x, weights = (jnp.asarray(a) for a in np.polynomial.hermite_e.hermegauss(nodes))
    weights = weights / weights.sum()
    u = jnp.tanh(x)

    @jax.jit
    def evaluate(rho: jax.Array) -> jax.Array:
        def chunk(part: jax.Array) -> jax.Array:
            v = part[:, None, None] * x[:, None] + jnp.sqrt(1 - part**2)[:, None, None] * x
            return jnp.einsum("rij,i,j->r", jnp.tanh(v), weights * u, weights)

        return jax.lax.map(chunk, rho.reshape(-1, CHUNK)).reshape(-1)

    return evaluate


def seconds(function: Callable[[jax.Array], jax.Array], rho: jax.Array, repeats: int) -> float:
    """The best of `repeats` timed calls, after one to compile."""
    function(rho).block_until_ready()
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function(rho).block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print one row a method: error, time, and time relative to ours."""
    rho = jnp.linspace(-1.0, 1.0, COUNT)
    exact = np.array([float(plane_mean(ACTIVATIONS["tanh"], probe)) for probe in PROBES])
    padded = jnp.concatenate([jnp.array(PROBES), jnp.zeros(CHUNK - len(PROBES))])

    phi = ew.potential("tanh", normalize=False)
    ours = None
    print(f"{'method':28s} {'largest error':>14s} {'seconds':>10s} {'times ours':>11s}")
    for name, function, repeats in (
        ("earnshaw, Hermite series", phi, 5),
        ("Gauss-Hermite grid, 25^2", grid_potential(25), 1),
        ("Gauss-Hermite grid, 100^2", grid_potential(100), 1),
    ):
        error = np.max(np.abs(np.asarray(function(padded))[: len(PROBES)] - exact))
        taken = seconds(function, rho, repeats)
        ours = ours or taken
        print(f"{name:28s} {error:14.1e} {taken:10.3f} {taken / ours:11.1f}")
    print(f"stated bound of ours: {phi.error_bound:.1e}")
    for count in (10_000, 100_000, 1_000_000):
        taken = seconds(phi, rho[:count], 5)
        print(f"ours at {count:>9,d} values: {1e9 * taken / count:6.2f} ns a value")


if __name__ == "__main__":
    main()
