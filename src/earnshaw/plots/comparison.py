"""The picture of two networks: which units they share, and how far they are apart."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.landscape.compare import SHARED, Comparison
from earnshaw.plots.formatting import plural, short
from earnshaw.plots.heat_map import RATIO
from earnshaw.plots.page import Page
from earnshaw.plots.style import ELECTRON, PALE, RC

BODY = 4.6  # inches
MOST = 40  # units of each that are drawn
KINDS = {
    "minimum": "the second is a minimum of the distance",
    "saddle": "the second is a saddle of the distance",
    "flat": "the second is a critical point, flat in some direction",
    "slope": "the second is no critical point of the distance",
}


def draw(found: Comparison) -> Figure:
    """All correlations, matched units on the diagonal; and those of the pairs in order."""
    best = np.argsort(-np.abs(found.correlations), kind="stable")
    pairs = found.pairs[best][:MOST]
    rows, columns = (
        [*matched, *(i for i in range(count) if i not in matched)][:MOST]
        for matched, count in zip(pairs.T.tolist(), found.table.shape, strict=True)
    )
    with matplotlib.rc_context(RC):
        page = Page(BODY, headline(found), _facts(found), _notes(found))
        table = page.axes(0.95, 0.35, 4.4, BODY - 1.0)
        shown = table.imshow(
            found.table[np.ix_(rows, columns)], cmap=RATIO, vmin=-1, vmax=1, aspect="auto"
        )
        table.grid(False)
        table.set_xlabel("unit of the second")
        table.set_ylabel("unit of the first")
        table.set_xticks(range(len(columns)), [str(j) for j in columns], fontsize=7)
        table.set_yticks(range(len(rows)), [str(i) for i in rows], fontsize=7)
        bar = page.figure.colorbar(shown, ax=table, fraction=0.05, pad=0.02)
        bar.set_label("correlation")
        sizes = np.abs(found.correlations[best][:MOST])
        order = page.axes(7.3, 0.35, 3.9, BODY - 1.0)
        order.bar(
            range(len(sizes)), sizes, color=[ELECTRON if s >= SHARED else PALE for s in sizes]
        )
        order.axhline(SHARED, color="0.4", linewidth=0.8, linestyle="--")
        order.grid(visible=False, axis="x")
        order.set_axisbelow(True)
        order.set_ylim(0, 1.02)
        order.set_xticks(
            range(len(sizes)), [f"{i}, {j}" for i, j in pairs], fontsize=7, rotation=90
        )
        order.set_xlabel("pairs of units: first, second")
        order.set_ylabel("size of the correlation")
    return page.figure


def headline(found: Comparison) -> str:
    """How many units are shared."""
    return f"{found.shared} of {plural(len(found.pairs), 'pair')} of units are the same"


def _facts(found: Comparison) -> list[str]:
    return [
        found._title(),
        f"E|f - g|² = {short(found.distance)}",
        f"{short(found.relative)} of the first's variance",
    ]


def _notes(found: Comparison) -> list[str]:
    few = min(found.table.shape) > MOST or max(found.table.shape) > MOST
    notes = [
        f"The same: correlated by {SHARED} or more under the inputs, up to sign. For someone who "
        f"learns the first, {KINDS[found.kind]}: relative gradient {short(found.gradient_norm)}, "
        f"smallest eigenvalue {short(found.eigenvalue)}."
    ]
    return notes + ([f"Of more than {MOST} units the best are drawn."] if few else [])
