"""Activations and networks as PyTorch modules, against 250 digits and the library."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.duality.activation import Scaled
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian
from earnshaw.learning.exports import Network, jax_function, jax_network, network
from earnshaw.numerics.log_table import fit_log_table
from learning.exports.cases import (
    CUT,
    DIM,
    DOT_PRODUCT,
    OUTPUTS,
    POINTS,
    RADII,
    UNITS,
    arrays,
    exact,
    exact_unit,
    named,
    pairs,
    yukawa,
)

torch = pytest.importorskip("torch", reason="PyTorch is not in the test extra; .ci/run installs it")
from earnshaw.torch import activation_module, layer_module, network_module  # noqa: E402

pytestmark = pytest.mark.torch


def in_torch(module, points, dtype=torch.float64):
    """Values and autograd's slopes."""
    x = torch.tensor(points, dtype=dtype, requires_grad=True)
    y = module(x)
    assert y.dtype == dtype
    y.sum().backward()
    return y.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("name", DOT_PRODUCT)
def test_a_dot_product_activation(name):
    sigma = named(name)
    value, slope = exact(name, POINTS)
    module, function = activation_module(sigma), jax_function(sigma)
    with_kink = np.append(POINTS, 0.0)  # where both must have chosen alike
    library = jax.vmap(jax.value_and_grad(function))(with_kink)
    found = in_torch(module, with_kink)
    np.testing.assert_allclose(found[0][:-1], value, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(found[1][:-1], slope, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found[0], library[0], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(found[1][-1], library[1][-1], rtol=1e-12)
    single = in_torch(module, POINTS.astype(np.float32), torch.float32)
    for got, want in zip(single, (value, slope), strict=True):
        np.testing.assert_allclose(got, want, rtol=3e-4, atol=1e-6)


@pytest.mark.parametrize("name", DOT_PRODUCT)
def test_shapes_and_second_derivatives(name):
    module = activation_module(named(name))
    x = torch.tensor([[-1.3, 0.4], [0.9, 2.1]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(module, x)
    if np.any(jax.vmap(jax.hessian(jax_function(named(name))))(x.detach().numpy().ravel())):
        assert torch.autograd.gradgradcheck(module, x)
    assert torch.is_floating_point(module(torch.tensor([1, 2])))


def test_the_state_of_a_module_is_its_parameters():
    module = activation_module("leaky-relu")
    module.load_state_dict(activation_module(named("leaky-relu")).state_dict())
    x = torch.tensor([-2.0, 3.0], dtype=torch.float64)
    np.testing.assert_allclose(module(x), [-0.4, 4.5], rtol=1e-15)


def test_a_multiple_of_an_activation():
    sigma = Scaled(Scaled(named("mish"), 0.5), 3.0)
    value, slope = exact("mish", POINTS)
    found = in_torch(activation_module(sigma), POINTS)
    np.testing.assert_allclose(found[0], 1.5 * value, rtol=1e-12)
    np.testing.assert_allclose(found[1], 1.5 * slope, rtol=1e-12, atol=1e-15)


def test_a_realised_potential_of_the_sphere():
    powers = [0.3, np.sqrt(0.5), 0.0, 0.5]  # roots of the Taylor coefficients, times he_n
    want = powers[0] + powers[1] * POINTS + powers[3] * (POINTS**3 - 3 * POINTS) / np.sqrt(6)
    module = activation_module(ew.realize("rho**3/4 + rho/2 + 0.09"))
    np.testing.assert_allclose(module(torch.tensor(POINTS)), want, rtol=1e-12)


def in_layer(sigma, x, w, dtype=torch.float64):
    """Responses of unit i to input i, and autograd's gradient in its position."""
    layer = layer_module(sigma, w).to(dtype)
    y = layer(torch.tensor(x, dtype=dtype))
    assert y.shape == (len(x), len(w))
    assert y.dtype == dtype
    y.diagonal().sum().backward()
    return y.diagonal().detach().numpy(), layer.positions.grad.numpy()


def cut_table(jumps):
    """A table with a kink at CUT, or a jump."""
    values = np.where(RADII[CUT] > RADII, 2.0 + RADII, np.exp(-RADII))
    return fit_log_table(RADII, values, splits=(CUT,), jumps=jumps)


LAYERS = {
    **{name: lambda name=name: named(name) for name in ("gaussian", "bessel", "almost-harmonic")},
    "yukawa": lambda: RadialTranslation("yukawa", 3, yukawa(), Gaussian(1.3)),
    "kink": lambda: RadialTranslation("cut", 2, cut_table(False)),
    "jump": lambda: RadialTranslation("cut", 2, cut_table(True)),
    "product": lambda: ProductTranslation("product", (yukawa(), *2 * (yukawa(True),))),
}


@pytest.mark.parametrize("name", LAYERS)
def test_translations_are_those_of_the_library(name):
    sigma = LAYERS[name]()
    x, w = pairs(sigma.dim)
    if name in ("kink", "jump"):
        x, w = x[6:], w[6:]
    value, slope = jax.vmap(jax.value_and_grad(jax_function(sigma), argnums=1))(x, w)
    found = in_layer(sigma, x, w)
    np.testing.assert_allclose(found[0], value, rtol=1e-10)
    np.testing.assert_allclose(found[1], slope, rtol=1e-10, atol=1e-14)


def test_shared_tables_are_held_once():
    log_table = yukawa(logarithmic=True)
    sigma = ProductTranslation("product", (yukawa(), log_table, log_table))
    assert len(layer_module(sigma, pairs(3)[1]).profile.tables) == 2


@pytest.mark.parametrize("name", ["gaussian", "bessel"])
def test_closed_forms_on_space(name):
    sigma = named(name)
    x, w = pairs(sigma.dim)
    single = in_layer(sigma, x[4:], w[4:], torch.float32)
    for got, want in zip(single, exact_unit(name, x[4:], w[4:]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-5)  # x - w cancels


@pytest.mark.parametrize("name", ["bessel", "almost-harmonic"])
def test_where_a_profile_is_infinite(name):
    sigma = named(name)
    x = np.full((1, sigma.dim), 0.3)
    assert in_layer(sigma, x, x)[0] == np.inf


@pytest.mark.parametrize("name", ["gaussian", "bessel", "almost-harmonic"])
def test_input_gradients_of_a_layer(name):
    sigma = named(name)
    x, w = (part[8:10] for part in pairs(sigma.dim))
    layer = layer_module(sigma, w)
    assert torch.autograd.gradcheck(layer, torch.tensor(x, requires_grad=True))


def test_what_is_refused():
    own = ew.activation(lambda x: jax.numpy.tanh(x) ** 3)
    for sigma in (own, Scaled(own, 2.0)):
        with pytest.raises(EarnshawError, match=r"function of your own.*exports\.jax_function"):
            activation_module(sigma)
    with pytest.raises(EarnshawError, match="layer_module"):
        activation_module(named("gaussian"))


@pytest.mark.parametrize("activation", ["tanh", "gaussian"])
@pytest.mark.parametrize("outputs", [(), (OUTPUTS,)])
def test_a_network(activation, outputs):
    parts = arrays(outputs)
    if activation == "gaussian":
        units = (parts["positions"], parts["weights"], named("gaussian"))
        net = Network(*units, intercept=parts["intercept"])
    else:
        net = network(parts.pop("positions"), parts.pop("weights"), activation, **parts)
    x = np.random.default_rng(5).normal(size=(6, DIM))
    inputs = torch.tensor(x, requires_grad=True)
    value = network_module(net)(inputs)
    columns = value.reshape(len(x), -1).sum(axis=0)
    rows = [torch.autograd.grad(each, inputs, retain_graph=True)[0] for each in columns]
    jacobian = torch.stack(rows, axis=1).reshape(*value.shape, DIM)
    function = jax_network(net)
    np.testing.assert_allclose(value.detach().numpy(), function(x), rtol=1e-12, atol=1e-14)
    slopes = jax.vmap(jax.jacobian(function))(x)
    np.testing.assert_allclose(jacobian.numpy(), slopes, rtol=1e-11, atol=1e-13)


def test_units_of_several_activations():
    rng = np.random.default_rng(0)
    w, c = rng.normal(size=(3, DIM)), rng.normal(size=3)
    module = network_module(ew.Teacher(w, c, ["tanh", "relu", "tanh"]))
    x = rng.normal(size=(5, DIM))
    z = x @ w.T
    want = np.stack([np.tanh(z[:, 0]), np.maximum(z[:, 1], 0), np.tanh(z[:, 2])], axis=1) @ c
    np.testing.assert_allclose(module(torch.tensor(x)).detach(), want, rtol=1e-12, atol=1e-13)


def test_a_student_without_units():
    net = network(ew.Student(np.zeros((0, DIM)), np.zeros(0)), activation="almost-harmonic")
    assert not network_module(net)(torch.ones((UNITS, DIM), dtype=torch.float64)).any()


def test_a_module_can_be_single_compiled_trained_and_stored(tmp_path):
    parts = arrays()
    net = network(parts.pop("positions"), parts.pop("weights"), "softplus", **parts)
    module = network_module(net)
    x = torch.tensor(np.random.default_rng(8).normal(size=(5, DIM)))
    value = module(x)
    compiled = torch.compile(module, backend="eager", fullgraph=True)  # one graph, no breaks
    torch.testing.assert_close(compiled(x), value)
    value.square().mean().backward()
    names = {name for name, parameter in module.named_parameters() if parameter.grad is not None}
    assert names == {"layer.positions", "layer.biases", "weights", "linear", "intercept"}
    torch.save(module.state_dict(), tmp_path / "state.pt")
    other = network_module(network(0 * net.positions, 0 * net.weights, "softplus", **parts))
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    torch.testing.assert_close(other(x), value, rtol=0, atol=0)
    single = module.float()(x.float())
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), value, rtol=1e-4, atol=1e-5)


def test_tables_compile_too():
    layer = layer_module(named("almost-harmonic"), np.eye(3))
    x = torch.tensor(np.random.default_rng(9).normal(size=(4, 3)))
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), layer(x))
    assert "profile.table.coefficients" in layer.state_dict()
