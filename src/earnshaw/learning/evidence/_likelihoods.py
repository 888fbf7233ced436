"""What outputs are compared by: Gaussian noise of unknown size, or the probability of classes.

A likelihood gives for outputs g and answers y (n, m): log p of every sample (n,), its gradient in g
(n, m), and a root R (n, m, m) of minus its Hessian in g, R R^T, given as a list of its columns
(n, m), those that are 0 left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax


class Compared(NamedTuple):
    """log p (n,), its gradient (n, m), and the columns of a root of minus the Hessian."""

    value: np.ndarray
    gradient: np.ndarray
    roots: list[np.ndarray]


def gaussian(g: np.ndarray, y: np.ndarray, noise: np.ndarray) -> Compared:
    """Independent errors of precisions `noise` (m,)."""
    gap = y - g
    value = 0.5 * np.sum(np.log(noise / (2 * np.pi))) - 0.5 * gap**2 @ noise
    roots = []
    for o in range(g.shape[1]):
        root = np.zeros(g.shape)
        root[:, o] = np.sqrt(noise[o])
        roots.append(root)
    return Compared(value, noise * gap, roots)


def logistic(g: np.ndarray, y: np.ndarray, noise: np.ndarray) -> Compared:
    """Of y = 0 or 1, where y = 1 has probability 1/(1 + exp(-g)); m = 1."""
    chance = expit(g)
    value = y * g - np.logaddexp(0.0, g)
    return Compared(value[:, 0], y - chance, [np.sqrt(chance * expit(-g))])


def softmax(g: np.ndarray, y: np.ndarray, noise: np.ndarray) -> Compared:
    """Of classes with probabilities exp(g_o)/sum exp(g); y is one-hot.

    Minus the Hessian is diag(p) - p p^T = R R^T with R = diag(sqrt p) - p sqrt(p)^T.
    """
    logs = log_softmax(g, axis=1)
    p = np.exp(logs)
    root = np.sqrt(p)
    roots = []
    for o in range(g.shape[1]):
        column = -p * root[:, o : o + 1]
        column[:, o] += root[:, o]
        roots.append(column)
    return Compared(np.sum(y * logs, axis=1), y - p, roots)


LIKELIHOODS = {"squares": gaussian, "logistic": logistic, "softmax": softmax}
