"""Activations given as formulas in x, and the names that people use for those of the library."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import BadExpression, EarnshawError, UnknownName


def panels(edges, order=48):
    """Gauss-Legendre nodes and weights on every panel between sorted edges (..., m)."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = np.diff(edges)[..., None] / 2
    x = edges[..., :-1, None] + half * (1 + nodes)
    return x.reshape(*edges.shape[:-1], -1), (half * weights).reshape(*edges.shape[:-1], -1)


def moment(s, rho, kinks):
    """E[s(u) s(v)] over the plane, u = x, v = rho x + sqrt(1 - rho^2) y, split along the kinks."""
    across = np.sqrt(1 - rho**2)
    x, weights = panels(np.sort([-9.0, -4.5, 0.0, 4.5, 9.0, *kinks]))
    cuts = [np.clip((kink - rho * x) / across, -9, 9) for kink in kinks]
    edges = [np.full_like(x, edge) for edge in (-9.0, -4.5, 0.0, 4.5, 9.0)]
    y, inner = panels(np.sort(np.stack([*edges, *cuts], axis=-1), axis=-1))
    across_x = np.sum(inner * s(rho * x[:, None] + across * y) * np.exp(-(y**2) / 2), axis=-1)
    return float(np.sum(weights * s(x) * np.exp(-(x**2) / 2) * across_x) / (2 * np.pi))


@pytest.mark.parametrize(
    ("formula", "kinks"),
    [
        ("x*tanh(x)", []),
        ("relu(x) + 0.1*sin(x)", [0.0]),
        ("abs(3*x - pi)", [math.pi / 3]),
        ("heaviside(x + 1)*x^2 + max(x, 2)", [-1.0, 2.0]),
        # max(x, x/2) bends at 0, both meet x^2 - 3 elsewhere, and at two of the four it is below.
        ("max(x, 0.5*x, x^2 - 3)", [-1.5, 0.0, (1 + math.sqrt(13)) / 2]),
        ("relu(exp(x) - 2)", [math.log(2)]),
        ("sqrt(abs(x - 1))", [1.0]),
        ("asin(sin(x)/2 + 1/2)", [(n + 0.25) * 2 * math.pi for n in range(-16, 16)]),
        ("elu(x) + softsign(x - 1)", [0.0, 1.0]),
    ],
)
def test_kinks_come_from_the_formula(formula, kinks):
    from earnshaw.duality.formulas.activation import FormulaActivation

    np.testing.assert_allclose(FormulaActivation(formula).kinks, kinks, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "function"),
    [
        ("x*tanh(x)", lambda x: x * np.tanh(x)),
        ("relu(x)+0.1*sin(x)", lambda x: np.maximum(x, 0) + 0.1 * np.sin(x)),
        ("sin(x)/x", lambda x: np.sinc(x / np.pi)),
        ("swish(x)", lambda x: x / (1 + np.exp(-x))),
        ("softplus(x)", lambda x: np.logaddexp(0, x)),
        ("mish(x)", lambda x: x * np.tanh(np.logaddexp(0, x))),
        ("elu(x)", lambda x: np.where(x > 0, x, np.expm1(x))),
        ("2*x^3 - x", lambda x: 2 * x**3 - x),
    ],
)
def test_values_and_slopes(formula, function):
    sigma = ew.activation(formula)
    x = np.array([-3.0, -0.7, 0.0, 0.2, 1.3, 4.0])
    np.testing.assert_allclose(sigma(x), function(x), atol=1e-13)
    import jax

    step = 1e-6
    slope = (function(x[1:] + step) - function(x[1:] - step)) / (2 * step)
    smooth = x[1:] != 0
    found = jax.vmap(jax.grad(lambda z: sigma(z)))(x[1:])
    np.testing.assert_allclose(np.asarray(found)[smooth], slope[smooth], rtol=1e-7, atol=1e-8)
    assert sigma.name == formula


@pytest.mark.slow
def test_the_potential_of_a_smooth_formula():
    phi = ew.potential("x*tanh(x)", normalize=False)
    assert phi.error_bound is None
    assert phi.error_estimate < 1e-11
    exact = moment(lambda x: x * np.tanh(x), 0.3, [])
    assert abs(float(phi(0.3)) - exact) < 1e-12


@pytest.mark.slow
def test_the_potential_of_a_formula_with_a_kink():
    """On the sphere by a series in the angle, and at other norms over sectors."""
    phi = ew.potential("relu(x)+0.1*sin(x)", normalize=False)
    s = lambda x: np.maximum(x, 0) + 0.1 * np.sin(x)  # noqa: E731
    assert abs(float(phi(-0.4)) - moment(s, -0.4, [0.0])) < 1e-12
    twice = moment(lambda x: s(2 * x), 0.5, [0.0])
    assert abs(float(phi.moment(4.0, 4.0, 2.0)) - twice) < 1e-11


