"""Teachers and students as files: JSON to read and edit, NPZ for large ones, CSV for spreadsheets.

    format      "earnshaw-teacher" or "earnshaw-student"
    version     1
    dim         d
    positions   (k, d)
    biases      (k,), if its units have them
    weights     (k,), natural sign; (k, m) for m outputs

and, for a teacher, and a student that knows of which kind its units are,

    activation  the name of an activation, with `parameters`, or
    activations a list of names, one a unit, or
    potential   the formula of a potential
    on          "space" or "sphere"
    width       the standard deviation of the inputs, or
    inputs      what they are instead, as in a file of inputs (`inputs_file.py`)

Other fields are ignored. A file written by hand needs no header, and only positions, weights and an
activation (or a potential); CSV files are those of `_network_csv.py`; docs/files.md has examples. A
species made from a user's own function or object has no name to store: a teacher of it is refused,
a student is stored without, and so is one of an activation whose parameters are not the usual ones,
if no teacher gave it. Files of runs, paths, hunts and proofs hold a teacher too, as a part of this
kind.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.typing import ArrayLike

from earnshaw.charges._network_csv import csv_text, read_csv
from earnshaw.charges.mixed import same_activation
from earnshaw.charges.network import Student, Teacher, UnitKind, checked_charges
from earnshaw.charges.species import Species
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine_dual import MixedDual
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.named import is_activation
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import write_text
from earnshaw.files.fields import Group, array, integer, number, table, text, values
from earnshaw.files.kind import ByHand, Fields, Kind, load_any
from earnshaw.inputs import Gaussian, Inputs, inputs_from_dict, inputs_to_dict

ENDINGS = (".json", ".npz", ".csv")
UNITS = (
    array("positions", "units", "dim"),
    array("weights", "units", "outputs?"),
    array("biases", "units", optional=True),
)
CHARGES = (integer("dim", low=1), *UNITS)
SPECIES = (
    text("activation", optional=True),
    values("activations", optional=True),
    table("parameters", optional=True),
    text("potential", optional=True),
    table("inputs", optional=True),
)
MANIFOLDS = ("space", "sphere")
LIVING = (
    number("width", low=0.0, optional=True),
    text("on", allowed=MANIFOLDS, optional=True),
)
STUDENT = Kind((*CHARGES, *SPECIES, *LIVING), "earnshaw-student", endings=ENDINGS)
TEACHER = Kind(
    (*CHARGES, *SPECIES, number("width", low=0.0, optional=True), text("on", allowed=MANIFOLDS)),
    "earnshaw-teacher",
    endings=ENDINGS,
)
BARE = Group((*UNITS, *SPECIES, *LIVING))
OF_TEACHER = (
    "positions", "weights", "activation", "potential", "on", "width", "biases", "inputs", "linear",
    "intercept", "self"
)  # fmt: skip
SPECIES_OF = ("activation", "activations", "potential")
NO_ACTIVATION = (
    "it has no activation; allowed: a field 'activation' with its name, 'potential' with a formula,"
    " or activation= (--activation) beside the file"
)


def save(path: str | os.PathLike[str], network: Teacher | Student) -> None:
    """Write a teacher or a student to a .json, .npz or .csv file, whole or not at all.

    Parameters
    ----------
    path
        where to; the ending says which format.
    network
        what to write.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ew.save(pathlib.Path(folder) / "teacher.json", teacher)
    ...     ew.load(pathlib.Path(folder) / "teacher.json")
    Teacher(gaussian, 2 units in d = 2, in space)
    """
    kind = TEACHER if isinstance(network, Teacher) else STUDENT
    file = kind.check_writable(path)
    fields = network_fields(network)
    if file.suffix.lower() == ".csv":
        if network.outputs is not None or "activations" in fields:
            raise EarnshawError(
                "a CSV file has one output and one activation; allowed: .json, .npz"
            )
        write_text(file, csv_text(fields))
    else:
        kind.save(file, fields)


def load(path: str | os.PathLike[str]) -> Teacher | Student:
    """The teacher or student in a file, or one line on what is wrong with it.

    A file without a header is a teacher's if it has an activation or a potential.

    Parameters
    ----------
    path
        a JSON, NPZ or CSV file.

    Returns
    -------
    Teacher or Student

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "teacher.json"
    ...     ew.save(file, teacher)
    ...     ew.load(file)
    Teacher(gaussian, 2 units in d = 2, in space)
    """

    def made(fields: Fields) -> Teacher | Student:
        return _network_of(fields, {}) if _has_species(fields) else student_of(fields)

    makers: dict[Kind, Callable[[Fields], Teacher | Student]] = {
        TEACHER: teacher_of,
        STUDENT: student_of,
    }
    return load_any(path, makers, ByHand(BARE, made, read_csv))


def load_teacher(
    path: str | os.PathLike[str],
    activation: str | None = None,
    *,
    potential: str | None = None,
    on: str | None = None,
    width: float | None = None,
    inputs: Inputs | None = None,
    **parameters: Any,
) -> Teacher:
    r"""The teacher in a file; of a student's file too, with an activation.

    What the file does not say of its units can be said here, as for `Teacher`.

    Parameters
    ----------
    path
        a JSON, NPZ or CSV file.
    activation
        as for `Teacher`, where the file names none.
    potential
        instead, a formula of the potential.
    on
        "space" or "sphere".
    width
        the standard deviation of the inputs.
    inputs
        their distribution, instead.
    **parameters
        those of the activation.

    Returns
    -------
    Teacher

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "net.csv"
    ...     _ = file.write_text("x1,x2,weight\n0.6,0.8,1.5\n-1,0.5,-2\n")
    ...     ew.load_teacher(file, "relu")
    Teacher(relu, 2 units in d = 2, in space)
    """
    asked = {"activation": activation, "potential": potential, "on": on, "width": width}
    given: Fields = {name: value for name, value in asked.items() if value is not None}
    if inputs is not None:
        given["inputs"] = inputs_to_dict(inputs)
    if parameters:
        given["parameters"] = parameters
    made = lambda fields: _network_of(fields, given)  # noqa: E731
    makers: dict[Kind, Callable[[Fields], Teacher]] = {TEACHER: teacher_of, STUDENT: made}
    if given:
        makers[TEACHER] = made
    return load_any(path, makers, ByHand(BARE, made, read_csv))


def load_student(path: str | os.PathLike[str]) -> Student:
    """The student in a file; without a header, any network as one.

    Parameters
    ----------
    path
        a JSON, NPZ or CSV file.

    Returns
    -------
    Student

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "student.json"
    ...     ew.save(file, ew.Student([[1.0, 2.0]], [3.0]))
    ...     ew.load_student(file).weights.tolist()
    [3.0]
    """
    return load_any(path, {STUDENT: student_of}, ByHand(BARE, student_of, read_csv))


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
    if isinstance(network, Student):
        return _student_fields(positions, weights, network.unit_kind, network.biased)
    species = _species_fields(network.species) | {"on": network.manifold.name}
    return TEACHER.with_header(_charge_fields(positions, weights, network.biased) | species)


def network_values(positions: ArrayLike, weights: ArrayLike, kind: UnitKind | None) -> Fields:
    """A student's file as plain values, for JSON: written to a file they can be loaded again."""
    fields = _student_fields(positions, weights, kind, kind is not None and kind.biased)
    arrays = (name for name in ("positions", "weights", "biases") if name in fields)
    return fields | {name: fields[name].tolist() for name in arrays}


