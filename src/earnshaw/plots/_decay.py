"""A loss or an energy that falls: over decades if it does, down to rounding and no further."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from earnshaw.plots.style import ELECTRON, PALE

FLOOR = 1e-16  # of the largest value: what is below is rounding
DECADES = 30.0  # a range that deserves a logarithmic axis
NEGATIVE = 1e-9  # a value so far below 0 is not rounding
LARGEST = 1e280  # that is drawn, and its inverse the least: axes need some decades beside them


class Decay:
    """The curve of `values` (n,) over `x` (n,), relative to `scale`; see `draw`."""

    def __init__(
        self, x: np.ndarray, values: np.ndarray, scale: float = 1.0, *, always_log: bool = False
    ) -> None:
        values = np.asarray(values, dtype=float) / scale
        good = np.abs(values) <= LARGEST
        self.x, self.raw = np.asarray(x, dtype=float)[good], values[good]
        top = float(np.max(np.abs(self.raw), initial=0.0))
        largest = 1.0 if always_log else top
        self.floor = FLOOR * (largest or 1.0)
        at_floor = self.raw <= self.floor
        signed = bool(np.any(self.raw < -NEGATIVE * max(top, largest)))
        self.log = not signed and top > 1 / LARGEST and (always_log or self._over_decades())
        self.clipped = at_floor if self.log else np.zeros(len(self.raw), dtype=bool)
        self.y = np.maximum(self.raw, self.floor) if self.log else self.raw

    def _over_decades(self) -> bool:
        """Whether most of `x` sees the values fall far; a last plunge does not count."""
        if len(self.x) < 2:
            return False
        evenly = np.linspace(self.x[0], self.x[-1], 201)
        seen = np.maximum(np.interp(evenly, self.x, self.raw), self.floor)
        return float(np.max(seen)) > DECADES * float(np.quantile(seen, 0.1))

    def draw(self, axes: Any, *, steps: bool = False, colour: str = ELECTRON) -> None:
        """The curve, with triangles where it is at or below rounding."""
        if not len(self.x):
            axes.text(0.5, 0.5, "no finite values", ha="center", transform=axes.transAxes)
            return
        style = {"drawstyle": "steps-post"} if steps else {}
        axes.plot(self.x, self.y, color=colour, gid="curve", solid_joinstyle="round", **style)
        if len(self.x) <= 24:
            inner = ~self.clipped
            axes.plot(self.x[inner], self.y[inner], "o", color=colour, ms=4, mec="white", mew=0.7)
        if self.log:
            axes.set_yscale("log")
            self._ticks(axes)
        if np.any(self.clipped):
            axes.plot(
                self.x[self.clipped],
                self.y[self.clipped],
                "v",
                color=colour,
                ms=7,
                mec="white",
                mew=0.8,
                clip_on=False,
                zorder=5,
                gid="floor",
            )
            axes.axhline(self.floor, color=PALE, lw=0.9, ls=":")
            axes.annotate(
                "0 to rounding",
                (0.015, self.floor),
                xycoords=("axes fraction", "data"),
                xytext=(0, 4),
                textcoords="offset points",
                fontsize=8,
                color=PALE,
            )

    def at(self, x: float) -> float:
        """Where the curve is drawn at `x`, between its points."""
        return float(np.interp(x, self.x, self.y))

    def rounded(self, value: float) -> float:
        """`value`, or 0 where it is no more than rounding of the largest."""
        return 0.0 if abs(value) <= 10 * self.floor else value

    def _ticks(self, axes: Any) -> None:
        low, high = float(np.min(self.y)), float(np.max(self.y))
        room = max(np.log10(high / low), 1.0) * 0.06
        axes.set_ylim(low * 10 ** (-1.5 * room), high * 10 ** (2 * room))
        axes.yaxis.set_major_locator(LogLocator(numticks=7))
        axes.yaxis.set_minor_locator(LogLocator(subs=(), numticks=30))
        axes.yaxis.set_minor_formatter(NullFormatter())


def whole_numbers(axes: Any) -> None:
    """Ticks at integers only, for units and iterations."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
