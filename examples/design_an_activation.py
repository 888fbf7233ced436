"""Design an activation from the force you want its units to feel, and check it by sampling.

Two units should attract as springs that let go: Phi(r) = (1 + r) exp(-r) in the plane, smooth where
they meet. earnshaw finds the activation, and samples from wide inputs confirm it.
"""

from __future__ import annotations

import jax

import earnshaw as ew


def main() -> None:
    """Print the answer, and the potential of one pair of units three ways."""
    result = ew.realize("(1 + r)*exp(-r)", on="space", dim=2, width=4.0)
    print("realizable:", result.realizable, "-", result.reason)
    print(f"its own potential differs by about {result.check_error:.1e} at most, an estimate")

    sigma = result.activation
    theta, w = jax.numpy.array([0.3, 0.0]), jax.numpy.array([0.0, 1.0])
    x = sigma.inputs.sample(jax.random.key(0), 400_000, 2)
    products = sigma.unit(x, theta) * sigma.unit(x, w)
    error = products.std() / len(products) ** 0.5
    exact = result.potential.between(theta, w)
    print(f"potential {exact:.5f}, sampled {products.mean():.5f} +- {error:.5f}")

    tent = ew.realize("max(1 - r, 0)", on="space", dim=2)
    print("a tent in the plane:", tent.realizable, "-", tent.reason)
    form = tent.obstruction.quadratic_form(tent.potential)
    print(f"checked on {len(tent.obstruction.points)} points: {form:.4f} < 0")


if __name__ == "__main__":
    main()
