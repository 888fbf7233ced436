"""The browser's engine beside the Python core, which is its independent reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.lab import catalogue

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CASES = [
    ("line", "almost-harmonic"),
    ("line", "gaussian"),
    ("plane", "almost-harmonic"),
    ("plane", "bessel"),
    ("plane", "distance"),
    ("plane", "gaussian"),
    ("plane", "harmonic"),
    ("plane", "lambda-harmonic"),
    ("plane", "relu"),
    ("plane", "tanh"),
    ("plane", "erf"),
    ("line", "sin"),
    ("circle", "sign"),
    ("circle", "erf"),
    ("sphere", "tanh"),
    ("sphere", "relu2"),
    ("sphere", "gelu"),
    ("plane", "sign"),
    ("plane", "elu"),
    ("plane", "hard-tanh"),
    ("plane", "laplace"),
    ("space", "softsign"),
]
EACH, FEW = 12, 4  # 248 configurations over 17 potentials
SLOW = {("plane", "elu"), ("space", "softsign")}  # in Python
PROTONS, ELECTRONS = 3, 4
MEASURE = """async ([table, dim, configurations]) => {
  const { Engine } = await import("/engine.js");
  return configurations.map(({ w, b, x, c }) => {
    const engine = new Engine(table, dim, w, b);
    const at = [Float64Array.from(x), Float64Array.from(c)];
    const { energy, positions, weights } = engine.gradient(...at);
    return { energy, positions: [...positions], weights: [...weights],
             hessian: [...engine.hessian(...at)] };
  });
}"""
FLOW = """async ([table, dim, w, b, x, c, options]) => {
  const { Engine } = await import("/engine.js");
  const { Flow } = await import("/flow.js");
  const flow = new Flow(new Engine(table, dim, w, b), Float64Array.from(x), Float64Array.from(c),
                        options);
  let last = null;
  for (let one = flow.next(options.horizon); one; one = flow.next(options.horizon)) last = one;
  return { events: flow.events, stop: flow.stop, energy: last.energy, x: [...last.x] };
}"""


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    return catalogue.read()


def table(tables: dict[str, Any], stage: str, name: str) -> dict[str, Any]:
    return tables["tables"][tables["entries"][name]["stages"][stage]]


def places(rng: np.random.Generator, stage: str, count: int) -> np.ndarray:
    on, dim = catalogue.STAGES[stage]
    points = rng.normal(size=(count, dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True) if on == "sphere" else points


def relative(found: Any, expected: Any) -> float:
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


@pytest.mark.parametrize(("stage", "name"), CASES)
def test_energy_gradient_and_hessian(modules, tables, stage, name):
    """1e-10 relative, at random configurations."""
    on, dim = catalogue.STAGES[stage]
    known = table(tables, stage, name)
    objective = "without-constants" if known["unbounded"] else "full"
    rng = np.random.default_rng(22)
    rows, expected = [], []
    for _ in range(FEW if (stage, name) in SLOW else EACH):
        w, x = places(rng, stage, PROTONS), places(rng, stage, ELECTRONS)
        b, c = rng.normal(size=PROTONS), rng.normal(size=ELECTRONS)
        loss = ew.population_loss(ew.Teacher(w, b, name, on=on), objective)
        student = ew.Student(x, c)
        value, gradient = loss.value_and_gradient(student)
        basis = np.asarray(loss.manifold.basis(student.positions))
        frame = np.zeros((x.size + len(c), basis.shape[0] * basis.shape[2] + len(c)))
        for unit, columns in enumerate(basis):
            width = columns.shape[1]
            frame[unit * dim : (unit + 1) * dim, unit * width : (unit + 1) * width] = columns
        frame[x.size :, frame.shape[1] - len(c) :] = np.eye(len(c))
        hessian = frame @ np.asarray(loss.hessian(student)) @ frame.T
        rows.append(
            {"w": w.ravel().tolist(), "b": b.tolist(), "x": x.ravel().tolist(), "c": c.tolist()}
        )
        expected.append((float(value), gradient, hessian))
    found = modules.evaluate(MEASURE, [known, dim, rows])
    for here, (value, gradient, hessian) in zip(found, expected, strict=True):
        size = max(abs(value), float(np.max(np.abs(gradient.weights))))
        assert abs(here["energy"] - value) <= 1e-10 * size
        assert relative(here["positions"], np.ravel(gradient.positions)) < 1e-10
        assert relative(here["weights"], gradient.weights) < 1e-10
        assert relative(np.reshape(here["hessian"], hessian.shape), hessian) < 1e-10


@pytest.mark.parametrize(
    ("stage", "name", "seed"),
    [("plane", "almost-harmonic", 0), ("sphere", "sign", 1)],
)
def test_flow_of_five_electrons(modules, tables, stage, name, seed):
    """The same encounters, at times within 1e-6, as ew.simulate."""
    on, dim = catalogue.STAGES[stage]
    teacher = ew.random_teacher(name, dim, 5, seed, weights="ones", on=on)
    start = ew.Student(places(np.random.default_rng(seed), stage, 5), np.ones(5))
    how = {"rtol": 1e-10, "atol": 1e-12}
    path = ew.simulate(teacher, start, 200.0, **how)
    arrays = (teacher.positions, teacher.weights, start.positions, start.weights)
    given = [np.ravel(values).tolist() for values in arrays]
    options = how | {"horizon": 200.0}
    found = modules.evaluate(FLOW, [table(tables, stage, name), dim, *given, options])
    assert found["stop"] == path.stop
    assert len(found["events"]) == len(path.events) > 0
    for here, expected in zip(found["events"], path.events, strict=True):
        assert {key: here[key] for key in ("kind", "unit", "partner", "side")} == {
            key: getattr(expected, key) for key in ("kind", "unit", "partner", "side")
        }
        assert here["time"] == pytest.approx(expected.time, abs=1e-6)
    assert found["energy"] == pytest.approx(path.energy[-1], rel=1e-6, abs=1e-9)


def test_softplus_against_quadrature(modules, tables):
    """On the line, beside integrals over the input: the loss is E[(f - g)^2] and nothing else."""
    rng = np.random.default_rng(5)
    w, b, x, c = rng.normal(size=3), rng.normal(size=3), rng.normal(size=4), rng.normal(size=4)
    nodes, weights = np.polynomial.legendre.leggauss(2000)
    z = 13 * nodes
    weights = 13 * weights * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    softplus = lambda t: np.logaddexp(0, t)  # noqa: E731
    logistic = lambda t: 1 / (1 + np.exp(-t))  # noqa: E731
    off = c @ softplus(np.outer(x, z)) - b @ softplus(np.outer(w, z))
    slopes = c[:, None] * logistic(np.outer(x, z)) * z
    bends = c[:, None] * (logistic(np.outer(x, z)) * logistic(-np.outer(x, z))) * z * z
    hessian = 2 * (slopes * weights) @ slopes.T + 2 * np.diag(bends @ (weights * off))
    row = {"w": w.tolist(), "b": b.tolist(), "x": x.tolist(), "c": c.tolist()}
    (found,) = modules.evaluate(MEASURE, [table(tables, "line", "softplus"), 1, [row]])
    assert found["energy"] == pytest.approx(np.sum(weights * off**2), rel=1e-10)
    assert relative(found["positions"], 2 * slopes @ (weights * off)) < 1e-10
    assert relative(np.reshape(found["hessian"], (8, 8))[:4, :4], hessian) < 1e-10


def test_laplace_on_the_line(modules, tables):
    """exp(-|x z| - |y z|) has the mean g(|x| + |y|), g(c) = E[exp(-c |Z|)], and no other corner."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    z = 6.5 * (1 + nodes)
    weights = 13 * weights * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    g = lambda c, n: np.sum(weights * (-z) ** n * np.exp(-c * z))  # noqa: E731
    w, x = 0.7, -1.3
    (found,) = modules.evaluate(
        MEASURE, [table(tables, "line", "laplace"), 1, [{"w": [w], "b": [1], "x": [x], "c": [2]}]]
    )
    both, own = abs(x) + abs(w), 2 * abs(x)
    value = 4 * g(own, 0) - 4 * g(both, 0) + g(2 * w, 0)
    assert found["energy"] == pytest.approx(value, rel=1e-10)
    assert found["positions"][0] == pytest.approx(-(8 * g(own, 1) - 4 * g(both, 1)), rel=1e-10)
    assert found["hessian"][0] == pytest.approx(16 * g(own, 2) - 4 * g(both, 2), rel=1e-10)


@pytest.mark.parametrize(("name", "length", "error"), [("tanh", 4, 1e-9), ("tanh", 6, 1e-6)])
def test_series_of_long_units(modules, tables, name, length, error):
    """Parallel units, for which the series converges the slowest, beside E[s(length Z)^2]."""
    found = modules.evaluate(
        """async ([table, length]) => {
          const { Potential } = await import("/potentials.js");
          return new Potential(table, 2).pair([length, 0], 0, [length, 0], 0, false);
        }""",
        [table(tables, "plane", name), length],
    )
    nodes, weights = np.polynomial.legendre.leggauss(4000)
    z = 13 * nodes
    weights = 13 * weights * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    assert found == pytest.approx(np.sum(weights * np.tanh(length * z) ** 2), rel=error)
