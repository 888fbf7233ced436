"""Ways out of bad local minima: detours and shaking, from a network with a unit that is lost."""

import dataclasses

import numpy as np
import pytest

from earnshaw.learning.fitting._criterion import information
from earnshaw.learning.fitting._layout import Freedom
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting._solvers import marquardt
from earnshaw.learning.fitting._tuning import Tuning
from earnshaw.learning.fitting.growth import Grower
from learning.fitting.cases import plain_samples, teacher_data

COUNT, DIM, UNITS = 600, 3, 3
FREEDOM = Freedom(linear=False)


@pytest.fixture
def lost():
    """Two of three tanh units found, the third where it is constant: no step of descent helps."""
    truth, x, y = teacher_data("tanh", UNITS, DIM, COUNT, seed=3)
    network = truth.keep(np.arange(2)).with_unit(np.zeros(DIM), 40.0, np.zeros(1))
    return plain_samples(x, y), network


def grower_of(samples, seen, **tuning):
    return Grower(
        objective=FitObjective(samples, freedom=FREEDOM),
        minimise=lambda objective, network: marquardt(objective, network, 100, 1e-3, 1e-28),
        criterion=information("bic"),
        most=UNITS,
        exact=True,
        seed=0,
        on_event=seen.append,
        tuning=Tuning(**tuning),
    )


@pytest.mark.slow
def test_more_units_for_a_while_find_the_lost_one(lost):
    samples, network = lost
    seen = []
    grower = grower_of(samples, seen)
    stuck = grower.begin(network)
    assert stuck.error > 1e-3 * np.var(samples.y)
    found = grower.detour(stuck)
    assert found.network.units == UNITS
    assert found.error < 1e-20
    assert seen[-1].action == "detour"
    assert grower.detour(found) is found


def test_shaking_on_few_samples_finds_it_on_all(lost):
    samples, network = lost
    seen = []
    grower = grower_of(samples, seen, few_samples=128)
    stuck = grower.begin(network)
    few = grower._on_few_samples(network).samples
    parameters = FREEDOM.count(network)
    assert Tuning().samples_a_parameter * parameters <= few.count < COUNT
    found = grower._shaken(stuck)
    assert found.network.units == UNITS
    assert found.error < 1e-20
    assert {event.samples for event in seen} == {COUNT}


@pytest.mark.parametrize("slims", [0, Tuning().slims])
def test_no_units_for_what_no_network_explains(lost, slims):
    samples, network = lost
    grower = grower_of(samples, [], noiseless=1.0)  # all that is left is next to nothing
    grower = dataclasses.replace(grower, exact=False, most=UNITS + 1, failed_slims=slims)
    stuck = grower.begin(network)
    assert (grower.grow(stuck) is stuck) == (slims == Tuning().slims)
