"""The report of `earnshaw fit` as one HTML file: no scripts, pictures inside.

Error on unseen rows beside what others leave on the same folds; error and evidence against the
number of units; the units as formulas in the data's own units, and as charges; what an input does
on average, with bands; which inputs count; residuals; how often intervals hold; what was done with
each column.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from io import StringIO

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.peers import peer_scores
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.relevance import relevance_of
from earnshaw.learning.fitting.scores import score_text, scores_of
from earnshaw.learning.fitting.validation import Validation
from earnshaw.plots.style import ELECTRON, FIELD, INK, PROTON, RC

ROWS, POINTS = 300, 25  # rows and places of a partial dependence
INPUTS = 6  # of which it is drawn, those that count most
UNITS, TERMS = 12, 4  # units that are written out, and inputs of each
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2430; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
code { font-size: .9rem; } svg { max-width: 100%; height: auto; }
"""


def page_of(model: Model, problem: Problem, validation: Validation | None) -> str:
    """The text of the file."""
    with matplotlib.rc_context(RC):
        relevance = relevance_of(model.outputs, problem.x)
        parts = [
            _scores(model, problem, validation),
            _front(model),
            _formulas(model),
            _charges(model, problem, relevance),
            _relevance(model, relevance),
            _dependence(model, problem, relevance),
            _residuals(problem, validation),
            _columns(model, problem),
        ]
    title = html.escape(f"{', '.join(model.targets)}: a report of earnshaw fit")
    body = "\n".join(part for part in parts if part)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
        f"\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _scores(model: Model, problem: Problem, validation: Validation | None) -> str:
    name = "accuracy" if model.classes else "r2"
    label = "accuracy" if model.classes else "R²"
    seen = scores_of(problem, model.outputs(problem.x))[name]
    rows = [("this model, rows of the fit", score_text(seen))]
    words = ""
    if validation is not None:
        own = f"{score_text(validation.mean(name))} ± {validation.spread(name):.2g}"
        rows.append((f"this model, unseen rows ({len(validation.units)} folds)", own))
        peers = peer_scores(problem, validation.fold)
        rows += [(f"{peer}, the same folds", score_text(one)) for peer, one in peers.items()]
        if validation.coverage:
            held = f"{np.mean(validation.coverage):.1%}"
            words = f"<p>90 % intervals held {held} of the unseen rows.</p>"
    return _section("How good it is", _table(["", label], rows) + words)


def _front(model: Model) -> str:
    """Error and evidence against the number of units: a front to choose from."""
    if model.committee is None:
        return ""
    front = np.array(model.committee.front)
    sizes = np.unique(front[:, 0])
    best = np.array([front[front[:, 0] == k][:, 3].min() for k in sizes])

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        left.plot(front[:, 0], front[:, 3], "o", color=PROTON, alpha=0.6)
        left.plot(sizes, best, color=PROTON, lw=1)
        left.set_ylabel("-2 log p, unseen" if model.classes else "part left unexplained, unseen")
        right.plot(front[:, 0], front[:, 1], "o", color=ELECTRON, alpha=0.6)
        right.set_ylabel("log evidence")
        for axes in (left, right):
            axes.set_xlabel("units")
        figure.tight_layout()

    shares = model.committee.summary()["weights"]
    words = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    text = f"<p>Predictions are a blend: {html.escape(words)}.</p>"
    rows = [(f"{int(k)}", f"{error:.4g}") for k, error in zip(sizes, best, strict=True)]
    table = _table(["units", "error on unseen rows, best network"], rows)
    return _section("Networks by the number of units", text + _picture(draw, (9.0, 3.2)) + table)


def _formulas(model: Model) -> str:
    """The units of the best network: weight s(w.x + b), in the data's own units."""
    network, committee = model.network, model.committee
    order = np.argsort(-np.linalg.norm(network.weights, axis=1), kind="stable")[:UNITS]
    if not len(order):
        return _section("Units of the best network", "<p>None: it is linear.</p>")
    error = model.weight_errors
    sure = None if committee is None else committee.identifiable(committee.networks[0])
    rows = []
    for j in order:
        most = np.argsort(-np.abs(network.positions[j]), kind="stable")[:TERMS]
        terms = " ".join(f"{network.positions[j, i]:+.4g}·{model.inputs[i]}" for i in most)
        more = " + ..." if network.dim > TERMS else ""
        inner = f"{model.activation}({terms}{more} {network.biases[j]:+.4g})"
        weights = ", ".join(
            f"{weight:+.4g}" + ("" if error is None else f" ± {error[j, o]:.2g}")
            for o, weight in enumerate(network.weights[j, :3])
        )
        known = "" if sure is None else "yes" if sure[j] else "no"
        rows.append((weights, f"<code>{html.escape(inner)}</code>", known))
    words = (
        "<p>± is a standard error (Laplace). A unit is identifiable if its weight is not 0 within "
        "two of them, and not shared with another unit.</p>"
    )
    head = ["weight", "unit", "identifiable" if sure is not None else ""]
    table = _table(head, rows, plain=False)
    return _section("Units of the best network", table + (words if sure is not None else ""))


