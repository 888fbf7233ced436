"""Sweeps as TOML files.

name = "depth against width"      # of the run in the store
kind = "train"                    # or "learn"
seeds = 5                         # 0 to 4; or a list

[grid]                            # every combination of these
depth = [2, 3, 5]
width = [5, 10]

[fixed]                           # the same for all
iterations = 100000
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from earnshaw.errors import EarnshawError
from earnshaw.experiments.sweeps.plan import Plan, plan
from earnshaw.files.atomic import as_path, opened, reading_file
from earnshaw.files.json_text import parsed
from earnshaw.text import shown

BUILT_IN = Path(__file__).with_name("built_in")  # sweeps that come with the package
KEYS = ("name", "kind", "seeds", "grid", "fixed")
LARGEST = 2**20  # bytes


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """The sweep in a file, or one line on what is wrong with it."""
    path = as_path(path, "read")
    with reading_file(path), opened(path) as file:
        content = _parsed(file)
    try:
        unknown = [key for key in content if key not in KEYS]
        if unknown:
            raise EarnshawError(
                f"unknown keys {', '.join(map(repr, unknown))}; allowed: {', '.join(KEYS)}"
            )
        for key in ("grid", "fixed"):
            if not isinstance(content.get(key, {}), dict):
                raise EarnshawError(f"{key!r} is no table; allowed: [{key}] and settings below it")
        if "kind" not in content:
            raise EarnshawError("it has no kind; allowed: kind = 'train' or 'learn'")
        return plan(
            content["kind"],
            content.get("grid"),
            fixed=content.get("fixed"),
            seeds=content.get("seeds", 1),
            name=content.get("name", shown(path.stem)),
        )
    except EarnshawError as error:
        raise EarnshawError(f"cannot use {str(path)!r}: {error}") from None


def _parsed(file: BinaryIO) -> dict[str, Any]:
    """The content of a file, of which a plan is at most a few levels deep."""
    text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise EarnshawError(f"it is too large for a sweep; allowed: {LARGEST} bytes")
    try:
        content = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EarnshawError(f"not a TOML file: {error}") from None
    except (RecursionError, ValueError):  # an integer of thousands of digits
        raise EarnshawError("not a TOML file, or one that is nested too deep") from None
    parsed(json.dumps(content, default=str), "not a sweep", finite=False)  # checks its depth
    return content


def built_in(name: str) -> Path | None:
    """The sweep of that name which comes with the package; a file of that name comes first."""
    path = BUILT_IN / f"{name}.toml"
    return path if path.is_file() and not Path(name).exists() else None
