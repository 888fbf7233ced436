"""An activation and its potential side by side, with the force and the sign of the Laplacian."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earnshaw.duality.activation import Activation, DotProduct
from earnshaw.duality.potential import (
    Potential,
    Radial,
    Zonal,
    elementwise_derivative,
)
from earnshaw.duality.realizing.realization import ANSWERS, Obstruction, Realization
from earnshaw.duality.realizing.realize import realize
from earnshaw.errors import OutOfRange
from earnshaw.plots.formatting import plain
from earnshaw.plots.style import (
    ELECTRON,
    FIELD,
    INK,
    PROTON,
    RC,
    SUBHARMONIC,
    SUPERHARMONIC,
)

SAMPLES = 801
MAX_DIM = 2000  # of displacements along a diagonal


def draw_pair(
    activation: Activation | None,
    potential: Potential,
    obstruction: Obstruction | None = None,
    missing: str = "no activation has this potential",
) -> Figure:
    """Four panels: activation, potential, force between unit charges, Laplacian with its sign.

    Where there is no activation to draw, `missing` says why.
    """
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(10, 7), layout="constrained")
        (left, right), (low_left, low_right) = figure.subplots(2, 2)
        view = _View(potential)
        _draw_activation(left, activation, obstruction, missing, view.reach)
        _draw_potential(right, view)
        _draw_force(low_left, view)
        _draw_laplacian(low_right, view)
        figure.suptitle(plain(view.title), fontweight="bold", fontsize=13)
    return figure


def draw_potential(potential: Potential) -> Figure:
    """The same of a potential alone: with the activation it was made from, or one that is found."""
    origin = getattr(potential, "origin", None)
    if isinstance(origin, Activation):
        return draw_pair(origin, potential)
    return draw_realization(realize(potential))


def draw_realization(found: Realization) -> Figure:
    """The same of what `ew.realize` found."""
    return draw_pair(found.activation, found.potential, found.obstruction, _why(found))


def draw_values(potential: Potential, axes: Axes) -> None:
    """The potential alone, in axes of the user's own."""
    with matplotlib.rc_context(RC):
        _draw_potential(axes, _View(potential))


def draw_activation_of(found: Realization, axes: Axes) -> None:
    """The activation that was found, or why there is none, in axes of the user's own."""
    with matplotlib.rc_context(RC):
        reach = _View(found.potential).reach
        _draw_activation(axes, found.activation, found.obstruction, _why(found), reach)


def _why(found: Realization) -> str:
    if found.realizable is not False:  # inconclusive, or known to exist but not computed
        return f"{ANSWERS[found.realizable]}, with no activation to draw"
    return "no activation has this potential"


