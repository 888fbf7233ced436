"""`earnshaw fit`: a network from a table of data, its units found one at a time."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.fit_report import Found, payload_of, print_found
from earnshaw.cli.interrupts import INTERRUPTED
from earnshaw.cli.options import check_picture, parse_parameters, with_settings
from earnshaw.cli.terminal import print_json, progress_bar, say
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.files.atomic import check_writable, write_text
from earnshaw.learning.fitting.settings import Settings
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.learning.fitting.fitted import Fitted
    from earnshaw.learning.fitting.model import Model
    from earnshaw.learning.fitting.problem import Problem
    from earnshaw.learning.fitting.validation import Validation

ALPHA = {"regression": 0.0, "classification": 1e-3}  # separable classes would have no fit at 0

OPTIONS = (
    "units",
    "max_units",
    "networks",
    "criterion",
    "max_time",
    "linear",
    "seed",
)  # of the settings of a fit


@with_settings(Settings, only=OPTIONS, defaults=True)
def command(
    data: Annotated[Path, typer.Argument(help="A table: FILE.csv (.tsv, .txt), .parquet or .npz.")],
    target: Annotated[
        list[str] | None,
        typer.Option(help="The column to predict; again for several. NPZ with x and y: y."),
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(help="Columns to predict from: a,b,c; by default all others."),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Columns to leave out: a,b,c.")] = None,
    weights: Annotated[str | None, typer.Option(help="The column of the rows' weights.")] = None,
    separator: Annotated[
        str | None, typer.Option(help="Of a text file: one character, or tab; found by itself.")
    ] = None,
    decimal: Annotated[str, typer.Option(help="Of numbers in a text file: . or ,")] = ".",
    classify: Annotated[
        bool | None,
        typer.Option(
            "--classify/--regress", help="Classes or numbers; by default texts are classes."
        ),
    ] = None,
    activation: Annotated[str, typer.Option(help="tanh, relu, softplus, sin, ...")] = "tanh",
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="Of the activation: NAME=VALUE.")
    ] = None,
    asked: Any = None,
    alpha: Annotated[
        float | None, typer.Option(help="Strength of regularisation; 0, or 0.001 for classes.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Of the cross-validation; 5, and 0 for none.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="The model: FILE.npz or .json; DATA's name with .model.npz, here."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    export: Annotated[
        Path | None, typer.Option(help="Also write FILE.py, which predicts with NumPy only.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="A report to read: FILE.html.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Fit a network to a table, cross-validate it, and keep it for `earnshaw predict`."""
    save = Path(f"{data.stem}.model.npz") if save is None else save
    _check_files(data, save, plot, export)
    if report is not None:
        check_writable(report, (".html",))
    began = time.perf_counter()
    from earnshaw.learning.fitting.problem import problem_of
    from earnshaw.learning.fitting.tables import read_table

    # A table that cannot be used is refused before anything slow is loaded.
    table = read_table(data, separator, decimal)
    problem = problem_of(table, target or (), features or (), drop or (), weights, classify)
    read = {
        "units": _number_or_auto("--units", asked["units"], 0),
        "networks": _number_or_auto("--networks", asked["networks"], 1),
        "linear": _linear(asked["linear"]),
    }
    if alpha is not None and asked["criterion"] == "evidence":
        asked["criterion"] = "bic"  # a penalty of one's own
    strength = ALPHA[problem.kind] if alpha is None else alpha
    settings = Settings(**asked | read, loss=problem.loss, alpha=strength)
    parameters = parse_parameters(parameter or [], taken=())
    sigma = _activation(activation, parameters)
    fitted, validation, interrupted = _fit(problem, sigma, settings, folds)
    model = _model(problem, fitted, validation, activation, parameters, settings)
    figure = source = None
    if plot is not None:
        from earnshaw.plots.fitting import draw_fit

        figure = draw_fit(model, problem, fitted, validation)
    if export is not None:
        from earnshaw.learning.exports.model_source import source_of

        source = source_of(model)
    older = save.exists()
    files: dict[str, Any] = dict(_write(model, save, source, export, figure, plot))
    files["replaced"] = older
    if report is not None:
        from earnshaw.plots.fit_page import page_of

        write_text(report, page_of(model, problem, validation))
        files["report"] = str(report)
    seconds = time.perf_counter() - began
    found = Found(model, problem, fitted, validation)
    if json:
        print_json(payload_of(found) | files | {"seconds": seconds, "interrupted": interrupted})
    else:
        print_found(found, files, seconds)
        if interrupted:
            what = "the best network so far" if fitted.interrupted else "the network of all rows"
            say(f"interrupted: this is {what}, without a cross-validation")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _write(
    model: Model,
    save: Path,
    source: str | None,
    export: Path | None,
    figure: Any,
    plot: Path | None,
) -> dict[str, str]:
    """The files, each whole or not at all; their names by what they are."""
    from earnshaw.learning.fitting.model_file import save_model

    save_model(save, model)
    files = {"saved": str(save)}
    if source is not None and export is not None:
        write_text(export, source)
        files["export"] = str(export)
    if figure is not None and plot is not None:
        from earnshaw.plots.style import save as save_picture

        save_picture(figure, plot)
        files["plot"] = str(plot)
    return files


