"""Fitting a network to data: standardise, grow on some samples, simplify, minimise on all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import DotProduct
from earnshaw.errors import EarnshawError
from earnshaw.learning.evidence.committee import Committee
from earnshaw.learning.fitting._criterion import PERFECT, Criterion, held_out, information
from earnshaw.learning.fitting._layout import Freedom
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting._refit import refit
from earnshaw.learning.fitting._samples import Samples
from earnshaw.learning.fitting._simplify import without_linear_part
from earnshaw.learning.fitting._solvers import Minimum, Solver, minimiser, solver_of
from earnshaw.learning.fitting._tuning import Tuning
from earnshaw.learning.fitting.growth import Event, Grower, OnEvent
from earnshaw.learning.fitting.network import FittedNetwork, empty_network
from earnshaw.learning.fitting.settings import Settings
from earnshaw.numerics.fixed_order import one_blas_thread

STAGE_FACTOR = 16  # how many more samples a network grows on from stage to stage
ROUGH_ITERATIONS, ROUGH_TOLERANCE = 100, 1e-3  # of the solver while a network grows
ROUNDED = PERFECT / 100  # an error that no solver makes smaller
ROUNDING = 1e-12  # a standard deviation below this part of the mean is rounding


class OutOfTime(KeyboardInterrupt):
    """What is told of a step may raise it: the fit then ends as by Ctrl-C, but as was asked."""


@dataclasses.dataclass(frozen=True, repr=False)
class Fitted:
    """A fitted network, in the coordinates of the data, and how it came about.

    Attributes:
        network: the network.
        error: the mean error that was made small: of standardised answers, or -2 log likelihood.
        criterion: of the last network, lower is better.
        history: what was done, in order.
        solver: the solver of the last descent, on all samples.
        settled: whether that ended by itself.
        interrupted: whether Ctrl-C ended the fit; then this is the best network that there was.
        committee: what predicts together with the network, by evidence; None where it is alone.
    """

    network: FittedNetwork
    error: float
    criterion: float
    history: list[Event]
    solver: str
    settled: bool
    interrupted: bool = False
    committee: Committee | None = None

    def __repr__(self) -> str:
        steps = len(self.history)
        return f"Fitted({self.network.units} units, error {self.error:.3g}, {steps} steps)"

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """g(x), (n, m), of the committee where there is one."""
        return self.network(x) if self.committee is None else self.committee.outputs(x)

    def to_network(self) -> Network:
        """The network, as exports write it."""
        return self.network.to_network()


@one_blas_thread()
def fit(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    activation: DotProduct,
    settings: Settings,
    on_event: OnEvent | None = None,
    tuning: Tuning | None = None,
) -> Fitted:
    """Fit a network to inputs (n, d), answers (n, m) and weights (n,) of samples.

    `on_event` is told of every step. Ctrl-C ends the fit, with the best network so far.
    """
    _check_identifiable(x, y, activation, settings)
    history: list[Event] = []
    tuning = Tuning() if tuning is None else tuning

    def note(event: Event) -> None:
        history.append(event)
        if on_event is not None:
            on_event(event)

    def solver(iterations: int, tolerance: float) -> Solver:
        return minimiser(settings.solver, iterations, tolerance, ROUNDED, settings.seed)

    everything = standardised(x, y, weight, settings)
    samples, criterion = _measured(everything, settings)
    freedom = Freedom(settings.biases, settings.linear is not False, settings.intercept)

    best = _BestSoFar(settings.units != "auto", freedom)

    def grower_of(count: int, freedom: Freedom) -> Grower:
        some = samples.subset(count, settings.seed)
        return Grower(
            objective=FitObjective(some, settings.loss, settings.alpha, freedom),
            minimise=solver(ROUGH_ITERATIONS, ROUGH_TOLERANCE),
            criterion=criterion,
            most=_most_units(settings, some, count < samples.count, tuning),
            exact=settings.units != "auto",
            seed=settings.seed,
            on_event=note,
            tuning=tuning,
            on_found=best.keep,
        )

    first, *later = _stages(samples.count, tuning.few_samples)
    late = False
    try:
        found, freedom = _first_stage(grower_of, first, freedom, activation, settings)
        for count in later:
            grower = grower_of(count, freedom)
            begin = grower.begin(found.network)
            found = grower.grow(begin)
            if found.network.units > begin.network.units:
                found = grower.prune(found)
        whole, last = FitObjective(everything, settings.loss, settings.alpha, freedom), found
        if found.error > ROUNDED or samples is not everything:
            last = solver(settings.iterations, settings.tolerance)(whole, found.network)
        interrupted = False
    except KeyboardInterrupt as ended:
        if best.found is None:
            raise
        late = isinstance(ended, OutOfTime)
        last, freedom, interrupted = best.found, best.freedom, not late
        whole = FitObjective(everything, settings.loss, settings.alpha, freedom)
    value = criterion(whole, last)
    action = "interrupted" if interrupted else "late" if late else "polish"
    last_step = Event(action, last.network.units, last.error, value, last.iterations, x.shape[0])
    with suppress(OutOfTime):
        note(last_step)
    network = in_data_coordinates(last.network, everything)
    if settings.loss == "softmax":
        network = _centred(network)
    used = solver_of(whole, last.network, settings.solver)
    settled = last.settled and not interrupted and not late
    return Fitted(network, last.error, value, history, used, settled, interrupted)


class _BestSoFar:
    """The best network met: that of most samples, then of the lowest criterion.

    Where the number of units is given, one of more units comes first.
    """

    def __init__(self, exact: bool, freedom: Freedom) -> None:
        self.exact, self.freedom = exact, freedom
        self.found: Minimum | None = None
        self.rank: tuple[float, ...] = ()

    def keep(self, event: Event, found: Minimum, freedom: Freedom) -> None:
        """Take it if it is no worse."""
        rank = (event.samples, event.units if self.exact else 0, -event.criterion)
        if rank >= self.rank:
            self.found, self.freedom, self.rank = found, freedom, rank


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


def in_data_coordinates(network: FittedNetwork, samples: Samples) -> FittedNetwork:
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


def _mean_and_deviation(
    table: np.ndarray, weight: np.ndarray, constant: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means and deviations of columns; `constant` as that of a column that is constant."""
    mean = weight @ table
    # Column by column: nothing of the size of the table is made.
    square = np.array([weight @ (column - m) ** 2 for column, m in zip(table.T, mean, strict=True)])
    deviation = np.sqrt(square)
    return mean, np.where(deviation > ROUNDING * np.abs(mean), deviation, constant)


