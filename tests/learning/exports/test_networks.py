"""Networks taken away: the same numbers from NumPy and JAX as by hand."""

from __future__ import annotations

import ast
from pathlib import Path

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.duality.named import activation
from earnshaw.errors import EarnshawError
from earnshaw.learning import exports
from earnshaw.learning.exports import Network, export, jax_network, network, numpy_network_source
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.network import FittedNetwork
from learning.exports.cases import DIM, OUTPUTS, UNITS, arrays, exact_unit, named, run


def both_ways(net, x):
    """Value and input gradient from NumPy and JAX."""
    file, function = run(numpy_network_source(net)), jax_network(net)
    yield file["predict"](x), file["gradient"](x)
    yield np.asarray(function(x)), np.asarray(jax.jit(jax.vmap(jax.jacobian(function)))(x))


@pytest.mark.parametrize("outputs", [(), (OUTPUTS,)])
def test_a_dot_product_network(outputs):
    parts = arrays(outputs)
    net = network(parts.pop("positions"), parts.pop("weights"), "tanh", **parts)
    x = np.random.default_rng(5).normal(size=(6, DIM))
    fields = x @ net.positions.T + net.biases
    value = np.tanh(fields) @ net.weights + x @ net.linear + net.intercept
    loads = (1 / np.cosh(fields) ** 2)[..., None] * net.weights.reshape(UNITS, -1)
    slope = np.einsum("nkm,kd->nmd", loads, net.positions).reshape(6, *outputs, DIM) + net.linear.T
    for got in both_ways(net, x):
        np.testing.assert_allclose(got[0], value, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(got[1], slope, rtol=1e-12, atol=1e-14)
    file = run(numpy_network_source(net))
    np.testing.assert_array_equal(file["POSITIONS"], net.positions)  # to the last bit
    np.testing.assert_allclose(file["predict"](x[0]), value[0], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [(), (OUTPUTS,)])
def test_a_translation_network(outputs):
    parts, sigma = arrays(outputs), named("gaussian")
    net = Network(parts["positions"], parts["weights"], sigma, intercept=parts["intercept"])
    x = np.random.default_rng(6).normal(size=(5, DIM))
    columns = [exact_unit("gaussian", x, np.tile(w, (5, 1))) for w in net.positions]
    responses = np.stack([value for value, _ in columns], axis=1)
    # d/dx of h(x - w) a(x): minus that in w, plus x/(2 width^2) times itself.
    slopes = np.stack([-gradient for _, gradient in columns], axis=1)
    slopes += responses[..., None] * x[:, None] / (2 * 1.5**2)
    for got in both_ways(net, x):
        np.testing.assert_allclose(got[0], responses @ net.weights + net.intercept, rtol=1e-12)
        np.testing.assert_allclose(got[1], net.weights.T @ slopes, rtol=1e-11, atol=1e-13)


@pytest.mark.slow
def test_teachers_and_students():
    teacher = ew.random_teacher("leaky-relu", dim=DIM, units=UNITS, seed=1, negative_slope=0.2)
    student = ew.Student(teacher.positions, -teacher.weights)
    x = np.random.default_rng(7).normal(size=(5, DIM))
    fields = x @ np.asarray(teacher.positions).T
    want = np.where(fields < 0, 0.2 * fields, fields) @ np.asarray(teacher.weights)
    for value, _ in both_ways(network(teacher), x):
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-14)
    for value, _ in both_ways(network(student, activation=teacher.activation), x):
        np.testing.assert_allclose(value, -want, rtol=1e-12, atol=1e-14)
    empty = network(ew.Student(np.zeros((0, DIM)), np.zeros(0)), activation="almost-harmonic")
    for value, slope in both_ways(empty, x):
        assert not value.any()
        assert slope.shape == (5, DIM)


