"""Which electron of a run reached which proton, and the ways there."""

from __future__ import annotations

import numpy as np

from earnshaw.learning.run import Run
from earnshaw.plots._charges import one_number
from earnshaw.plots.formatting import plural, short

NEAR = 1e-6  # of the teacher's largest length or weight: as near as this counts as there


class Arrivals:
    """The ends and ways of a student's units, after the activation's symmetries.

    A unit that was flipped is drawn at -theta, and a homogeneous one at the length of its teacher
    unit, all along its way: it is the same unit there.

    Attributes:
        landed: which protons an electron has reached, (k,).
        exact: which of these have the right weight too, (k,).
        weights: of the electron matched to each proton, NaN for none, (k,).
        arrived: which student units are on a proton.
        ends: where student units are.
        paths: the way of each student unit, with its end.
        result: of the run: "recovered", "equal-function" or "incomplete".
        turned: how many student units were flipped or rescaled.
    """

    def __init__(self, run: Run) -> None:
        matching = run.matching
        places, weights = np.asarray(run.teacher.positions), np.asarray(run.teacher.weights)
        length = max(float(np.max(np.hypot.reduce(places, axis=1))), 1e-300)
        heaviest = float(np.max(np.abs(weights))) or 1.0
        self.units = len(places)
        self.landed = matching.distance <= NEAR * length
        self.exact = self.landed & (matching.weight_error <= NEAR * heaviest)
        self.result = run.result
        self.worst_distance = float(np.max(matching.distance))
        self.worst_weight = float(np.max(matching.weight_error[self.landed], initial=0.0))
        self.ends = np.array(run.student.positions)
        self.arrived = np.zeros(len(self.ends), dtype=bool)
        self.weights = np.full(len(places), np.nan)
        factors = np.ones(len(self.ends))
        # `aligned` has the matched units first, in the order of the teacher's.
        for row, unit in enumerate(np.flatnonzero(matching.permutation >= 0)):
            index = matching.permutation[unit]
            before = float(np.hypot.reduce(self.ends[index]))
            self.ends[index] = np.asarray(matching.aligned.positions[row])
            self.weights[unit] = one_number(np.asarray(matching.aligned.weights)[row, None])[0]
            self.arrived[index] = self.landed[unit]
            after = float(np.hypot.reduce(self.ends[index]))
            scale = after / before if before > 0 else 1.0
            factors[index] = -scale if matching.flipped[unit] else scale
        self.turned = int(np.sum(np.abs(factors - 1) > 1e-6))
        nothing = np.zeros((0, run.teacher.dim))
        recorded = [np.asarray(path) for path in run.history.paths]
        recorded += [nothing] * (len(self.ends) - len(recorded))
        self.paths = [
            np.concatenate([factor * path, end[None]])
            for factor, path, end in zip(factors, recorded, self.ends, strict=False)
        ]

    @property
    def starts(self) -> np.ndarray:
        """Where units with a recorded way began, (m, d)."""
        return np.array([path[0] for path in self.paths if len(path) > 1]).reshape(
            -1, self.ends.shape[1]
        )

    @property
    def headline(self) -> str:
        """The result in a few words."""
        units, found = self.units, int(np.sum(self.landed))
        if self.result == "recovered":
            words = f"All {units} units recovered" if units > 1 else "The unit is recovered"
            worst = max(self.worst_distance, self.worst_weight)
            return words if np.all(self.exact) else f"{words}, to {short(worst)}"
        if found == units:
            words = f"All {units} units found" if units > 1 else "The unit is found"
        else:
            words = f"{found} of {plural(units, 'unit')} found"
        if self.result == "equal-function":
            spare = len(self.ends) - units
            made = plural(len(self.ends), "unit") if spare else "other units"
            return f"An equal function of {made}: {words[0].lower()}{words[1:]}"
        if found and not np.all(self.exact[self.landed]):
            words += f", weights off by up to {short(self.worst_weight)}"
        return words
