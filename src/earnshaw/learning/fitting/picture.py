"""What the picture of a fit is made of, where there is no table: `NodewiseRegressor.plot`."""

from __future__ import annotations

import dataclasses

from earnshaw.learning.fitting.growth import Event
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.problem import Problem
from earnshaw.results import Result


@dataclasses.dataclass(frozen=True, repr=False)
class FitPicture(Result):
    """A model, the rows that it is looked at on, and the steps by which it grew."""

    model: Model
    problem: Problem
    history: list[Event]

    _picture = "earnshaw.plots.fitting:draw_estimator"
    _panel = "earnshaw.plots.fitting:draw_answers"