def _check_files(data: Path, save: Path, plot: Path | None, export: Path | None) -> None:
    check_writable(save, (".npz", ".json"))
    check_picture(plot)
    if export is not None:
        check_writable(export, (".py",))
    if save.resolve() == data.resolve():
        raise EarnshawError(f"--save {save} would overwrite the data; allowed: another file")


def _number_or_auto(what: str, text: str, low: int) -> int | str:
    try:
        return text if text == "auto" else int(text)
    except ValueError:
        raise OutOfRange(what, text, f"auto, or an integer >= {low}") from None


def _linear(text: str) -> bool | str:
    meanings: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}
    if text not in meanings:
        raise OutOfRange("--linear", text, "auto, yes or no")
    return meanings[text]


def _activation(name: str, parameters: dict[str, Any]) -> Any:
    from earnshaw.duality.activation import DotProduct
    from earnshaw.duality.named import activation, check_parameters, takes_dim

    check_parameters(name, parameters)
    if not takes_dim(name):
        sigma = activation(name, **parameters)
        if isinstance(sigma, DotProduct):
            return sigma
    raise OutOfRange("--activation", name, "dot-product activations: tanh, relu, softplus, ...")


def _fit(
    problem: Problem, sigma: Any, settings: Any, asked: int | None
) -> tuple[Fitted, Validation | None, bool]:
    """The network of all rows, those of the folds, and whether Ctrl-C ended it.

    A bar says how far they are. Ctrl-C keeps the network of all rows, as good as it was.
    """
    from earnshaw.learning.fitting.validation import cross_validate, fit_problem, number_of_folds

    folds = number_of_folds(asked, problem.count)
    with progress_bar("fitting") as report:

        def tell(done: int, event: Any) -> None:
            if report is not None:
                where = "all rows" if done == 0 else f"fold {done} of {folds}"
                many = plural(event.units, "unit")
                note = f"{where}: {event.action}, {many}, error {event.error:.3g}"
                report((done, folds + 1, note))  # type: ignore[arg-type]

        fitted = fit_problem(problem, sigma, settings, lambda event: tell(0, event))
        if fitted.interrupted or not folds:
            return fitted, None, fitted.interrupted
        told = lambda fold, event: tell(fold + 1, event)  # noqa: E731
        try:
            return fitted, cross_validate(problem, sigma, settings, folds, told), False
        except KeyboardInterrupt:
            return fitted, None, True


def _model(
    problem: Problem,
    fitted: Fitted,
    validation: Validation | None,
    activation: str,
    parameters: dict[str, Any],
    settings: Any,
) -> Model:
    from earnshaw.learning.fitting.columns import ranges_of
    from earnshaw.learning.fitting.model import Model

    scores: dict[str, float] = {}
    if validation is not None:
        for name in validation.scores[0]:
            scores |= {name: validation.mean(name), f"{name} spread": validation.spread(name)}
    about = {"rows": problem.count, "folds": 0 if validation is None else len(validation.units)}
    return Model(
        network=fitted.network,
        activation=activation,
        parameters=parameters,
        inputs=problem.inputs,
        targets=problem.targets,
        classes=problem.classes,
        scores=scores,
        settings=dataclasses.asdict(settings) | about,
        committee=fitted.committee,
        columns=problem.columns,
        ranges=ranges_of(problem.x),
    )
