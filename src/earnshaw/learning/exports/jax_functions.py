"""Activations and networks as pure JAX functions: to be compiled, differentiated, vectorised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import Activation, DotProduct, Translation
from earnshaw.duality.realizing.realization import Realization
from earnshaw.learning.exports.networks import network as as_network
from earnshaw.learning.exports.source import exportable


def jax_function(
    activation: str | Activation | Realization | Callable[[Any], Any],
) -> Callable[..., Array]:
    """The function s(x), elementwise, of a dot-product activation; sigma(x, w) of a translation.

    The latter takes inputs and weights of shape (..., d) to shape (...).
    """
    sigma = exportable(activation)

    def function(x: ArrayLike) -> Array:
        assert isinstance(sigma, DotProduct)
        return sigma(x)

    def unit(x: ArrayLike, w: ArrayLike) -> Array:
        return sigma.unit(x, w)

    chosen: Callable[..., Array] = unit if isinstance(sigma, Translation) else function
    chosen.__name__ = chosen.__qualname__ = sigma.name.replace("-", "_").replace(" ", "_")
    chosen.__doc__ = f"{sigma.name}, exported by earnshaw."
    return chosen


def jax_network(*parts: Any, **named: Any) -> Callable[[ArrayLike], Array]:
    """g(x) for inputs of shape (..., d): shape (...), or (..., m) if the weights are (k, m).

    Takes what `network` takes: a teacher, a student with activation=, or arrays.
    """
    net = as_network(*parts, **named)
    positions, weights = jnp.asarray(net.positions), jnp.asarray(net.weights)
    biases, intercept, linear = (
        None if part is None else jnp.asarray(part)
        for part in (net.biases, net.intercept, net.linear)
    )

    def predict(x: ArrayLike) -> Array:
        x = jnp.asarray(x, dtype=float)
        total = jnp.zeros((*x.shape[:-1], *weights.shape[1:]))
        for sigma, units in net.kinds:
            if isinstance(sigma, DotProduct):
                fields = x @ positions[units].T
                responses = sigma(fields if biases is None else fields + biases[units])
            else:
                responses = sigma.unit(x[..., None, :], positions[units])
            total = total + responses @ weights[units]
        if linear is not None:
            total = total + x @ linear
        return total if intercept is None else total + intercept

    return predict
