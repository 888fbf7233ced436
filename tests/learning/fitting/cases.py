"""Small data sets and networks, and the objective of a fit written out in NumPy."""

import numpy as np
from scipy.special import expit, log_softmax

import earnshaw as ew
from earnshaw.learning.fitting._samples import Samples
from earnshaw.learning.fitting.network import FittedNetwork

FORMULAS = {
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "softplus": lambda z: np.logaddexp(0, z),
    "logistic": expit,
}


def random_network(name, units, dim, outputs=1, seed=0, linear=False):
    """Positions, biases and weights of standard Gaussian entries."""
    rng = np.random.default_rng(seed)
    return FittedNetwork(
        activation=ew.activation(name),
        positions=rng.standard_normal((units, dim)),
        biases=rng.standard_normal(units),
        weights=rng.standard_normal((units, outputs)),
        linear=linear * rng.standard_normal((dim, outputs)),
        intercept=linear * rng.standard_normal(outputs),
    )


def plain_samples(x, y, weight=None):
    """Samples that are not standardised."""
    n, d = x.shape
    weight = np.ones(n) if weight is None else weight
    m = y.shape[1]
    return Samples(x, y, weight, np.zeros(d), np.ones(d), np.zeros(m), np.ones(m))


def answers(name, network, x):
    """The outputs of a network, by the formula of its activation."""
    hidden = FORMULAS[name](x @ network.positions.T + network.biases)
    return hidden @ network.weights + x @ network.linear + network.intercept


def errors(loss, g, y):
    """The loss of every sample."""
    if loss == "squares":
        return np.sum((g - y) ** 2, axis=1)
    if loss == "logistic":
        return -2 * (np.log(expit(g)) * y + np.log(expit(-g)) * (1 - y))[:, 0]
    return -2 * np.sum(y * log_softmax(g, axis=1), axis=1)


def teacher_data(name, units, dim, samples, seed=0, noise=0.0):
    """A random network, its inputs and its (noisy) answers (n, 1)."""
    network = random_network(name, units, dim, seed=seed)
    rng = np.random.default_rng([seed, 1])
    x = rng.standard_normal((samples, dim))
    y = answers(name, network, x)
    return network, x, y + noise * y.std() * rng.standard_normal(y.shape)
