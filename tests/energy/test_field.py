"""The potential of all charges at a probe, its gradient, and its logarithm where it underflows."""

import numpy as np
import pytest

from energy.cases import case, error
from energy.exact_potentials import mp


@pytest.mark.quick("gaussian-*")
@pytest.mark.parametrize(
    ("name", "on"), [("gaussian", "space"), ("relu", "space"), ("relu", "sphere")]
)
def test_the_potential_and_its_gradient(name, on):
    loss, student, exact, _ = case(name, on)
    probes = np.random.default_rng(5).standard_normal((4, 3))
    if on == "sphere":
        probes /= np.linalg.norm(probes, axis=1, keepdims=True)
    truth = [exact.field_and_gradient(student, probe) for probe in probes]
    assert error(loss.potential(probes, student), [float(value) for value, _ in truth]) <= 1e-12
    slopes = [[float(s) for s in slope] for _, slope in truth]
    assert error(loss.potential_gradient(probes, student), slopes) <= 1e-11


def test_without_a_student_it_is_the_teachers_potential():
    loss, student, exact, _ = case("gaussian")
    probes = np.random.default_rng(5).standard_normal((4, 3))
    empty = type(student)(np.zeros((0, 3)), np.zeros(0))
    truth = [float(exact.field(empty, tuple(map(mp.mpf, map(float, p))))) for p in probes]
    assert error(loss.potential(probes), truth) <= 1e-12
    assert error(loss.potential(probes, empty), truth) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "almost-harmonic"])
@pytest.mark.parametrize("spread", [1.0, 40.0])
def test_the_logarithm_is_right_also_where_the_potential_underflows(name, spread):
    loss, student, exact, _ = case(name, spread=spread)
    probes = spread * np.random.default_rng(5).standard_normal((4, 3))
    sign, logarithm, gradient = loss.log_potential(probes, student)
    for index, probe in enumerate(probes):
        value, slope = exact.field_and_gradient(student, probe)
        assert float(sign[index]) == float(mp.sign(value))
        truth = float(mp.log(abs(value)))
        assert float(logarithm[index]) == pytest.approx(truth, rel=1e-12, abs=1e-11)
        assert error(gradient[index], [float(s / value) for s in slope]) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("dim", [7, 31])
def test_the_logarithm_at_the_scale_of_theorem_4_6(dim):
    spread = np.sqrt(dim * np.log(dim))
    loss, student, exact, _ = case("almost-harmonic", dim=dim, spread=spread)
    probe = spread * np.random.default_rng(5).standard_normal((1, dim))
    sign, logarithm, gradient = loss.log_potential(probe, student)
    value, slope = exact.field_and_gradient(student, probe[0])
    assert float(sign[0]) == float(mp.sign(value))
    assert float(logarithm[0]) == pytest.approx(float(mp.log(abs(value))), rel=1e-12)
    assert error(gradient[0], [float(s / value) for s in slope]) <= 1e-10
