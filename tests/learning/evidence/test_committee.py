"""Committees: they repeat, their intervals hold what they say, files keep them to the last bit."""

import dataclasses
import runpy

import numpy as np
import pytest
from scipy.special import expit

import earnshaw as ew
from earnshaw.learning.evidence._blending import blend
from earnshaw.learning.evidence._training import Curved, Data, laplace
from earnshaw.learning.evidence.assembling import fit_committee
from earnshaw.learning.evidence.coordinates import coordinates_of
from earnshaw.learning.evidence.packing import packed, unpacked
from earnshaw.learning.exports.committee_source import numpy_committee_source
from earnshaw.numerics.fixed_order import one_blas_thread

TANH = ew.activation("tanh")
NOISE = 0.2


def truth(x):
    return np.tanh(2 * x[:, :1]) * x[:, 1:2]


def samples(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, 2))
    return x, truth(x) + NOISE * rng.standard_normal((rows, 1))


@pytest.fixture(scope="module")
def committee():
    x, y = samples(45, 0)  # few enough not to be split into folds
    return fit_committee(x, y, np.ones(45), TANH, "squares", sizes=(0, 2))


def test_files_keep_it(committee):
    new, _ = samples(20, 1)
    plan, numbers = packed(committee)
    again = unpacked(plan, numbers, TANH)
    with one_blas_thread():
        np.testing.assert_array_equal(again.outputs(new), committee.outputs(new))
        np.testing.assert_allclose(again.spread(new), committee.spread(new), rtol=1e-10)
    assert again.summary() == committee.summary()


def test_the_networks_are_those_of_the_data(committee):
    """What a member says of standardised data is what its network says of them as they are."""
    new, _ = samples(9, 2)
    for member in (committee.linear, *committee.networks):
        parts = committee.in_data_coordinates(member)
        z = np.tanh(new @ parts["positions"].T + parts["biases"])
        by_hand = z @ parts["weights"] + new @ parts["linear"] + parts["intercept"]
        said = member.outputs(committee.coordinates.straight(new))
        np.testing.assert_allclose(by_hand, said * committee.deviation + committee.shift, rtol=1e-9)


def test_errors_of_parameters_are_those_of_the_data(committee):
    """Parameters drawn around a member, taken to the data: their spread is what is said."""
    member = committee.networks[0]
    rng = np.random.default_rng(11)
    size = member.layout.size
    drawn = rng.multivariate_normal(member.theta, member.covariance, 4000)
    parts = [
        committee.in_data_coordinates(dataclasses.replace(member, theta=theta)) for theta in drawn
    ]
    names = ("positions", "biases", "weights", "linear", "intercept")
    taken = np.array([np.concatenate([one[name].ravel() for name in names]) for one in parts])
    said, found = committee.covariance(member), np.cov(taken.T)
    error = np.sqrt(np.outer(np.diagonal(said), np.diagonal(said)))
    assert np.max(np.abs(found - said) / error) < 6 / np.sqrt(4000)
    deviations = committee.deviations(member)
    np.testing.assert_allclose(deviations["biases"], np.std(taken, axis=0)[4:6], rtol=0.1)
    assert said.shape == (size, size)


def test_equal_units_and_idle_ones_are_not_identifiable():
    rng = np.random.default_rng(12)
    x = rng.standard_normal((200, 1))
    y = np.tanh(2 * x) + 0.05 * rng.standard_normal((200, 1))
    found = fit_committee(x, y, np.ones(200), TANH, "squares", sizes=(0,), networks=1, fields=False)
    layout = dataclasses.replace(found.linear.layout, units=3)
    theta = np.array([2.0, 2.0, 1.0, 0, 0, 1.0, 0.5, 0.5, 0.001, 0, 0])  # two alike, one idle
    data, noise = Data(x, y, np.ones(200), "squares"), np.array([400.0])
    here = Curved(layout, theta, data, noise)
    precisions = np.ones(layout.groups.max() + 1)
    member = laplace(layout, theta, data, here, precisions, noise, 0)
    assert list(found.identifiable(member)) == [False, False, False]
    apart = np.array([2.0, -2.0, 1.0, 0, 2.0, 1.0, 1.0, 1.0, 0.001, 0, 0])
    here = Curved(layout, apart, data, noise)
    member = laplace(layout, apart, data, here, precisions, noise, 0)
    assert list(found.identifiable(member)) == [True, True, False]


