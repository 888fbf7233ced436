"""Growing a network unit by unit, and dropping again the units that it does not need.

Forward: search for the unit that helps most, refit the output weights, minimise over all
parameters; as long as the criterion improves. Where a unit helps little although the criterion says
that something is left, the network may be in a bad local minimum: it is shaken, that is, some
random units are dropped and grown again, as long as that helps. Backward: a unit that the others
can replace is dropped, which also merges equal units; as long as the criterion improves. Where the
number of units is given, a detour adds a few more and drops as many.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from earnshaw.descent.nodes import pruned
from earnshaw.learning.fitting._criterion import PERFECT, Criterion
from earnshaw.learning.fitting._layout import Freedom, layout_of
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting._refit import Features, refit
from earnshaw.learning.fitting._search import search
from earnshaw.learning.fitting._solvers import Minimum, Solver
from earnshaw.learning.fitting._tuning import Tuning
from earnshaw.learning.fitting.network import FittedNetwork


class Event(NamedTuple):
    """One step of a fit, as `history_` has it.

    Actions: "begin" (on so many samples), "add", "shake", "remove", "detour", "straighten" (the
    linear part left out), "polish" (the last descent, on all samples), "interrupted" (Ctrl-C); by
    evidence "line" and "network" (one was trained), "blend" (the committee).
    """

    action: str
    units: int
    error: float
    criterion: float
    iterations: int
    samples: int


OnEvent = Callable[[Event], None]


@dataclasses.dataclass
class Grower:
    """Grows networks on the samples of `objective`.

    Units are added while the criterion improves, at most `most`; or, if `exact`, exactly `most`.
    `minimise` fits all parameters of a network; `on_event` is told of every step, `on_found` is
    given its network.
    """

    objective: FitObjective
    minimise: Solver
    criterion: Criterion
    most: int
    exact: bool
    seed: int
    on_event: OnEvent
    tuning: Tuning = dataclasses.field(default_factory=Tuning)
    on_found: Callable[[Event, Minimum, Freedom], None] | None = None
    salt: int = 0  # so that no two searches start alike
    failed_shakes: int = 0
    shake_work: float = 0.0  # multiplications in shakes
    failed_slims: int = 0  # attempts to drop spare units of a noiseless fit

    def begin(self, network: FittedNetwork) -> Minimum:
        """The minimum next to `network` on these samples, to grow from."""
        found = self.minimise(self.objective, network)
        self.tell("begin", found)
        return found

    def network_from(self, network: FittedNetwork) -> Minimum:
        """The best network from here on: grown, then pruned."""
        found = self.grow(self.begin(network))
        return self.detour(found) if self.exact else self.prune(found)

    def grow(self, begin: Minimum) -> Minimum:
        """From a minimum on, to the best one met; to `most` units if `exact`."""
        best, best_value = begin, self.value(begin)
        here, waited = begin, 0
        while here.network.units < self.most and (self.exact or self._promising(here)):
            found = self._added(here.network, self.objective, here.error)
            if found is None:
                break
            self.tell("add", found)
            if found.error < self.tuning.noiseless and self.failed_slims < self.tuning.slims:
                found = self._slimmed(self._settled(found))
            value = self.value(found)
            helps_little = found.error > max(self.tuning.little * here.error, self.tuning.noiseless)
            if value < best_value and helps_little:
                found = self._shaken(found)
                value = self.value(found)
            here = found
            if value < best_value or self.exact:
                best, best_value, waited = found, value, 0
            else:
                waited += 1
                if waited >= self.tuning.patience:
                    break
        return best

    def _promising(self, found: Minimum) -> bool:
        """Whether another unit could tell something.

        Not if nothing is left; nor if next to nothing is, and yet no network explains it: then the
        answers are without noise but not those of a network, and units would be added for ever.
        """
        noiseless = found.error <= self.tuning.noiseless
        no_network = noiseless and self.failed_slims >= self.tuning.slims
        return found.error > PERFECT and not no_network and self._affordable(found.network)

    def _shaken(self, found: Minimum) -> Minimum:
        """The best of the networks that grow again after some random units were dropped.

        They grow on few samples; one that is better there must be better on all of them.
        """
        rng = np.random.default_rng([self.seed, found.network.units])
        tuning, few = self.tuning, self._on_few_samples(found.network)
        alike = few.samples is self.objective.samples
        here = found if alike else self.minimise(few, found.network)
        failed = 0
        while failed < tuning.shakes and found.error > tuning.noiseless:
            if self.failed_shakes >= tuning.all_shakes or self.shake_work >= tuning.shake_work:
                break
            count = found.network.units
            dropped = max(1, round(tuning.shaken * count))
            kept = np.sort(rng.permutation(count)[: count - dropped])
            trial = self._regrown(found.network.keep(kept), count, few)
            if trial is not None and trial.error < tuning.much * here.error:
                better = trial if alike else self.minimise(self.objective, trial.network)
                if better.error < tuning.much * found.error:
                    found, here, failed = better, trial, 0
                    self.tell("shake", found)
                    continue
            failed, self.failed_shakes = failed + 1, self.failed_shakes + 1
        return found

    def _on_few_samples(self, network: FittedNetwork) -> FitObjective:
        """The objective of no more samples than it takes to tell networks of this size apart."""
        rows = self.tuning.few_samples
        while rows < self.tuning.samples_a_parameter * self.objective.freedom.count(network):
            rows *= 2  # chunks of samples have powers of two of them: little to compile
        return dataclasses.replace(
            self.objective, samples=self.objective.samples.subset(rows, self.seed)
        )

    def _regrown(self, network: FittedNetwork, count: int, few: FitObjective) -> Minimum | None:
        """The network with units added up to `count`, or None where no more help."""
        more = None
        while network.units < count:
            self.salt += 1
            more = self._added(network, few)
            if more is None:
                break
            network = more.network
            numbers = few.samples.outputs * layout_of(network).size ** 2
            self.shake_work += more.iterations * few.samples.count * numbers
        return more

    def _slimmed(self, found: Minimum) -> Minimum:
        """Without spare units, if the fit is then perfect: they make the last digits slow."""
        here = found
        while here.error > PERFECT and here.network.units > 1:
            fewer = self._reminimised(self._without_one(here.network)[0])
            if fewer.error > min(self.tuning.noiseless, self.tuning.slim_error * here.error):
                self.failed_slims += 1
                return found
            here = fewer
        if here is found or here.error > PERFECT:
            return found
        self.tell("remove", here)
        return here

    def _without_one(self, network: FittedNetwork) -> list[FittedNetwork]:
        """The networks without one unit, the one that the others replace best first."""
        shares = self._contributions(network)
        return [
            network.keep(np.arange(network.units) != unit)
            for unit in np.argsort(shares, kind="stable")[: self.tuning.drops]
        ]

    def _contributions(self, network: FittedNetwork) -> np.ndarray:
        """The part of the answers that is lost with each unit, the other weights refitted."""
        objective = self.objective
        features = Features(network, objective.samples, objective.freedom, self.seed)
        return features.contributions() / np.sum(features.answers**2)

    def detour(self, found: Minimum) -> Minimum:
        """The network after units were added and as many dropped, while much less is left."""
        much = True
        while much and found.error > self.tuning.noiseless:
            back = self._there_and_back(found)
            if back is None or back.error >= found.error:
                break
            much, found = back.error < self.tuning.much * found.error, back
            self.tell("detour", found)
        return found

    def _there_and_back(self, found: Minimum) -> Minimum | None:
        """A network of as many units, after some were added and those of least effect dropped.

        None if more units do not help much: then nothing has been missed.
        """
        here: Minimum | None = found
        for _ in range(self.tuning.spare):
            if here is None or here.error <= self.tuning.noiseless:
                break
            if not self._affordable(here.network):
                break
            here = self._added(here.network, self.objective, here.error)
        if here is None or here.error > self.tuning.much * found.error:
            return None
        while here.network.units > found.network.units:
            rests = self._without_one(here.network)
            here = min((self._reminimised(rest) for rest in rests), key=lambda trial: trial.error)
        return here

    def prune(self, found: Minimum) -> Minimum:
        """Without the units whose absence improves the criterion."""
        if self.exact:
            return found
        return pruned(
            self._settled(found),
            self._with_one_less,
            lambda fewer, here: self.value(fewer) < self.value(here),
            lambda fewer: self.tell("remove", fewer),
        )

    def _with_one_less(self, found: Minimum) -> Iterator[Minimum]:
        """The minima of one unit less, without a unit that the others replace well."""
        network = found.network
        if not network.units:
            return
        if found.error <= PERFECT and np.min(self._contributions(network)) > self.tuning.needed:
            return  # of a perfect fit nothing can go but what others replace
        for rest in self._without_one(network):
            yield self._reminimised(rest)

    def _reminimised(self, network: FittedNetwork) -> Minimum:
        return self._settled(self.minimise(self.objective, self._refit(network)))

    def _settled(self, found: Minimum) -> Minimum:
        """Continued where the descent did not end by itself: with spare units it is slow."""
        for _ in range(self.tuning.settling):
            before = found.error
            if found.settled:
                break
            found = self.minimise(self.objective, found.network)
            if found.error > self.tuning.settling_gain * before:
                break
        return found

    def _affordable(self, network: FittedNetwork) -> bool:
        """Whether there are more samples than parameters of a network of one more unit."""
        more = network.with_unit(np.zeros(network.dim), 0.0, np.zeros(network.outputs))
        answers = self.objective.samples.total * network.outputs
        return answers > self.objective.freedom.count(more) + 2

    def _added(
        self, network: FittedNetwork, objective: FitObjective, error: float = math.inf
    ) -> Minimum | None:
        """With the unit that helps most, below `error` if possible; None if none helps."""
        seed = self.seed + 1000 * self.salt + network.units
        found = search(network, objective.samples, objective.freedom, objective.loss, seed)
        if found is None:
            return None
        unit, weight, _ = found
        larger = network.with_unit(unit[:-1], float(unit[-1]), weight)
        more = self.minimise(objective, self._refit(larger))
        if not more.error < error:
            # Refitted weights can lead into a worse valley; from weight 0 the error only falls.
            larger = network.with_unit(unit[:-1], float(unit[-1]), 0 * weight)
            more = self.minimise(objective, larger)
        return more

    def _refit(self, network: FittedNetwork) -> FittedNetwork:
        if self.objective.loss != "squares":
            return network
        return refit(network, self.objective.samples, self.objective.freedom, self.seed)

    def value(self, found: Minimum) -> float:
        """The criterion of a network, lower is better."""
        return self.criterion(self.objective, found)

    def tell(self, action: str, found: Minimum) -> None:
        """Have a step noted, and what it led to."""
        event = self.event(action, found)
        if self.on_found is not None:
            self.on_found(event, found, self.objective.freedom)
        self.on_event(event)

    def event(self, action: str, found: Minimum) -> Event:
        """A line of history."""
        return Event(
            action,
            found.network.units,
            found.error,
            self.value(found),
            found.iterations,
            self.objective.samples.count,
        )
