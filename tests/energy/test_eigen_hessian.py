"""The smallest eigenpair of the Hessian by products alone, against the dense Hessian."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.numerics.eigenpairs import largest_eigenpair, smallest_eigenpair


@pytest.mark.parametrize("wrt", ["both", "positions"])
@pytest.mark.parametrize(("name", "on"), [("gaussian", "space"), ("relu", "sphere")])
def test_forty_units_in_five_dimensions(name, on, wrt):
    generator = np.random.default_rng(0)
    x, w = generator.standard_normal((2, 40, 5))
    if on == "sphere":
        x, w = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, w))
    student = Student(x, generator.uniform(-1, 1, 40))
    loss = population_loss(Teacher(w, generator.uniform(-1, 1, 40), name, on=on), wrt=wrt)
    basis = loss.manifold.basis(student.positions)
    tangents = 40 * basis.shape[2]

    @jax.jit
    def product(v):
        along = jnp.einsum("kdf,kf->kd", basis, v[:tangents].reshape(40, -1))
        image = loss.hvp(student, (along, v[tangents:] if wrt == "both" else None))
        turned = jnp.einsum("kdf,kd->kf", basis, image.positions).ravel()
        return jnp.concatenate([turned, image.weights]) if wrt == "both" else turned

    dense = np.asarray(loss.hessian(student))
    values = np.linalg.eigvalsh(dense)
    for search, truth in ((smallest_eigenpair, values[0]), (largest_eigenpair, values[-1])):
        found = search(product, len(dense))
        assert found.stop == "converged"
        assert found.products < 100
        assert float(found.value) == pytest.approx(truth, rel=1e-6)
        vector = np.asarray(found.vector)
        residual = np.linalg.norm(dense @ vector - float(found.value) * vector)
        assert residual <= 1.1e-6 * abs(truth)
