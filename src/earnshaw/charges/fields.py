"""Files of named fields, JSON or NPZ, that networks and models are kept in; never pickle.

In an NPZ file dictionaries and lists are JSON text, numbers and texts arrays of no dimension.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError


def write_fields(name: str, ending: str, fields: Mapping[str, Any]) -> None:
    """Write fields as ``.json``, one on a line, or as ``.npz``."""
    if ending == ".json":
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        lines = (f'  "{key}": {_text(key, value)}' for key, value in plain.items())
        Path(name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return
    arrays = {k: _text(k, v) if isinstance(v, (dict, list)) else v for k, v in fields.items()}
    with open(name, "wb") as file:
        np.savez(file, **{key: np.asarray(value) for key, value in arrays.items()})  # type: ignore[arg-type]


def read_json(content: bytes, formats: Sequence[str]) -> Mapping[str, Any]:
    """The fields of a JSON file."""
    fields = parsed(content, "it is not JSON")
    if not isinstance(fields, dict):
        raise EarnshawError(f"not a file of earnshaw; allowed: {', '.join(formats)}")
    return fields


def read_npz(content: bytes, names: Sequence[str], texts: Sequence[str]) -> Mapping[str, Any]:
    """The fields `names` of an NPZ file, scalars and texts as Python's own; `texts` are JSON."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in names if name in archive}
    except Exception:
        # Foreign bytes: pickles, and whatever the decoders of zip, deflate and NPY make of them.
        raise EarnshawError("not an NPZ file, a damaged one, or one with pickled objects") from None
    fields = {name: a.item() if a.ndim == 0 else a for name, a in arrays.items()}
    for name in texts:
        if isinstance(text := fields.get(name), str):
            fields[name] = parsed(text, f"its {name} are not JSON")
    return fields


def parsed(text: str | bytes, otherwise: str) -> Any:
    """JSON without NaN and infinities."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except EarnshawError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise EarnshawError(f"{otherwise}: {error.msg} at {place}") from None
    except (ValueError, RecursionError):
        raise EarnshawError(otherwise) from None


def _text(name: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise EarnshawError(
            f"the {name} cannot be stored; allowed: texts, finite numbers and lists"
        ) from None


def _refuse_constant(name: str) -> Any:
    raise EarnshawError(f"it has the number {name}; allowed: finite numbers")
