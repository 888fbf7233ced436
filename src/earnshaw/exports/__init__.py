"""Activations and networks to take away: as JAX functions, and as Python files with NumPy only.

As PyTorch modules: `earnshaw.torch`.
"""

from earnshaw.exports.jax_functions import jax_function, jax_network
from earnshaw.exports.network import Network, network
from earnshaw.exports.network_source import numpy_network_source
from earnshaw.exports.source import numpy_source
from earnshaw.exports.take_away import export

__all__ = [
    "Network",
    "export",
    "jax_function",
    "jax_network",
    "network",
    "numpy_network_source",
    "numpy_source",
]
