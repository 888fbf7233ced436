"""The papers' potentials: almost-harmonic ones, sign on the circle, Coulomb's."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from dynamics.charges_in_space import check_energy_falls
from earnshaw.dynamics.simulate import simulate

pytestmark = pytest.mark.slow


def test_almost_harmonic_electrons_all_bind():
    w, b = np.array([[0.0, 0, 0], [1.0, 0, 0]]), [1.0, 0.8]
    teacher = ew.Teacher(w, b, "almost-harmonic", radius=0.3)
    for seed in range(3):
        start = w + 0.3 * np.random.default_rng(seed).standard_normal((2, 3))
        path = simulate(teacher, ew.Student(start, b), 1e4)
        assert path.stop == "bound"
        assert path.steps < 1000
        np.testing.assert_array_equal(path.positions[-1], w[path.bound])
        # Electron i on proton j leaves the charge b_i - b_j there: q.K q, K the potential.
        left = np.asarray(b) - np.bincount(path.bound, weights=b, minlength=2)
        phi = float(teacher.potential.value(1.0))
        assert path.energy[-1] == pytest.approx(left @ [[1, phi], [phi, 1]] @ left, abs=1e-12)
        check_energy_falls(path)


def on_circle(angles):
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.mark.parametrize("weight", [0.5, -0.5])
def test_sign_on_the_circle_at_constant_speed_to_the_proton_or_its_antipode(weight):
    # Phi = 1 - 2 t / pi: the angle t changes at the rate 2 c b / pi.
    teacher = ew.Teacher(on_circle(np.array([0.3, 2.0])), [0.8, 0.0], "sign", on="sphere")
    student = ew.Student(on_circle(np.array([1.3, 5.0])), [weight, 0.0])
    path = simulate(teacher, student, 100.0)
    way = 1.0 if weight > 0 else np.pi - 1.0
    (event,) = path.events
    assert event[1:] == ("bind", 0, 0, int(np.sign(weight)))
    assert event.time == pytest.approx(way * np.pi / 2 / 0.4, abs=1e-4)
    target = np.sign(weight) * np.asarray(teacher.positions[0])
    np.testing.assert_array_equal(path.positions[-1, 0], target)
    angles = np.arctan2(path.positions[:, 0, 1], path.positions[:, 0, 0])
    speed = np.abs(np.unwrap(angles) - angles[0])
    np.testing.assert_allclose(speed, np.minimum(path.times * 0.8 / np.pi, way), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_sign_on_the_circle_ends_at_the_protons_or_antipodes(seed):
    """Full, Lemma G.2."""
    random = np.random.default_rng(seed)
    w, theta = (on_circle(random.uniform(0, 2 * np.pi, 2)) for _ in range(2))
    teacher = ew.Teacher(w, random.uniform(-1, 1, 2), "sign", on="sphere")
    path = simulate(teacher, ew.Student(theta, random.uniform(-1, 1, 2)), 1e5)
    assert path.stop in ("bound", "equilibrium")
    ends = np.concatenate([teacher.positions, -teacher.positions])
    for unit in np.flatnonzero(path.bound >= 0):
        assert any(np.array_equal(path.positions[-1, unit], end) for end in ends)
    free = np.flatnonzero(path.bound < 0)
    # What is not bound is a pair that cancels itself, or none at all.
    assert len(free) in (0, 2)
    np.testing.assert_allclose(np.linalg.norm(path.positions, axis=2), 1.0, atol=1e-14)
    check_energy_falls(path)


@pytest.mark.parametrize("seed", range(3))
def test_an_odd_activation_does_not_tell_a_unit_from_its_mirror_image(seed):
    # sign(-x) = -sign(x): with a unit and its weight negated, all the rest moves as before, though
    # what coincided is now antipodal.
    random = np.random.default_rng(seed)
    w, theta = (on_circle(random.uniform(0, 2 * np.pi, 2)) for _ in range(2))
    b, c = random.uniform(-1, 1, (2, 2))
    mirror = np.array([1.0, -1.0])
    paths = [
        simulate(ew.Teacher(w, b, "sign", on="sphere"), ew.Student(s[:, None] * theta, s * c), 1e5)
        for s in (np.ones(2), mirror)
    ]
    plain, mirrored = paths
    assert plain.stop == mirrored.stop
    assert len(plain.events) == len(mirrored.events) > 0
    for one, other in zip(plain.events, mirrored.events, strict=True):
        assert one[1:4] == other[1:4]
        assert one.time == pytest.approx(other.time, rel=1e-4)
    np.testing.assert_allclose(
        mirrored.positions[-1], mirror[:, None] * plain.positions[-1], atol=1e-5
    )


@pytest.mark.slow  # 10 s of compilation for one unit
def test_a_relu_unit_that_comes_to_the_origin_ends_the_run():
    # Phi = theta w / 2 for equal signs, else 0: d theta/dt = -(1 + theta)/2 until theta = 0.
    teacher = ew.Teacher([[1.0], [-1.0]], [1.0, 1.0], "relu")
    path = simulate(teacher, ew.Student([[0.5]], [-1.0]), 10.0)
    assert path.stop == "collision"
    assert path.times[-1] == pytest.approx(2 * np.log(1.5), abs=1e-5)
    np.testing.assert_allclose(
        path.positions[:, 0, 0], 1.5 * np.exp(-path.times / 2) - 1, atol=1e-7
    )


def test_coulomb_charges_collide():
    # dr/dt = -c b / r^2
    teacher = ew.Teacher([[0.0, 0, 0], [9.0, 0, 0]], [2.0, 0.0], "harmonic")
    student = ew.Student([[0.3, 0.4, 0], [0, 0, 9.0]], [0.5, 0.0])
    path = simulate(teacher, student, 10.0, objective="without-constants")
    assert path.stop == "collision"
    assert path.times[-1] == pytest.approx(0.5**3 / 3, rel=1e-6)
    distance = np.linalg.norm(path.positions[:, 0], axis=1)
    np.testing.assert_allclose(distance**3, 0.5**3 - 3 * path.times, atol=1e-7)
    check_energy_falls(path)
