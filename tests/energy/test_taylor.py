"""Taylor-slope tests: the remainder after the gradient is of order 2, after the Hessian 3."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.charges.network import Student
from earnshaw.energy.population import OBJECTIVES
from energy.cases import case

pytestmark = pytest.mark.slow

STEPS = jnp.asarray(0.5 ** np.arange(2, 9))


@eqx.filter_jit
def remainders(loss, student, direction):
    """|L(R(h v)) - L - h g.v| and the same less h^2 v.Hv/2, for every step h."""

    def along(h):
        there = loss.manifold.retract(student.positions, h * direction[0])
        moved = eqx.tree_at(
            lambda s: (s.positions, s.weights), student, (there, student.weights + h * direction[1])
        )
        return loss.value(moved)

    value, gradient = loss.value_and_gradient(student)
    product = loss.hvp(student, direction)
    pairs = (
        tuple(zip(gradient, direction, strict=True)),
        tuple(zip(product, direction, strict=True)),
    )
    slope, curvature = (sum(jnp.sum(a * b) for a, b in pair) for pair in pairs)
    first = jax.lax.map(along, STEPS) - value - STEPS * slope
    return jnp.abs(first), jnp.abs(first - STEPS**2 * curvature / 2)


def orders(loss, student, direction):
    """The exponents of the two remainders in the step, fitted by least squares."""
    return [
        np.polyfit(np.log(STEPS), np.log(np.asarray(rest)), 1)[0]
        for rest in remainders(loss, student, direction)
    ]


VARIANTS = [
    *(("gaussian", "space", variant) for variant in OBJECTIVES),
    ("relu", "space", "regularized"),
    ("erf", "sphere", "full"),
]


@pytest.mark.parametrize(("name", "on", "objective"), VARIANTS)
def test_every_variant(name, on, objective):
    wrt = "positions" if objective == "assumption-1" else "both"
    units = 1 if objective == "one-node" else 3
    loss, student, _, direction = case(name, on, objective=objective, wrt=wrt, units=units)
    if wrt == "positions":
        direction = direction[0], np.zeros(units)
    size = np.sqrt(sum(np.sum(v**2) for v in direction))
    first, second = orders(loss, student, tuple(v / size for v in direction))
    assert first == pytest.approx(2, abs=0.2)
    assert second == pytest.approx(3, abs=0.3)


def test_one_node_with_the_others_fixed():
    loss, student, _, direction = case("gaussian")
    node = loss.node(1, student)
    alone = Student(student.positions[1:2], student.weights[1:2])
    first, second = orders(node, alone, (direction[0][1:2] / 3, direction[1][1:2] / 3))
    assert first == pytest.approx(2, abs=0.2)
    assert second == pytest.approx(3, abs=0.3)


def test_jax_differentiates_the_value_by_the_same_gradient():
    loss, student, _, _ = case("gaussian")
    by_jax = eqx.filter_grad(lambda s: loss.value(s))(student)
    ours = loss.gradient(student)
    np.testing.assert_allclose(by_jax.positions, ours.positions, rtol=1e-13)
    np.testing.assert_allclose(by_jax.weights, ours.weights, rtol=1e-13)
