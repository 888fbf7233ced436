"""Whole fits: teachers recovered, noise not fitted, and what is refused."""

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.charges.matching import match
from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting import _objective as normal
from earnshaw.learning.fitting import _search as searching
from earnshaw.learning.fitting._tuning import Tuning
from earnshaw.learning.fitting.fitted import fit
from earnshaw.learning.fitting.settings import Settings
from learning.fitting.cases import answers, teacher_data

DIM = 3


def fitted(name, x, y, watch=None, **settings):
    return fit(x, y, np.ones(len(x)), ew.activation(name), Settings(**settings), watch)


@pytest.mark.quick("tanh-*")
@pytest.mark.parametrize(("name", "within"), [("tanh", 1e-8), ("relu", 1e-5), ("softplus", 1e-8)])
def test_teachers_are_recovered(name, within):
    truth, x, y = teacher_data(name, 3, DIM, 600, seed=1)
    # Far from standardised: the network is found in the coordinates of the data all the same.
    found = fitted(name, 3 * x + 5, 100 * y)
    assert found.network.units == 3
    assert np.all(found.network.linear == 0)
    teacher = ew.Teacher(
        np.column_stack([truth.positions / 3, truth.biases - truth.positions.sum(axis=1) * 5 / 3]),
        100 * truth.weights[:, 0],
        name,
    )
    matching = match(teacher, found.network.student())
    assert np.max(matching.distance) < within
    assert np.max(matching.weight_error) < 100 * within
    new = np.random.default_rng(9).standard_normal((50, DIM))
    np.testing.assert_allclose(
        found.network(3 * new + 5), 100 * answers(name, truth, new), atol=100 * within
    )
    assert [event.action for event in found.history][-1] == "polish"


@pytest.mark.slow
def test_noise_is_not_fitted_and_little_is_compiled():
    truth, x, y = teacher_data("tanh", 3, DIM, 3000, seed=2, noise=0.1)
    before = dict(normal.TRACES), dict(searching.TRACES)
    events = []
    found = fitted("tanh", x, y, events.append)
    assert found.network.units == 3
    assert events == found.history
    new = np.random.default_rng(8).standard_normal((4000, DIM))
    right = answers("tanh", truth, new)
    noise = 0.1 * answers("tanh", truth, x).std()
    excess = np.mean((found.network(new) - right) ** 2)
    assert excess < 0.1 * noise**2
    # Networks of 0 to 5 units were polished: two rooms, of 4 and of 8 units.
    assert max(event.units for event in events) > 4
    assert normal.TRACES["normal"] - before[0]["normal"] <= 2
    assert searching.TRACES["search"] - before[1]["search"] <= 1


@pytest.mark.slow
def test_weights_are_repeated_samples_and_seeds_decide():
    _, x, y = teacher_data("tanh", 2, DIM, 200, seed=4, noise=0.2)
    rng = np.random.default_rng(0)
    times = rng.integers(1, 4, 200)
    order = rng.permutation(times.sum())
    activation, settings = ew.activation("tanh"), Settings(seed=5)
    weighted = fit(x, y, times.astype(float), activation, settings)
    again = fit(x, y, times.astype(float), activation, settings)
    x_long, y_long = (np.repeat(part, times, axis=0)[order] for part in (x, y))
    repeated = fit(x_long, y_long, np.ones(len(order)), activation, settings)
    np.testing.assert_array_equal(weighted.network(x), again.network(x))
    np.testing.assert_allclose(weighted.network(x), repeated.network(x), rtol=1e-6, atol=1e-7)
    assert weighted.criterion == pytest.approx(repeated.criterion, rel=1e-9)


def test_growth_on_some_samples_first(monkeypatch):
    from earnshaw.learning.fitting import fitted as module

    monkeypatch.setattr(module, "STAGE_FACTOR", 2)
    _, x, y = teacher_data("tanh", 2, DIM, 600, seed=4)
    activation = ew.activation("tanh")
    found = fit(x, y, np.ones(len(x)), activation, Settings(), tuning=Tuning(few_samples=150))
    assert found.network.units == 2
    assert found.error < 1e-20
    assert {event.samples for event in found.history} >= {150, 600}