def _charges(model: Model, problem: Problem, relevance: np.ndarray) -> str:
    """The units as charges: at their positions along two inputs, areas and colours by weight."""
    network = model.network
    most = np.argsort(-relevance, kind="stable")[:2]
    if not network.units or len(most) < 2:
        return ""
    at = (network.positions * np.std(problem.x, axis=0))[:, most]
    weights = network.weights[:, 0]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        colours = [PROTON if weight > 0 else ELECTRON for weight in weights]
        areas = 20 + 280 * np.abs(weights) / np.max(np.abs(weights))
        axes.scatter(at[:, 0], at[:, 1], s=areas, c=colours, alpha=0.7, edgecolors=INK, lw=0.5)
        axes.axhline(0, color=INK, lw=0.5)
        axes.axvline(0, color=INK, lw=0.5)
        axes.set_xlabel(f"along {model.inputs[most[0]]}, a deviation")
        axes.set_ylabel(f"along {model.inputs[most[1]]}, a deviation")

    words = (
        "<p>Units of the best network as charges: where they are along the two inputs that count "
        "most, red if their weight is positive, blue if negative, areas by its size.</p>"
    )
    return _section("The network as charges", words + _picture(draw, (4.6, 4.0)))


def _relevance(model: Model, relevance: np.ndarray) -> str:
    order = np.argsort(-relevance, kind="stable")[:20]
    rows = [(html.escape(model.inputs[i]), f"{relevance[i]:.3f}") for i in order]
    words = "<p>The part of the predictions' variance that needs an input.</p>"
    return _section("Which inputs count", words + _table(["input", "part"], rows, plain=False))


def _dependence(model: Model, problem: Problem, relevance: np.ndarray) -> str:
    """Mean predictions where one input is set, with bands of new answers."""
    most = np.argsort(-relevance, kind="stable")[:INPUTS]
    chosen = [int(i) for i in most if np.ptp(problem.x[:, i]) > 0]
    rows = problem.x[np.random.default_rng(1).permutation(problem.count)[:ROWS]]

    def draw(figure: Figure) -> None:
        for place, i in enumerate(chosen):
            axes = figure.add_subplot(2, 3, place + 1)
            at = np.quantile(problem.x[:, i], np.linspace(0.02, 0.98, POINTS))
            at = np.unique(at)
            said, band = [], []
            for value in at:
                changed = rows.copy()
                changed[:, i] = value
                g = model.outputs(changed)[:, 0]
                said.append(np.mean(g))
                ends = model.interval(changed[:40])
                band.append(0.0 if ends is None else np.mean(ends[1] - ends[0]) / 2)
            middle, half = np.array(said), np.array(band)
            axes.fill_between(at, middle - half, middle + half, color=FIELD, alpha=0.15, lw=0)
            axes.plot(at, middle, color=FIELD)
            axes.set_xlabel(model.inputs[i])
        figure.tight_layout()

    words = "<p>Means over rows where one input is set; bands hold 90 % of new answers.</p>"
    return _section("What the inputs do", words + _picture(draw, (9.0, 5.0)))


def _residuals(problem: Problem, validation: Validation | None) -> str:
    if validation is None or problem.classes:
        return ""
    left = problem.y[:, 0] - validation.outputs[:, 0]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot(validation.outputs[:, 0], left, ".", color=PROTON, alpha=0.5)
        axes.axhline(0, color=INK, lw=0.8)
        axes.set_xlabel("predicted, unseen")
        axes.set_ylabel("true - predicted")

    return _section("Residuals of unseen rows", _picture(draw))


def _columns(model: Model, problem: Problem) -> str:
    lines = [column.words() for column in model.columns.columns] if model.columns else []
    lines = lines or [f"{len(model.inputs)} columns of numbers, as they are"]
    items = "".join(f"<li>{html.escape(line)}</li>" for line in [*lines, *problem.notes])
    return _section("Columns", f"<ul>{items}</ul>")


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{body}\n</section>"


def _table(head: Sequence[str], rows: Sequence[tuple[str, ...]], plain: bool = True) -> str:
    def cell(text: str) -> str:
        return html.escape(text) if plain else text

    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{cell(text)}</td>" for text in row) + "</tr>\n" for row in rows
    )
    return f"<table>\n<tr>{top}</tr>\n{lines}</table>"


def _picture(draw: Callable[[Figure], None], size: tuple[float, float] = (6.0, 3.2)) -> str:
    figure = Figure(figsize=size)
    draw(figure)
    text = StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
