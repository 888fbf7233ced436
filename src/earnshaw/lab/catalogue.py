"""Every activation and potential of the library, as the tables that the page is delivered with.

`python -m earnshaw.lab.catalogue` makes them anew and writes `page/tables.json`: minutes, since
each potential is compiled. Tests compare the file with the library.

An entry of the catalogue is a name with the table that it has on each stage, or the reason why it
has none there:

    line R^1, plane R^2, space R^3, circle S^1, sphere S^2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.charges.network import Teacher
from earnshaw.duality.activation import DotProduct, Translation
from earnshaw.duality.named import ACTIVATIONS, POTENTIALS, activation
from earnshaw.errors import EarnshawError
from earnshaw.lab.tables import activation_table, potential_table

FILE = Path(__file__).parent / "page" / "tables.json"
STAGES = {
    "line": ("space", 1),
    "plane": ("space", 2),
    "space": ("space", 3),
    "circle": ("sphere", 2),
    "sphere": ("sphere", 3),
}
GIVEN = {"hermite": ("hermite-2", "hermite-3", "hermite-4"), "polynomial": ()}  # needs coefficients
RADII = np.linspace(0.02, 4.0, 200)  # at which profiles are drawn
PARAMETERS: dict[str, dict[str, Any]] = {"sphere-synthetic": {"degree": 4}}


def names() -> list[str]:
    """The names that are in the catalogue: activations, then potentials that have none."""
    plain = sorted({*ACTIVATIONS, *POTENTIALS})
    return [one for name in plain for one in GIVEN.get(name, (name,))]


def catalogue() -> dict[str, Any]:
    """`entries` by name and `tables` by number, as the page reads them."""
    tables: list[dict[str, Any]] = []
    entries = {}
    for name in names():
        entry: dict[str, Any] = {
            "stages": {},
            "reasons": {},
            "parameters": PARAMETERS.get(name, {}),
        }
        for stage, (on, dim) in STAGES.items():
            try:
                table = potential_table(_one_proton(name, on, dim))
            except EarnshawError as error:
                entry["reasons"][stage] = str(error)
                continue
            if table not in tables:
                tables.append(table)
            entry["stages"][stage] = tables.index(table)
        entry["activation"] = _activation(name)
        entry["profiles"] = _profiles(name)
        if entry["stages"]:
            entries[name] = entry
    return {"entries": entries, "tables": tables}


def _one_proton(name: str, on: str, dim: int) -> Teacher:
    return Teacher(np.eye(1, dim), np.ones(1), name, on=on, **PARAMETERS.get(name, {}))


def _activation(name: str) -> dict[str, Any] | None:
    """The table of s(x), for dot-product units."""
    try:
        made = activation(name, **PARAMETERS.get(name, {}))
        return activation_table(made) if isinstance(made, DotProduct) else None
    except EarnshawError:
        return None


def _profiles(name: str) -> dict[str, list[float]]:
    """h(x) of units on R^d, at x = (RADII, 0, ...), by stage; to be drawn."""
    found = {}
    for stage, (on, dim) in STAGES.items():
        try:
            made = activation(name, dim=dim) if on == "space" and name in ACTIVATIONS else None
        except EarnshawError:
            continue
        if isinstance(made, Translation):
            values = np.asarray(made.profile(np.eye(1, dim) * RADII[:, None]))
            if np.all(np.isfinite(values)):  # bessel is infinite along an axis
                found[stage] = np.round(values, 9).tolist()
    return found


def read() -> dict[str, Any]:
    """What `page/tables.json` holds."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(catalogue(), separators=(",", ":")) + "\n", encoding="utf-8")
