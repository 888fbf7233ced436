"""A fit as it is asked for: by an information criterion, or by evidence with a perfect fit first.

Answers without noise are a network's to the last digit, and then growing finds it
(`fitted.py`); noisy ones are better explained by a committee (`learning/evidence`). Which they are
shows while a network grows: without noise every unit helps until nothing is left. Growth is
therefore tried first, without its costly detours, and left where a unit no longer pays, or where
`ENOUGH` units leave more than `MUCH`. Where the networks of the committee leave almost nothing, it
is tried again with all detours.
"""

from __future__ import annotations

import time

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.jumps import jumps
from earnshaw.errors import EarnshawError
from earnshaw.learning.evidence.assembling import SIZES, fit_committee
from earnshaw.learning.evidence.committee import Committee, Member
from earnshaw.learning.fitting._tuning import Tuning
from earnshaw.learning.fitting.fitted import Fitted, OutOfTime
from earnshaw.learning.fitting.fitted import fit as fit_by_growth
from earnshaw.learning.fitting.growth import Event, OnEvent
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.learning.fitting.settings import Settings

ENOUGH, MUCH = 12, 1e-2  # units after which so much of the variance must not be left
NOISELESS = 1e-8  # of the variance: less is left of answers without noise
ALMOST = 1e-4  # of the variance: where networks leave less, growth is tried once more, with
PATIENCE = 20  # units, beyond which almost nothing must be left


class _Noisy(Exception):
    """What is left is noise, or no network of this kind."""


def fit(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    activation: DotProduct,
    settings: Settings,
    on_event: OnEvent | None = None,
    columns: tuple[np.ndarray, np.ndarray] | None = None,
    rising: tuple[int, ...] = (),
    known: Committee | None = None,
) -> Fitted:
    """Fit to inputs (n, d), answers (n, m) and weights (n,) of samples, as `settings` say.

    `columns` are the number of the column that each input comes from, (d,), and whether it may be
    seen as quantiles, (d,). Evidence decides where nothing else is asked for: not for a given
    number of units, without biases, intercept or scaling, with a given solver or linear part, nor
    for activations that jump. `rising` (d,) says with which inputs answers must rise (1) or fall
    (-1), `known` is a committee to begin from. After `settings.max_time` the best so far is taken.
    """
    began = time.monotonic()
    end = np.inf if settings.max_time is None else began + settings.max_time
    if not by_evidence(activation, settings):
        if rising:
            raise EarnshawError(
                "answers that must rise or fall are fitted by evidence; allowed: "
                "criterion='evidence' and n_units='auto', with an activation that does not jump"
            )
        return fit_by_growth(x, y, weight, activation, settings, _until(end, on_event))
    history: list[Event] = []

    def note(event: Event) -> None:
        history.append(event)
        if on_event is not None:
            on_event(event)

    varies = settings.loss == "squares" and settings.networks in ("auto", 1) and not rising
    told = _until(end, on_event)
    if varies and known is None:
        half = _until(end if end == np.inf else (began + end) / 2, on_event)
        found = _perfect(x, y, weight, activation, settings, half, quick=True)
        if found is not None:
            return found
    sources, bend = columns if columns is not None else (None, None)
    few = settings.networks if isinstance(settings.networks, int) else None

    def step(action: str, member: Member) -> None:
        units, value = member.layout.units, -2 * member.evidence
        note(Event(action, units, member.error, value, member.steps, len(x)))

    committee = fit_committee(
        x,
        y,
        weight,
        activation,
        settings.loss,
        sources=sources,
        bend=bend,
        sizes=[units for units in SIZES if units <= settings.max_units],
        networks=few,
        fields=few is None,
        seed=settings.seed,
        rising=rising,
        known=known,
        max_time=end - time.monotonic(),
        on_step=step,
    )
    if varies and committee.networks and committee.left() < ALMOST:
        found = _perfect(x, y, weight, activation, settings, told, quick=False)
        if found is not None:
            return found
    best = committee.networks[0] if committee.networks else committee.linear
    network = FittedNetwork(activation=activation, **committee.in_data_coordinates(best))
    error, value = committee.error(x, y, weight), -2 * best.evidence
    note(Event("blend", network.units, error, value, best.steps, len(x)))
    return Fitted(network, error, value, history, "lm", best.settled, False, committee)


def _until(end: float, on_event: OnEvent | None) -> OnEvent | None:
    """`on_event`, which ends a growth after so late (of `time.monotonic`)."""
    if end == np.inf:
        return on_event

    def told(event: Event) -> None:
        if on_event is not None:
            on_event(event)
        if time.monotonic() > end:
            raise OutOfTime

    return told


def by_evidence(activation: DotProduct, settings: Settings) -> bool:
    """Whether these settings leave the choice to the evidence."""
    usual = settings.biases and settings.intercept and settings.linear == "auto" and settings.scale
    leaps = any(jump.value for jump in jumps(activation))
    free = settings.units == "auto" and settings.solver == "auto"
    return settings.criterion == "evidence" and usual and free and not leaps


def _perfect(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    activation: DotProduct,
    settings: Settings,
    on_event: OnEvent | None,
    quick: bool,
) -> Fitted | None:
    """The network that leaves nothing, or was interrupted; None where there is none."""
    best = np.inf

    def told(event: Event) -> None:
        nonlocal best
        if on_event is not None:
            on_event(event)
        if event.action not in ("begin", "add", "shake"):
            return
        hopeless = event.units >= ENOUGH and event.error > MUCH
        if quick and event.error > NOISELESS and (event.criterion > best or hopeless):
            raise _Noisy
        if event.units > PATIENCE and event.error > ALMOST:
            raise _Noisy
        best = min(best, event.criterion)

    tuning = Tuning(shakes=0) if quick else None
    try:
        found = fit_by_growth(x, y, weight, activation, settings, told, tuning)
    except _Noisy:
        return None
    return found if found.interrupted or found.error <= NOISELESS else None
