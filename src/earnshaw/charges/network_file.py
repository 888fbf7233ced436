"""Teachers and students as files: JSON to read and edit, NPZ for large ones.

    format      "earnshaw-teacher" or "earnshaw-student"
    version     1
    dim         d
    positions   (k, d)
    weights     (k,), natural sign

and, for a teacher,

    activation  the name of an activation, with `parameters`, or
    potential   the formula of a potential
    on          "space" or "sphere"
    width       the standard deviation of the inputs

Other fields are ignored. A species made from a user's own function or object has no name to store,
and is refused. Files of runs, paths, hunts and proofs hold a teacher too, as a part of this kind.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from earnshaw.charges.manifolds import manifold
from earnshaw.charges.network import Species, Student, Teacher, checked_charges
from earnshaw.errors import EarnshawError
from earnshaw.files.fields import array, integer, number, table, text
from earnshaw.files.kind import Fields, Kind, load_any

CHARGES = (
    integer("dim", low=1),
    array("positions", "units", "dim"),
    array("weights", "units"),
)
STUDENT = Kind(CHARGES, "earnshaw-student")
TEACHER = Kind(
    (
        *CHARGES,
        text("activation", optional=True),
        table("parameters", optional=True),
        text("potential", optional=True),
        number("width", low=0.0),
        text("on", allowed=("space", "sphere")),
    ),
    "earnshaw-teacher",
)
OF_TEACHER = ("positions", "weights", "activation", "potential", "on", "width", "self")


def save(path: str | os.PathLike[str], network: Teacher | Student) -> None:
    """Write a teacher or a student to a ``.json`` or ``.npz`` file, whole or not at all."""
    kind = TEACHER if isinstance(network, Teacher) else STUDENT
    kind.check_writable(path)
    kind.save(path, network_fields(network))


def load(path: str | os.PathLike[str]) -> Teacher | Student:
    """The teacher or student in a file that `save` wrote, or one line on what is wrong with it."""
    makers: dict[Kind, Callable[[Fields], Teacher | Student]] = {
        TEACHER: teacher_of,
        STUDENT: student_of,
    }
    return load_any(path, makers)


def load_teacher(path: str | os.PathLike[str]) -> Teacher:
    """The same, for a teacher's file only."""
    return TEACHER.load(path, teacher_of)


def load_student(path: str | os.PathLike[str]) -> Student:
    """The same, for a student's file only."""
    return STUDENT.load(path, student_of)


def network_fields(network: Teacher | Student) -> Fields:
    """What goes into a file for a teacher or a student, header and all; arrays as NumPy arrays."""
    if not isinstance(network, (Teacher, Student)):
        raise EarnshawError(f"cannot save a {type(network).__name__}; allowed: Teacher, Student")
    what = "teacher" if isinstance(network, Teacher) else "student"
    positions, weights = checked_charges(what, network.positions, network.weights)
    if positions.ndim != 2:
        raise EarnshawError(
            f"the {what}'s positions have shape {positions.shape}; allowed: (units, dimension)"
        )
    fields: Fields = {
        "dim": network.dim,
        "positions": np.asarray(positions),
        "weights": np.asarray(weights),
    }
    if isinstance(network, Student):
        return STUDENT.with_header(fields)
    species = _species_fields(network.species) | {"on": network.manifold.name}
    return TEACHER.with_header(fields | species)


def student_of(fields: Fields) -> Student:
    """The student that the fields of a file describe."""
    return Student(fields["positions"], fields["weights"])


def teacher_of(fields: Fields) -> Teacher:
    """The teacher that the fields of a file describe."""
    places, weights = fields["positions"], fields["weights"]
    if ("activation" in fields) == ("potential" in fields):
        raise EarnshawError("it must have either an activation or a potential")
    about = {"on": manifold(fields["on"]), "width": fields["width"]}
    if "potential" in fields:
        return Teacher(places, weights, potential=fields["potential"], **about)
    if "parameters" not in fields:
        raise EarnshawError("it has no field 'parameters'")
    parameters = _checked_parameters(fields["parameters"])
    return Teacher(places, weights, fields["activation"], **about, **parameters)


def _species_fields(species: Species) -> Fields:
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


def _checked_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    for name, value in parameters.items():
        if name in OF_TEACHER:
            raise EarnshawError(f"the activation has no parameter {name!r}")
        if not all(map(_storable, value if isinstance(value, (list, tuple)) else [value])):
            raise EarnshawError(
                f"the parameter {name!r} cannot be stored; allowed: text, finite numbers and lists"
            )
    return parameters


def _storable(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
