"""The picture of `ew.train`: the test error of a student on its way."""

from __future__ import annotations

from typing import Any, Protocol

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.plots._decay import Decay
from earnshaw.plots.formatting import short
from earnshaw.plots.style import ELECTRON, RC


class Trained(Protocol):
    """What the picture needs; `ew.Trained` says what each is.

    A protocol, so that the pictures and the machinery of training need not know each other.
    """

    @property
    def iterations(self) -> np.ndarray: ...
    @property
    def errors(self) -> np.ndarray: ...
    @property
    def scale(self) -> float: ...
    @property
    def settings(self) -> Any: ...
    @property
    def seed(self) -> int: ...


def draw_trained(trained: Trained) -> Figure:
    """The error over the iterations, relative to that of the answer 0."""
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(8.4, 4.8), layout="constrained")
        draw_errors(trained, figure.add_subplot())
        asked = trained.settings
        title = f"{asked.activation}, depth {asked.depth}, width {asked.width}, seed {trained.seed}"
        figure.suptitle(title, fontweight="bold", fontsize=13)
    return figure


def draw_errors(trained: Trained, axes: Any) -> None:
    """The same in axes of the user's own."""
    with matplotlib.rc_context(RC):
        scale = trained.scale if trained.scale > 0 else 1.0
        Decay(trained.iterations, trained.errors, scale).draw(axes)
        axes.set_title("Test error / error of the answer 0", loc="left")
        axes.set_title(short(float(trained.errors[-1]) / scale), loc="right", color=ELECTRON)
        axes.set_xlabel("iteration")
