"""What a unit must earn: the criteria against formulas written by hand, and fits of pure noise."""

import math

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.learning.fitting._criterion import information
from earnshaw.learning.fitting._layout import Freedom
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting._solvers import Minimum
from earnshaw.learning.fitting.fitted import fit
from earnshaw.learning.fitting.settings import Settings
from learning.fitting.cases import answers, errors, plain_samples, random_network

ROWS, DIM, UNITS = 60, 3, 2


def case(name, loss, outputs, **freedom):
    """A network that was not fitted, on weighted samples; its mean error E and n, by hand."""
    rng = np.random.default_rng(3)
    network = random_network(name, UNITS, DIM, outputs, linear=True)
    x, weight = rng.standard_normal((ROWS, DIM)), rng.uniform(0.5, 2.0, ROWS)
    y = rng.standard_normal((ROWS, outputs))
    if loss == "logistic":
        y = (y > 0).astype(float)
    if loss == "softmax":
        y = np.eye(outputs)[np.argmax(y, axis=1)]
    mean = weight @ errors(loss, answers(name, network, x), y) / weight.sum()
    objective = FitObjective(plain_samples(x, y, weight), loss, 0.0, Freedom(**freedom))
    return objective, Minimum(network, mean, mean, 1, True), mean, weight.sum()


@pytest.mark.parametrize("kind", ["bic", "aic"])
@pytest.mark.parametrize(
    ("name", "loss", "outputs", "freedom", "parameters"),
    [
        # Each unit has d positions, a bias and m weights; d m linear, m constant terms.
        ("tanh", "squares", 1, {}, 2 * (3 + 1 + 1) + 3 + 1),
        ("tanh", "squares", 3, {}, 2 * (3 + 1 + 3) + 3 * 3 + 3),
        ("tanh", "squares", 3, {"biases": False, "linear": False}, 2 * (3 + 3) + 3),
        # A relu unit twice as long with half the weight is the same unit.
        ("relu", "squares", 3, {"intercept": False}, 2 * (3 + 1 + 3 - 1) + 3 * 3),
        ("tanh", "logistic", 1, {}, 2 * (3 + 1 + 1) + 3 + 1),
        ("tanh", "softmax", 3, {}, 2 * (3 + 1 + 3) + 3 * 3 + 3),
    ],
)
def test_criteria_are_those_of_the_formula(kind, name, loss, outputs, freedom, parameters):
    objective, found, mean, n = case(name, loss, outputs, **freedom)
    total = n * outputs
    deviance = total * math.log(mean) if loss == "squares" else n * mean
    each = math.log(n) if kind == "bic" else 2
    by_hand = deviance + each * parameters * total / (total - parameters - 2)
    assert information(kind)(objective, found) == pytest.approx(by_hand, rel=1e-13)


def test_aic_is_that_of_hurvich_and_tsai():
    """N log s^2 + N (1 + p/N)/(1 - (p + 2)/N), less what it asks for the variance."""
    objective, found, mean, n = case("tanh", "squares", 3)
    p, total = 26, 3 * n
    printed = total * math.log(n * mean / total) + total * (1 + p / total) / (1 - (p + 2) / total)
    constant = total - total * math.log(3) + 2 * total / (total - p - 2)
    assert information("aic")(objective, found) == pytest.approx(printed - constant, rel=1e-12)


def test_as_many_parameters_as_answers_are_never_worth_it():
    objective, found, _, _ = case("tanh", "squares", 1)
    few = plain_samples(objective.samples.x[:16], objective.samples.y[:16])
    assert information("bic")(FitObjective(few), found) == math.inf  # p + 2 = 16
    few = plain_samples(objective.samples.x[:17], objective.samples.y[:17])
    assert math.isfinite(information("bic")(FitObjective(few), found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "dim", "outputs", "most"),
    # At half the price 8, 3 and 10 of the twelve get a unit (measured once): more than allowed.
    [("bic", 3, 1, 1), ("bic", 3, 2, 1), ("aic", 2, 1, 6)],
)
def test_noise_rarely_gets_a_unit(kind, dim, outputs, most):
    false = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        x, y = rng.standard_normal((100, dim)), rng.standard_normal((100, outputs))
        settings = Settings(criterion=kind, linear=False, max_units=1, seed=seed)
        found = fit(x, y, np.ones(100), ew.activation("tanh"), settings)
        false += found.network.units > 0
    assert false <= most