class _View:
    """The potential on the stretch of its variable that is worth showing.

    `x` is rho on the sphere, r for a radial potential, and for the others the length of a
    displacement along the diagonal, where no coordinate vanishes.
    """

    def __init__(self, potential: Any) -> None:
        dim: Any = getattr(potential, "dim", None)
        self.title = potential.name if dim is None else f"{potential.name},  d = {dim}"
        self.sphere = ""  # of the Laplacian, where nobody has said which
        if isinstance(potential, Zonal) and dim is None:
            dim = 3  # the Laplacian needs one, the rest of the picture does not
            potential = dataclasses.replace(potential, dim=dim)
            self.sphere = " on $S^2$"
        self.potential, self.dim = potential, dim
        self.zonal, self.radial = isinstance(potential, Zonal), isinstance(potential, Radial)
        if not (self.zonal or self.radial) and dim > MAX_DIM:
            allowed = f"at most {MAX_DIM} where the potential is a formula in coordinates"
            raise OutOfRange("the dimension of a picture", dim, allowed)
        self.core = min(getattr(potential, "breakpoints", ()), default=None)
        if self.zonal:
            self.reach = 1.0
            self.x = np.cos(np.linspace(np.pi, 0, SAMPLES))
            self.label, self.where = r"$\rho = \theta\cdot w$", "on the sphere"
        else:
            self.reach = reach = _reach(self.phi)
            # A formula with |x1| has no derivative at 0 itself, only beside it.
            self.x = np.linspace(0 if self.radial else 1e-9 * reach, reach, SAMPLES)
            along = "" if self.radial else " along the diagonal"
            self.label, self.where = r"$r = |\theta - w|$" + along, "on $\\mathbb{R}^d$"
        with np.errstate(all="ignore"):
            self.value = np.asarray(self.phi(self.x))
            slope = potential.first if self.zonal or self.radial else self._diagonal_slope
            self.first = np.asarray(slope(self.x))

    def phi(self, x: Any) -> Any:
        """Phi as a function of `x`."""
        if self.zonal or self.radial:
            return self.potential.value(x)
        return self.potential.between(self._diagonal(x), np.zeros(self.dim))

    def laplacian(self) -> np.ndarray:
        """The Laplacian of Phi at the abscissae `x`, (n,): its sign colours the background."""
        if self.zonal or self.radial:
            return np.asarray(self.potential.laplacian(self.x))
        origin = np.zeros(self.dim)
        return np.asarray(self.potential.laplacian_between(self._diagonal(self.x), origin))

    def _diagonal(self, x: Any) -> Any:
        return jnp.repeat(jnp.asarray(x)[..., None] / np.sqrt(self.dim), self.dim, axis=-1)

    def _diagonal_slope(self, x: np.ndarray) -> Any:
        return elementwise_derivative(self.phi, x)


def _reach(phi: Any) -> float:
    """As far as |Phi| is above a thousandth of its largest finite value, from 0.5 to 8."""
    grid = np.linspace(0.0, 8.0, 4001)
    size = np.abs(np.asarray(phi(grid)))
    top = size[0] if 0 < size[0] < np.inf else np.max(size[np.isfinite(size)], initial=0.0) / 100
    above = grid[size > 1e-3 * top]
    return float(np.clip(1.05 * above[-1], 0.5, 8.0)) if len(above) else 4.0


def _draw_activation(
    axes: Axes, activation: Any, obstruction: Obstruction | None, reason: str, reach: float
) -> None:
    """s(x), or the profile h of sigma(x, w) = h(x - w)/sqrt(p(x)) as far as `reach`; or why not."""
    axes.set_title("Activation")
    if activation is None:
        axes.grid(False)
        axes.set_xticks([])
        axes.set_yticks([])
        if obstruction is not None:
            what = {
                "negative-coefficient": "Taylor coefficient of degree {:g}",
                "negative-gegenbauer": "Gegenbauer coefficient of degree {:g}",
                "negative-frequency": "Fourier transform at |ω| = {:.4g}",
                "exceeds-origin": "value at distance {:.4g} above that at 0",
                "unbounded": "infinite at coincidence",
                "not-analytic": "not analytic near {:.4g}",
            }[obstruction.kind].format(obstruction.location)
            reason += f"\n{what}: {obstruction.value:.3g}"
        axes.text(0.5, 0.5, plain(reason), ha="center", va="center", transform=axes.transAxes)
        return
    if isinstance(activation, DotProduct):
        x = np.linspace(-4, 4, 2 * SAMPLES)
        axes.plot(x, np.asarray(activation(x)), color=INK)
        axes.set_xlabel("$x\\cdot w$")
        axes.set_ylabel(r"$\sigma(x\cdot w)$")
        return
    # Along the diagonal: a product such as Bessel's is infinite all along the axes.
    x = np.linspace(-reach, reach, 2 * SAMPLES)
    line = np.repeat(x[:, None] / np.sqrt(activation.dim), activation.dim, axis=1)
    profile = np.asarray(activation.profile(line))
    finite = profile[np.isfinite(profile)]
    axes.set_xlabel("$x - w$ along the diagonal")
    if finite.max() <= 20 * np.quantile(finite, 0.9):
        axes.plot(x, profile, color=INK)
        axes.set_ylabel(r"$h(x-w) = \sigma(x,w)\sqrt{p(x)}$")
        return
    # The spike of h at 0 would hide the rest, and logarithms its sign.
    size = np.abs(profile)
    for sign, style, label in ((1, "-", "$h > 0$"), (-1, ":", "$h < 0$")):
        if np.any(here := np.sign(profile) == sign):
            axes.plot(x, np.where(here, size, np.nan), style, color=INK, label=label)
    axes.set_yscale("log")
    axes.set_ylim(bottom=np.quantile(np.abs(finite[finite != 0]), 0.02))  # zeros of h fall below
    axes.set_ylabel(r"$|h(x-w)|,\quad h = \sigma(x,w)\sqrt{p(x)}$")
    if np.any(finite < 0):
        axes.legend(loc="upper right", fontsize=8, frameon=False)


