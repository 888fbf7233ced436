"""What a network's outputs are compared by: squares, or the likelihood of classes.

A loss gives, for outputs g and answers y of shape (n, m): its value for every sample (n,), its
gradient in g (n, m), and a root S (n, m, m) of its Hessian in g, S S^T = H, which is exact for all
of them (the Gauss-Newton matrix of a network with weights J is the sum of (S^T J)^T S^T J).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import Array


class Compared(NamedTuple):
    """The value (n,), the gradient (n, m) and the root of the Hessian (n, m, m)."""

    value: Array
    gradient: Array
    root: Array


def squares(g: Array, y: Array) -> Compared:
    """|y - g|^2."""
    gap = g - y
    root = jnp.sqrt(2.0) * jnp.broadcast_to(jnp.eye(g.shape[1]), (*g.shape, g.shape[1]))
    return Compared(jnp.sum(gap**2, axis=1), 2 * gap, root)


def logistic(g: Array, y: Array) -> Compared:
    """-2 log of the likelihood of y = 0 or 1, where y = 1 has probability 1/(1 + exp(-g)); m = 1.

    The factor 2 makes sums of it deviances, which information criteria are made of.
    """
    chance = jax.nn.sigmoid(g)
    value = 2 * jnp.sum(jax.nn.softplus(g) - y * g, axis=1)
    spread = jnp.sqrt(2 * chance * jax.nn.sigmoid(-g))
    return Compared(value, 2 * (chance - y), spread[:, :, None])


def softmax(g: Array, y: Array) -> Compared:
    """-2 log of the likelihood of classes with probabilities exp(g_o)/sum exp(g), y one-hot.

    The Hessian is 2 (diag(p) - p p^T) = 2 R R^T, R = diag(sqrt p) - p sqrt(p)^T.
    """
    logs = jax.nn.log_softmax(g, axis=1)
    p = jnp.exp(logs)
    root = jnp.sqrt(p)[:, None, :] * (jnp.eye(g.shape[1]) - p[:, :, None])
    return Compared(-2 * jnp.sum(y * logs, axis=1), 2 * (p - y), jnp.sqrt(2.0) * root)


LOSSES = {"squares": squares, "logistic": logistic, "softmax": softmax}


def residuals(loss: str, g: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What is left of the answers, (n, m): y less its mean under the network; -1/2 the gradient."""
    if loss == "squares":
        return y - g
    if loss == "logistic":
        return y - scipy.special.expit(g)
    return y - scipy.special.softmax(g, axis=1)