def _first(objective: FitObjective, activation: DotProduct) -> FittedNetwork:
    samples = objective.samples
    network = empty_network(activation, samples.dim, samples.outputs)
    if objective.loss != "squares":
        return network
    return refit(network, samples, objective.freedom, 0)


def _measured(samples: Samples, settings: Settings) -> tuple[Samples, Criterion]:
    """The samples to grow on, and the criterion."""
    if settings.criterion != "holdout" or settings.units != "auto":
        kind = "aic" if settings.criterion == "aic" else "bic"
        return samples, information(kind)
    rng = np.random.default_rng([settings.seed, 17])
    order = rng.permutation(samples.count)
    held = max(1, round(settings.validation_fraction * samples.count))
    if held >= samples.count:
        raise EarnshawError(
            f"criterion 'holdout' leaves none of {samples.count} samples to fit; allowed: more"
        )
    unseen = FitObjective(samples.take(np.sort(order[:held])), settings.loss)
    return samples.take(np.sort(order[held:])), held_out(unseen)


def _stages(count: int, few: int) -> list[int]:
    """How many samples to grow on: few first, all at last."""
    stages, rows = [], few
    while rows < count:
        stages.append(rows)
        rows *= STAGE_FACTOR
    return [*stages, count]


def _most_units(settings: Settings, samples: Samples, partial: bool, tuning: Tuning) -> int:
    """How many units to grow to on these samples."""
    most = settings.max_units if settings.units == "auto" else int(settings.units)
    if not partial:
        return most
    each = samples.dim + 1 + samples.outputs
    return min(most, max(1, samples.count // tuning.samples_a_parameter // each))


def _first_stage(
    grower_of: Callable[[int, Freedom], Grower],
    count: int,
    freedom: Freedom,
    activation: DotProduct,
    settings: Settings,
) -> tuple[Minimum, Freedom]:
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
    without = straight.prune(straight.minimise(straight.objective, network))
    choices = [(grower.value(found), found, freedom), (straight.value(without), without, less)]
    if min(found.error, without.error) > PERFECT:
        other = straight.network_from(_first(straight.objective, activation))
        choices.append((straight.value(other), other, less))
    _, best, free = min(choices, key=lambda choice: choice[0])
    if best is without:
        straight.tell("straighten", best)
    return best, free


def _centred(network: FittedNetwork) -> FittedNetwork:
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
