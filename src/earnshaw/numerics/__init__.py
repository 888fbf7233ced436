"""Special functions and solvers that no dependency offers in the form needed here.

Each module says what it was compared with (`python benchmarks/numerics.py`) and why it stays:

- eigenpairs of operators known by their products: `eigenpairs`, and `lanczos` inside compiled code;
- `bessel`, the modified Bessel function K in the logarithm, with derivatives of every order;
- `bivariate_normal`, the distribution function of two correlated normals, and `tail_moments`, means
  of powers over half-lines, with their digits in the tails;
- `hermite`, `series`, `bernstein_form`, `piecewise`, `log_table`: polynomials and tables of them;
- `quadrature`, `hankel`, `matern`: integrals and radial Fourier transforms;
- `exact_products`: a difference of products that agree in all their digits;
- `least_squares`, `subsets`, `autodiff`, `jax_as_numpy`: small parts.

Importing this package switches JAX to float64. Every module of earnshaw that computes imports from
here first, so nothing in the core can run in single precision by accident.
"""

import jax

from earnshaw.lazy import offer

jax.config.update("jax_enable_x64", True)

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Eigenpair": "eigenpairs",
        "as_numpy": "jax_as_numpy",
        "bernstein": "bernstein_form",
        "hermite_sum": "hermite",
        "k_ratio": "bessel",
        "largest_eigenpair": "eigenpairs",
        "log_k_and_ratio": "bessel",
        "log_reduced_k": "bessel",
        "random_subset": "subsets",
        "smallest_eigenpair": "eigenpairs",
        "smallest_ritz_pair": "lanczos",
    },
)
