"""Which cells of Table 2 and the figures a preset runs, and with how many seeds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from earnshaw.errors import EarnshawError, OutOfRange, UnknownName
from earnshaw.experiments.sweeps.plan import Plan, plan_of
from earnshaw.papers.reproductions.printed import (
    DEPTHS,
    FIGURE_1_PANELS,
    FIGURE_1_WIDTHS,
    WIDTHS,
)
from earnshaw.papers.reproductions.readings import Reading

Cells = tuple[tuple[int, int], ...]  # pairs of depth and width


@dataclass(frozen=True)
class Preset:
    """The depths of the networks, and how many seeds of each are trained."""

    name: str
    depths: tuple[int, ...]
    seeds: int


PRESETS = {
    preset.name: preset
    for preset in (Preset("quick", (2, 3, 5, 9), 5), Preset("paper", DEPTHS, 10))
}


def preset_named(name: str) -> Preset:
    """The preset of that name; an unknown one is answered with the known."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]


def table_cells(preset: Preset) -> Cells:
    """Those of Table 2 and Figure 2."""
    return tuple((depth, width) for depth in preset.depths for width in WIDTHS)


def figure_cells(preset: Preset) -> Cells:
    """Those of Figure 1: depth 2 at every width, and every depth at two widths."""
    widths = [(2, width) for width in FIGURE_1_WIDTHS]
    depths = [(depth, width) for width in FIGURE_1_PANELS for depth in preset.depths]
    return tuple(dict.fromkeys([*widths, *depths]))


def parse_cells(text: str) -> Cells:
    """``2x5,3x10`` as ((2, 5), (3, 10)): pairs of depth and width, each once."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*x\s*(\d+)\s*", part)
        if match is None:
            raise OutOfRange("cells", text, "depth x width, such as 2x5,3x10")
        found.append((int(match[1]), int(match[2])))
    return tuple(dict.fromkeys(found))


def training_plan(
    name: str,
    cells: Iterable[tuple[int, int]],
    reading: Reading,
    seeds: int,
    iterations: int | None = None,
) -> Plan:
    """The sweep that trains these cells under a reading."""
    cells = tuple(cells)
    if not cells:
        raise EarnshawError("no cells; allowed: depth x width, such as 2x5,3x10")
    shorter = {} if iterations is None else {"iterations": iterations}
    places = [
        {"depth": depth, "width": width, **reading.settings(width), **shorter}
        for depth, width in cells
    ]
    return plan_of("train", places, axes=("depth", "width"), seeds=seeds, name=name)
