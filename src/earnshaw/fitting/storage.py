"""Models as files: JSON to read, NPZ for large ones; never pickle.

Both hold the same fields, and every number to its last bit:

    format      "earnshaw-model"
    version     1
    activation  the name of an activation, with its `parameters`
    inputs, targets, classes                        names
    positions (k, d), biases (k,), weights (k, m), linear (d, m), intercept (m,)
    scores, settings                                what was found by cross-validation, and how

In an NPZ file lists of names and objects are JSON text. Other fields are ignored.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.activations.base import DotProduct
from earnshaw.charges.fields import read_json, read_npz, write_fields
from earnshaw.duality.activation import activation as named_activation
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.files import check_writable, reading_file, write_whole
from earnshaw.fitting.model import Model
from earnshaw.fitting.network import Network

FORMAT, VERSION = "earnshaw-model", 1
ENDINGS = (".npz", ".json")
ARRAYS = ("positions", "biases", "weights", "linear", "intercept")
NAMES = ("inputs", "targets", "classes")
OBJECTS = ("parameters", "scores", "settings")
FIELDS = ("format", "version", "activation", *NAMES, *OBJECTS, *ARRAYS)


def save_model(path: str | os.PathLike[str], model: Model) -> None:
    """Write a model to a ``.npz`` or ``.json`` file, whole or not at all."""
    path = Path(path)
    check_writable(path, ENDINGS)
    fields = _fields_of(model)
    write_whole(path, lambda name: write_fields(name, path.suffix.lower(), fields))


def load_model(path: str | os.PathLike[str]) -> Model:
    """The model in a file that `save_model` wrote, or one line on what is wrong with it."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise EarnshawError(f"cannot read {str(path)!r}; allowed endings: {', '.join(ENDINGS)}")
    # Parameters may be of a kind that their activation has never seen.
    with reading_file(path, "its activation and parameters do not fit"):
        content = path.read_bytes()
        if path.suffix.lower() == ".json":
            return _model_of(read_json(content, (FORMAT,)))
        return _model_of(read_npz(content, FIELDS, (*NAMES, *OBJECTS)))


def _fields_of(model: Model) -> dict[str, Any]:
    network = model.network
    made = None
    if isinstance(model.activation, str):
        made = named_activation(model.activation, **model.parameters)
    if made is None or made.name != network.activation.name:
        raise EarnshawError(
            "cannot store an activation that is a function or an object; allowed: one by name"
        )
    arrays = {name: np.asarray(getattr(network, name), dtype=float) for name in ARRAYS}
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise EarnshawError(f"cannot store {name} with NaN or infinite entries")
    return {
        "format": FORMAT,
        "version": VERSION,
        "activation": model.activation,
        "parameters": dict(model.parameters),
        **{name: list(getattr(model, name)) for name in NAMES},
        "scores": {k: v if math.isfinite(v) else None for k, v in model.scores.items()},
        "settings": dict(model.settings),
        **arrays,
    }


def _model_of(fields: Mapping[str, Any]) -> Model:
    """The model that the fields of a file describe, each of them checked."""
    kind, version = _field(fields, "format", str), _field(fields, "version", int)
    if kind != FORMAT:
        raise OutOfRange("its format", kind, FORMAT)
    if version != VERSION:
        newer = ": a newer earnshaw wrote it" if version > VERSION else ""
        raise EarnshawError(f"its version is {version}{newer}; allowed: {VERSION}")
    inputs, targets, classes = (_names(fields, name) for name in NAMES)
    if not inputs or not targets or (classes and (len(targets), len(classes)) < (1, 2)):
        raise EarnshawError("it has no inputs, no targets, or one class only")
    name = _field(fields, "activation", str)
    parameters = _field(fields, "parameters", dict)
    sigma = named_activation(name, **parameters)
    if not isinstance(sigma, DotProduct):
        raise OutOfRange("its activation", name, "dot-product activations")
    outputs = len(targets) if not classes else 1 if len(classes) == 2 else len(classes)
    biases = _numbers(fields, "biases", (-1,))
    shapes = {
        "positions": (len(biases), len(inputs)),
        "weights": (len(biases), outputs),
        "linear": (len(inputs), outputs),
        "intercept": (outputs,),
    }
    arrays = {name: _numbers(fields, name, shape) for name, shape in shapes.items()}
    scores = {
        key: math.nan if value is None else value
        for key, value in _field(fields, "scores", dict).items()
    }
    return Model(
        network=Network(activation=sigma, biases=biases, **arrays),
        activation=name,
        parameters=parameters,
        inputs=inputs,
        targets=targets,
        classes=classes,
        scores=scores,
        settings=_field(fields, "settings", dict),
    )


def _field(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    if name not in fields:
        raise EarnshawError(f"not a model of earnshaw, or a damaged one: it has no field {name!r}")
    value = fields[name]
    if type(value) is not kind:
        names = {str: "text", int: "an integer", dict: "an object of names", list: "a list"}
        raise EarnshawError(f"its {name} is a {type(value).__name__}; allowed: {names[kind]}")
    return value


def _names(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = _field(fields, name, list)
    if not all(isinstance(one, str) for one in found) or len(set(found)) < len(found):
        raise EarnshawError(f"its {name} are not different texts")
    return tuple(found)


def _numbers(fields: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name not in fields:
        raise EarnshawError(f"not a model of earnshaw, or a damaged one: it has no field {name!r}")
    try:
        array = np.asarray(fields[name])
    except ValueError:
        raise EarnshawError(f"its {name} have rows of different lengths") from None
    if array.size == 0 and min(shape) <= 0:
        array = np.zeros(np.maximum(shape, 0))  # JSON has no array (0, d)
    if array.dtype.kind not in "fiu" or not np.all(np.isfinite(array)):
        raise EarnshawError(f"its {name} are not finite numbers")
    if array.ndim != len(shape) or (shape[0] >= 0 and array.shape != shape):
        raise EarnshawError(f"its {name} have shape {array.shape}; allowed: {shape}")
    return array.astype(float)
