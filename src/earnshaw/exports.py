"""Activations and networks to take away: the public name of `earnshaw.learning.exports`."""

from earnshaw.charges.plain_network import Network
from earnshaw.learning.exports.jax_functions import jax_function, jax_network
from earnshaw.learning.exports.network_source import numpy_network_source
from earnshaw.learning.exports.networks import network
from earnshaw.learning.exports.python_file import export
from earnshaw.learning.exports.source import numpy_source

__all__ = [
    "Network",
    "export",
    "jax_function",
    "jax_network",
    "network",
    "numpy_network_source",
    "numpy_source",
]


def __dir__() -> list[str]:
    """The public names and nothing else."""
    return list(__all__)
