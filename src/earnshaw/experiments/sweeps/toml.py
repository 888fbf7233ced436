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

import os
import tomllib
from pathlib import Path

from earnshaw.errors import EarnshawError
from earnshaw.experiments.sweeps.plan import Plan, plan
from earnshaw.files.atomic import reading_file

BUILT_IN = Path(__file__).with_name("built_in")  # sweeps that come with the package
KEYS = ("name", "kind", "seeds", "grid", "fixed")


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """The sweep in a file, or one line on what is wrong with it."""
    path = Path(path)
    with reading_file(path):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise EarnshawError(f"not a TOML file: {error}") from None
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
            name=content.get("name", path.stem),
        )
    except EarnshawError as error:
        raise EarnshawError(f"cannot use {str(path)!r}: {error}") from None


def built_in(name: str) -> Path | None:
    """The sweep of that name which comes with the package; a file of that name comes first."""
    path = BUILT_IN / f"{name}.toml"
    return path if path.is_file() and not Path(name).exists() else None