@pytest.mark.slow
def test_intervals_hold_what_they_say_and_the_same_seed_repeats():
    x, y = samples(150, 3)
    first, second = (fit_committee(x, y, np.ones(150), TANH, "squares", seed=5) for _ in "ab")
    new, answers = samples(4000, 4)
    said = first.outputs(new)
    np.testing.assert_array_equal(said, second.outputs(new))
    assert np.mean((said - truth(new)) ** 2) < 0.5 * NOISE**2
    for level in (0.5, 0.9):
        half = first.reach(level) * first.spread(new)
        assert np.mean(np.abs(answers - said) <= half) == pytest.approx(level, abs=0.08)


@pytest.mark.slow
def test_probabilities_are_right_on_average():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((600, 2))
    chance = expit(3 * np.sin(2 * x[:, 0]))
    y = (rng.random(600) < chance).astype(float)[:, None]
    found = fit_committee(x[:300], y[:300], np.ones(300), TANH, "logistic")
    said = expit(found.outputs(x[300:])[:, 0])
    assert np.mean((said - chance[300:]) ** 2) < 0.02


def test_blends_follow_the_better_member():
    rng = np.random.default_rng(7)
    y = rng.standard_normal((200, 1))
    good, bad = y + 0.1 * rng.standard_normal(y.shape), y + rng.standard_normal(y.shape)
    weights = blend(np.array([bad, good]), y, np.ones(200), "squares")
    assert weights[1] > 0.9
    assert np.sum(weights) == pytest.approx(1)
    equal = blend(np.array([good, good]), y, np.ones(200), "squares")
    np.testing.assert_allclose(equal, [0.5, 0.5], atol=1e-6)


def test_quantiles_rise_and_do_not_stretch():
    rng = np.random.default_rng(8)
    x = np.exp(3 * rng.standard_normal((200, 1)))
    seen = coordinates_of(x, np.ones(200), np.ones(1, dtype=bool))
    bent = seen.quantiles(np.sort(x, axis=0))[:, 0]
    assert np.all(np.diff(bent) >= 0)
    assert np.mean(bent) == pytest.approx(0, abs=1e-9)
    assert seen.quantiles(np.array([[1e9]]))[0, 0] == bent[-1] < 3
    few = coordinates_of(x.round(-9), np.ones(200), np.ones(1, dtype=bool))
    assert len(few.again) == 0


def test_blocks_and_noise(committee, monkeypatch):
    """Error bars are in the units of the answers, no smaller than the noise, block by block."""
    new, _ = samples(50, 10)
    whole = committee.outputs(new), committee.spread(new)
    assert np.all(whole[1] >= committee.deviation * np.sqrt(committee.noise))
    assert 0.5 * NOISE < np.median(whole[1]) < 3 * NOISE
    monkeypatch.setattr("earnshaw.learning.evidence.committee.BLOCK", 7)
    np.testing.assert_allclose(committee.outputs(new), whole[0], rtol=1e-10)
    np.testing.assert_allclose(committee.spread(new), whole[1], rtol=1e-10)


def test_an_exported_file_says_the_same(committee, tmp_path):
    path = tmp_path / "taken.py"
    path.write_text(numpy_committee_source(committee))
    taken = runpy.run_path(str(path))
    new, _ = samples(30, 9)
    np.testing.assert_allclose(taken["predict"](new), committee.outputs(new)[:, 0], rtol=1e-9)
    assert taken["predict"](new[0]).shape == ()
