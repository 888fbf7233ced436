"""The empirical value, gradient and Hessian at 10^6 samples estimate the population's.

Standard errors come from 25 blocks of the samples, entry by entry; the loss on a block keeps the
widths of the bumps at kinks, so that blocks average to the whole (see `test_empirical.py`). The
empirical loss of sign has no derivatives at all: every one below is an estimate through bumps.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.population import population_loss

pytestmark = pytest.mark.slow

SAMPLES, BLOCKS = 10**6, 25


def setting(name, on):
    generator = np.random.default_rng(5)
    w, x = generator.standard_normal((2, 2, 3))
    if on == "sphere":
        w, x = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (w, x))
    teacher = Teacher(w, [1.0, -0.7], name, on=on)
    return teacher, Student(x, [0.6, 0.8])


@eqx.filter_jit
def estimates(loss, student):
    """Value, gradient, Hessian and Laplacian as one vector."""
    value, gradient = loss.value_and_gradient(student)
    parts = (value, *gradient, loss.hessian(student), loss.laplacian(student))
    return jnp.concatenate([jnp.ravel(part) for part in parts])


@pytest.mark.parametrize(
    ("name", "on"),
    [
        ("relu", "space"),
        ("sign", "space"),
        *(
            pytest.param(name, on, marks=pytest.mark.slow)
            for name, on in (
                ("erf", "space"),
                ("tanh", "space"),
                ("hermite-3", "space"),
                ("relu", "sphere"),
            )
        ),
    ],
)
def test_within_five_standard_errors(name, on):
    teacher, student = setting(name, on)
    loss = empirical_loss(teacher, SAMPLES, seed=1)
    truth = np.asarray(estimates(population_loss(teacher), student))
    rows = np.arange(SAMPLES).reshape(BLOCKS, -1)
    blocks = np.array([estimates(loss.subset(block), student) for block in rows])
    spread = blocks.std(axis=0, ddof=1) / np.sqrt(BLOCKS)
    assert np.all(np.abs(blocks.mean(axis=0) - truth) <= 5 * spread + 1e-12)
    # The test can tell: standard errors are small beside what is estimated.
    assert np.median(spread) <= 0.01 * np.max(np.abs(truth))


def test_the_bump_is_what_the_hessian_of_relu_lacks():
    teacher, student = setting("relu", "space")
    truth = np.asarray(population_loss(teacher).hessian(student))
    with_bump, without = (
        np.asarray(empirical_loss(teacher, SAMPLES, kink_width=width).hessian(student))
        for width in (None, 0)
    )
    assert np.max(np.abs(with_bump - truth)) < 0.05
    assert np.max(np.abs(without - truth)) > 0.1
