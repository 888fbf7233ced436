"""Models as files: JSON to read, NPZ for large ones.

    format      "earnshaw-model"
    version     1
    activation  the name of an activation, with its `parameters`
    inputs, targets, classes                        names
    positions (k, d), biases (k,), weights (k, m), linear (d, m), intercept (m,)
    scores, settings                                what was found by cross-validation, and how
    columns, ranges (2, d), plan, numbers (N,)      optional: see `columns.py`, `packing.py`

Every number comes back to its last bit. Other fields are ignored.
"""

from __future__ import annotations

import math
import os

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.named import activation as named_activation
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.files.fields import Field, array, table, text, texts
from earnshaw.files.kind import Fields, Kind
from earnshaw.learning.evidence.committee import Committee
from earnshaw.learning.evidence.packing import packed, unpacked
from earnshaw.learning.fitting.columns import Columns
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.network import FittedNetwork

NAMES = ("inputs", "targets", "classes")
ARRAYS = (
    array("biases", "units"),
    array("intercept", "outputs"),
    array("positions", "units", "inputs"),
    array("weights", "units", "outputs"),
    array("linear", "inputs", "outputs"),
)
MODEL = Kind(
    (
        text("activation"),
        table("parameters"),
        *(texts(name) for name in NAMES),
        table("scores"),
        table("settings"),
        *ARRAYS,
        Field("columns", list, optional=True),
        array("ranges", "two", "inputs", optional=True),
        table("plan", optional=True),
        array("numbers", "amount", optional=True),
    ),
    "earnshaw-model",
    endings=(".npz", ".json"),
)


def save_model(path: str | os.PathLike[str], model: Model) -> None:
    """Write a model to a ``.npz`` or ``.json`` file, whole or not at all."""
    MODEL.check_writable(path)
    MODEL.save(path, _fields_of(model))


def load_model(path: str | os.PathLike[str]) -> Model:
    """The model in a file that `save_model` wrote, or one line on what is wrong with it."""
    return MODEL.load(path, _model_of)


def _fields_of(model: Model) -> Fields:
    network = model.network
    made = None
    if isinstance(model.activation, str):
        made = named_activation(model.activation, **model.parameters)
    if made is None or made.name != network.activation.name:
        raise EarnshawError(
            "cannot store an activation that is a function or an object; allowed: one by name"
        )
    arrays = {one.name: np.asarray(getattr(network, one.name), dtype=float) for one in ARRAYS}
    for name, numbers in arrays.items():
        if not np.all(np.isfinite(numbers)):
            raise EarnshawError(f"cannot store {name} with NaN or infinite entries")
    return {
        "activation": model.activation,
        "parameters": dict(model.parameters),
        **{name: list(getattr(model, name)) for name in NAMES},
        "scores": {k: v if math.isfinite(v) else None for k, v in model.scores.items()},
        "settings": dict(model.settings),
        **arrays,
        **_optional(model),
    }


def _optional(model: Model) -> Fields:
    """What only some models have."""
    found: Fields = {}
    if model.columns is not None:
        found["columns"] = model.columns.plain()
    if model.ranges is not None:
        found["ranges"] = model.ranges
    if model.committee is not None:
        found["plan"], found["numbers"] = packed(model.committee)
    return found


def _model_of(fields: Fields) -> Model:
    """The model that the fields of a file describe."""
    inputs, targets, classes = (tuple(fields[name]) for name in NAMES)
    if not inputs or not targets or len(classes) == 1:
        raise EarnshawError("it has no inputs, no targets, or one class only")
    outputs = len(targets) if not classes else 1 if len(classes) == 2 else len(classes)
    if fields["intercept"].shape != (outputs,):
        raise EarnshawError(
            f"its intercept have shape {fields['intercept'].shape}; allowed: ({outputs},)"
        )
    if not all(v is None or type(v) in (int, float) for v in fields["scores"].values()):
        raise EarnshawError("its scores are not numbers")
    sigma = named_activation(fields["activation"], **fields["parameters"])
    if not isinstance(sigma, DotProduct):
        raise OutOfRange("its activation", fields["activation"], "dot-product activations")
    return Model(
        network=FittedNetwork(activation=sigma, **{one.name: fields[one.name] for one in ARRAYS}),
        activation=fields["activation"],
        parameters=fields["parameters"],
        inputs=inputs,
        targets=targets,
        classes=classes,
        scores={key: math.nan if v is None else v for key, v in fields["scores"].items()},
        settings=fields["settings"],
        committee=_committee_of(fields, sigma),
        columns=Columns.of_plain(fields["columns"]) if "columns" in fields else None,
        ranges=fields.get("ranges"),
    )


def _committee_of(fields: Fields, sigma: DotProduct) -> Committee | None:
    if "plan" not in fields or "numbers" not in fields:
        return None
    found = unpacked(fields["plan"], fields["numbers"], sigma)
    if found.linear.layout.dim != len(fields["inputs"]):
        raise EarnshawError("its committee has another number of inputs")
    return found
