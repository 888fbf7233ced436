"""Kinds of files: a header that says what a file is, and declared fields; never pickle.

Every file that earnshaw writes for itself begins with

    format      such as "earnshaw-teacher"
    version     1

and holds the fields that its kind declares (`fields.py`), next to the object that it stores:
`charges/network_file.py`, `learning/_run_file.py`, `dynamics/path_file.py`,
`landscape/hunting/_hunt_file.py`, `landscape/proofs/proof_file.py`,
`learning/fitting/model_file.py`, `papers/claims/results_file.py` and `witness.py`. Whatever is
wrong with a file is one line.

In a JSON file each field is on a line of its own, and every number is written to its last bit. In
an NPZ file numbers and texts are arrays of no dimension, lists and objects are JSON text, and the
fields of a part are named part.field.

Equinox's `tree_serialise_leaves` would write the same arrays, but without names: only code with the
same classes could read them. NPZ and JSON can be read, and checked, by anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.files.atomic import (
    as_path,
    check_writable,
    opened,
    reading_file,
    write_text,
    write_whole,
)
from earnshaw.files.fields import Field, Group, integer, text
from earnshaw.files.json_text import parsed
from earnshaw.files.npz import Archive

Made = TypeVar("Made")
Fields = dict[str, Any]
HEADER = (text("format"), integer("version"))
REMARKS = ("version", "dim", "comment")  # that a file without a header may have for no purpose


@dataclass(frozen=True, eq=False)
class Kind(Group):
    """A kind of file.

    Attributes:
        fields: all but the header.
        format: what the header says.
        version: what the header says; another one is refused.
        endings: of such files; what ends in .json is JSON, anything else NPZ.
        finite: whether NaN and infinities are refused where a file holds JSON.
    """

    format: str
    version: int = 1
    endings: tuple[str, ...] = (".json", ".npz")
    finite: bool = True

    @property
    def declared(self) -> tuple[Field, ...]:
        """All fields, header and all."""
        return (*HEADER, *self.fields)

    def check_writable(self, path: str | os.PathLike[str]) -> Path:
        """The path; refused, before any work is done, if such a file could not be written there."""
        path = as_path(path, "write")
        check_writable(path, self.endings)
        return path

    def save(self, path: str | os.PathLike[str], fields: Fields) -> None:
        """Write a file, whole or not at all."""
        path = self.check_writable(path)
        if _is_json(path):
            write_text(path, self.text(fields))
            return
        arrays = _flat(self, self.with_header(fields), self.finite)

        def write(name: str) -> None:
            with open(name, "wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]

        write_whole(path, write)

    def load(self, path: str | os.PathLike[str], made: Callable[[Fields], Made]) -> Made:
        """What `made` makes of the fields of a file, or one line on what is wrong with it."""
        return load_any(path, {self: made})

    def text(self, fields: Fields) -> str:
        """The text of a JSON file."""
        lines = [
            f'  "{name}": {_json(name, value, self.finite)}'
            for name, value in _plain(self.with_header(fields)).items()
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def parse(self, content: str | bytes) -> Fields:
        """The fields of the text of a JSON file, checked."""
        return self.checked(_read_json(content, [self]))

    def with_header(self, fields: Fields) -> Fields:
        """The fields of a file, header and all; those of a part of another kind of file."""
        return {"format": self.format, "version": self.version} | fields

    def checked(self, raw: Mapping[str, Any]) -> Fields:
        """The fields, after a look at the header."""
        _check_header(raw, [self])
        return super().checked(raw)


@dataclass(frozen=True)
class ByHand(Generic[Made]):
    """Files without a header, as people write them: which fields they may have, and what they are.

    Attributes:
        group: the fields, of which those that are not optional make a file one of these.
        made: what is made of them.
        read_csv: the fields of a CSV file, for kinds that have such.
    """

    group: Group
    made: Callable[[Fields], Made]
    read_csv: Callable[[bytes], Mapping[str, Any]]

    def fits(self, raw: Mapping[str, Any]) -> bool:
        """Whether a file is one of these: it has no header, but some of what it must have."""
        needed = (field.name for field in self.group.fields if not field.optional)
        return "format" not in raw and any(name in raw for name in needed)

    def load(self, raw: Mapping[str, Any]) -> Made:
        """A field that nobody knows is refused: what was meant by it would be missing."""
        known = [field.name for field in self.group.fields]
        if unknown := [name for name in raw if name not in (*known, *REMARKS)]:
            raise EarnshawError(f"it has a field {unknown[0]!r}; allowed: {', '.join(known)}")
        return self.made(self.group.checked(raw))


def load_any(
    path: str | os.PathLike[str],
    makers: Mapping[Kind, Callable[[Fields], Made]],
    by_hand: ByHand[Made] | None = None,
) -> Made:
    """What is made of a file of one of several kinds, or one line on what is wrong with it."""
    path = as_path(path, "read")
    kinds = list(makers)
    endings = kinds[0].endings
    if len(endings) > 1 and path.suffix.lower() not in endings:
        raise EarnshawError(f"cannot read {str(path)!r}; allowed endings: {', '.join(endings)}")
    # What fits field by field may still be of a kind that our own code has never seen.
    with reading_file(path, "its fields do not fit together"):
        is_json = endings == (".json",) or (".json" in endings and _is_json(path))
        with opened(path) as file:
            if by_hand is not None and path.suffix.lower() == ".csv":
                raw = by_hand.read_csv(file.read())
            else:
                raw = _read_json(file.read(), kinds) if is_json else _read_npz(file, kinds)
        if by_hand is not None and by_hand.fits(raw):
            return by_hand.load(raw)
        kind = _check_header(raw, kinds)
        return makers[kind](kind.checked(raw))


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _check_header(raw: Mapping[str, Any], kinds: list[Kind]) -> Kind:
    """The kind that a file is of."""
    formats = [kind.format for kind in kinds]
    if "format" not in raw:
        raise EarnshawError(
            f"it has no field 'format': not a file of earnshaw; allowed: {', '.join(formats)}"
        )
    header = Group(HEADER).checked(raw)
    for kind in kinds:
        if kind.format == header["format"]:
            break
    else:
        raise OutOfRange("its format", header["format"], " or ".join(formats))
    if (version := header["version"]) != kind.version:
        newer = " (a newer earnshaw wrote it)" if version > kind.version else ""
        raise EarnshawError(f"its version is {version}; allowed: {kind.version}{newer}")
    return kind


# JSON


def _read_json(content: str | bytes, kinds: list[Kind]) -> Mapping[str, Any]:
    raw = parsed(content, "it is not JSON", all(kind.finite for kind in kinds))
    if not isinstance(raw, dict):
        formats = ", ".join(kind.format for kind in kinds)
        raise EarnshawError(f"not a file of earnshaw; allowed: {formats}")
    return raw


def _json(name: str, value: Any, finite: bool) -> str:
    try:
        return json.dumps(value, allow_nan=not finite)
    except (TypeError, ValueError):
        raise EarnshawError(
            f"the {name} cannot be stored; allowed: texts, finite numbers and lists"
        ) from None


def _plain(value: Any) -> Any:
    """Arrays as lists, tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


