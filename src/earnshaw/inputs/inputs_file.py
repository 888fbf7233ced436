"""Inputs as plain values, and files of them: what `--inputs FILE` reads.

`Gaussian(width)` is stored by its width, everything else by its components:

    {"format": "earnshaw-inputs", "version": 1, "kind": "mixture",
     "weights": [0.3, 0.7], "means": [[0, 0], [1, 2]], "covariances": [[[1, 0], [0, 1]], ...]}
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.files.fields import array, number, text
from earnshaw.files.kind import Fields, Kind
from earnshaw.inputs.gaussian import Gaussian, Inputs
from earnshaw.inputs.mixture import GaussianMixture

KINDS = ("isotropic", "gaussian", "mixture")
INPUTS = Kind(
    fields=(
        text("kind", allowed=KINDS),
        number("width", optional=True),
        array("weights", "components", optional=True),
        array("means", "components", "dim", optional=True),
        array("covariances", "components", "dim", "dim", optional=True),
    ),
    format="earnshaw-inputs",
)


def inputs_to_dict(inputs: Inputs) -> dict[str, Any]:
    """The inputs as numbers and lists, with `format` and `version`."""
    if not isinstance(inputs, (Gaussian, GaussianMixture)):
        raise EarnshawError(f"inputs={inputs!r}; allowed: Gaussian(...) or GaussianMixture(...)")
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in INPUTS.with_header(_fields(inputs)).items()
    }


def inputs_from_dict(raw: Mapping[str, Any]) -> Gaussian | GaussianMixture:
    """The inputs of what `inputs_to_dict` has made, or one line on what is wrong with it."""
    return _made(INPUTS.checked(raw))


def save_inputs(path: str | os.PathLike[str], inputs: Inputs) -> None:
    """Write inputs to a JSON or NPZ file, whole or not at all.

    Parameters
    ----------
    path
        where to; the ending says which format.
    inputs
        `Gaussian` or `GaussianMixture`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "inputs.json"
    ...     ew.save_inputs(file, ew.Gaussian(mean=[1.0, 0.0], covariance=[4.0, 1.0]))
    ...     ew.load_inputs(file).dim
    2
    """
    INPUTS.save(path, {k: v for k, v in inputs_to_dict(inputs).items() if k not in HEADER})


def load_inputs(path: str | os.PathLike[str]) -> Gaussian | GaussianMixture:
    """Inputs from a file.

    Parameters
    ----------
    path
        a JSON or NPZ file.

    Returns
    -------
    Gaussian or GaussianMixture

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "inputs.json"
    ...     ew.save_inputs(file, ew.Gaussian(mean=[1.0, 0.0], covariance=[4.0, 1.0]))
    ...     ew.load_inputs(file).mean.tolist()
    [1.0, 0.0]
    """
    return INPUTS.load(path, _made)


HEADER = ("format", "version")


def _fields(inputs: Gaussian | GaussianMixture) -> Fields:
    if isinstance(inputs, Gaussian) and inputs.dim is None:
        return {"kind": "isotropic", "width": float(inputs.width)}
    parts = inputs.components()
    return {
        "kind": "mixture" if isinstance(inputs, GaussianMixture) else "gaussian",
        "weights": np.array([float(part.probability) for part in parts]),
        "means": np.stack([np.asarray(part.mean) for part in parts]),
        "covariances": np.stack([np.asarray(part.covariance) for part in parts]),
    }


def _made(fields: Fields) -> Gaussian | GaussianMixture:
    needed = ("width",) if fields["kind"] == "isotropic" else ("weights", "means", "covariances")
    for name in needed:
        if fields.get(name) is None:
            raise EarnshawError(f"it has no {name}; inputs of kind {fields['kind']} need it")
    if fields["kind"] == "isotropic":
        return Gaussian(fields["width"])
    mixture = GaussianMixture(fields["weights"], fields["means"], fields["covariances"])
    if fields["kind"] == "mixture":
        return mixture
    if len(mixture.weights) != 1:
        raise EarnshawError(f"a gaussian of {len(mixture.weights)} components; allowed: 1")
    return Gaussian(mean=mixture.means[0], covariance=mixture.covariances[0])
