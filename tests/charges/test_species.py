"""What units share: the activation and the potential belong together, under the inputs named."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import earnshaw as ew
from earnshaw.charges.species import formula_species, species
from earnshaw.errors import EarnshawError


def mean_product(activation, theta: float, w: float, width: float) -> float:
    """E[sigma(X, theta) sigma(X, w)], X ~ N(0, width^2), by quadrature in one dimension."""

    def integrand(x: float) -> float:
        density = math.exp(-((x / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        units = activation.unit(jnp.array([[x]]), jnp.array([[theta], [w]]))
        return density * float(units[0] * units[1])

    return quad(integrand, -12, 12, points=[0.0], limit=200, epsabs=1e-11)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width", "parameters"),
    [
        ("relu", 1.0, {}),
        ("leaky-relu", 0.7, {"negative_slope": 0.2}),
        ("hermite-3", 1.3, {}),
        ("tanh", 0.7, {"max_norm": 2.0}),
        ("gaussian", 1.5, {"rate": 0.8}),
        ("polynomial", 1.0, {"coefficients": [0.5, -1.0, 2.0]}),
    ],
)
def test_activation_and_potential_belong_together(name, width, parameters):
    found = species(name, 1, width=width, parameters=parameters)
    theta, w = 0.8, -0.5
    exact = mean_product(found.activation, theta, w, width)
    between = found.potential.between(jnp.array([theta]), jnp.array([w]))
    np.testing.assert_allclose(between, exact, rtol=1e-8, atol=1e-9)
    assert found.inputs.width == width
    assert found.origin == "activation"
    assert found.name == name


@pytest.mark.slow
def test_formula_has_the_activation_that_realizes_it():
    found = formula_species("exp(-r**2)", 1, "space", 1.2)
    exact = mean_product(found.activation, 0.3, -0.4, 1.2)
    np.testing.assert_allclose(exact, math.exp(-(0.7**2)), rtol=1e-6)
    assert (found.origin, found.name) == ("formula", "exp(-r**2)")


@pytest.mark.parametrize(
    ("made", "manifolds"),
    [
        ("relu", ("space", "sphere")),
        ("gaussian", ("space", "sphere")),
        ("bessel", ("space", "sphere")),
        ("sphere-synthetic", ("sphere",)),
        (jnp.tanh, ("space", "sphere")),
        (ew.potential("exponential"), ("space", "sphere")),
    ],
)
def test_where_units_can_live(made, manifolds):
    found = species(made, 3)
    assert found.manifolds == manifolds
    assert found.manifold(None).name == manifolds[0]


def test_objects_keep_the_width_that_they_were_made_for():
    """Under other inputs an activation does not have its potential."""
    for made in (
        ew.potential("relu", dim=2, width=2.0),
        ew.activation("gaussian", dim=2, width=2.0),
        species("relu", 2, width=2.0),
    ):
        assert species(made, 2).inputs.width == pytest.approx(2.0)
        assert species(made, 2, width=2.0).inputs.width == pytest.approx(2.0)
        with pytest.raises(EarnshawError, match="was made for inputs of width 2, not 1"):
            species(made, 2, width=1.0)
    assert species(ew.activation("relu"), 2, width=3.0).inputs.width == 3.0


@pytest.mark.slow
def test_origin_of_objects_and_functions():
    for made in (jnp.tanh, ew.activation("relu"), ew.potential("relu"), ew.activation("erf")):
        assert species(made, 2).origin == "object"
    assert species(lambda x: jnp.abs(x), 2, parameters={"kinks": [0.0]}).origin == "object"


def test_parameters_are_kept_as_plain_values():
    found = species("polynomial", 2, parameters={"coefficients": np.array([1.0, 2.0])})
    assert found.parameters == (("coefficients", (1.0, 2.0)),)
    hash(found.parameters)


def test_potentials_without_activation_say_so_when_asked():
    found = species("harmonic", 3)
    assert float(found.potential(0.5)) > float(found.potential(1.0)) > 0
    with pytest.raises(EarnshawError, match="no activation has the potential harmonic"):
        _ = found.activation


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: species(ew.activation("gaussian", dim=2), 3), "dimension 2, not 3"),
        (lambda: species(ew.potential("gaussian", dim=2), 3), "dimension 2"),
        (lambda: species(species("relu", 2), 3), "dimension 2"),
        (lambda: species(ew.potential("relu"), 3, parameters={"alpha": 1.0}), "by name"),
        (lambda: species(species("relu", 2), 2, parameters={"alpha": 1.0}), "by name"),
        (lambda: species("relu", 3, parameters={"name": "x"}), "no parameter 'name'"),
        (lambda: species("relu", 3, width=math.nan), "width"),
        (lambda: species(3.0, 3), "a name or a function"),
        (lambda: species("sphere-synthetic", 3).manifold("space"), "allowed: on=sphere"),
        (lambda: formula_species("rho", 3, "space"), "unknown name 'rho'"),
        (lambda: formula_species("exp(-r)", 3, "space", -1.0), "width"),
    ],
)
def test_bad_input_is_one_line(call, words):
    with pytest.raises(EarnshawError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