def student_values(student: Student) -> Fields:
    """The same of a student."""
    return network_values(student.positions, student.weights, student.unit_kind)


def student_of(fields: Fields) -> Student:
    """The student that the fields of a file describe; with an activation it can be called."""
    student = Student(fields["positions"], fields["weights"], fields.get("biases"))
    if not _has_species(fields):
        return student
    return student.of(_network_of(fields, {})) if student.units else student


def teacher_of(fields: Fields) -> Teacher:
    """The teacher that the fields of a teacher's file describe."""
    if sum(name in fields for name in SPECIES_OF) != 1:
        raise EarnshawError("it must have either an activation or a potential")
    if "activation" in fields and "parameters" not in fields:
        raise EarnshawError("it has no field 'parameters'")
    return _network_of(fields, {})


def _network_of(fields: Fields, given: Fields) -> Teacher:
    """The teacher that the fields of any network's file describe, with what was `given` beside."""
    said = {*fields, *((*SPECIES_OF, "parameters") if _has_species(fields) else ())}
    if twice := [name for name in given if name in said]:
        raise EarnshawError(f"it says itself what its units are; not allowed with it: {twice[0]}")
    about = fields | given
    if not _has_species(about):
        raise EarnshawError(NO_ACTIVATION)
    if sum(name in about for name in SPECIES_OF) != 1:
        raise EarnshawError("it must have either an activation or a potential")
    where = {"on": about.get("on"), "width": about.get("width"), "biases": about.get("biases")}
    if "inputs" in about:
        where["inputs"] = inputs_from_dict(about["inputs"])
    if "potential" in about:
        return Teacher(about["positions"], about["weights"], potential=about["potential"], **where)
    if "activations" in about:
        names = about["activations"]
        if not all(isinstance(name, str) for name in names):
            raise EarnshawError("its activations are not a list of names")
        return Teacher(about["positions"], about["weights"], list(names), **where)
    parameters = _checked_parameters(about.get("parameters", {}))
    return Teacher(about["positions"], about["weights"], about["activation"], **where, **parameters)


