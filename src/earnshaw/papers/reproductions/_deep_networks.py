"""Table 2 and Figures 1 and 2: networks of growing depth and width, trained by gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.experiments.sweeps.sweep import Sweep
from earnshaw.papers.reproductions.printed import FIGURE_1_PANELS, FIGURE_1_WIDTHS, TABLE_2
from earnshaw.papers.reproductions.readings import Reading
from earnshaw.papers.reproductions.reproduction import Curve, Reproduction

TITLES = {
    "table2": "Test error after training, by depth and width",
    "figure1": "Test error on the way",
    "figure2": "Test error after training against width",
}


def reproduction(name: str, preset: str, reading: Reading, trained: Sweep) -> Reproduction:
    """The table or figure of that name from a sweep of its cells."""
    finals = _finals(trained)
    curves = _curves(trained) if name == "figure1" else ()
    return Reproduction(
        name=name,
        preset=preset,
        title=TITLES[name],
        rows=[point for curve in curves for point in _points(curve)] if curves else finals,
        shown=finals,
        remarks=_remarks(reading, trained),
        complete=trained.complete,
        code=trained.code,
        curves=curves,
    )


def _finals(trained: Sweep) -> list[dict[str, Any]]:
    """One row a cell: ours (median and range over the seeds), the papers', and the ratio."""
    rows = []
    for row in trained.rows("error"):
        printed = TABLE_2.get((row["depth"], row["width"]))
        ours = row.get("median")
        rows.append(
            {
                "depth": row["depth"],
                "width": row["width"],
                "median": ours,
                "low": row.get("low"),
                "high": row.get("high"),
                "seeds": row["seeds"],
                "printed": printed,
                "ratio": None if printed is None or ours is None else ours / printed,
            }
        )
    return rows


def _curves(trained: Sweep) -> tuple[Curve, ...]:
    """Figure 1: depth 2 at all widths, then each width of which several depths were trained."""
    ways: dict[tuple[int, int], list[dict[str, np.ndarray]]] = {}
    for cell in trained.cells:
        if cell.numbers is not None:
            place = (cell.settings["depth"], cell.settings["width"])
            ways.setdefault(place, []).append(cell.arrays)
    panels = [("depth 2", [p for p in ways if p[0] == 2 and p[1] in FIGURE_1_WIDTHS])]
    panels += [(f"width {w}", [p for p in ways if p[1] == w]) for w in FIGURE_1_PANELS]
    return tuple(
        _curve(panel, place, ways[place]) for panel, places in panels for place in sorted(places)
    )


def _curve(panel: str, place: tuple[int, int], ways: list[dict[str, np.ndarray]]) -> Curve:
    if not all(_whole(way) and len(way["errors"]) == len(ways[0]["errors"]) for way in ways):
        raise EarnshawError("the store has a result without its errors on the way: it is damaged")
    errors = np.array([way["errors"] for way in ways])
    return Curve(
        panel,
        *place,
        iterations=ways[0]["iterations"],
        median=np.median(errors, axis=0),
        low=errors.min(axis=0),
        high=errors.max(axis=0),
    )


def _whole(way: dict[str, np.ndarray]) -> bool:
    """Whether a result has its errors, each with its iteration."""
    when, errors = way.get("iterations"), way.get("errors")
    if when is None or errors is None or when.ndim != 1:
        return False
    return when.shape == errors.shape and (when.dtype.kind, errors.dtype.kind) == ("i", "f")


def _points(curve: Curve) -> list[dict[str, Any]]:
    return [
        {
            "panel": curve.panel,
            "depth": curve.depth,
            "width": curve.width,
            "iteration": int(i),
            "median": float(median),
            "low": float(low),
            "high": float(high),
        }
        for i, median, low, high in zip(
            curve.iterations, curve.median, curve.low, curve.high, strict=True
        )
    ]


def _remarks(reading: Reading, trained: Sweep) -> tuple[str, ...]:
    settings = trained.plan.settings[0]
    remarks = [
        f"reading {reading.name}: {reading.says}; T = {settings['iterations']}, standard Gaussian "
        "weights, the sigmoid at every node, the output's too, no bias",
        f"median and range over {len(trained.plan.seeds)} seeds",
    ]
    if trained.failed:
        remarks.append(f"{trained.failed} cells failed; `earnshaw runs show` has why")
    return tuple(remarks)