# NPZ


def _flat(group: Group, fields: Fields, finite: bool, prefix: str = "") -> dict[str, np.ndarray]:
    """The arrays of an NPZ file that holds these fields."""
    arrays: dict[str, np.ndarray] = {}
    for field in group.declared:
        key, value = prefix + field.name, fields.get(field.name)
        if value is None:
            continue
        if field.is_part and field.group is not None:
            arrays |= _flat(field.group, value, finite, f"{key}.")
        elif field.numbered:
            arrays |= {f"{key}.{i}": np.asarray(one) for i, one in enumerate(value)}
        else:
            arrays[key] = np.asarray(_json(field.name, value, finite) if field.is_json else value)
    return arrays


def _read_npz(file: BinaryIO, kinds: list[Kind]) -> Mapping[str, Any]:
    every = Group(tuple(field for kind in kinds for field in kind.declared))
    archive = Archive(file)
    raw = _raw(every, archive, all(kind.finite for kind in kinds))
    if "format" not in archive:  # written by hand, and perhaps with names that nobody knows
        raw |= {name: None for name in archive if name.partition(".")[0] not in raw}
    return raw


def _raw(
    group: Group, archive: Mapping[str, np.ndarray], finite: bool, prefix: str = ""
) -> dict[str, Any]:
    """The declared fields of an archive, as a JSON file would have them; arrays as they are."""
    raw: dict[str, Any] = {}
    for field in group.declared:
        key = prefix + field.name
        if field.is_part and field.group is not None:
            if any(name.startswith(f"{key}.") for name in archive):
                raw[field.name] = _raw(field.group, archive, finite, f"{key}.")
        elif field.numbered:
            found: list[np.ndarray] = []
            raw[field.name] = found
            while (numbered := f"{key}.{len(found)}") in archive:
                found.append(archive[numbered])
        elif key in archive:
            array = archive[key]
            value = array.item() if array.ndim == 0 else array
            if field.is_json and isinstance(value, str):
                value = parsed(value, f"its {field.name} are not JSON", finite)
            raw[field.name] = value
    return raw
