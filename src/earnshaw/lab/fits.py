"""A table of one's own, fitted: its units as charges, and the fit beside the data."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError

LETTERS = 2_000_000  # of a table
UNITS = 12  # of a network, at most
DOTS = 400  # rows that are drawn


def fit(body: dict[str, Any]) -> dict[str, Any]:
    """A network fitted to the last column of a table.

    Gives `words`, a `replay` whose electrons are its units, at (w, bias) or w, and in it `fit`:
    `dots`, pairs of numbers that are drawn as points, and the `curve` through them. With one input
    these are the rows and g(x), with more of them answers against what the network says.
    """
    from earnshaw.duality.named import activation
    from earnshaw.learning.fitting.fitted import fit as fitted_to
    from earnshaw.learning.fitting.problem import problem_of
    from earnshaw.learning.fitting.settings import Settings
    from earnshaw.learning.fitting.tables import read_table

    content = body.get("table")
    if not isinstance(content, str) or len(content) > LETTERS:
        raise EarnshawError(f"a table is a text of at most {LETTERS} letters")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        file.write_text(content, encoding="utf-8")
        try:
            table = read_table(file, None, ".")
            problem = problem_of(table, (table.names[-1],), (), (), None, False)
        except EarnshawError as error:  # without the place of our copy
            raise EarnshawError(str(error).replace(repr(str(file)), "the table")) from None
    sigma: Any = activation("tanh")
    settings = Settings(max_units=UNITS)
    found = fitted_to(problem.x, problem.y, problem.weight, sigma, settings)
    network = found.network
    hidden = np.asarray(network.positions)
    flat = hidden.shape[1] < 3
    places = network.tilted if flat else hidden
    weights = np.asarray(network.weights)[:, 0]
    stage = {1: "line", 2: "plane"}.get(places.shape[1], "space")
    words = f"{len(weights)} units of tanh for {problem.count} rows"
    replay = {
        "title": "Your table", "stage": stage, "dim": places.shape[1], "potential": "",
        "table": None, "unit": "point", "formula": "tanh", "protons": [], "charges": [],
        "times": [0.0], "positions": [places.tolist()], "weights": [weights.tolist()],
        "energy": [None], "bound": None, "notes": None,
        "words": f"{words}. Each charge is a unit, its place {'(w, bias)' if flat else 'w'}, "
        "its size its weight.",
        "fit": drawn(problem.x, problem.y[:, 0], lambda x: np.asarray(network(x))[:, 0],
                     problem.inputs, table.names[-1]),
    }  # fmt: skip
    return {"words": words, "replay": replay}


def drawn(
    x: np.ndarray, y: np.ndarray, network: Any, inputs: tuple[str, ...], answer: str
) -> dict[str, Any]:
    """The data and the fit in one frame: of x (n, d), y (n,) and g: (n, d) -> (n,)."""
    rows = np.unique(np.linspace(0, len(x) - 1, DOTS).round().astype(int))
    if x.shape[1] == 1:
        along = np.linspace(x.min(), x.max(), 201)
        dots = np.column_stack([x[rows, 0], y[rows]])
        curve = np.column_stack([along, network(along[:, None])])
        across, up = inputs[0], answer
    else:
        dots = np.column_stack([network(x[rows]), y[rows]])
        ends = np.array([dots.min(), dots.max()])
        curve = np.column_stack([ends, ends])
        across, up = "fitted", answer
    return {"x": across, "y": up, "dots": dots.tolist(), "curve": curve.tolist()}
