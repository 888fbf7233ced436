"""What there is: every named activation and potential, as rows for tables and JSON.

Rows are made from the families themselves: formula, symmetries and how the potential is computed.
Three error bounds take seconds to compile, and are computed only where asked for.
"""

from __future__ import annotations

import inspect
from typing import Any

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.closed_forms import ON_SPHERE
from earnshaw.duality.named import ACTIVATIONS, ALIASES, POTENTIALS, activation, potential
from earnshaw.duality.symmetry import Symmetries
from earnshaw.errors import EarnshawError

# Those that need a dimension, a degree or coefficients: formula, and where they live.
_NEEDING = {
    "almost-harmonic": ("h(x - w)/sqrt(p), h tabulated", ("space",)),
    "bessel": ("h(x - w)/sqrt(p), h = prod_i (sqrt(2)/pi) K_0(|x_i|)", ("space",)),
    "gaussian": ("h(x - w)/sqrt(p), h = (2 rate/pi)^(d/4) exp(-rate |x|^2)", ("space",)),
    "hermite": ("he_N(x), orthonormal: hermite-3", ("space", "sphere")),
    "polynomial": ("sum_n coefficients_n x^n", ("space", "sphere")),
    "sphere-synthetic": ("sum_n sqrt(c_n) he_n(x), EPD, Theorem 4.4", ("sphere",)),
}
_SAMPLE = {  # what the bounds of those are computed for; others depend on what is given
    "almost-harmonic": ("almost-harmonic", 3),
    "bessel": ("bessel", 3),
    "gaussian": ("gaussian", 3),
    "hermite": ("hermite-3", None),
}
_SLOW = {"elu", "hard-tanh", "softsign"}  # bounds that take 3 to 12 s; the others 6 s together
_REALIZED = {"almost-harmonic", "bessel", "gaussian", "sphere-synthetic"}  # have an activation


def activations(bounds: bool = False) -> list[dict[str, Any]]:
    """One row for each named activation, by name.

    Keys: `name`, `formula` of s(x), `on` (where its units live), `symmetries` in words,
    `potential` (on the sphere, raw, as a formula, where it can be written), `method`,
    `error_bound` (of the normalised potential, in d = 3 where it depends on d; None for those that
    need more than a dimension, and unless `bounds` for three that take seconds), `parameters` with
    their defaults (None: must be given), `aliases`.

    Parameters
    ----------
    bounds
        whether to compute the error bounds that take seconds too.

    Returns
    -------
    list of dict
        A row for each name.

    Examples
    --------
    >>> import earnshaw as ew
    >>> names = [row["name"] for row in ew.activations()]
    >>> "relu" in names, "almost-harmonic" in names
    (True, True)
    """
    return [_activation_row(name, bounds) for name in sorted(ACTIVATIONS)]


def _activation_row(name: str, bounds: bool) -> dict[str, Any]:
    known = inspect.signature(ACTIVATIONS[name]).parameters
    row: dict[str, Any] = {
        "name": name,
        "formula": None,
        "on": ["space", "sphere"],
        "symmetries": "",
        "potential": ON_SPHERE.get(name),
        "method": "closed form",
        "error_bound": None,
        "parameters": {
            key: None if value.default is value.empty else value.default
            for key, value in known.items()
        },
        "aliases": sorted(alias for alias, meant in ALIASES.items() if meant == name),
    }
    if name in _NEEDING:
        formula, where = _NEEDING[name]
        if name in _SAMPLE:
            row["error_bound"] = potential(*_SAMPLE[name]).error_bound
        return row | {"formula": formula, "on": list(where)}
    made = activation(name)
    assert isinstance(made, DotProduct)
    row["formula"] = made.name if made.in_numpy is None else made.in_numpy.words
    row["symmetries"] = in_words(made.symmetries)
    if made.moment() is None:
        row["method"] = "quadrature over sectors" if made.kinks else "Hermite series"
    if bounds or name not in _SLOW:
        row["error_bound"] = potential(made).error_bound
    return row


def in_words(known: Symmetries) -> str:
    """odd, even, 'even but for a line', homogeneous: what an activation allows, for a table."""
    words = []
    if known.flip is not None:
        words.append("odd" if known.flip < 0 else "even")
        if known.constant:
            words[-1] += " but for a constant"
        if known.linear:
            words[-1] += " but for a line"
    if known.degree is not None:
        words.append(f"homogeneous, degree {known.degree:g}")
    return ", ".join(words)


def potentials() -> list[dict[str, Any]]:
    """One row for each potential by name, and for each on the sphere that can be written down.

    Keys: `name`, `formula`, `on`, `variable` (r or rho), `activation` (whether one has it),
    `parameters`, `error_bound` in d = 3 (None: relative only, where it is unbounded).

    Returns
    -------
    list of dict
        A row for each name.

    Examples
    --------
    >>> import earnshaw as ew
    >>> "almost-harmonic" in [row["name"] for row in ew.potentials()]
    True
    """
    rows = []
    for name in sorted(POTENTIALS):
        maker = POTENTIALS[name]
        formula = (inspect.getdoc(maker) or name).split("\n")[0].split(", with ")[0].rstrip(".")
        try:
            made = potential(name, 3)
            where, bound = (made.variable, made.error_bound)
        except EarnshawError:  # one that needs more than a dimension
            where, bound = ("rho", None)
        rows.append(
            {
                "name": name,
                "formula": formula.removeprefix("Phi(theta, w) = ").removeprefix("Phi(r) = "),
                "on": "sphere" if where == "rho" else "space",
                "variable": where,
                "activation": name in _REALIZED,
                "parameters": list(inspect.signature(maker).parameters),
                "error_bound": bound,
            }
        )
    for name, formula in sorted(ON_SPHERE.items()):
        rows.append(
            {
                "name": name,
                "formula": formula,
                "on": "sphere",
                "variable": "rho",
                "activation": True,
                "parameters": list(inspect.signature(ACTIVATIONS[name]).parameters),
                "error_bound": None,
            }
        )
    return rows
