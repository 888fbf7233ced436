"""Teachers and students as files: JSON to read and edit, NPZ for large ones; never pickle.

Both hold the same fields, and every number to its last bit:

    format      "earnshaw-teacher" or "earnshaw-student"
    version     1
    dim         d
    positions   (k, d)
    weights     (k,), natural sign

and, for a teacher,

    activation  the name of an activation, with `parameters` (in an NPZ file as JSON text), or
    potential   the formula of a potential
    on          "space" or "sphere"
    width       the standard deviation of the inputs

Other fields are ignored. A species made from a user's own function or object has no name to store,
and is refused.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.charges.fields import read_json, read_npz, write_fields
from earnshaw.charges.network import Student, Teacher, checked_charges
from earnshaw.charges.species import Species
from earnshaw.errors import EarnshawError, OutOfRange, check_integer
from earnshaw.files import check_writable, reading_file, write_whole
from earnshaw.manifolds import manifold

ENDINGS = (".json", ".npz")
VERSION = 1
TEACHER, STUDENT = "earnshaw-teacher", "earnshaw-student"
LARGEST_DIM = 2**31 - 1
OWN_FIELDS = ("positions", "weights", "activation", "potential", "on", "width")
FIELDS = (*OWN_FIELDS, "format", "version", "dim", "parameters")


def save(path: str | os.PathLike[str], network: Teacher | Student) -> None:
    """Write a teacher or a student to a ``.json`` or ``.npz`` file, whole or not at all."""
    path = _path(path, "write")
    check_writable(path, ENDINGS)
    fields = fields_of(network)
    write_whole(path, lambda temporary: write_fields(temporary, path.suffix.lower(), fields))


def load(path: str | os.PathLike[str]) -> Teacher | Student:
    """The teacher or student in a file that `save` wrote, or one line on what is wrong with it."""
    return _load(path, (TEACHER, STUDENT))


def load_teacher(path: str | os.PathLike[str]) -> Teacher:
    """The same, for a teacher's file only."""
    found = _load(path, (TEACHER,))
    assert isinstance(found, Teacher)
    return found


def load_student(path: str | os.PathLike[str]) -> Student:
    """The same, for a student's file only."""
    found = _load(path, (STUDENT,))
    assert isinstance(found, Student)
    return found


def fields_of(network: Teacher | Student) -> dict[str, Any]:
    """What goes into a file for a teacher or a student; arrays as NumPy arrays."""
    if not isinstance(network, (Teacher, Student)):
        raise EarnshawError(f"cannot save a {type(network).__name__}; allowed: Teacher, Student")
    what = "teacher" if isinstance(network, Teacher) else "student"
    positions, weights = checked_charges(what, network.positions, network.weights)
    if positions.ndim != 2:
        raise EarnshawError(
            f"the {what}'s positions have shape {positions.shape}; allowed: (units, dimension)"
        )
    fields: dict[str, Any] = {
        "format": TEACHER if isinstance(network, Teacher) else STUDENT,
        "version": VERSION,
        "dim": network.dim,
        "positions": np.asarray(positions),
        "weights": np.asarray(weights),
    }
    if isinstance(network, Teacher):
        fields |= _species_fields(network.species) | {"on": network.manifold.name}
    return fields


def _species_fields(species: Species) -> dict[str, Any]:
    width = {"width": float(species.inputs.width)}
    if species.origin == "formula":
        return {"potential": species.name} | width
    if species.origin == "activation":
        parameters = _checked_parameters(dict(species.parameters))
        return {"activation": species.name, "parameters": parameters} | width
    raise EarnshawError(
        f"cannot store {species.name}, which was given as an object or a function; "
        "allowed: an activation by name, or potential= with a formula"
    )


def _load(path: str | os.PathLike[str], formats: tuple[str, ...]) -> Teacher | Student:
    path = _path(path, "read")
    if path.suffix.lower() not in ENDINGS:
        raise EarnshawError(f"cannot read {str(path)!r}; allowed endings: {', '.join(ENDINGS)}")
    # Parameters may be of a kind that their activation has never seen.
    with reading_file(path, "its activation and parameters do not fit"):
        if path.exists() and not path.is_file():
            raise EarnshawError("not a file")
        content = path.read_bytes()
        if path.suffix.lower() == ".json":
            return network_of(read_json(content, (TEACHER, STUDENT)), formats)
        return network_of(read_npz(content, FIELDS, ("parameters",)), formats)


def network_of(fields: Mapping[str, Any], formats: tuple[str, ...]) -> Teacher | Student:
    """The network that the fields of a file describe, each of them checked."""
    kind = _field(fields, "format", str)
    if kind not in formats:
        raise OutOfRange("its format", kind, " or ".join(formats))
    if (version := _field(fields, "version", int)) != VERSION:
        raise OutOfRange("its version", version, str(VERSION))
    dim = check_integer("its dim", _field(fields, "dim", int), 1, LARGEST_DIM)
    weights = _numbers(fields, "weights")
    positions = _numbers(fields, "positions")
    if positions.shape == (0,):
        positions = positions.reshape(0, dim)  # JSON has no array of shape (0, d)
    if positions.ndim != 2 or positions.shape[1] != dim:
        raise EarnshawError(
            f"its positions have shape {positions.shape}, its dim is {dim}; allowed: (units, dim)"
        )
    if kind == STUDENT:
        return Student(positions, weights)
    on = manifold(_field(fields, "on", str))
    width = _field(fields, "width", float)
    if ("activation" in fields) == ("potential" in fields):
        raise EarnshawError("it must have either an activation or a potential")
    if "potential" in fields:
        formula = _field(fields, "potential", str)
        return Teacher(positions, weights, potential=formula, on=on, width=width)
    name = _field(fields, "activation", str)
    parameters = _checked_parameters(_field(fields, "parameters", dict))
    return Teacher(positions, weights, name, on=on, width=width, **parameters)


def _field(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    if name not in fields:
        raise EarnshawError(f"it has no field {name!r}")
    value = fields[name]
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < 2**53 else math.inf
    if type(value) is not kind:
        names = {str: "text", int: "an integer", float: "a number", dict: "an object of names"}
        raise EarnshawError(f"its {name} is a {type(value).__name__}; allowed: {names[kind]}")
    return value


def _numbers(fields: Mapping[str, Any], name: str) -> np.ndarray:
    if name not in fields:
        raise EarnshawError(f"it has no field {name!r}")
    try:
        array = np.asarray(fields[name])
    except ValueError:
        raise EarnshawError(f"its {name} have rows of different lengths") from None
    if array.ndim == 0 or array.dtype.kind not in "fiu":
        raise EarnshawError(f"its {name} are not an array of numbers")
    return array.astype(float)


def _checked_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    for name, value in parameters.items():
        if name in (*OWN_FIELDS, "self"):
            raise EarnshawError(f"the activation has no parameter {name!r}")
        if not all(map(_storable, value if isinstance(value, (list, tuple)) else [value])):
            raise EarnshawError(
                f"the parameter {name!r} cannot be stored; allowed: text, finite numbers and lists"
            )
    return parameters


def _storable(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def _path(path: str | os.PathLike[str], verb: str) -> Path:
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise EarnshawError(f"cannot {verb} {path!r}; allowed: the path of a file")
    return Path(path)