@pytest.mark.slow
def test_units_of_several_activations(tmp_path):
    """Two with a parameter of one name, and a linear part; units keep their order."""
    rng = np.random.default_rng(3)
    w, beta = rng.normal(size=(4, DIM)), rng.normal(size=4)
    c, slope = rng.normal(size=(4, 2)), rng.normal(size=(DIM, 2))
    leaky = [activation("leaky-relu", negative_slope=slope) for slope in (0.1, 0.5)]
    teacher = ew.Teacher(
        w, c, [leaky[0], "tanh", leaky[1], "tanh"], biases=beta, linear=slope, intercept=[1.0, 2.0]
    )
    x = rng.normal(size=(6, DIM))
    z = x @ w.T + beta
    units = np.tanh(z)
    for j, below in ((0, 0.1), (2, 0.5)):
        units[:, j] = np.where(z[:, j] < 0, below, 1.0) * z[:, j]
    want = units @ c + x @ slope + [1.0, 2.0]
    net = network(teacher)
    np.testing.assert_allclose(net(x), want, rtol=1e-12, atol=1e-13)
    (by_numpy, slopes), (by_jax, expected) = both_ways(net, x)
    np.testing.assert_allclose(by_numpy, want, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(by_jax, want, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slopes, expected, rtol=1e-12, atol=1e-13)
    file = export(teacher, tmp_path / "several.py")
    np.testing.assert_allclose(run(file.read_text())["predict"](x), want, rtol=1e-12, atol=1e-13)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = export(named("gelu"), tmp_path / "gelu.py")
    before = path.read_text()
    assert run(before)["activation"](0.0) == 0
    with pytest.raises(EarnshawError, match="function of your own"):
        export(lambda x: x, path)
    with pytest.raises(EarnshawError, match=r"allowed endings: \.py"):
        export("gelu", tmp_path / "gelu.c")
    assert [entry.name for entry in tmp_path.iterdir()] == ["gelu.py"]
    assert path.read_text() == before
    unit = run(export("gaussian", path, dim=2).read_text())["unit"]
    assert unit([0, 0], [0, 0]) == pytest.approx(2, rel=1e-14)  # (2/pi)^(1/2) (2 pi)^(1/2)
    student = ew.Student(np.eye(2), np.ones(2))
    run(export(student, path, activation="erf").read_text())["predict"](np.ones(2))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((np.ones((2, 3)), np.ones(3), "relu"), r"weights have shape \(3,\); allowed: \(2,\)"),
        ((np.ones(3), np.ones(3), "relu"), r"positions have shape \(3,\)"),
        ((np.ones((2, 3)), np.ones(2)), "activation="),
        ((np.ones((2, 3)), None, "relu"), "needs weights"),
        ((np.full((2, 3), np.nan), np.ones(2), "relu"), "positions have NaN"),
        ((np.ones((2, 3)), ["a", "b"], "relu"), "weights must be an array of real numbers"),
        ((np.ones((2, 3)), np.ones(2), "rellu"), "did you mean"),
    ],
)
def test_bad_networks(parts, words):
    with pytest.raises(EarnshawError, match=words):
        network(*parts)


def test_what_a_translation_network_does_not_have():
    two, three = np.ones((2, 2)), np.ones((2, 3))
    with pytest.raises(EarnshawError, match="need a dot-product activation"):
        network(three, np.ones(2), named("gaussian"), biases=np.ones(2))
    with pytest.raises(EarnshawError, match="made for dimension 3, the positions have 2"):
        network(two, np.ones(2), named("gaussian"))
    with pytest.raises(EarnshawError, match=r"linear have shape \(3,\); allowed: \(3, 2\)"):
        network(three, two, "relu", linear=np.ones(3))


def test_exports_do_without_torch():
    for file in Path(exports.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert "torch" not in (node.module or "")
            if isinstance(node, ast.Import):
                assert all("torch" not in alias.name for alias in node.names)


def test_a_fitted_network(tmp_path):
    """The network of a fit, with its axis of one output and its linear part of zeros."""
    parts = arrays((1,))
    parts["linear"] = np.zeros((DIM, 1))
    fitted = FittedNetwork(activation=ew.activation("tanh"), **parts)
    model = Model(fitted, "tanh", {}, ("a", "b", "c"), ("y",))
    x = np.random.default_rng(7).normal(size=(6, DIM))
    by_hand = np.tanh(x @ parts["positions"].T + parts["biases"]) @ parts["weights"][:, 0]
    by_hand = by_hand + parts["intercept"][0]
    np.testing.assert_allclose(fitted(x), by_hand[:, None], rtol=1e-12)
    for thing in (fitted, model):
        assert network(thing).linear is None
        for got in both_ways(network(thing), x):
            np.testing.assert_allclose(got[0], by_hand, rtol=1e-12)
        text = export(thing, tmp_path / "fitted.py").read_text()
        np.testing.assert_allclose(run(text)["predict"](x), by_hand, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [(), (1,), (OUTPUTS,)])
def test_networks_are_functions(outputs):
    parts = arrays(outputs)
    net = network(parts.pop("positions"), parts.pop("weights"), "softplus", **parts)
    assert network(net) is net
    x = np.random.default_rng(8).normal(size=(6, DIM))
    assert net(x).shape == (6, *outputs)
    np.testing.assert_allclose(net(x), jax_network(net)(x), rtol=1e-12)
    moved = network(net.positions, net.weights, named("gaussian"))
    np.testing.assert_allclose(moved(x), jax_network(moved)(x), rtol=1e-12)
