"""Ways out of bad local minima: detours and shaking, from a network with a unit that is lost."""

import dataclasses

import numpy as np
import pytest

from earnshaw.fitting import growth
from earnshaw.fitting.criterion import information
from earnshaw.fitting.growth import Grower
from earnshaw.fitting.layout import Freedom
from earnshaw.fitting.marquardt import polish
from earnshaw.fitting.normal import Objective
from fitting.cases import plain_samples, teacher_data

COUNT, DIM, UNITS = 600, 3, 3
FREEDOM = Freedom(linear=False)


@pytest.fixture
def lost():
    """Two of three tanh units found, the third where it is constant: no step of descent helps."""
    truth, x, y = teacher_data("tanh", UNITS, DIM, COUNT, seed=3)
    network = truth.keep(np.arange(2)).with_unit(np.zeros(DIM), 40.0, np.zeros(1))
    return plain_samples(x, y), network


def grower_of(samples, seen):
    return Grower(
        objective=Objective(samples, freedom=FREEDOM),
        polish=lambda objective, network: polish(objective, network, 100, 1e-3, 1e-28),
        criterion=information("bic", 1),
        most=UNITS,
        exact=True,
        seed=0,
        watch=seen.append,
    )


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


def test_shaking_on_few_samples_finds_it_on_all(lost, monkeypatch):
    monkeypatch.setattr(growth, "FEW", 128)
    samples, network = lost
    seen = []
    grower = grower_of(samples, seen)
    stuck = grower.begin(network)
    few = grower._few(network).samples
    parameters = FREEDOM.count(network)
    assert growth.FEW_A_PARAMETER * parameters <= few.count < COUNT
    found = grower._shaken(stuck)
    assert found.network.units == UNITS
    assert found.error < 1e-20
    assert {event.samples for event in seen} == {COUNT}


@pytest.mark.parametrize("slims", [0, growth.SLIMS])
def test_no_units_for_what_no_network_explains(lost, monkeypatch, slims):
    monkeypatch.setattr(growth, "EXACT", 1.0)  # all that is left is next to nothing
    samples, network = lost
    grower = dataclasses.replace(grower_of(samples, []), exact=False, most=UNITS + 1, slims=slims)
    stuck = grower.begin(network)
    assert (grower.grow(stuck) is stuck) == (slims == growth.SLIMS)
