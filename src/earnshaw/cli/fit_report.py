"""What `earnshaw fit` says: the units, how good they are, and where the files went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from earnshaw.cli.terminal import print_table, say
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.learning.fitting.fitted import Fitted
    from earnshaw.learning.fitting.model import Model
    from earnshaw.learning.fitting.problem import Problem
    from earnshaw.learning.fitting.unit_table import UnitTable
    from earnshaw.learning.fitting.validation import Validation

ROWS = 24  # of the table; smaller units are summed up
MOST_RELEVANT = 6  # inputs named
LOOKED_AT, LITTLE = 3, 0.01  # inputs named of a unit, and the part of the first that is too little


class Found(NamedTuple):
    """A model, what it was fitted to, how, and what it says of rows that it has not seen."""

    model: Model
    problem: Problem
    fitted: Fitted
    validation: Validation | None


def payload_of(found: Found) -> dict[str, Any]:
    """All of it as plain values."""
    from earnshaw.learning.fitting.scores import scores_of

    model, problem, fitted, validation = found

    seen = scores_of(problem, model.outputs(problem.x))
    folds = [] if validation is None else validation.scores
    return model.summary() | {
        "scores_on_fitted_rows": seen,
        "folds": [
            {"units": count} | score
            for count, score in zip(validation.units if validation else [], folds, strict=True)
        ],
        "coverage": list(validation.coverage) if validation else [],
        "rows": problem.count,
        "history": [event._asdict() for event in fitted.history],
        "solver": fitted.solver,
        "settled": fitted.settled,
        "notes": list(problem.notes),
    }


def print_found(found: Found, files: dict[str, Any], seconds: float) -> None:
    """A table of the units, and the scores."""
    from earnshaw.learning.fitting.unit_table import UnitTable

    model, problem, fitted, validation = found
    seen = UnitTable.of(model.network, problem, model.weight_errors)
    if seen.units:
        _print_units(model, seen)
    lines = []
    if seen.units > ROWS:
        more = seen.units - ROWS
        lines.append(f"... and {plural(more, 'unit')} that {'does' if more == 1 else 'do'} less")
    if seen.units:
        lines.append(
            "biases are those at the mean input; what is looked at, by standard deviations"
        )
    if len(model.classes) == 2:
        against, speaks_for = model.classes
        lines.append(f"what is positive speaks for {speaks_for!r}, against {against!r}")
    lines += [f"note: {note}" for note in problem.notes]
    if linear := _linear_words(model, seen):
        lines.append(f"linear part: {linear}")
    lines.append(f"inputs by relevance: {_relevance_words(model, problem)}")
    lines += _committee_words(model)
    lines += _verdict(model, problem, validation)
    if not fitted.settled and not fitted.interrupted:
        lines.append("note: the last polish ended before it settled")
    lines.append(f"{seconds:.1f} s")
    for what, where in (
        ("saved", "saved"),
        ("exported", "export"),
        ("drawn", "plot"),
        ("report", "report"),
    ):
        if where in files:
            older = " (replaced an older one)" if what == "saved" and files["replaced"] else ""
            lines.append(f"{what}: {files[where]}{older}")
    if model.classes and "export" in files:
        lines.append("the exported predict(x) gives g; probabilities(x) and classify(x) use it")
    for line in lines:
        say(line)


def _print_units(model: Model, found: UnitTable) -> None:
    title = f"{', '.join(model.targets)} by {plural(found.units, f'{model.activation} unit')}"
    columns = dict.fromkeys(("unit", "weight", "bias"), "right") | {"looks at": "left"}
    rows = []
    for j in range(min(found.units, ROWS)):
        weights = found.weights[j]
        errors = [""] * len(weights)
        if found.errors is not None:
            errors = [f"±{error:.2g}" for error in found.errors[j]]
        each = zip(weights[:LOOKED_AT], errors[:LOOKED_AT], strict=True)
        words = " ".join(f"{weight:+.4g}{error}" for weight, error in each)
        if len(weights) > LOOKED_AT:
            words += " ..."
        looked = _looked_at(found.slopes[j], model.inputs)
        rows.append((str(j + 1), words, f"{found.biases[j]:+.3g}", looked))
    print_table(title, columns, rows)


def _looked_at(slopes: Any, names: tuple[str, ...]) -> str:
    """The inputs that move a unit most, with a word on how many others there are."""
    order = sorted(range(len(names)), key=lambda i: -abs(slopes[i]))
    order = [i for i in order if abs(slopes[i]) >= LITTLE * abs(slopes[order[0]])]
    named = ", ".join(f"{slopes[i]:+.2g} {names[i]}" for i in order[:LOOKED_AT])
    more = len(order) - LOOKED_AT
    return named + (f" (+ {more} more)" if more > 0 else "")


def _linear_words(model: Model, found: UnitTable) -> str:
    if not found.linear.any():
        return ""
    if found.linear.shape[1] > 1:
        return "yes (--plot draws it, --json prints it)"
    return _looked_at(found.linear[:, 0], model.inputs)


def _relevance_words(model: Model, problem: Problem) -> str:
    """The inputs that predictions need most, with the part of their variance that does."""
    from earnshaw.learning.fitting.relevance import relevance_of

    parts = relevance_of(model.outputs, problem.x)
    order = sorted(range(len(parts)), key=lambda i: -parts[i])
    named = ", ".join(f"{model.inputs[i]} {parts[i]:.2f}" for i in order[:MOST_RELEVANT])
    more = len(order) - MOST_RELEVANT
    return named + (f" (+ {more} more)" if more > 0 else "")


def _committee_words(model: Model) -> list[str]:
    """Who predicts, where it is not the network alone."""
    if model.committee is None:
        return []
    weights = model.committee.summary()["weights"]
    named = ", ".join(f"{name} {share:.2f}" for name, share in weights.items() if share >= 0.005)
    lines = [f"predictions are a committee's: {named}"]
    if not model.committee.networks:
        return lines
    lines.append("the units are those of its best network by evidence")
    sure = model.committee.identifiable(model.committee.networks[0])
    return [*lines, f"of {plural(len(sure), 'unit')} the data identify {int(sure.sum())}"]


def _verdict(model: Model, problem: Problem, validation: Validation | None) -> list[str]:
    from earnshaw.learning.fitting.scores import scores_of

    seen = scores_of(problem, model.outputs(problem.x))
    units = f"units: {model.network.units}"
    fitted = f"on the {plural(problem.count, 'row')} it was fitted to: {score_words(seen)}"
    if validation is None:
        return [units, fitted, "no cross-validation"]
    mean = {name: validation.mean(name) for name in validation.scores[0]}
    spread = {name: validation.spread(name) for name in mean}
    folds = len(validation.units)
    counts = ", ".join(map(str, validation.units))
    return [
        f"{units} (in the folds: {counts})",
        fitted,
        f"on rows it has not seen ({folds} folds): {score_words(mean, spread)}",
        *_held(validation),
    ]


def _held(validation: Validation) -> list[str]:
    if not validation.coverage:
        return []
    held = sum(validation.coverage) / len(validation.coverage)
    return [f"90 % intervals held {held:.1%} of these rows"]


LABELS = {"r2": "R^2", "rmse": "RMSE", "accuracy": "accuracy", "log_loss": "log-loss"}


def score_words(scores: dict[str, float], spread: dict[str, float] | None = None) -> str:
    """Scores as words, with their spreads; RMSE for each of several targets by itself."""
    from earnshaw.learning.fitting.scores import score_text

    several = any(" " in name for name in scores)
    parts = []
    for name, value in scores.items():
        kind, _, column = name.partition(" ")
        if several and (kind == "rmse") != bool(column):
            continue
        text = score_text(value) if kind in ("r2", "accuracy") else f"{value:.4g}"
        more = "" if spread is None else f" ± {spread[name]:.2g}"
        parts.append(f"{LABELS[kind]}{column and ' of '}{column} {text}{more}")
    return ", ".join(parts)
