"""The picture of a Hessian's spectrum: its eigenvalues, and which units their vectors move.

Amber for negative eigenvalues, blue for positive ones, hollow rings for the zeros that a symmetry
of the loss explains, grey for zeros that nothing explains.
"""

from __future__ import annotations

import math

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from earnshaw.landscape.spectrum import Spectrum
from earnshaw.plots.formatting import plural, short
from earnshaw.plots.page import Page
from earnshaw.plots.style import ASTRAY, ELECTRON, INK, PALE, RC

BODY = 4.3  # inches
VECTORS = 12  # whose shares are shown
UNITS = 24
WIDE = 50.0  # a range that deserves a logarithmic axis
SHADES = LinearSegmentedColormap.from_list("share", ["#ffffff", "#d2e3f1", ELECTRON, INK])


def draw_spectrum(spectrum: Spectrum) -> Figure:
    """The eigenvalues in order, and the lowest eigenvectors by unit."""
    with matplotlib.rc_context(RC):
        page = Page(BODY, headline(spectrum), _facts(spectrum), _notes(spectrum))
        values = page.axes(0.95, 0.2, 6.3, BODY - 0.85)
        _draw_values(values, spectrum)
        if len(spectrum.values):
            shares = page.axes(8.15, 0.2, 3.05, BODY - 0.85)
            _draw_shares(page, shares, spectrum)
    return page.figure


def headline(spectrum: Spectrum) -> str:
    """How many eigenvalues are negative, zero and positive: "1 negative, 9 positive ..."."""
    if not len(spectrum.values):
        return "No direction is smooth here: every unit sits on a cusp"
    counts = [
        (int(np.sum(spectrum.negative)), "negative"),
        (int(np.sum(spectrum.of_symmetry)), "zero by symmetry"),
        (int(np.sum(spectrum.zero)), "zero otherwise"),
        (int(np.sum(spectrum.positive)), "positive"),
    ]
    for count, name in counts:
        if count == len(spectrum.values) > 1:
            return f"All {count} eigenvalues are {name}"
    words = ", ".join(f"{count} {name}" for count, name in counts if count)
    return f"{plural(len(spectrum.values), 'eigenvalue')}: {words}"


def _facts(spectrum: Spectrum) -> list[str]:
    facts = [
        f"Hessian of the loss at a student of {plural(spectrum.student.units, 'unit')} "
        f"in d = {spectrum.student.dim}",
        f"loss {short(spectrum.loss, 3)}",
        f"gradient {short(spectrum.gradient_norm)}",
    ]
    return facts + ([f"{spectrum.held} on cusps"] if spectrum.held else [])


def _notes(spectrum: Spectrum) -> list[str]:
    note = f"Eigenvalues of at most {short(spectrum.tolerance)} in size count as 0."
    if _wide(spectrum):
        note += " The axis is linear between the dotted lines and logarithmic beyond."
    if np.any(spectrum.of_symmetry):
        note += " Zeros by symmetry belong to motions that leave the network's function as it is."
    if spectrum.held:
        note += " Units on cusps are held there, and have no eigenvalues of their own."
    return [note]


def _least(spectrum: Spectrum) -> float:
    """The power of ten below the smallest eigenvalue that is not 0; 1 without one."""
    sizes = np.abs(spectrum.values[spectrum.negative | spectrum.positive])
    return 10.0 ** math.floor(math.log10(np.min(sizes))) if len(sizes) else 1.0


def _wide(spectrum: Spectrum) -> bool:
    """Whether eigenvalues span so much that a linear axis would hide some."""
    return float(np.max(np.abs(spectrum.values), initial=0.0)) > WIDE * _least(spectrum)


def _draw_values(axes: matplotlib.axes.Axes, spectrum: Spectrum) -> None:
    values, rank = spectrum.values, np.arange(1, len(spectrum.values) + 1)
    inner = _least(spectrum)
    if _wide(spectrum):
        axes.set_yscale("symlog", linthresh=inner, linscale=0.6)
        for mark in (-inner, inner):
            axes.axhline(mark, color=PALE, lw=0.8, ls=":", zorder=1)
    axes.axhline(0, color=INK, lw=0.9, zorder=1)
    kinds = (
        (spectrum.negative, "negative", ASTRAY, ASTRAY),
        (spectrum.of_symmetry, "zero, by symmetry", INK, "white"),
        (spectrum.zero, "zero, not by symmetry", PALE, PALE),
        (spectrum.positive, "positive", ELECTRON, ELECTRON),
    )
    for chosen, name, edge, face in kinds:
        if not np.any(chosen):
            continue
        flat = np.where(np.abs(values[chosen]) <= spectrum.tolerance, 0.0, values[chosen])
        axes.vlines(rank[chosen], 0, flat, color=edge, lw=1.2, alpha=0.45, zorder=2)
        axes.plot(
            rank[chosen],
            flat,
            "o",
            mec=edge,
            mfc=face,
            ms=7,
            mew=1.4,
            ls="none",
            label=f"{name} ({int(np.sum(chosen))})",
            gid=name,
            zorder=3,
        )
    span = float(np.max(np.abs(values), initial=inner))
    more = 2.0 if _wide(spectrum) else 1.15
    axes.set_ylim(-more * span if np.any(spectrum.negative) else -inner, 1.25 * more * span)
    axes.set_xlim(0.4, len(values) + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("eigenvalue, by size")
    axes.set_ylabel("curvature of the loss")
    if len(values):
        axes.legend(loc="upper left", fontsize=9)


def _draw_shares(page: Page, axes: matplotlib.axes.Axes, spectrum: Spectrum) -> None:
    """How much of the lowest eigenvectors moves each unit: a row an eigenvector."""
    shares = spectrum.shares()[:VECTORS, :UNITS]
    image = axes.imshow(shares, cmap=SHADES, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    axes.grid(False)
    axes.set_title("Which units the lowest ones move", loc="left")
    axes.set_xlabel("unit" + ("" if spectrum.student.units <= UNITS else f" (the first {UNITS})"))
    axes.set_ylabel("eigenvector")
    axes.set_yticks(range(len(shares)), [str(i + 1) for i in range(len(shares))])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
    for side in axes.spines.values():
        side.set_visible(True)
    bar = page.figure.colorbar(image, cax=page.axes(11.35, 0.2, 0.13, BODY - 0.85))
    bar.set_ticks([0, 0.5, 1], labels=["0", "½", "1"])
    bar.outline.set_visible(False)