def _has_species(fields: Fields) -> bool:
    return any(name in fields for name in SPECIES_OF)


def _charge_fields(positions: ArrayLike, weights: ArrayLike, biased: bool) -> Fields:
    positions, weights = np.asarray(positions), np.asarray(weights)
    hidden = positions[..., :-1] if biased else positions
    fields = {"dim": hidden.shape[-1], "positions": hidden, "weights": weights}
    return fields | ({"biases": positions[..., -1]} if biased else {})


def _student_fields(
    positions: ArrayLike, weights: ArrayLike, kind: UnitKind | None, biased: bool
) -> Fields:
    fields = _charge_fields(positions, weights, biased)
    if kind is not None:
        fields |= _kind_fields(kind)
    return STUDENT.with_header(fields)


def _kind_fields(kind: UnitKind) -> Fields:
    """Of which kind a student's units are, as far as that has a name to store."""
    if isinstance(kind.units, Species):
        if kind.units.origin == "object":
            return {}
        on = {} if kind.manifold is None else {"on": kind.manifold.name}
        return _species_fields(kind.units) | on
    several = isinstance(kind.units, tuple)
    listed = kind.units if isinstance(kind.units, tuple) else (kind.units,)
    for each in listed:
        known = isinstance(each, DotProduct) and is_activation(each.name)
        if not known or not same_activation(each, named_activation(each.name)):
            return {}
    names = [each.name for each in listed]
    return {"activations": names} if several else {"activation": names[0], "parameters": {}}


def _species_fields(species: Species) -> Fields:
    inputs = species.seen_inputs
    if isinstance(inputs, Gaussian) and inputs.dim is None:
        seen: Fields = {"width": float(inputs.width)}
    else:
        seen = {"inputs": inputs_to_dict(inputs)}
    if species.origin == "formula":
        return {"potential": species.name} | seen
    if species.origin == "activation" and isinstance(species.potential, MixedDual):
        names = [response.name for response in species.potential.responses]
        return {"activations": names} | seen
    if species.origin == "activation":
        parameters = _checked_parameters(dict(species.parameters))
        return {"activation": species.name, "parameters": parameters} | seen
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