def _draw_potential(axes: Axes, view: _View) -> None:
    axes.set_title(f"Potential {view.where}")
    axes.plot(view.x, view.value, color=PROTON)
    _label_variable(axes, view)
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
    """Shade the sign; on R^d draw Laplacian / Phi, which is lambda where Phi is lambda-harmonic."""
    laplacian, value = view.laplacian(), view.value
    axes.set_title(f"Laplacian{view.sphere}, and its sign")
    finite = laplacian[np.isfinite(laplacian)]
    noise = 1e-12 * np.max(np.abs(finite), initial=1e-300)
    relative = not view.zonal and bool(np.all(value > 0))
    if relative:
        noise = 1e-12 * np.abs(value)
    signs = np.where(np.abs(laplacian) <= noise, 0.0, np.sign(laplacian))
    for colour, sign, label in (
        (SUBHARMONIC, 1, r"subharmonic ($\Delta\Phi > 0$)"),
        (SUPERHARMONIC, -1, r"superharmonic ($\Delta\Phi < 0$)"),
    ):
        mask = np.nan_to_num(signs) == sign
        if mask.any():
            axes.fill_between(
                view.x,
                0,
                1,
                where=mask,
                facecolor=colour,
                transform=axes.get_xaxis_transform(),
                linewidth=0,
                label=label,
            )
    with np.errstate(invalid="ignore"):  # infinite / infinite at the origin
        curve = laplacian / value if relative else laplacian
    axes.plot(view.x, curve, color=FIELD)
    axes.axhline(0, color=INK, linewidth=0.8)
    _label_variable(axes, view)
    axes.set_ylabel(r"$\Delta_\theta\Phi\,/\,\Phi$" if relative else r"$\Delta_\theta\Phi$")
    sizes = np.abs(curve[np.isfinite(curve)])
    if relative and sizes.size and sizes.max() > 100 * (usual := float(np.median(sizes))) > 0:
        axes.set_yscale("symlog", linthresh=usual)  # else lambda = 1 is 0 beside -5000 in the core
    else:
        _limit(axes, curve)
    _mark_core(axes, view)
    if axes.get_legend_handles_labels()[0]:
        legend = axes.legend(loc="best", fontsize=8, frameon=True, facecolor="white", edgecolor=INK)
        legend.get_frame().set_linewidth(0.6)


def _label_variable(axes: Axes, view: _View) -> None:
    axes.set_xlabel(view.label)
    if view.zonal:
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])


def _limit(axes: Axes, values: np.ndarray) -> None:
    """Keep an infinite end from flattening the rest."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return
    low, high = np.quantile(finite, [0.08, 0.98])
    if finite.size < values.size or np.ptp(finite) > 30 * max(high - low, 1e-12):
        margin = 0.25 * max(high - low, abs(high), 1e-3)
        axes.set_ylim(min(low, 0.0) - margin, max(high, 0.0) + margin)


def _mark_core(axes: Axes, view: _View, label: bool = False) -> None:
    if view.core is None or view.zonal:
        return
    axes.axvline(view.core, color=INK, linestyle=":", linewidth=1.2)
    if label:
        axes.annotate(
            ("core, " if hasattr(view.potential, "core") else "") + f"r = {view.core:g}",
            (view.core, 0.92),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=9,
        )