@pytest.mark.slow
def test_holdout_exact_numbers_and_parts():
    _, x, y = teacher_data("tanh", 2, DIM, 400, seed=4, noise=0.1)
    held = fitted("tanh", x, y, criterion="holdout", max_units=4)
    assert held.error < 0.03
    assert 2 <= held.network.units <= 4
    exact = fitted("tanh", x, y, units=1, biases=False, linear=False)
    assert exact.network.units == 1
    assert np.all(exact.network.biases == 0)
    assert np.all(exact.network.linear == 0)
    straight = fitted("tanh", x, y, units=0, linear=True)
    plain = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0]
    np.testing.assert_allclose(straight.network.linear, plain[:-1], rtol=1e-8)
    np.testing.assert_allclose(straight.network.intercept, plain[-1], rtol=1e-8)
    flat = fitted("tanh", x, y, units=1, alpha=10.0)
    assert np.max(np.abs(flat.network.weights)) < 1e-3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"units": 100}, r"n_units is 100, which has \d+ parameters, .* allowed: at most \d+"),
        ({"units": "many"}, "n_units is 'many'; allowed: 'auto'"),
        ({"units": -1}, "allowed: an integer from 0 to 2147483647"),
        ({"criterion": "bik"}, "did you mean bic"),
        ({"solver": "newton"}, "unknown solver"),
        ({"alpha": -1.0}, "alpha"),
        ({"linear": "maybe"}, "linear is 'maybe'"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
    ],
)
def test_bad_settings(settings, message):
    x = np.random.default_rng(0).standard_normal((30, DIM))
    with pytest.raises(EarnshawError, match=message):
        fitted("tanh", x, x[:, :1], **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dim", "units", "name"),
    [
        *((5, 3, name) for name in ("tanh", "erf", "logistic", "relu", "softplus")),
        *((10, 5, name) for name in ("tanh", "relu")),  # smooth, and with a kink
    ],
)
def test_ten_teachers(dim, units, name):
    """At least nine of ten, as `benchmarks/data.py --only recovery` does for more sizes."""
    recovered = 0
    for seed in range(10):
        rng = np.random.default_rng([seed, dim, units])
        tilted, weights = rng.standard_normal((units, dim + 1)), rng.standard_normal(units)
        teacher = ew.Teacher(tilted, weights, name)
        x = rng.standard_normal((200 * units * (dim + 2), dim))
        y = np.asarray(teacher(np.column_stack([x, np.ones(len(x))])))[:, None]
        network = fitted(name, x, y, seed=seed).network
        if network.units == units:
            matching = match(teacher, network.student())
            worst = max(np.max(matching.distance), np.max(matching.weight_error))
            recovered += worst < (1e-5 if name == "relu" else 1e-8)
    assert recovered >= 9


def test_ctrl_c_leaves_the_best_network_so_far():
    _, x, y = teacher_data("tanh", 3, DIM, 600, seed=1)
    seen = []

    def pressed_after_two_units(event):
        seen.append(event)
        if event.action == "add" and event.units == 2:
            raise KeyboardInterrupt

    found = fitted("tanh", x, y, pressed_after_two_units)
    assert (found.interrupted, found.settled, found.network.units) == (True, False, 2)
    assert found.history[-1].action == "interrupted"
    # The network is that of the last step: its error, in the coordinates of the data, is as said.
    z = x @ found.network.positions.T + found.network.biases
    left = y - np.tanh(z) @ found.network.weights - x @ found.network.linear
    part = np.mean((left - found.network.intercept) ** 2) / np.var(y)
    assert part == pytest.approx(seen[-2].error, rel=1e-6)
    assert seen[-2] == found.history[-2]


def test_ctrl_c_before_there_is_a_network_is_ctrl_c(monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("earnshaw.learning.fitting.fitted.refit", pressed)
    _, x, y = teacher_data("tanh", 1, DIM, 100, seed=1)
    with pytest.raises(KeyboardInterrupt):
        fitted("tanh", x, y)
