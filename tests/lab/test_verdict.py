"""The browser's verdicts beside `ew.certify`."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.lab import catalogue

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXAMINE = """async ([table, dim, w, b, x, c, wrt]) => {
  const { Engine } = await import("/engine.js");
  const { examine } = await import("/verdict.js");
  const seen = examine(new Engine(table, dim, w, b), Float64Array.from(x), Float64Array.from(c),
                       { wrt, frozen: [], fixed: [] });
  return { ...seen, laplacians: [...seen.laplacians], heldBy: [...seen.heldBy] };
}"""
PROTONS = [[-1.0, 0.2], [1.0, 0.5], [0.3, -1.1]]


@pytest.mark.parametrize(
    ("name", "electrons", "weights", "wrt", "kind"),
    [
        ("almost-harmonic", PROTONS, [1.0, 1.0, 1.0], "positions", "cusp-minimum"),
        ("almost-harmonic", PROTONS, [0.9, 1.1, 1.0], "positions", "cusp-minimum"),
        ("almost-harmonic", PROTONS, [-1.0, 1.0, 1.0], "positions", "strict-saddle"),
        ("almost-harmonic", [*PROTONS[:2], [0.0, 0.3]], [1.0, 1.0, 1.0], "both", "not-critical"),
        ("gaussian", PROTONS, [1.0, 1.0, 1.0], "both", "minimum"),
        ("gaussian", [[0.1, 0.2]] * 3, [0.0, 0.0, 0.0], "positions", "degenerate"),
        ("sign", [*PROTONS[:2], [0.4, 0.3]], [1.0, 1.0, 0.5], "both", "not-critical"),
    ],
    ids=["learned", "held", "repelled", "moving", "smooth", "flat", "rays"],
)
def test_kind_and_numbers(modules, name, electrons, weights, wrt, kind):
    tables = catalogue.read()
    table = tables["tables"][tables["entries"][name]["stages"]["plane"]]
    given = [np.ravel(values).tolist() for values in (PROTONS, np.ones(3), electrons, weights)]
    found = modules.evaluate(EXAMINE, [table, 2, *given, wrt])
    teacher = ew.Teacher(PROTONS, np.ones(3), name)
    expected = ew.certify(teacher, ew.Student(electrons, np.asarray(weights)), wrt=wrt)
    flat = {"plateau", "valley", "channel"}  # what Python goes and looks for, the page does not
    assert found["kind"] == kind == ("degenerate" if expected.kind in flat else expected.kind)
    assert found["gradientNorm"] == pytest.approx(expected.gradient_norm, rel=1e-8, abs=1e-10)
    if np.isfinite(expected.smallest_eigenvalue):
        value = expected.smallest_eigenvalue
        assert found["eigenvalue"] == pytest.approx(value, rel=1e-4, abs=1e-6)
    margins = expected.cusp_margins[expected.held_by != -1]
    if len(margins):
        assert found["margin"] == pytest.approx(np.min(margins), rel=1e-8, abs=1e-10)
    assert found["heldBy"] == expected.held_by.tolist()
    free = expected.held_by == -1
    assert np.allclose(np.asarray(found["laplacians"])[free], expected.laplacians[free], atol=1e-9)


DESCEND = """async ([table, dim, w, b, x, c]) => {
  const { Engine } = await import("/engine.js");
  const { begin } = await import("/methods.js");
  const frozen = c.map(() => false);
  const plan = { method: "second-gd", wrt: "positions", step: 0.1, noise: 0, seed: 0, frozen,
                 fixed: frozen };
  const run = begin(new Engine(table, dim, w, b), Float64Array.from(x), Float64Array.from(c), plan);
  const energies = [];
  for (let now = run.next(); now && energies.length < 5000; now = run.next())
    energies.push(now.energy);
  return { x: [...run.x], stop: run.stop, held: [...run.held], energies };
}"""


def test_second_order_descent_goes_on_when_an_electron_is_held(modules):
    """The first that comes to its proton does not stop the others, and the end is Python's."""
    tables = catalogue.read()
    table = tables["tables"][tables["entries"]["almost-harmonic"]["stages"]["plane"]]
    starts = [[-0.9, 0.3], [0.7, 0.9], [0.0, -0.6]]
    given = [np.ravel(values).tolist() for values in (PROTONS, np.ones(3), starts, np.ones(3))]
    found = modules.evaluate(DESCEND, [table, 2, *given])
    assert found["stop"] == "converged"
    assert sorted(found["held"]) == [0, 1, 2]
    assert np.all(np.diff(found["energies"]) <= 0)
    end = np.reshape(found["x"], (3, 2))
    assert {tuple(x) for x in end.tolist()} == {tuple(x) for x in PROTONS}
    teacher = ew.Teacher(PROTONS, np.ones(3), "almost-harmonic")
    kind = ew.certify(teacher, ew.Student(end, np.ones(3)), wrt="positions").kind
    assert kind == "cusp-minimum"
