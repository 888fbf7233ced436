"""Networks of any depth: layers of weights, with one activation between them.

    h_0 = x,   h_l = s(g (W_l h_(l-1) + b_l)),   f(x) = h_D,

W_l of shape (n_l, n_(l-1)), b_l of shape (n_l,) or absent, n_D = 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.named import activation
from earnshaw.experiments.training.settings import LINEAR, Training


class Layer(NamedTuple):
    """Weights, an array (out, in), and biases (out,) or None."""

    weights: Any
    biases: Any


Layers = tuple[Layer, ...]


def random_layers(rng: np.random.Generator, settings: Training, student: bool) -> Layers:
    """Independent Gaussian weights and biases, as the papers draw teachers and students."""
    sizes = settings.sizes(student)

    def normal(*shape: int) -> np.ndarray:
        # Drawn in float64 whatever the precision, so that both precisions train the same network.
        drawn = settings.weight_scale * rng.standard_normal(shape)
        return drawn.astype(settings.precision)

    return tuple(
        Layer(normal(out, into), normal(out) if settings.bias else None)
        for into, out in itertools.pairwise(sizes)
    )


def forward(layers: Layers, x: Array, settings: Training) -> Array:
    """f(x) for inputs (n, d); shape (n,)."""
    hidden = _node(settings.activation, settings.gain)
    out = _node(settings.output, settings.gain)
    *inner, last = layers
    h = x
    for layer in inner:
        h = hidden(_affine(layer, h))
    return out(_affine(last, h))[:, 0]


def _affine(layer: Layer, h: Array) -> Array:
    z = h @ layer.weights.T
    return z if layer.biases is None else z + layer.biases


def _node(name: str, gain: float) -> Callable[[Array], Array]:
    if name == LINEAR:
        return lambda z: z
    function = activation(name)
    # The library's activations answer in float64; one of a float32 network is rounded again.
    return lambda z: function(z if gain == 1 else gain * z).astype(z.dtype)  # type: ignore


def cost(layers: Layers, x: Array, y: Array, settings: Training) -> Array:
    """The mean, or sum, of (g(x) - y)^2 over samples (n, d), (n,)."""
    squares = (forward(layers, x, settings) - y) ** 2
    return jnp.mean(squares) if settings.loss == "mean" else jnp.sum(squares)


def update(layers: Layers, x: Array, y: Array, step: Array, settings: Training) -> Layers:
    """One step of gradient descent on the cost: theta <- theta - alpha grad."""
    gradient = jax.grad(cost)(layers, x, y, settings)
    return jax.tree.map(lambda weight, slope: weight - step * slope, layers, gradient)
