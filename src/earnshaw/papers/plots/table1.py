"""The picture of `earnshaw reproduce table1`: every pair with its checks, and what converges."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from earnshaw.papers.plots._captions import notes_of
from earnshaw.papers.reproductions.reproduction import Reproduction
from earnshaw.papers.reproductions.table1 import PairCurve
from earnshaw.plots.page import HEAD, MARGIN, WIDE, Page, inches
from earnshaw.plots.style import ASTRAY, ELECTRON, INK, PALE, PROTON, RC

COLUMNS = 3
GAP, INNER = 0.5, 0.45  # inches between two pairs, and between activation and potential
TOP, FORMULA, AXES, BELOW = 0.32, 0.42, 1.3, 0.46  # of a pair: name, formulas, axes, their labels
LINE = 0.165  # of words
SIZE = 8.5
GOOD = "#2e7d32"

# Names, activations and potentials as drawn.
FORMULAS = {
    "sign": ("Sign", r"$\mathrm{sgn}(x\cdot\theta)$", r"$1-\frac{2}{\pi}\arccos\rho$"),
    "relu": (
        "ReLU",
        r"$\sqrt{2}\,\max(x\cdot\theta,\,0)$",
        r"$\frac{1}{\pi}\sqrt{1-\rho^2}+\rho\,(1-\frac{1}{\pi}\arccos\rho)$",
    ),
    "hermite": ("Hermite", r"$\mathrm{he}_3(x\cdot\theta)$", r"$\rho^3$"),
    "exponential": ("Exponential", r"$e^{x\cdot\theta-1}$", r"$e^{\rho-1}$"),
    "synthetic": (
        "Synthetic",
        r"$\sum\sqrt{c_n}\,\mathrm{he}_n(x\cdot\theta)$",
        r"$\sum c_n\rho^n$",
    ),
    "gaussian": (
        "Gaussian",
        r"$2^{d/2}e^{|x|^2/4}\,e^{-|x-\theta|^2}$",
        r"$e^{-|\theta-w|^2/2}$",
    ),
    "bessel": (
        "Bessel",
        r"$(2/\pi)^{3d/4}e^{|x|^2/4}\,\prod K_0(|x_i-\theta_i|)$",
        r"$e^{-|\theta-w|_1}$",
    ),
    "almost-harmonic": (
        "Almost λ-harmonic",
        r"$h(|x-\theta|)\,/\sqrt{p(x)}$",
        r"$\Phi_\varepsilon$, core $\varepsilon=0.5$",
    ),
    "polynomial": ("Polynomial", r"$\mathrm{he}_3(x\cdot\theta)$", r"$\rho^3$"),
}
VARIABLES = {
    "theta.w": r"$\rho=\theta\cdot w$",
    "|theta - w|": r"$|\theta-w|$",
    "|theta - w|_1": r"$|\theta-w|_1$",
}


def draw_table_one(made: Reproduction) -> Figure:
    """For every pair the activation, the potential with both checks on it, and the runs in words.

    The potential is the library's; circles are E[sigma sigma] by quadrature, bars two standard
    errors of Monte Carlo to either side.
    """
    width = (WIDE - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
    words = [_words(pair, width) for pair in made.pairs]
    lines = math.ceil(len(made.pairs) / COLUMNS)
    most = [max(len(one) for one in words[i * COLUMNS : (i + 1) * COLUMNS]) for i in range(lines)]
    heights = [TOP + FORMULA + AXES + BELOW + LINE * n + 0.3 for n in most]
    with matplotlib.rc_context(RC | {"font.size": 8}):
        page = Page(0.3 + sum(heights), made.title, _facts(made), notes_of(made))
        _legend(page)
        for number, pair in enumerate(made.pairs):
            line, column = divmod(number, COLUMNS)
            place = MARGIN + column * (width + GAP), 0.3 + sum(heights[:line])
            _draw_pair(page, pair, words[number], place, width)
    return page.figure


def _facts(made: Reproduction) -> list[str]:
    facts = ["Table 1 of EPD and of Full and ITCS", f"preset {made.preset}"]
    z = max(row["z"] for row in made.shown)
    off = max(row["quadrature"] for row in made.shown)
    facts.append(f"quadrature within {off:.1e}, Monte Carlo within {z:.1f} standard errors")
    return facts if made.complete else [*facts, "incomplete"]


def _legend(page: Page) -> None:
    page.figure.legend(
        handles=[
            Line2D([], [], color=PROTON, label="closed form"),
            Line2D([], [], **_RINGS, label="quadrature"),
            Line2D([], [], **_DOTS, label="Monte Carlo, ± 2 standard errors"),
        ],
        loc="center right",
        bbox_to_anchor=(1 - MARGIN / page.width, 1 - HEAD / page.height),
        ncols=3,
        fontsize=9,
        borderaxespad=0,
    )


_RINGS: dict[str, Any] = {"color": INK, "marker": "o", "ms": 5.5, "mfc": "none", "ls": ""}
_DOTS: dict[str, Any] = {"color": ELECTRON, "marker": "o", "ms": 2.5, "ls": ""}


def _draw_pair(
    page: Page,
    pair: PairCurve,
    words: list[tuple[str, str]],
    place: tuple[float, float],
    width: float,
) -> None:
    left, down = place
    name, activation, potential = FORMULAS[pair.name]
    half = (width - INNER) / 2
    down += TOP / 2
    page.text(left, HEAD + down, name, 12, fontweight="bold")
    where = r"$S^{d-1}$" if pair.where == "S^(d-1)" else r"$\mathbb{R}^d$"
    after = left + inches(name, 12, "bold") + 0.1
    page.text(after, HEAD + down, f"on {where}", 10, formulas=True, color=PALE)
    down += TOP / 2
    second = left + half + INNER
    for start, formula in ((left, activation), (second, potential)):
        page.text(start, HEAD + down + FORMULA / 2 - 0.06, formula, 9, formulas=True)
    down += FORMULA
    _draw_activation(page.axes(left + 0.22, down, half - 0.22, AXES), pair)
    _draw_potential(page.axes(second + 0.22, down, half - 0.22, AXES), pair)
    down += AXES + BELOW
    for number, (line, colour) in enumerate(words):
        bold = "normal" if colour in (INK, PALE) else "bold"
        at = HEAD + down + LINE * (number + 0.5)
        page.text(left, at, line, SIZE, color=colour, fontweight=bold)


def _draw_activation(axes: Any, pair: PairCurve) -> None:
    axes.set_gid(f"{pair.name} activation")
    axes.plot(pair.x, pair.sigma, color=INK, lw=1.6)
    finite = pair.sigma[np.isfinite(pair.sigma)]
    top = 1.15 * np.max(finite)
    if top > 8 * np.quantile(np.abs(finite), 0.8):  # a spike or a fast growth hides the rest
        top = 8 * np.quantile(np.abs(finite), 0.8)
    axes.set_ylim(min(0.0, max(1.15 * np.min(finite), -top)), top)
    on_sphere = pair.where == "S^(d-1)"
    axes.set_xlabel(r"$x\cdot\theta$" if on_sphere else r"$x-\theta$;  drawn: $\sigma\sqrt{p}$")
    axes.set_xticks([-2, 0, 2])


def _draw_potential(axes: Any, pair: PairCurve) -> None:
    axes.set_gid(f"{pair.name} potential")
    axes.plot(pair.t, pair.phi, color=PROTON, lw=1.6)
    axes.plot(pair.at, pair.quadrature, **_RINGS)
    axes.errorbar(pair.at, pair.sampled, yerr=2 * pair.error, **_DOTS, elinewidth=1.4, zorder=3)
    axes.set_xlabel(VARIABLES[pair.variable])
    if pair.where == "S^(d-1)":
        axes.set_xticks([-1, 0, 1])


def _words(pair: PairCurve, width: float) -> list[tuple[str, str]]:
    """Lines and their colours: the printed pair, the claim, the runs, the verdict."""
    parts = [
        (f"Printed pair: {pair.printed}", ASTRAY if pair.printed.startswith("corr") else INK),
        (f"Texts: {pair.claimed}", INK),
        *((f"Ran: {words}", INK) for words in pair.outcomes),
        (f"{pair.verdict[:1].upper()}{pair.verdict[1:]}", _colour(pair.verdict)),
    ]
    return [(line, colour) for text, colour in parts for line in _wrapped(text, width, colour)]


def _wrapped(text: str, width: float, colour: str) -> list[str]:
    weight = "bold" if colour not in (INK, PALE) else "normal"
    text = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    letters, lines = len(text), [text]
    while max(inches(line, SIZE, weight) for line in lines) > width and letters > 12:
        letters -= 2
        lines = textwrap.wrap(text, letters, break_on_hyphens=False)
    return lines


def _colour(verdict: str) -> str:
    if verdict == "verified":
        return GOOD
    return PALE if verdict == "not run" else ELECTRON if verdict.startswith("unkn") else ASTRAY
