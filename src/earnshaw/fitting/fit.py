"""Fitting a network to data: standardise, grow on some samples, simplify, polish on all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from earnshaw.activations.base import DotProduct
from earnshaw.errors import EarnshawError
from earnshaw.fitting.criterion import PERFECT, Criterion, held_out, information
from earnshaw.fitting.descent import lbfgs, minibatch
from earnshaw.fitting.growth import FEW, FEW_A_PARAMETER, Event, Grower, Watch
from earnshaw.fitting.layout import Freedom, layout_of
from earnshaw.fitting.marquardt import Polished, polish
from earnshaw.fitting.network import Network, empty_network
from earnshaw.fitting.normal import Objective
from earnshaw.fitting.refit import refit
from earnshaw.fitting.samples import Samples
from earnshaw.fitting.settings import Settings
from earnshaw.fitting.simplify import without_linear_part

TIMES = 16  # how many more samples networks are grown on, stage by stage
ROUGHLY = (100, 1e-3)  # iterations and tolerance of a polish while a network grows
ROUNDED = PERFECT / 100  # an error that no polish makes smaller
MATRIX = 1500  # parameters up to which Levenberg-Marquardt is used,
WORK = 4e11  # and additions an iteration
ROUNDING = 1e-12  # a deviation below this part of the mean
SLOW = 2e9  # samples times parameters from which on minibatches are used


@dataclasses.dataclass(frozen=True)
class Fitted:
    """A fitted network, in the coordinates of the data, and how it came about.

    Attributes:
        network: the network.
        error: the mean error that was made small: of standardised answers, or -2 log likelihood.
        criterion: of the last network, lower is better.
        history: what was done, in order.
        solver: what polished it at last.
        settled: whether that ended by itself.
    """

    network: Network
    error: float
    criterion: float
    history: list[Event]
    solver: str
    settled: bool


def fit(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    activation: DotProduct,
    settings: Settings,
    watch: Watch | None = None,
) -> Fitted:
    """Fit a network to inputs (n, d), answers (n, m) and weights (n,) of samples."""
    _check_identifiable(x, y, activation, settings)
    history: list[Event] = []

    def note(event: Event) -> None:
        history.append(event)
        if watch is not None:
            watch(event)

    everything = standardised(x, y, weight, settings)
    samples, criterion = _measured(everything, settings)
    freedom = Freedom(settings.biases, settings.linear is not False, settings.intercept)

    def grower_of(count: int, freedom: Freedom) -> Grower:
        part = Objective(
            samples.subset(count, settings.seed), settings.loss, settings.alpha, freedom
        )
        return Grower(
            objective=part,
            polish=_polisher(settings, *ROUGHLY),
            criterion=criterion,
            most=_most_units(settings, part, count < samples.count),
            exact=settings.units != "auto",
            seed=settings.seed,
            watch=note,
        )

    first, *later = _stages(samples.count)
    found, freedom = _first_stage(grower_of, first, freedom, activation, settings)
    for count in later:
        grower = grower_of(count, freedom)
        begin = grower.begin(found.network)
        found = grower.grow(begin)
        if found.network.units > begin.network.units:
            found = grower.prune(found)
    whole = Objective(everything, settings.loss, settings.alpha, freedom)
    last = found
    if found.error > ROUNDED or samples is not everything:
        last = _polisher(settings, settings.iterations, settings.tolerance)(whole, found.network)
    value = criterion(whole, last)
    note(Event("polish", last.network.units, last.error, value, last.iterations, x.shape[0]))
    network = in_data_coordinates(last.network, everything)
    if settings.loss == "softmax":
        network = _centred(network)
    solver = solver_of(whole, last.network, settings.solver)
    return Fitted(network, last.error, value, history, solver, last.settled)


def standardised(x: np.ndarray, y: np.ndarray, weight: np.ndarray, settings: Settings) -> Samples:
    """Samples with means and deviations to be taken out."""
    total = np.sum(weight)
    shift, scale = np.zeros(x.shape[1]), np.ones(x.shape[1])
    if settings.scale:
        # Units without biases could not take up a shift; then a constant column may stand for one.
        shifted = settings.biases and settings.intercept
        # Else it must do nothing: what is divided by infinity is exactly 0, and gets no weight.
        shift, scale = _mean_and_deviation(x, weight / total, np.inf if shifted else 1.0)
        shift = shift * shifted
    y_shift, y_scale = np.zeros(y.shape[1]), np.ones(y.shape[1])
    if settings.loss == "squares":
        y_shift, y_scale = _mean_and_deviation(y, weight / total, 1.0)
        if not settings.intercept:
            y_shift = np.zeros(y.shape[1])
    return Samples(x, y, weight, shift, scale, y_shift, y_scale)


def in_data_coordinates(network: Network, samples: Samples) -> Network:
    """The network of data as they are, from one of standardised data."""
    positions = network.positions / samples.scale
    linear = network.linear / samples.scale[:, None]
    return dataclasses.replace(
        network,
        positions=positions,
        biases=network.biases - positions @ samples.shift,
        weights=network.weights * samples.y_scale,
        linear=linear * samples.y_scale,
        intercept=(network.intercept - samples.shift @ linear) * samples.y_scale + samples.y_shift,
    )


def solver_of(objective: Objective, network: Network, asked: str) -> str:
    """The solver for a network of this size on these samples."""
    if asked != "auto":
        return asked
    layout, samples = layout_of(network), objective.samples
    wide = layout.outputs * layout.size
    if wide <= MATRIX and samples.count * layout.outputs * layout.size**2 <= WORK:
        return "lm"
    return "lbfgs" if samples.count * layout.size <= SLOW else "minibatch"


def _polisher(
    settings: Settings, iterations: int, tolerance: float
) -> Callable[[Objective, Network], Polished]:
    def run(objective: Objective, network: Network) -> Polished:
        solver = solver_of(objective, network, settings.solver)
        if solver == "lm":
            return polish(objective, network, iterations, tolerance, ROUNDED)
        if solver == "lbfgs":
            return lbfgs(objective, network, 3 * iterations)
        return minibatch(objective, network, seed=settings.seed)

    return run


def _mean_and_deviation(
    table: np.ndarray, weight: np.ndarray, constant: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means and deviations of columns; `constant` as that of a column that is constant."""
    mean = weight @ table
    # Column by column: nothing of the size of the table is made.
    square = np.array([weight @ (column - m) ** 2 for column, m in zip(table.T, mean, strict=True)])
    deviation = np.sqrt(square)
    return mean, np.where(deviation > ROUNDING * np.abs(mean), deviation, constant)


