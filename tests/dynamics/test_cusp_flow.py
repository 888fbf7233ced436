"""Electrons at the cusp of exp(-r) in R^3: times of meeting and parting known in closed form.

All cases have two electrons and two protons, some of weight 0, so that compiled code is shared.
"""

from __future__ import annotations

import equinox as eqx
import numpy as np
import pytest
from scipy.integrate import quad

import earnshaw as ew
from dynamics.charges_in_space import check_energy_falls, flow
from earnshaw.dynamics import _flow as flow_module
from earnshaw.dynamics._clusters import apart
from earnshaw.dynamics._flow import State, observe
from earnshaw.dynamics.settings import Settings
from earnshaw.dynamics.simulate import _world, simulate

FAR = [0.0, 0.0, 1.0]  # where a unit of weight 0 is kept: nobody feels it


def run(theta, c, w, b, time=1e3, **options):
    path = simulate(ew.Teacher(w, b, potential="exp(-r)"), ew.Student(theta, c), time, **options)
    check_energy_falls(path)
    assert path.steps < 5_000
    return path


def kinds(path):
    return [(event.kind, event.unit, event.partner) for event in path.events]


@pytest.mark.slow
def test_one_electron_binds_to_its_proton_when_it_must():
    # dr/dt = -c b exp(-r)
    path = run([[0.6, 0.8, 0], FAR], [0.5, 0], [[0.0, 0, 0], FAR], [2.0, 0])
    assert kinds(path) == [("bind", 0, 0)]
    assert path.events[0].time == pytest.approx(np.e - 1, abs=1e-5)
    np.testing.assert_array_equal(path.positions[-1, 0], [0, 0, 0])
    assert path.stop == "equilibrium"  # the neutral unit is held by nothing
    np.testing.assert_array_equal(path.bound, [0, -1])


def test_a_weak_proton_on_the_way_does_not_hold():
    # Along the axis, through the proton at 0: its pull 0.1 is less than that of the one at 1.
    path = run([[-0.5, 0, 0], FAR], [1.0, 0], [[0.0, 0, 0], [1, 0, 0]], [0.1, 1.0])
    assert kinds(path) == [("bind", 0, 1)]
    before = quad(lambda x: 1 / (0.1 * np.exp(x) + np.exp(x - 1)), -0.5, 0)[0]
    after = quad(lambda x: 1 / (-0.1 * np.exp(-x) + np.exp(x - 1)), 0, 1)[0]
    assert path.events[0].time == pytest.approx(before + after, abs=1e-4)


def test_a_bound_electron_is_torn_off_when_the_margin_is_gone():
    # Electron 1 comes along dr/dt = -0.7 exp(-r) and pulls at electron 0 with exp(-r); the proton
    # holds with 0.3.
    path = run([[0.0, 0, 0], [2.0, 0, 0]], [1.0, -1.0], [[0.0, 0, 0], FAR], [0.3, 0])
    assert kinds(path)[:3] == [("bind", 0, 0), ("release", 0, 0), ("merge", 0, 1)]
    assert path.events[0].time == 0
    held = (np.exp(2) - 1 / 0.3) / 0.7
    assert path.events[1].time == pytest.approx(held, abs=1e-4)
    before = path.times < held - 1e-3
    np.testing.assert_array_equal(path.positions[before, 0], 0)
    assert path.at([held + 0.5])[0][0, 0, 0] > 5e-3
    # Together they are neutral.
    assert path.stop == "equilibrium"
    np.testing.assert_array_equal(path.positions[-1, 0], path.positions[-1, 1])
    np.testing.assert_array_equal(path.group, [0, 0])


def test_attracting_electrons_merge_and_move_as_one():
    # Two units of net weight 1/2 share the force on them: dR/dt = -(1/2) (1/2) b exp(-R).
    path = run([[1.0, 0.1, 0], [1.0, -0.1, 0.1]], [1.0, -0.5], [[0.0, 0, 0], FAR], [0.5, 0])
    assert kinds(path) == [("merge", 0, 1), ("bind", 0, 0), ("bind", 1, 0)]
    merged, bound = path.events[0].time, path.events[1].time
    together = path.times >= merged
    np.testing.assert_array_equal(path.positions[together, 0], path.positions[together, 1])
    distance = np.linalg.norm(path.positions[together][0, 0])
    assert bound - merged == pytest.approx((np.exp(distance) - 1) / 0.125, abs=1e-4)
    assert path.stop == "bound"
    np.testing.assert_array_equal(path.positions[-1], 0)


