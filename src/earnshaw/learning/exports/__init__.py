"""Activations and networks to take away: as JAX functions, and as Python files with NumPy only.

The public name is `earnshaw.exports`; as PyTorch modules (`torch`): `earnshaw.torch`.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Network": "networks",
        "export": "python_file",
        "jax_function": "jax_functions",
        "jax_network": "jax_functions",
        "network": "networks",
        "numpy_network_source": "network_source",
        "numpy_source": "source",
    },
)
