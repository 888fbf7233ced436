"""Proofs as files: JSON with everything it takes to verify them again.

    format      "earnshaw-proof"
    version     1
    kind, reason, wrt, objective, radius, bits, variables, held_by, loss, away_from_zero,
    smallest_eigenvalue, curvature, direction, margins, moved: as in `Proof`
    teacher, centre   as in files of teachers and students
    digest      SHA-256 of all the rest

Numbers are written so that they are read back to the last bit. The digest is over the numbers as
they are written, digit by digit, not as they are read: two texts may stand for the same float. It
finds accidents and edits by hand; that the claims are true is for `check` to find out.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.storage import STUDENT, TEACHER, fields_of, network_of
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable, reading_file, write_text
from earnshaw.landscape.rigorous.proof import Proof

FORMAT, VERSION, ENDING = "earnshaw-proof", 1, ".json"
PLAIN = ("kind", "reason", "wrt", "objective", "radius", "bits", "variables")
NUMBERS = ("smallest_eigenvalue", "curvature", "moved")
LISTS = ("held_by", "loss", "direction", "margins")


def save_proof(path: str | os.PathLike[str], proof: Proof) -> None:
    """Write a proof to a ``.json`` file, whole or not at all; refused if it proves nothing."""
    if not isinstance(proof, Proof):
        raise EarnshawError(f"cannot save a {type(proof).__name__} as a proof; allowed: Proof")
    if not proof.proven:
        raise EarnshawError(f"there is no proof to save: {proof.reason}")
    target = Path(path)
    check_writable(target, (ENDING,))
    text = written(proof)
    write_text(target, text)


def load_proof(path: str | os.PathLike[str]) -> Proof:
    """The proof in a file that nothing has changed, or one line on what is wrong; not yet checked.

    `check` also verifies what it claims.
    """
    with reading_file(path):
        return read(Path(path).read_bytes())


def written(proof: Proof) -> str:
    """The text of a proof's file."""
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    fields |= {name: getattr(proof, name) for name in (*PLAIN, *NUMBERS)}
    fields |= {name: _listed(getattr(proof, name)) for name in LISTS}
    fields["away_from_zero"] = proof.away_from_zero
    for name, network in (("teacher", proof.teacher), ("centre", proof.centre)):
        plain = fields_of(network)
        fields[name] = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in plain.items()}
    lines = [f'  "{name}": {json.dumps(value, allow_nan=False)}' for name, value in fields.items()]
    digest = _digest("{" + ",".join(lines) + "}")
    return "{\n" + ",\n".join([*lines, f'  "digest": "{digest}"']) + "\n}\n"


def read(content: str | bytes) -> Proof:
    """The proof of a file's text."""
    try:
        fields = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise EarnshawError("it is not JSON") from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise EarnshawError(f"it is not an {FORMAT} file")
    if fields.get("version") != VERSION or type(fields["version"]) is not int:
        raise EarnshawError(
            f"its version is {fields.get('version')!r}; this program reads version {VERSION}"
        )
    if fields.get("digest") != _digest(content):
        raise EarnshawError("its digest does not fit: it has been changed since it was written")
    try:
        return _proof(fields)
    except EarnshawError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise EarnshawError("its fields are not those of a proof") from None


def _proof(fields: dict[str, Any]) -> Proof:
    teacher = network_of(fields["teacher"], (TEACHER,))
    centre = network_of(fields["centre"], (STUDENT,))
    assert isinstance(teacher, Teacher)
    assert isinstance(centre, Student)
    for name in ("kind", "reason", "wrt", "objective"):
        _check(fields, name, lambda value: type(value) is str)
    for name in ("bits", "variables"):
        _check(fields, name, lambda value: type(value) is int)
    for name in ("radius", "moved"):
        _check(fields, name, lambda value: _is_real(value) and value >= 0)
    for name in ("smallest_eigenvalue", "curvature"):
        _check(fields, name, lambda value: value is None or _is_real(value))
    _check(fields, "held_by", lambda value: all(type(j) is int for j in value))
    _check(fields, "loss", lambda value: len(value) == 2 and all(map(_is_real, value)))
    _check(fields, "direction", lambda value: value is None or all(map(_is_real, value)))
    _check(fields, "margins", lambda value: all(m is None or _is_real(m) for m in value))
    plain: dict[str, Any] = {name: fields[name] for name in (*PLAIN, *NUMBERS)}
    for name in LISTS:
        plain[name] = None if fields[name] is None else tuple(fields[name])
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
    return ["number", number]  # not a text that looks like one


def _listed(values: Any) -> list[Any] | None:
    return None if values is None else list(values)


def _check(fields: dict[str, Any], name: str, fits: Callable[[Any], bool]) -> None:
    if not fits(fields[name]):
        raise EarnshawError(f"its {name} is not that of a proof")


def _is_real(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _refuse(name: str) -> Any:
    raise ValueError(name)