def test_two_bound_electrons_can_leave_together_where_each_is_held():
    # The proton at 1 pulls with f = 1.2 / e. Electron 0: f < 1 (0.4 + 0.3); electron 1, pushed:
    # 0.3 f < 0.3 (1 - 0.4); but both together: 0.7 f > 0.7 * 0.4.
    teacher = ew.Teacher([[0.0, 0, 0], [1.0, 0, 0]], [0.4, 1.2], potential="exp(-r)")
    student = ew.Student(np.zeros((2, 3)), [1.0, -0.3])
    loss = ew.population_loss(teacher, wrt="positions")
    world = _world(loss, student, 1.0, Settings(time=1.0))
    clusters = apart(2, np.asarray(teacher.positions), False).joined(0, 2, 1).joined(1, 2, 1)
    state, zero = State(student.positions, student.weights), np.zeros(())
    excess = np.asarray(observe(world, clusters, state, np.zeros(2), zero).excess)
    pull = 1.2 / np.e
    for leaving, force, hold in (
        ([0], pull, 0.7),
        ([1], 0.3 * pull, 0.18),
        ([0, 1], 0.7 * pull, 0.28),
    ):
        (cut,) = (n for n in range(3) if list(clusters.leaving(n)) == leaving)
        assert excess[cut] == pytest.approx(force - hold, abs=1e-5)
    # So they do, as one, at half the speed that the net force on them would give one unit.
    path = simulate(teacher, student, 0.1)
    np.testing.assert_array_equal(path.positions[:, 0], path.positions[:, 1])
    speed = path.positions[-1, 0, 0] / path.times[-1]
    assert speed == pytest.approx((0.7 * pull - 0.28) / 2, rel=0.02)
    check_energy_falls(path)


@pytest.mark.quick("2-positions")
@pytest.mark.parametrize(
    ("seed", "wrt"), [*((seed, "positions") for seed in range(4)), (0, "both"), (1, "both")]
)
def test_is_the_limit_of_flows_without_cusp(seed, wrt):
    # exp(-sqrt(r^2 + s^2)) has no cusp; a stiff solver follows it through every encounter.
    random = np.random.default_rng(seed)
    w, theta = random.normal(size=(2, 2, 3)) * 0.7
    b, c = random.uniform(0.2, 1, size=(2, 2)) * random.choice([-1, 1], size=(2, 2))
    times = np.linspace(0.5, 8, 6)
    path = run(theta, c, w, b, 8.0, wrt=wrt)
    size = lambda r: np.hypot(r, 1e-4)  # noqa: E731
    slope, value = lambda r: -np.exp(-size(r)) / size(r), lambda r: np.exp(-size(r))
    moving = value if wrt == "both" else None
    exact = flow(slope, theta, c, w, b, times, value=moving, method="Radau", rtol=1e-7)
    for found, expected in zip(path.at(times), exact, strict=True):
        np.testing.assert_allclose(found, expected, atol=5e-3)


def test_nothing_is_traced_between_segments_or_runs(monkeypatch):
    setting = ([[0.3, 0.1, 0], [1.0, 0.5, 0.1]], [1.0, -0.5], [[0.0, 0, 0], [1, 0, 0]], [1.0, -0.5])
    segments, traced = [], []
    run(*setting, time=0.01)
    original = flow_module.motion

    def counted(*arguments):
        traced.append(1)
        return original(*arguments)

    monkeypatch.setattr(flow_module, "motion", counted)
    path = run(*setting, on_progress=lambda part, note: segments.append(part))
    assert path.stop == "bound"
    assert len(segments) >= 3
    assert not traced
    clusters = apart(2, np.asarray(path.teacher.positions), False)
    loss = ew.population_loss(path.teacher, wrt="positions")
    world = _world(loss, path.student, 1.0, Settings(time=1.0))
    state = State(path.student.positions, path.student.weights)
    eqx.filter_eval_shape(flow_module.sight, world, clusters, state, np.zeros(2), np.zeros(()))
    assert traced == [1]  # it does count
