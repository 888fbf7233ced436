"""The smallest eigenpair of the Hessian by products alone, against the dense Hessian."""

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "on", "wrt"), [("gaussian", "space", "both"), ("relu", "sphere", "positions")]
)
def test_forty_units_in_five_dimensions(name, on, wrt):
    generator = np.random.default_rng(0)
    x, w = generator.standard_normal((2, 40, 5))
    if on == "sphere":
        x, w = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, w))
    student = Student(x, generator.uniform(-1, 1, 40))
    loss = population_loss(Teacher(w, generator.uniform(-1, 1, 40), name, on=on), wrt=wrt)
    dense = np.asarray(loss.hessian(student))
    truth = np.linalg.eigvalsh(dense)[0]

    found, direction = loss.smallest_eigenpair(student)
    assert found.stop == "converged"
    assert found.products < 100
    assert float(found.value) == pytest.approx(truth, rel=1e-6)
    vector = np.asarray(found.vector)
    assert np.linalg.norm(dense @ vector - truth * vector) <= 1.1e-6 * abs(truth)

    bend = loss.hvp(student, direction)
    size = sum(float(np.sum(np.square(part))) for part in direction)
    curvature = sum(float(np.sum(a * b)) for a, b in zip(direction, bend, strict=True))
    assert size == pytest.approx(1.0)
    assert curvature == pytest.approx(truth, rel=1e-6)
