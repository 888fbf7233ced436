"""Units with biases in ball arithmetic: enclosures hold the truth, and minima can be proven."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, arb_mat, ctx

import affine_reference
import earnshaw as ew
from earnshaw.inputs import WithConstant
from earnshaw.landscape.proofs._affine import AffineKernel

D = 2
INPUTS = ew.GaussianMixture(
    [0.6, 0.4], [[0.5, -0.3], [-1.0, 0.2]], [[[0.7, 0.2], [0.2, 0.7]], [[1.0, 0.0], [0.0, 2.0]]]
)

NAMES = ["erf", "normal-cdf", "relu", "sign", "step"]


def kernel(name: str) -> AffineKernel:
    return AffineKernel(name, WithConstant(INPUTS).components(D + 1))


def column(values, radius: float = 0.0) -> arb_mat:
    return arb_mat(len(values), 1, [arb(float(value), radius) for value in values])


def known(name: str, x, y) -> float:
    """sum_m p_m E[s(u) s(v)] by 60-digit quadrature, from the definition."""
    total = 0.0
    for p, mean, cov in INPUTS.components(D):
        mean, cov = np.asarray(mean), np.asarray(cov)
        mus = [z[:D] @ mean + z[D] for z in (x, y)]
        q1, q2, c = (a[:D] @ cov @ b[:D] for a, b in ((x, x), (y, y), (x, y)))
        total += float(p) * affine_reference.mean(name, name, *mus, q1, q2, c)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_quadrature(name):
    rng = np.random.default_rng(0)
    for x, y in rng.normal(size=(2, 2, D + 1)):
        found = kernel(name).value(column(x), column(y))
        assert float(found) == pytest.approx(known(name, x, y), rel=1e-12)
        # A box of positions holds the values at its corners.
        wide = kernel(name).value(column(x, 1e-3), column(y, 1e-3))
        assert wide.contains(kernel(name).value(column(x + 1e-3), column(y - 1e-3)))
        assert wide.rad() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_differences_of_values(name):
    """In 60 digits, in each coordinate of one unit, and mixed with one of the other."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, D + 1))
    with ctx.workdps(60):
        made, h = kernel(name), arb("1e-15")
        jet = made.jet(column(x), column(y))

        def value(i, a, j=0, b=0):
            left, right = column(x), column(y)
            left[i, 0], right[j, 0] = left[i, 0] + a * h, right[j, 0] + b * h
            return made.value(left, right)

        for i in range(D + 1):
            slope = (value(i, 1) - value(i, -1)) / (2 * h)
            bend = (value(i, 1) - 2 * value(i, 0) + value(i, -1)) / h**2
            mixed = value(i, 1, 0, 1) - value(i, 1, 0, -1) - value(i, -1, 0, 1)
            mixed = (mixed + value(i, -1, 0, -1)) / (4 * h**2)
            for found, expected in (
                (jet.in_x[i, 0], slope),
                (jet.in_xx[i, i], bend),
                (jet.in_xy[i, 0], mixed),
            ):
                assert abs(float(found - expected)) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["erf", "relu"])
def test_a_unit_alone_is_a_pair_of_the_same(name):
    """Phi(x, x), whose gradient is twice that of a pair: the mean of two almost parallel ones."""
    x, step = np.array([0.4, -1.1, 0.3]), 1e-4 * np.array([1.4, -0.1, 1.3])
    alone = kernel(name).alone(column(x))
    assert float(alone.value) == pytest.approx(known(name, x, x), rel=1e-12)
    with ctx.workdps(60):
        near = [kernel(name).jet(column(x), column(y)).in_x for y in (x + step, x - step)]
    for i in range(D + 1):
        expected = float(near[0][i, 0] + near[1][i, 0])
        assert float(alone.gradient[i, 0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_an_answer_with_biases_under_a_mixture_is_proven():
    rng = np.random.default_rng(2)
    teacher = ew.Teacher(
        rng.normal(size=(2, D)), [1.0, -0.7], "erf", biases=[0.3, -0.5], inputs=INPUTS
    )
    proof = ew.prove(teacher, teacher.student())
    assert proof.kind == "minimum"
    low, high = proof.loss
    assert low <= 0 <= high
    assert high < 1e-30
    hessian = ew.population_loss(teacher).hessian(teacher.student())
    assert proof.smallest_eigenvalue <= np.linalg.eigvalsh(hessian)[0] * (1 + 1e-9)


def test_what_has_no_proof_is_one_line():
    for name, weights, words in (
        ("tanh", [1.0], "erf, normal-cdf, relu"),
        ("erf", [[1.0, 2.0]], "2 outputs"),
    ):
        teacher = ew.Teacher([[1.0, 0.5]], weights, name, biases=[0.1])
        with pytest.raises(ValueError, match=words):
            ew.prove(teacher, teacher.student())