def test_a_polynomial_formula_is_exact():
    phi = ew.potential("x^2+1", normalize=False)
    assert phi.method == "closed form"
    assert phi.error_bound < 1e-12
    # E[(u^2 + 1)(v^2 + 1)] = 1 + 2 rho^2 + 1 + 1 + 1
    np.testing.assert_allclose(float(phi(0.5)), 4 + 2 * 0.25, rtol=1e-14)


def test_symmetries_of_a_formula():
    assert ew.activation("x*tanh(x)").symmetries.flip == 1
    assert ew.activation("sin(x)^3").symmetries.flip == -1
    relu = ew.activation("relu(x)").symmetries
    assert (relu.flip, relu.linear, relu.degree) == (1, 1.0, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("relu(y)", "unknown name 'y'"),
        ("2x", "as in 2*x"),
        ("__import__('os')", "allowed"),
        ("relu(x", "allowed"),
        ("abs(sin(x))", "63 kinks"),
        ("exp(x^2)", "square-integrable"),
        ("sqrt(x)", "NaN at x = -"),
    ],
)
def test_bad_formulas_are_refused_in_one_line(text, words):
    with pytest.raises(EarnshawError) as caught:
        ew.potential(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_formulas_take_no_parameters_and_no_kinks():
    with pytest.raises(EarnshawError, match="no parameter 'alpha'"):
        ew.activation("x*tanh(x)", alpha=1.0)
    with pytest.raises(EarnshawError, match="kinks"):
        ew.activation("abs(x)", kinks=[0.0])


@pytest.mark.slow
def test_a_teacher_of_a_formula_can_be_saved_and_read_in_another_process(tmp_path):
    teacher = ew.Teacher([[1.0, 0.0], [0.0, 2.0]], [1.0, -0.5], activation="x*tanh(x)")
    ew.save(tmp_path / "teacher.json", teacher)
    assert json.loads((tmp_path / "teacher.json").read_text())["activation"] == "x*tanh(x)"
    code = "import earnshaw as ew, sys\nprint(repr(float(ew.load(sys.argv[1])([[0.5, -1.0]])[0])))"
    command = [sys.executable, "-c", code, str(tmp_path / "teacher.json")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    exact = 0.5 * math.tanh(0.5) - 0.5 * 2 * math.tanh(2)
    assert abs(float(printed) - exact) < 1e-14


@pytest.mark.slow
def test_the_loss_of_a_teacher_of_a_formula():
    """L = b^2 f(1) - 2 b c f(rho) + c^2 f(1) for one unit each, on the sphere."""
    turn = 0.4
    teacher = ew.Teacher([[1.0, 0.0]], [2.0], activation="x*tanh(x)", on="sphere")
    student = ew.Student([[math.cos(turn), math.sin(turn)]], [1.5])
    f = [moment(lambda x: x * np.tanh(x), rho, []) for rho in (1 - 1e-15, math.cos(turn))]
    exact = (2.0**2 + 1.5**2) * f[0] - 2 * 2.0 * 1.5 * f[1]
    np.testing.assert_allclose(float(ew.population_loss(teacher).value(student)), exact, rtol=1e-10)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("swish", "silu"),
        ("sigmoid", "logistic"),
        ("heaviside", "step"),
        ("ramp", "relu"),
        ("hinge", "relu"),
        ("probit", "normal-cdf"),
        ("ReLU", "relu"),
        ("leaky_relu", "leaky-relu"),
        ("identity", "hermite-1"),
    ],
)
def test_common_names_are_understood(alias, name):
    assert ew.activation(alias).name == name
    teacher = ew.Teacher(np.eye(2), np.ones(2), activation=alias)
    assert teacher.species.name == name


@pytest.mark.slow
def test_every_alias_is_an_activation():
    from earnshaw.duality.named import ACTIVATIONS, ALIASES, POTENTIALS

    x = np.array([0.5])
    for alias in ALIASES:
        assert alias not in {*ACTIVATIONS, *POTENTIALS}
        assert np.isfinite(np.asarray(ew.activation(alias)(x))).all()


@pytest.mark.parametrize(("name", "meant"), [("sigmod", "sigmoid"), ("swich", "swish")])
def test_suggestions_know_the_aliases(name, meant):
    with pytest.raises(UnknownName, match=f"did you mean.* {meant}"):
        ew.activation(name)


def test_a_wrong_keyword_is_answered_with_all_that_are_allowed():
    allowed = "max_norm, on, width, biases, inputs, linear, intercept"
    with pytest.raises(EarnshawError, match=f"'bias'; allowed: {allowed}$"):
        ew.Teacher(np.eye(2), np.ones(2), "relu", bias=np.ones(2))
    with pytest.raises(EarnshawError, match=r"allowed: dim, normalize, width, max_norm$"):
        ew.potential("relu", biases=1)
    with pytest.raises(EarnshawError, match=r"allowed: negative_slope, positive_slope$"):
        ew.activation("leaky-relu", biases=1)


def test_formulas_are_read_not_run():
    with pytest.raises(BadExpression):
        ew.activation("x.__class__()")
