"""Translation activations from samples: the correlation, the search, and what is learned."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.learning.samples._correlation import correlation
from earnshaw.learning.samples._refine import refined
from earnshaw.learning.samples._search import climb
from earnshaw.learning.samples.learn import learn_from_samples

pytestmark = pytest.mark.slow

WIDTH = 3.0
COUNT, ROOM = 600, 8  # samples, and units there is room for: few shapes, compiled once
PLACES = np.array([[-4.0], [-2.0], [-0.5], [1.5], [3.5]])
WEIGHTS = np.array([1.0, -0.7, 1.2, -0.9, 0.6])


def spread_out(dim):
    """Five places in R^dim, at least 1.5 from each other."""
    rest = 2.0 * np.cos(np.outer(np.arange(5), np.arange(1, dim)))
    return np.concatenate([PLACES, rest], axis=1)


def samples(dim, activation, count, seed, noise=0.0):
    teacher = ew.Teacher(spread_out(dim), WEIGHTS, activation, width=WIDTH)
    rng = np.random.default_rng(seed)
    x = WIDTH * rng.standard_normal((count, dim))
    f = np.asarray(teacher(x))
    size = float(ew.population_loss(teacher).empty_value()) ** 0.5
    return teacher, x, f + noise * size * rng.standard_normal(count)


def gaussian_unit(x, w):
    """The unit of rate 1 in R^1, written by hand."""
    p = np.exp(-(x**2) / (2 * WIDTH**2)) / (WIDTH * np.sqrt(2 * np.pi))
    return (2 / np.pi) ** 0.25 * np.exp(-((x - w) ** 2)) / np.sqrt(p)


def padded(places, weights):
    """A student in R^1 with ROOM units, the last of weight 0 at the origin."""
    rest = np.zeros(ROOM - len(places))
    return ew.Student(np.append(places, rest)[:, None], np.append(weights, rest))


def residue(columns, y):
    """Mean squared distance of y from the span of the columns."""
    weights = np.linalg.lstsq(columns, y, rcond=None)[0]
    return np.mean((y - columns @ weights) ** 2)


@eqx.filter_jit
def _savings(field, points):
    return field.savings(points)


def savings_of(field, points):
    return np.asarray(_savings(field, jnp.asarray(points)))


@pytest.fixture(scope="module")
def line():
    """Noisy samples in R^1, and a student of two units with room for more."""
    _, x, y = samples(1, "gaussian", COUNT, seed=1, noise=0.1)
    loss = ew.empirical_loss((x, y), activation="gaussian", width=WIDTH)
    student = padded([-3.9, 1.0], [1.0, -1.0])
    return x[:, 0], y, loss, student, jnp.arange(ROOM) < 2


def test_savings_are_what_a_refitted_unit_saves(line):
    x, y, loss, student, used = line
    field, value = correlation(loss, student, used)
    placed = np.stack([gaussian_unit(x, -3.9), gaussian_unit(x, 1.0)], axis=1)
    before = residue(placed, y)
    assert float(value) == pytest.approx(before, rel=1e-10)
    points = np.array([-2.0, 0.3, 3.0, 5.0])
    saved = [before - residue(np.column_stack([placed, gaussian_unit(x, w)]), y) for w in points]
    np.testing.assert_allclose(savings_of(field, points[:, None]), saved, rtol=1e-8)


def test_a_search_ends_no_lower_than_a_grid(line):
    x, y, loss, student, used = line
    field, _ = correlation(loss, student, used)
    start, lengths = jnp.asarray([[-2.2], [-0.2], [2.0], [4.0]]), jnp.full(4, 0.7)
    before = jnp.asarray(savings_of(field, start))
    found = climb(field, start, before, lengths, jax.random.key(0), jnp.asarray(40))
    assert np.all(found.savings >= before)
    placed = np.stack([gaussian_unit(x, -3.9), gaussian_unit(x, 1.0)], axis=1)
    near = np.linspace(-2.8, -1.6, 601)
    grid = [residue(np.column_stack([placed, gaussian_unit(x, w)]), y) for w in near]
    best = residue(placed, y) - min(grid)
    assert float(found.savings[0]) >= best * (1 - 1e-6)
    assert np.array_equal(found.path[-1], found.points)


def test_refinement_agrees_with_scipy(line):
    x, y, loss, _, _ = line
    start = PLACES[:, 0] + 0.1, WEIGHTS - 0.1
    end, value = refined(loss, padded(*start), jnp.arange(ROOM) < 5)

    def left(p):
        return sum(c * gaussian_unit(x, w) for w, c in p.reshape(5, 2)) - y

    first = np.stack(start, axis=1).ravel()
    found = least_squares(left, first, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert float(value) == pytest.approx(2 * found.cost / len(x), rel=1e-8)
    np.testing.assert_allclose(end.positions[:5, 0], found.x[::2], atol=1e-4)
    # What is not used stays where it is, without weight.
    assert not np.any(end.positions[5:])
    assert not np.any(end.weights[5:])


@pytest.fixture(scope="module")
def plane():
    """Exact samples of three almost-harmonic units in R^2."""
    teacher = ew.Teacher(spread_out(2)[:3], WEIGHTS[:3], "almost-harmonic", width=WIDTH)
    x = WIDTH * np.random.default_rng(2).standard_normal((COUNT, 2))
    return teacher, x, np.asarray(teacher(x))


def test_the_raw_correlation_diverges_at_a_sample_and_the_normalised_does_not(plane):
    teacher, x, y = plane
    loss = ew.empirical_loss((x, y), activation=teacher.activation)
    nobody = ew.Student(np.zeros((ROOM, 2)), np.zeros(ROOM))
    field, value = correlation(loss, nobody, jnp.zeros(ROOM, dtype=bool))
    one = int(np.argmax(np.abs(y) * np.exp(-np.sum(x**2, axis=1) / (4 * WIDTH**2))))
    nearing = x[one] + np.outer([1e-2, 1e-6, 1e-12, 0.0], [0.6, 0.8])
    raw = np.abs([np.mean(y * np.asarray(teacher.activation.unit(x, w))) for w in nearing])
    assert raw[2] > 100 * raw[0]
    assert raw[3] == np.inf
    saved = savings_of(field, nearing)
    assert np.all(saved <= np.mean(y**2) * (1 + 1e-12))
    assert saved[3] == pytest.approx(y[one] ** 2 / len(y), rel=1e-12)
    assert float(value) == pytest.approx(np.mean(y**2))


@pytest.mark.slow
def test_exact_samples_give_the_teacher_back(plane):
    teacher, x, y = plane
    run = learn_from_samples((x, y), teacher.activation, seed=3, teacher=teacher)
    assert run.stop is ew.Stop.RECOVERED
    assert run.student.units == 3
    assert np.max(run.matching.distance) < 1e-9
    assert np.max(run.matching.weight_error) < 1e-9


@pytest.mark.slow
def test_learn_takes_samples_of_a_teacher():
    teacher = ew.Teacher(PLACES, WEIGHTS, "gaussian", width=WIDTH)
    run = ew.learn(teacher, samples=COUNT, seed=3)
    assert run.stop is ew.Stop.RECOVERED
    assert run.student.units == 5
    assert np.max(run.matching.distance) < 1e-9
    assert run.relative_loss < 1e-12


def test_noisy_samples_give_the_number_of_units_and_their_places():
    teacher, x, y = samples(1, "gaussian", COUNT, seed=4, noise=0.05)
    run = learn_from_samples((x, y), "gaussian", width=WIDTH, teacher=teacher)
    assert run.stop is ew.Stop.NO_NEW_UNIT
    assert run.student.units == 5
    assert np.max(run.matching.distance) < 0.05
    assert np.max(run.matching.weight_error) < 0.05
    # No better fit than the teacher's own places would give, but for what 10 parameters take.
    truth = residue(np.stack([gaussian_unit(x[:, 0], w) for w in PLACES[:, 0]], axis=1), y)
    assert 0.9 * truth < run.loss <= truth
    # The loss of the run is that of its student.
    g = sum(
        float(c) * gaussian_unit(x[:, 0], float(w[0]))
        for w, c in zip(run.student.positions, run.student.weights, strict=True)
    )
    assert run.loss == pytest.approx(np.mean((y - g) ** 2), rel=1e-10)


def test_noise_alone_has_no_units():
    rng = np.random.default_rng(5)
    x, y = WIDTH * rng.standard_normal((COUNT, 1)), rng.standard_normal(COUNT)
    run = learn_from_samples((x, y), "gaussian", width=WIDTH)
    assert run.student.units == 0
    assert run.relative_loss == pytest.approx(1.0)


def test_refusals():
    x, y = np.zeros((4, 1)), np.zeros(4)
    with pytest.raises(EarnshawError, match="almost-harmonic"):
        learn_from_samples((x, y), "relu")
    with pytest.raises(EarnshawError, match="units"):
        learn_from_samples((x, y), "gaussian", units=0)
    teacher = ew.Teacher(PLACES, WEIGHTS, "gaussian", width=WIDTH)
    with pytest.raises(EarnshawError, match="steps"):
        ew.learn(teacher, samples=100, steps=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dim", "activation"), [(1, "gaussian"), (2, "almost-harmonic"), (3, "gaussian")]
)
def test_errors_fall_with_the_number_of_samples(dim, activation):
    """Every dimension and both activations, once each: any other pair repeats their code."""
    counts, errors = (1000, 8000), []
    for count in counts:
        each = []
        for seed in range(2):
            teacher, x, y = samples(dim, activation, count, seed, noise=0.1)
            run = learn_from_samples((x, y), teacher.activation, teacher=teacher)
            assert run.student.units == 5
            each.append(run.matching.distance)
        errors.append(np.sqrt(np.mean(np.square(each))))
    assert errors[-1] < 0.05
    slope = np.log(errors[1] / errors[0]) / np.log(counts[1] / counts[0])
    assert -1.6 < slope < -0.2
