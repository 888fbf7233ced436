"""Two networks compared: against Monte Carlo, and against what must come out."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError

RNG = np.random.default_rng(5)
D, M = 2, 3


def some(activation, units=3, outputs=M, seed=0):
    rng = np.random.default_rng(seed)
    return ew.from_arrays(
        rng.normal(size=(units, D)),
        rng.normal(size=(units, outputs)),
        activation,
        biases=rng.normal(size=units),
        intercept=rng.normal(size=outputs),
        linear=rng.normal(size=(D, outputs)),
    )


def clouds():
    roots = RNG.normal(size=(3, D, D))
    covariances = roots @ roots.transpose(0, 2, 1) / 4
    return ew.GaussianMixture([0.2, 0.5, 0.3], RNG.normal(size=(3, D)), covariances)


@pytest.mark.slow
def test_against_samples():
    """A relu network and an erf one, three outputs, linear parts, a mixture of three Gaussians."""
    first, second, inputs = some("relu"), some("erf", 4, seed=1), clouds()
    found = ew.compare(first, second, inputs)
    x = np.asarray(inputs.sample(jax.random.key(0), 200_000, D))
    f, g = first(x), second(x)
    square = np.sum((f - g) ** 2, axis=1)
    assert abs(found.distance - square.mean()) < 4 * square.std() / np.sqrt(len(x))
    for ours, values in zip(found.variances, (f, g), strict=True):
        around = np.sum((values - values.mean(axis=0)) ** 2, axis=1)
        assert abs(ours - around.mean()) < 5 * around.std() / np.sqrt(len(x))
    units = [
        np.asarray(net.activation(x @ net.positions.T + net.biases)) for net in (first, second)
    ]
    seen = np.corrcoef(*(part.T for part in units))[:3, 3:]
    assert np.allclose(found.table, seen, atol=0.02)
    assert found.kind == "slope"
    assert found.pairs.shape == (3, 2)


@pytest.mark.slow
def test_a_network_and_itself_with_units_flipped_and_exchanged():
    """Distance 0, all units shared, a minimum; flips are correlations of -1."""
    first = some("tanh", outputs=1)
    order, signs = [2, 0, 1], np.array([1.0, -1.0, -1.0])
    second = ew.from_arrays(
        signs[:, None] * first.positions[order],
        signs[:, None] * first.weights[order],
        "tanh",
        biases=signs * first.biases[order],
        intercept=first.intercept,
        linear=first.linear,
    )
    found = ew.compare(first, second)
    assert found.distance < 1e-13 * found.variances[0]
    assert found.shared == 3
    assert sorted(found.pairs.tolist()) == [[0, 1], [1, 2], [2, 0]]
    by_unit = dict(zip(found.pairs[:, 1].tolist(), found.correlations, strict=True))
    assert np.allclose([by_unit[j] for j in range(3)], signs, atol=1e-12)
    assert found.kind in ("minimum", "flat")
    assert found.gradient_norm < 1e-12


@pytest.mark.slow
def test_units_of_several_activations_in_any_order():
    """The same network with its units exchanged: shared, each with its own; and one less."""
    rng = np.random.default_rng(8)
    w, c, beta = rng.normal(size=(3, D)), rng.normal(size=3), rng.normal(size=3)
    kinds, order = np.array(["erf", "relu", "erf"]), [1, 2, 0]
    first = ew.from_arrays(w, c, kinds.tolist(), biases=beta)
    second = ew.from_arrays(w[order], c[order], kinds[order].tolist(), biases=beta[order])
    found = ew.compare(first, second)
    assert found.distance < 1e-13 * found.variances[0]
    assert found.pairs.tolist() == [[0, 2], [1, 0], [2, 1]]
    assert np.allclose(found.correlations, 1.0, atol=1e-12)
    assert "erf and relu" in repr(found)
    alone = ew.from_arrays(w[:1], c[:1], "erf", biases=beta[:1])
    without = ew.from_arrays(w[1:], c[1:], kinds[1:].tolist(), biases=beta[1:])
    left = ew.compare(first, without).distance
    x = rng.normal(size=(200_000, D))
    square = alone(x) ** 2
    assert abs(left - square.mean()) < 4 * square.std() / np.sqrt(len(x))


@pytest.mark.slow
def test_a_teacher_and_its_loss():
    """The distance is the population loss."""
    teacher = ew.random_teacher("relu", 3, 2, 0, biases="gaussian")
    student = ew.random_student(teacher, 3, 1)
    found = ew.compare(teacher, student)
    assert found.distance == pytest.approx(float(ew.population_loss(teacher)(student)), rel=1e-12)
    assert "shared units" in repr(found)
    figure = found.plot()
    assert figure.axes


@pytest.mark.parametrize(
    ("words", "second"),
    [
        ("2 and 3 inputs", lambda: ew.from_arrays(np.eye(3), np.ones((3, M)), "relu")),
        ("3 and 1 outputs", lambda: ew.from_arrays(np.eye(2), np.ones(2), "relu")),
        ("no network", lambda: "relu"),
        ("no function of x.w", lambda: ew.random_teacher("almost-harmonic", 2, 2)),
    ],
)
def test_refused(words, second):
    with pytest.raises(EarnshawError, match=words):
        ew.compare(some("relu"), second())
