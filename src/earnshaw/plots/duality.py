"""An activation and its potential side by side, with the force and the sign of the Laplacian."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earnshaw.activations.base import Activation, DotProduct
from earnshaw.duality.realization import Obstruction
from earnshaw.plots.style import (
    ELECTRON,
    FIELD,
    INK,
    PROTON,
    RC,
    SUBHARMONIC,
    SUPERHARMONIC,
)
from earnshaw.potentials.base import Potential, Radial, Zonal

SAMPLES = 801


def draw_pair(
    activation: Activation | None, potential: Potential, obstruction: Obstruction | None = None
) -> Figure:
    """Four panels: activation, potential, force between unit charges, Laplacian with its sign."""
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(10, 7), layout="constrained")
        (left, right), (low_left, low_right) = figure.subplots(2, 2)
        _draw_activation(left, activation, obstruction)
        view = _View(potential)
        _draw_potential(right, view)
        _draw_force(low_left, view)
        _draw_laplacian(low_right, view)
        figure.suptitle(view.title, fontweight="bold", fontsize=13)
    return figure


class _View:
    """The potential on the stretch of its variable that is worth showing."""

    def __init__(self, potential: Any) -> None:
        self.potential = potential
        self.zonal = isinstance(potential, Zonal)
        dim = getattr(potential, "dim", None)
        self.dim = dim
        self.title = potential.name + ("" if dim is None else f",  d = {dim}")
        self.core = min(potential.breakpoints, default=None) if _is_radial(potential) else None
        if self.zonal:
            self.x = np.cos(np.linspace(np.pi, 0, SAMPLES))
            self.label, self.where = r"$\rho = \theta\cdot w$", "on the sphere"
        else:
            self.x = np.linspace(0, _reach(potential), SAMPLES)
            self.label, self.where = r"$r = |\theta - w|$", "on $\\mathbb{R}^d$"
        with np.errstate(all="ignore"):
            self.value = np.asarray(potential.value(self.x))
            self.first = np.asarray(potential.first(self.x))

    def laplacian(self) -> np.ndarray | None:
        if self.zonal and self.dim is None:
            return None
        if hasattr(self.potential, "laplacian"):
            return np.asarray(self.potential.laplacian(self.x))
        # A product: along the diagonal, where no coordinate vanishes.
        away = np.repeat(self.x[:, None] / np.sqrt(self.dim), self.dim, axis=1)
        return np.asarray(self.potential.laplacian_between(away, np.zeros(self.dim)))


def _is_radial(potential: Potential) -> bool:
    return isinstance(potential, Radial)


def _reach(potential: Any) -> float:
    """As far as the potential is above a thousandth of its largest finite value, from 0.5 to 8."""
    grid = np.linspace(0.0, 8.0, 4001)[1:]
    size = np.abs(np.asarray(potential.value(grid)))
    start = float(np.abs(np.asarray(potential.value(0.0))))
    top = start if np.isfinite(start) and start > 0 else np.nanmax(size[np.isfinite(size)]) / 100
    above = grid[size > 1e-3 * top]
    return float(np.clip(1.05 * above[-1], 0.5, 8.0)) if len(above) else 4.0


def _draw_activation(axes: Axes, activation: Any, obstruction: Obstruction | None) -> None:
    axes.set_title("Activation")
    if activation is None:
        axes.grid(False)
        axes.set_xticks([])
        axes.set_yticks([])
        reason = "no activation has this potential"
        if obstruction is not None:
            what = {
                "negative-coefficient": "Taylor coefficient of degree {:g}",
                "negative-gegenbauer": "Gegenbauer coefficient of degree {:g}",
                "negative-frequency": "Fourier transform at |ω| = {:.4g}",
                "exceeds-origin": "value at distance {:.4g} above that at 0",
                "unbounded": "infinite at coincidence",
            }[obstruction.kind].format(obstruction.location)
            reason += f"\n{what}: {obstruction.value:.3g}"
        axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes)
        return
    x = np.linspace(-4, 4, 1601)
    if isinstance(activation, DotProduct):
        axes.plot(x, np.asarray(activation(x)), color=INK)
        axes.set_xlabel("$x\\cdot w$")
        axes.set_ylabel(r"$\sigma(x\cdot w)$")
    else:
        line = np.zeros((len(x), activation.dim))
        line[:, 0] = x
        profile = np.asarray(activation.profile(line))
        axes.plot(x, profile, color=INK)
        finite = profile[np.isfinite(profile)]
        if finite.max() > 20 * np.quantile(finite, 0.9):  # the spike of h at 0 hides the rest
            axes.set_yscale("log")
            axes.set_ylim(bottom=max(finite[finite > 0].min(), 1e-8 * finite.max()))
        axes.set_xlabel("$x - w$ along one axis")
        axes.set_ylabel(r"$h(x-w) = \sigma(x,w)\sqrt{p(x)}$")


def _draw_potential(axes: Axes, view: _View) -> None:
    axes.set_title(f"Potential {view.where}")
    axes.plot(view.x, view.value, color=PROTON)
    axes.set_xlabel(view.label)
    axes.set_ylabel(r"$\Phi$")
    _limit(axes, view.value)
    _mark_core(axes, view, label=True)


def _draw_force(axes: Axes, view: _View) -> None:
    if view.zonal:
        angle = np.linspace(0, np.pi, SAMPLES)[::-1]
        with np.errstate(all="ignore"):
            force = np.sin(angle) * view.first
        axes.plot(np.degrees(angle), force, color=ELECTRON)
        axes.set_xlabel(r"angle between $\theta$ and $w$ (degrees)")
        axes.set_xticks([0, 45, 90, 135, 180])
        axes.set_ylabel(r"$-d\Phi/dt = \sin t\, f'(\cos t)$")
    else:
        force = -view.first
        axes.plot(view.x, force, color=ELECTRON)
        axes.set_xlabel(view.label)
        axes.set_ylabel(r"$-\Phi'(r)$")
        _mark_core(axes, view)
    axes.axhline(0, color=INK, linewidth=0.8)
    _limit(axes, force)
    axes.set_title("Attraction of opposite unit charges")


def _draw_laplacian(axes: Axes, view: _View) -> None:
    axes.set_title("Laplacian, and its sign")
    laplacian = view.laplacian()
    if laplacian is None:
        axes.text(
            0.5, 0.5, "give --dim for the Laplacian", ha="center", transform=axes.transAxes
        )
        axes.set_xticks([])
        axes.set_yticks([])
        return
    finite = laplacian[np.isfinite(laplacian)]
    scale = np.max(np.abs(finite)) if finite.size else 1.0
    signs = np.where(np.abs(laplacian) <= 1e-12 * scale, 0.0, np.sign(laplacian))
    for colour, sign, label in (
        (SUBHARMONIC, 1, "subharmonic: minima excluded"),
        (SUPERHARMONIC, -1, "superharmonic"),
    ):
        mask = np.nan_to_num(signs) == sign
        axes.fill_between(
            view.x, 0, 1, where=mask, color=colour, transform=axes.get_xaxis_transform(), lw=0
        )
        axes.fill_between([], [], color=colour, label=label if mask.any() else None)
    axes.plot(view.x, laplacian, color=FIELD)
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xlabel(view.label)
    axes.set_ylabel(r"$\Delta_\theta\Phi$")
    spread = np.quantile(np.abs(finite), 0.5) if finite.size else 0
    if scale > 200 * spread > 0:
        axes.set_yscale("symlog", linthresh=spread)
    else:
        _limit(axes, laplacian)
    _mark_core(axes, view)
    axes.legend(loc="best", fontsize=8)


def _limit(axes: Axes, values: np.ndarray) -> None:
    """Keep an infinite end from flattening the rest."""
    finite = values[np.isfinite(values)]
    if finite.size < values.size or np.ptp(finite) > 50 * np.ptp(np.quantile(finite, [0.05, 0.95])):
        low, high = np.quantile(finite, [0.02, 0.98])
        margin = 0.1 * (high - low) or 1.0
        axes.set_ylim(low - margin, high + margin)


def _mark_core(axes: Axes, view: _View, label: bool = False) -> None:
    if view.core is None or view.zonal:
        return
    axes.axvline(view.core, color=INK, linestyle=":", linewidth=1.2)
    if label:
        axes.annotate(
            f"core, r = {view.core:g}",
            (view.core, 0.92),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=9,
        )
