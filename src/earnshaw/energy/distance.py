"""How far two networks are apart, E[|f - g|^2], exactly: any activations, outputs, linear parts.

Under Gaussian inputs, or a mixture of Gaussians, f - g is a sum of units of both, each with a bias
and a vector of output weights; a linear part with an intercept is one more unit for each output,
whose activation is the identity. With K the means E[s(u) s'(v)] of all pairs and C the output
weights of all units, those of g negative,

    E[|f - g|^2] = tr(C^T K C).

All pairs at once: for networks of some hundred units. JAX differentiates it in everything.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import Activation, DotProduct
from earnshaw.duality.affine_dual import Cloud, clouds_of, over_clouds, seen
from earnshaw.duality.affine_moment import AffineMoment, affine_energy
from earnshaw.duality.named import activation as named_activation
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Inputs, WithConstant


class Group(NamedTuple):
    """Units of one activation: positions (k, d + 1) with their biases, output weights (k, m)."""

    activation: DotProduct
    positions: Array
    weights: Array


Parameters = dict[str, Array]
Kinds = list[tuple[Activation, np.ndarray]]


def parameters_of(network: Network) -> Parameters:
    """The arrays of a network that are there, by name; weights as (k, m)."""
    if not network.is_dot_product:
        name = network.activation_name
        raise EarnshawError(f"{name} is no function of x.w; allowed: s(x.w + b)")
    found = {"positions": jnp.asarray(network.positions)}
    found["weights"] = jnp.reshape(jnp.asarray(network.weights), (network.units, network.outputs))
    if network.biases is not None:
        found["biases"] = jnp.asarray(network.biases)
    if network.intercept is not None:
        found["intercept"] = jnp.reshape(jnp.asarray(network.intercept), (network.outputs,))
    if network.linear is not None:
        shape = (network.dim, network.outputs)
        found["linear"] = jnp.reshape(jnp.asarray(network.linear), shape)
    return found


def groups_of(kinds: Kinds, given: Parameters) -> list[Group]:
    """Its units, a group for each activation, and the units that its linear part is."""
    positions, weights = given["positions"], given["weights"]
    (units, dim), outputs = positions.shape, weights.shape[1]
    biases = given.get("biases", jnp.zeros(units))
    tilted = jnp.column_stack([positions, biases])
    groups = [Group(one, tilted[which], weights[which]) for one, which in kinds]  # type: ignore[arg-type]
    if "linear" in given or "intercept" in given:
        slopes = given.get("linear", jnp.zeros((dim, outputs)))
        constants = given.get("intercept", jnp.zeros(outputs))
        rows = jnp.column_stack([slopes.T, constants])
        groups.append(Group(line(), rows, jnp.eye(outputs)))
    return groups


@lru_cache(maxsize=1)
def line() -> DotProduct:
    """The identity, s(x) = x."""
    return named_activation("hermite-1")  # type: ignore[return-value]


def clouds_for(inputs: Inputs, dim: int) -> Cloud:
    """The Gaussians of inputs in R^dim, with the constant that biases are the weights of."""
    if inputs.dim not in (None, dim):
        raise EarnshawError(f"the inputs have dimension {inputs.dim}, the networks {dim}")
    return clouds_of(WithConstant(inputs), dim + 1)


def means(first: Group, second: Group, clouds: Cloud) -> Array:
    """E[s(u_i) s'(v_j)] between the units of two groups, (k, l)."""
    form = affine_energy(first.activation, second.activation)
    return _means(form, first.positions, second.positions, clouds)


@eqx.filter_jit
def _means(form: AffineMoment, x: Array, y: Array, clouds: Cloud) -> Array:
    term: Any = lambda cloud: form(seen(cloud, x[:, None, :], y[None, :, :]).units)  # noqa: E731
    return over_clouds(clouds, term)


def mean_square(groups: list[Group], clouds: Cloud) -> Array:
    """E[|sum of all units|^2] = tr(C^T K C)."""
    total = jnp.zeros(())
    for i, first in enumerate(groups):
        for j, second in enumerate(groups[: i + 1]):
            pairs = means(first, second, clouds) * (first.weights @ second.weights.T)
            total = total + (1 if i == j else 2) * jnp.sum(pairs)
    return total


def difference(first: list[Group], second: list[Group]) -> list[Group]:
    """The units of f - g."""
    return [*first, *(group._replace(weights=-group.weights) for group in second)]
