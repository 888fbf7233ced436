"""Networks made larger by hand, with the same function, and brought back to their smallest form."""

import numpy as np
import pytest
from scipy.special import erf, expit

from earnshaw.charges.smallest import smallest_form
from earnshaw.duality.symmetry import Symmetries

# Formulas and symmetries written down here: nothing of the library's activations is used.
LINES = {  # s(y) - s(-y) = linear y
    "relu": (lambda y: np.maximum(y, 0), Symmetries(flip=1, linear=1.0, degree=1)),
    "leaky": (lambda y: np.where(y > 0, y, 0.1 * y), Symmetries(flip=1, linear=1.1, degree=1)),
    "softplus": (lambda y: np.logaddexp(0, y), Symmetries(flip=1, linear=1.0)),
    "silu": (lambda y: y * expit(y), Symmetries(flip=1, linear=1.0)),
    "gelu": (lambda y: y * (1 + erf(y / np.sqrt(2))) / 2, Symmetries(flip=1, linear=1.0)),
}
LEVELS = {  # s(y) + s(-y) = constant
    "logistic": (expit, Symmetries(flip=-1, constant=1.0)),
    "step": (lambda y: (y > 0) * 1.0, Symmetries(flip=-1, constant=1.0, degree=0)),
}
PLAIN = {
    "erf": (erf, Symmetries(flip=-1)),
    "abs": (np.abs, Symmetries(flip=1, degree=1)),
    "relu2": (lambda y: np.maximum(y, 0) ** 2, Symmetries(degree=2)),
    "exp": (np.exp, Symmetries()),
}


def network(name, dim, units, seed=0):
    """Units of a random network, and its activation."""
    rng = np.random.default_rng(seed)
    sigma, symmetries = (LINES | LEVELS | PLAIN)[name]
    return sigma, symmetries, rng.normal(size=(units, dim)), rng.normal(size=units), rng


def values(sigma, positions, weights):
    x = np.random.default_rng(99).normal(size=(500, positions.shape[1]))
    return sigma(x @ positions.T) @ weights


def check_same(sigma, found, positions, weights):
    wanted = values(sigma, positions, weights)
    scale = max(1.0, np.max(np.abs(wanted)))
    np.testing.assert_allclose(
        values(sigma, found.positions, found.weights), wanted, rtol=0, atol=1e-9 * scale
    )


def check_units(symmetries, found, positions, weights, sides=True):
    """The units themselves, in any order: directions and c |theta|^n where lengths are free."""

    def rows(theta, c):
        if symmetries.degree is not None:
            length = np.linalg.norm(theta, axis=1)
            theta, c = theta / length[:, None], c * length**symmetries.degree
        if not sides:  # either of two opposite units will do
            side = np.sign(theta[:, :1])
            theta, c = side * theta, np.where(side[:, 0] < 0, (symmetries.flip or 1) * c, c)
        table = np.column_stack([theta, c])
        return table[np.lexsort(np.round(table, 6).T)]

    assert found.units == len(weights)
    np.testing.assert_allclose(
        rows(found.positions, found.weights), rows(positions, weights), atol=1e-9
    )


def larger(symmetries, w, b, turned, rng):
    """The same function: some units turned round, what that leaves made up for, and spare units."""
    flip, sides = symmetries.flip or 1, np.where(turned, -1.0, 1.0)
    places = [*(sides[:, None] * w)]
    weights = [*np.where(turned, flip * b, b)]
    # b s(y) = flip b s(-y) + K b + A b y, and the units below are that constant and that line.
    if symmetries.linear:
        line = symmetries.linear * b[turned] @ w[turned]
        places += [line, -line]
        weights += [1 / symmetries.linear, -1 / symmetries.linear]
    if symmetries.constant:
        u, level = rng.normal(size=w.shape[1]), symmetries.constant * np.sum(b[turned])
        places += [u, -u]
        weights += [level / symmetries.constant] * 2
    # The first unit in two parts, a unit of weight 0, and two that cancel.
    places += [places[0], rng.normal(size=w.shape[1]), w[-1] + 1, w[-1] + 1]
    weights += [0.7, 0.0, 0.3, -0.3]
    weights[0] -= 0.7
    order = rng.permutation(len(weights))
    return np.array(places)[order], np.array(weights)[order]


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(("dim", "units"), [(2, 4), (3, 3), (2, 8), (5, 16)])
def test_units_turned_round_come_back(name, dim, units):
    sigma, symmetries, w, b, rng = network(name, dim, units)
    turned = rng.random(units) < 0.5
    turned[0] = True
    positions, weights = larger(symmetries, w, b, turned, rng)
    np.testing.assert_allclose(values(sigma, positions, weights), values(sigma, w, b), atol=1e-12)
    found = smallest_form(positions, weights, symmetries)
    assert found.certain
    check_same(sigma, found, w, b)
    check_units(symmetries, found, w, b)


