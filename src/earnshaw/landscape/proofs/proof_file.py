"""Proofs as files: JSON with everything it takes to verify them again.

    format      "earnshaw-proof"
    version     1
    kind, reason, wrt, objective, radius, bits, variables, held_by, loss, away_from_zero,
    smallest_eigenvalue, curvature, direction, margins, moved: as in `Proof`
    teacher, centre   as in files of teachers and students
    digest      SHA-256 of all the rest

Numbers are written so that they are read back to the last bit, and in no other way: another text
may stand for the same float, and still say more than was proven of that float. The digest is over
the numbers as they are written. It finds accidents and edits by hand; that the claims are true is
for `check` to find out.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from typing import Any

from earnshaw.charges.network_file import (
    STUDENT,
    TEACHER,
    network_fields,
    student_of,
    teacher_of,
)
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import STUMBLED, as_path, opened, reading_file, write_text
from earnshaw.files.fields import flag, integer, number, part, text, values
from earnshaw.files.kind import Fields, Kind
from earnshaw.landscape.proofs.proof import Proof

PLAIN = (text("kind"), text("reason"), text("wrt"), text("objective"), number("radius"))
COUNTS = (integer("bits"), integer("variables"))
NUMBERS = (number("smallest_eigenvalue", null=True), number("curvature", null=True))
LISTS = (values("held_by"), values("loss"), values("direction", null=True), values("margins"))
OF_PROOF = (*PLAIN, *COUNTS, *NUMBERS, number("moved"), *LISTS)
PROOF = Kind(
    (
        *OF_PROOF,
        flag("away_from_zero"),
        part("teacher", TEACHER),
        part("centre", STUDENT),
        text("digest"),
    ),
    "earnshaw-proof",
    endings=(".json",),
)


def save_proof(path: str | os.PathLike[str], proof: Proof) -> None:
    """Write a proof to a ``.json`` file, whole or not at all; refused if it proves nothing.

    Parameters
    ----------
    path
        FILE.json.
    proof
        of `prove`.

    Examples
    --------
    >>> import earnshaw as ew, os, tempfile
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> proof = ew.prove(teacher, ew.Student([[0.5**1.5, 0.5**1.5]], [2.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "proof.json")
    ...     ew.save_proof(file, proof)
    ...     ew.check_proof(file).kind  # which anyone can do
    'minimum'
    """
    if not isinstance(proof, Proof):
        raise EarnshawError(f"cannot save a {type(proof).__name__} as a proof; allowed: Proof")
    if not proof.proven:
        raise EarnshawError(f"there is no proof to save: {proof.reason}")
    write_text(PROOF.check_writable(path), written(proof))


def load_proof(path: str | os.PathLike[str]) -> Proof:
    """The proof in a file that nothing has changed, or one line on what is wrong; not yet checked.

    `check_proof` also verifies what it claims.

    Parameters
    ----------
    path
        of `save_proof`, or of ``earnshaw certify --proof``.

    Returns
    -------
    Proof
        what the file says, believed.

    Examples
    --------
    >>> import earnshaw as ew, os, tempfile
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> proof = ew.prove(teacher, ew.Student([[0.5**1.5, 0.5**1.5]], [2.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "proof.json")
    ...     ew.save_proof(file, proof)
    ...     ew.load_proof(file).loss == proof.loss
    True
    """
    path = as_path(path, "read")
    with reading_file(path), opened(path) as file:
        return read(file.read())


def written(proof: Proof) -> str:
    """The text of a proof's file."""
    fields = {field.name: getattr(proof, field.name) for field in OF_PROOF}
    fields["away_from_zero"] = proof.away_from_zero
    fields |= {"teacher": network_fields(proof.teacher), "centre": network_fields(proof.centre)}
    return PROOF.text(fields | {"digest": _digest(PROOF.text(fields))})


def read(content: str | bytes) -> Proof:
    """The proof of a file's text."""
    fields = PROOF.parse(content)
    if fields["digest"] != _digest(content):
        raise EarnshawError("its digest does not fit: it has been changed since it was written")
    try:
        return _proof(fields)
    except EarnshawError:
        raise
    except (*STUMBLED, ValueError):
        raise EarnshawError("its fields are not those of a proof") from None


def _proof(fields: Fields) -> Proof:
    for name in ("radius", "moved"):
        _check(fields, name, lambda value: value >= 0)
    _check(fields, "held_by", lambda value: all(type(j) is int for j in value))
    _check(fields, "loss", lambda value: len(value) == 2 and all(map(_is_real, value)))
    _check(fields, "direction", lambda value: value is None or all(map(_is_real, value)))
    _check(fields, "margins", lambda value: all(m is None or _is_real(m) for m in value))
    plain = {field.name: fields[field.name] for field in OF_PROOF}
    plain |= {
        field.name: None if plain[field.name] is None else tuple(plain[field.name])
        for field in LISTS
    }
    teacher, centre = teacher_of(fields["teacher"]), student_of(fields["centre"])
    proof = Proof(teacher=teacher, centre=centre, **plain)
    if fields["away_from_zero"] is not proof.away_from_zero:
        raise EarnshawError("its loss and what it says of it do not fit")
    return proof


def _digest(text: str | bytes) -> str:
    """SHA-256 of all fields but the digest, in a fixed order, every number as it is written."""
    fields = json.loads(text, parse_float=_as_written, parse_int=_as_written)
    fields.pop("digest", None)
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _as_written(number: str) -> list[str]:
    if number not in (json.dumps(float(number)), str(int(float(number)))):
        raise EarnshawError(f"its number {number[:40]} is not written as a float is")
    return ["number", number]  # not a text that looks like one


def _check(fields: Fields, name: str, fits: Callable[[Any], bool]) -> None:
    if not fits(fields[name]):
        raise EarnshawError(f"its {name} is not that of a proof")


def _is_real(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
