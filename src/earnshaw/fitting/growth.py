"""Growing a network unit by unit, and taking away again what it can do without.

Forward: search for the unit that helps most, refit the output weights, polish all parameters; as
long as the criterion improves. Where a unit helps little although the criterion says that something
is left, the network may be in a bad local minimum: it is shaken, that is some units at random are
taken away and grown again, as long as that helps. Backward: a unit that the others can replace is
taken away, which also merges equal units; as long as the criterion improves. Where the number of
units is given, the way back is from a few more than that.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from earnshaw.fitting.criterion import PERFECT, Criterion
from earnshaw.fitting.layout import layout_of
from earnshaw.fitting.marquardt import Polished
from earnshaw.fitting.network import Network
from earnshaw.fitting.normal import Objective
from earnshaw.fitting.refit import Features, refit
from earnshaw.fitting.search import search

LITTLE = 0.85  # a unit that leaves more of the error than this helps little
MUCH = 0.7  # a network that leaves less of the error than this is better, not just luckier
SHAKEN = 0.3  # the part of the units that is taken away to grow again,
SHAKES, FAILURES = 6, 18  # as long as it did not fail so often, here and in all,
WORK = 1.5e11  # nor took so many multiplications
FEW, FEW_A_PARAMETER = 4096, 10  # samples that are enough to see whether a network is better
PATIENCE = 2  # additions without a better criterion before growth ends
NEEDED = 1e-4  # a unit that takes away more of the answers is needed by a perfect fit
AGAIN, HALF = 5, 0.5  # how often a polish is gone on with, while it leaves less than half
EXACT = 1e-8  # where so little is left the answers must be without noise, and units can go,
SAME = 2.0  # if hardly more is left without them,
SLIMS = 4  # unless that was tried so often in vain
TRIES = 3  # units that are tried to be done without
SPARE = 2  # units beyond an exact number that are grown and taken away again


class Event(NamedTuple):
    """One line of the history of a fit.

    Actions: "begin" (on so many samples), "add", "shake", "remove", "detour", "straighten" (the
    linear part left out), "polish" (the last, on all samples).
    """

    action: str
    units: int
    error: float
    criterion: float
    iterations: int
    samples: int


Polish = Callable[[Objective, Network], Polished]
Watch = Callable[[Event], None]


@dataclasses.dataclass
class Grower:
    """Grows networks on the samples of `objective`.

    Units are added while the criterion improves, and at most `most`; or, if `exact`, so many.
    `watch` is told of every step.
    """

    objective: Objective
    polish: Polish
    criterion: Criterion
    most: int
    exact: bool
    seed: int
    watch: Watch
    salt: int = 0  # so that no two searches start alike
    failures: int = 0  # of shakes,
    work: float = 0.0  # and multiplications in them
    slims: int = 0  # how often units were taken away in vain

    def begin(self, network: Network) -> Polished:
        """A network polished on these samples, to grow from."""
        found = self.polish(self.objective, network)
        self.watch(self.event("begin", found))
        return found

    def network_from(self, network: Network) -> Polished:
        """The best network from here on, there and back."""
        found = self.grow(self.begin(network))
        return self.detour(found) if self.exact else self.prune(found)

    def grow(self, begin: Polished) -> Polished:
        """From a polished network on, to the best one met; to `most` units if `exact`."""
        best, best_value = begin, self.value(begin)
        here, waited = begin, 0
        while here.network.units < self.most and (self.exact or self._promising(here)):
            found = self._added(here.network, self.objective, here.error)
            if found is None:
                break
            self.watch(self.event("add", found))
            if found.error < EXACT and self.slims < SLIMS:
                found = self._slimmed(self._settled(found))
            value = self.value(found)
            if value < best_value and found.error > max(LITTLE * here.error, EXACT):
                found = self._shaken(found)
                value = self.value(found)
            here = found
            if value < best_value or self.exact:
                best, best_value, waited = found, value, 0
            else:
                waited += 1
                if waited >= PATIENCE:
                    break
        return best

    def _promising(self, found: Polished) -> bool:
        """Whether another unit could tell something.

        Not if nothing is left; nor if next to nothing is, and yet no network explains it: then the
        answers are without noise but not those of a network, and units would be added for ever.
        """
        explained = found.error <= PERFECT or (found.error <= EXACT and self.slims >= SLIMS)
        return not explained and self._affordable(found.network)

    def _shaken(self, found: Polished) -> Polished:
        """The best of the networks that grow again after some of their units are taken away.

        They grow on few samples; one that is better there must be better on all of them.
        """
        rng = np.random.default_rng([self.seed, found.network.units])
        few = self._few(found.network)
        alike = few.samples is self.objective.samples
        here = found if alike else self.polish(few, found.network)
        failed = 0
        while failed < SHAKES and self._may_shake() and found.error > EXACT:
            count = found.network.units
            kept = np.sort(rng.permutation(count)[: count - max(1, round(SHAKEN * count))])
            trial = self._regrown(found.network.keep(kept), count, few)
            if trial is not None and trial.error < MUCH * here.error:
                better = trial if alike else self.polish(self.objective, trial.network)
                if better.error < MUCH * found.error:
                    found, here, failed = better, trial, 0
                    self.watch(self.event("shake", found))
                    continue
            failed, self.failures = failed + 1, self.failures + 1
        return found

    def _may_shake(self) -> bool:
        return self.failures < FAILURES and self.work < WORK

    def _few(self, network: Network) -> Objective:
        """The objective of no more samples than it takes to tell networks of this size apart."""
        rows = FEW
        while rows < FEW_A_PARAMETER * self.objective.freedom.count(network):
            rows *= 2  # chunks of samples have powers of two of them: little to compile
        return dataclasses.replace(
            self.objective, samples=self.objective.samples.subset(rows, self.seed)
        )

    def _regrown(self, network: Network, count: int, few: Objective) -> Polished | None:
        """With units added up to `count`, or None where no more help."""
        more = None
        while network.units < count:
            self.salt += 1
            more = self._added(network, few)
            if more is None:
                break
            network = more.network
            numbers = few.samples.outputs * layout_of(network).size ** 2
            self.work += more.iterations * few.samples.count * numbers
        return more

    def _slimmed(self, found: Polished) -> Polished:
        """Without units to spare, if nothing is left then: they make the last digits slow."""
        here = found
        while here.error > PERFECT and here.network.units > 1:
            fewer = self._repolished(self._without_one(here.network)[0])
            if fewer.error > min(EXACT, SAME * here.error):
                self.slims += 1
                return found
            here = fewer
        if here is found or here.error > PERFECT:
            return found
        self.watch(self.event("remove", here))
        return here

    def _without_one(self, network: Network) -> list[Network]:
        """The networks without one of the units that the others replace best."""
        parts = self._contributions(network)
        return [
            network.keep(np.arange(network.units) != unit)
            for unit in np.argsort(parts, kind="stable")[:TRIES]
        ]

    def _contributions(self, network: Network) -> np.ndarray:
        """The part of the answers that is lost with each unit, the other weights refitted."""
        objective = self.objective
        features = Features(network, objective.samples, objective.freedom, self.seed)
        return features.contributions() / np.sum(features.answers**2)

    def detour(self, found: Polished) -> Polished:
        """With more units for a while and fewer again, as long as much less is left."""
        much = True
        while much and found.error > EXACT:
            back = self._there_and_back(found)
            if back is None or back.error >= found.error:
                break
            much, found = back.error < MUCH * found.error, back
            self.watch(self.event("detour", found))
        return found

    def _there_and_back(self, found: Polished) -> Polished | None:
        """As many units, after some more were added and then those that matter least taken away.

        None if more units do not help much: then nothing has been missed.
        """
        here: Polished | None = found
        for _ in range(SPARE):
            if here is None or here.error <= EXACT or not self._affordable(here.network):
                break
            here = self._added(here.network, self.objective, here.error)
        if here is None or here.error > MUCH * found.error:
            return None
        while here.network.units > found.network.units:
            rests = self._without_one(here.network)
            here = min((self._repolished(rest) for rest in rests), key=lambda trial: trial.error)
        return here

    def prune(self, found: Polished) -> Polished:
        """Without the units that the criterion can do without."""
        if self.exact:
            return found
        found = self._settled(found)
        value = self.value(found)
        while found.network.units:
            fewer = self._fewer(found, value)
            if fewer is None:
                break
            found, value = fewer
            self.watch(self.event("remove", found))
        return found

    def _fewer(self, found: Polished, value: float) -> tuple[Polished, float] | None:
        """With one unit less and a better criterion, or None."""
        network = found.network
        if found.error <= PERFECT and np.min(self._contributions(network)) > NEEDED:
            return None  # of a perfect fit nothing can go but what others replace
        for rest in self._without_one(network):
            trial = self._repolished(rest)
            trial_value = self.value(trial)
            if trial_value < value:
                return trial, trial_value
        return None

    def _repolished(self, network: Network) -> Polished:
        return self._settled(self.polish(self.objective, self._refit(network)))

    def _settled(self, found: Polished) -> Polished:
        """Polished again where that did not end by itself: with units to spare descent is slow."""
        for _ in range(AGAIN):
            before = found.error
            if found.settled:
                break
            found = self.polish(self.objective, found.network)
            if found.error > HALF * before:
                break
        return found

    def _affordable(self, network: Network) -> bool:
        """Whether there are more samples than parameters of a network of one more unit."""
        more = network.with_unit(np.zeros(network.dim), 0.0, np.zeros(network.outputs))
        answers = self.objective.samples.total * network.outputs
        return answers > self.objective.freedom.count(more) + 2

    def _added(
        self, network: Network, objective: Objective, error: float = math.inf
    ) -> Polished | None:
        """With the unit that helps most, or None where none helps; not with more than `error`."""
        seed = self.seed + 1000 * self.salt + network.units
        found = search(network, objective.samples, objective.freedom, objective.loss, seed)
        if found is None:
            return None
        unit, weight, _ = found
        larger = network.with_unit(unit[:-1], float(unit[-1]), weight)
        more = self.polish(objective, self._refit(larger))
        if not more.error < error:
            # Refitted weights can lead into a worse valley; from here the way is down only.
            larger = network.with_unit(unit[:-1], float(unit[-1]), 0 * weight)
            more = self.polish(objective, larger)
        return more

    def _refit(self, network: Network) -> Network:
        if self.objective.loss != "squares":
            return network
        return refit(network, self.objective.samples, self.objective.freedom, self.seed)

    def value(self, found: Polished) -> float:
        """The criterion of a network, lower is better."""
        return self.criterion(self.objective, found)

    def event(self, action: str, found: Polished) -> Event:
        """A line of history."""
        return Event(
            action,
            found.network.units,
            found.error,
            self.value(found),
            found.iterations,
            self.objective.samples.count,
        )