@pytest.mark.parametrize("name", [*LEVELS, *PLAIN])
def test_other_symmetries(name):
    sigma, symmetries, w, b, rng = network(name, 3, 5)
    turned = (rng.random(5) < 0.5) & (symmetries.flip is not None)
    positions, weights = larger(symmetries, w, b, turned, rng)
    found = smallest_form(positions, weights, symmetries)
    check_same(sigma, found, w, b)
    check_units(symmetries, found, w, b, sides=bool(symmetries.constant or not symmetries.flip))


@pytest.mark.parametrize("name", LINES)
def test_a_line_along_a_unit_takes_one_unit_more(name):
    """The sum of a place's two sides is free, their difference is the line."""
    sigma, symmetries, w, b, _ = network(name, 3, 5)
    line = 0.37 * w[2]  # sigma(y) - sigma(-y) = A y: added as two units of a new place
    positions = np.vstack([w, line, -line])
    weights = np.append(b, [1.0, -1.0])
    found = smallest_form(positions, weights, symmetries)
    assert (found.units, found.certain) == (6, True)
    check_same(sigma, found, positions, weights)


@pytest.mark.parametrize("name", LINES)
def test_a_line_beside_the_units_is_made_up_for_by_flips(name):
    """It is what is left of two units that are turned round."""
    sigma, symmetries, w, b, _ = network(name, 3, 5)
    sides = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    line = symmetries.linear * b[sides < 0] @ w[sides < 0]  # s(y) = s(-y) + A y
    found = smallest_form(sides[:, None] * w, b, symmetries, line=line)
    assert found.units == 5
    check_same(sigma, found, w, b)


@pytest.mark.parametrize("name", LINES)
def test_any_other_line_takes_two(name):
    sigma, symmetries, w, b, rng = network(name, 3, 5)
    line = rng.normal(size=3)
    positions, weights = np.vstack([w, line, -line, w[1]]), np.append(b, [1.0, -1.0, 0.5])
    found = smallest_form(positions, weights, symmetries)
    assert (found.units, found.certain) == (7, True)
    check_same(sigma, found, positions, weights)


@pytest.mark.parametrize("name", LEVELS)
def test_a_constant_takes_one_unit_more(name):
    sigma, symmetries, w, b, rng = network(name, 3, 4)
    u = rng.normal(size=3)
    positions, weights = np.vstack([w, u, -u]), np.append(b, [0.37, 0.37])
    found = smallest_form(positions, weights, symmetries)
    assert found.units == 5
    check_same(sigma, found, positions, weights)


@pytest.mark.parametrize("name", ["relu", "gelu", "logistic", "erf"])
def test_nothing_stays_nothing(name):
    """Units that cancel, a mere line, and a mere constant."""
    sigma, symmetries, w, b, _ = network(name, 3, 4)
    positions, weights = np.vstack([w, w]), np.append(b, -b)
    assert smallest_form(positions, weights, symmetries).units == 0
    side = -symmetries.flip  # s(y) - s(-y) or s(y) + s(-y): no curve is left
    positions, weights = np.vstack([w, -w]), np.append(b, side * b)
    found = smallest_form(positions, weights, symmetries)
    assert found.units == (0 if name == "erf" else 2)
    check_same(sigma, found, positions, weights)


def test_more_than_can_be_searched_is_said():
    sigma, symmetries, w, b, _ = network("relu", 2, 40)
    line = b[:3] @ w[:3]
    positions = np.vstack([-w[:3], w[3:], line, -line, w[7]])
    weights = np.concatenate([b, [1.0, -1.0, 0.5]])
    found = smallest_form(positions, weights, symmetries)
    assert (found.units, found.certain) == (42, False)
    check_same(sigma, found, positions, weights)


def test_nearly_collinear_units_are_one_to_a_tolerance():
    """As a flat loss leaves them: 1e-8 from each other, with weights that say nothing alone."""
    sigma, symmetries, w, b, rng = network("relu", 2, 4)
    apart = np.vstack([w, w[1] + 1e-8 * rng.normal(size=2), w[2] * 3])
    weights = np.append(b, [0.9, 0.2])
    weights[[1, 2]] -= [0.9, 0.6]
    assert smallest_form(apart, weights, symmetries, 1e-10).units == 5
    found = smallest_form(apart, weights, symmetries, 1e-6)
    assert found.units == 4
    x = rng.normal(size=(500, 2))
    np.testing.assert_allclose(
        sigma(x @ found.positions.T) @ found.weights, sigma(x @ w.T) @ b, atol=1e-7
    )


def test_the_origin_of_each_unit_is_the_heaviest_of_its_place():
    symmetries = LINES["relu"][1]
    positions = np.array([[1.0, 0], [0, 1], [2, 0], [0, -3]])
    found = smallest_form(positions, np.array([0.1, 1.0, 0.2, 0.0]), symmetries)
    assert sorted(found.origin) == [1, 2]
    np.testing.assert_allclose(found.positions[list(found.origin).index(2)], [2, 0])


def test_quadratic_units_stay_as_they_are():
    square = Symmetries(flip=1, degree=2, quadratic=(0.0, 0.0, 1.0))
    positions, weights = np.ones((3, 2)), np.ones(3)
    found = smallest_form(positions, weights, square)
    np.testing.assert_array_equal(found.positions, positions)
    np.testing.assert_array_equal(found.weights, weights)