def _first(objective: Objective, activation: DotProduct) -> Network:
    samples = objective.samples
    network = empty_network(activation, samples.dim, samples.outputs)
    if objective.loss != "squares":
        return network
    return refit(network, samples, objective.freedom, 0)


def _measured(samples: Samples, settings: Settings) -> tuple[Samples, Criterion]:
    """The samples to grow on, and the criterion."""
    if settings.criterion != "holdout" or settings.units != "auto":
        kind = "aic" if settings.criterion == "aic" else "bic"
        return samples, information(kind, samples.outputs)
    rng = np.random.default_rng([settings.seed, 17])
    order = rng.permutation(samples.count)
    held = max(1, round(settings.validation_fraction * samples.count))
    if held >= samples.count:
        raise EarnshawError(
            f"criterion 'holdout' leaves none of {samples.count} samples to fit; allowed: more"
        )
    unseen = Objective(samples.take(np.sort(order[:held])), settings.loss)
    return samples.take(np.sort(order[held:])), held_out(unseen)


def _stages(count: int) -> list[int]:
    """How many samples to grow on: few first, all at last."""
    stages, rows = [], FEW
    while rows < count:
        stages.append(rows)
        rows *= TIMES
    return [*stages, count]


def _most_units(settings: Settings, part: Objective, partial: bool) -> int:
    """How many units to grow to on these samples."""
    most = settings.max_units if settings.units == "auto" else int(settings.units)
    if not partial:
        return most
    samples = part.samples
    each = samples.dim + 1 + samples.outputs
    return min(most, max(1, samples.count // FEW_A_PARAMETER // each))


def _first_stage(
    grower_of: Callable[[int, Freedom], Grower],
    count: int,
    freedom: Freedom,
    activation: DotProduct,
    settings: Settings,
) -> tuple[Polished, Freedom]:
    """The best network grown on the first samples, and what of it is free.

    If nothing is said of a linear part, with one: left out again at the end if the criterion says
    so; and, unless that is perfect, without one from the start, since a linear part can stand for
    a unit.
    """
    grower = grower_of(count, freedom)
    found = grower.network_from(_first(grower.objective, activation))
    if settings.linear != "auto":
        return found, freedom
    less = dataclasses.replace(freedom, linear=False)
    straight = grower_of(count, less)
    network = without_linear_part(found.network, settings.seed)
    if settings.loss == "squares":
        network = refit(network, straight.objective.samples, less, settings.seed)
    without = straight.prune(straight.polish(straight.objective, network))
    choices = [(grower.value(found), found, freedom), (straight.value(without), without, less)]
    if min(found.error, without.error) > PERFECT:
        other = straight.network_from(_first(straight.objective, activation))
        choices.append((straight.value(other), other, less))
    _, best, free = min(choices, key=lambda choice: choice[0])
    if best is without:
        straight.watch(straight.event("straighten", best))
    return best, free


def _centred(network: Network) -> Network:
    """With outputs that sum to 0, of all networks with the same probabilities."""
    return dataclasses.replace(
        network,
        weights=network.weights - network.weights.mean(axis=1, keepdims=True),
        linear=network.linear - network.linear.mean(axis=1, keepdims=True),
        intercept=network.intercept - network.intercept.mean(),
    )


def _check_identifiable(
    x: np.ndarray, y: np.ndarray, activation: DotProduct, settings: Settings
) -> None:
    """Refuse more units than the samples can tell apart."""
    if settings.units == "auto" or settings.units == 0:
        return
    freedom = Freedom(settings.biases, settings.linear is True, settings.intercept)
    none = empty_network(activation, x.shape[1], y.shape[1])
    units = int(settings.units)
    one = freedom.count(none.with_unit(np.zeros(x.shape[1]), 0.0, np.zeros(y.shape[1])))
    alone = freedom.count(none)
    needed, there = alone + units * (one - alone), x.shape[0] * y.shape[1]
    if needed > there:
        most = max(0, (there - alone) // (one - alone))
        raise EarnshawError(
            f"n_units is {units}, which has {needed} parameters, more than the {there} answers "
            f"of {x.shape[0]} samples can identify; allowed: at most {most}, or 'auto'"
        )
