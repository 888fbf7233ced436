"""The kind "learn": does a method learn random two-layer teachers? `ew.learn`, seed by seed.

Success is every unit of the teacher found, as a permutation: positions and weights within NEAR, up
to the symmetries of the activation. With the goal "node" it is one unit of the student within NEAR
of a unit of the teacher, whatever its weight: what theorems on one node alone promise. The loss
that is left is kept too: a small one does not mean that the units are found (EPD, after Table 2).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from earnshaw.errors import EarnshawError, OutOfRange, UnknownName
from earnshaw.experiments.kinds.kind import Kind, Piece, Result, Settings
from earnshaw.learning.settings import Procedure
from earnshaw.learning.settings import Settings as LearnSettings
from earnshaw.limits import check_integer
from earnshaw.settings import given

NEAR = 1e-3
GOALS = ("network", "node")
SEEN_BY_A_LOSS = (
    *("activation", "dim", "units", "parameters", "positions", "weights", "biases", "on"),
    *("method", "objective", "oracle", "batch"),
)


@dataclasses.dataclass(frozen=True)
class Learning(Procedure):
    """The arguments of `ew.random_teacher`, and those of `ew.learn` that say how to learn.

    `student_units` is the `units` of `ew.learn`, and `parameters` those of the activation.
    """

    activation: str = "almost-harmonic"
    dim: int = 3
    units: int = 4
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    positions: str | None = None
    weights: str | None = None
    biases: str | None = None
    on: str | None = None
    student_units: int | None = None
    goal: str = "network"

    def of_learn(self, seed: int) -> dict[str, Any]:
        """The arguments of `ew.learn`."""
        how = {field.name: getattr(self, field.name) for field in dataclasses.fields(Procedure)}
        return how | {"seed": seed, "units": self.student_units}

    def teacher(self, seed: int) -> Any:
        """The teacher of a seed."""
        from earnshaw.charges.random import random_teacher

        return random_teacher(
            self.activation,
            self.dim,
            self.units,
            seed,
            positions=self.positions,
            weights=self.weights,
            biases=self.biases,
            on=self.on,
            **self.parameters,
        )


class LearningKind(Kind):
    """`ew.learn`, one seed a block."""

    name = "learn"
    together = 1
    measure = "success"
    numbers = frozenset({"success", "found", "relative_loss", "farthest"})
    sources = (
        *("charges", "descent", "duality", "energy", "landscape", "learning"),
        *("numerics", "inputs", "settings.py"),
        "experiments/kinds/learning.py",
    )

    def defaults(self) -> dict[str, Any]:
        return dataclasses.asdict(Learning())

    def check(self, settings: Settings) -> dict[str, Any]:
        from earnshaw.charges.species import FOR_THE_POTENTIAL
        from earnshaw.duality.named import check_parameters

        known = [field.name for field in dataclasses.fields(Learning)]
        for name in settings:
            if name not in known:
                raise EarnshawError(f"learn has no setting {name!r}; allowed: {', '.join(known)}")
        asked = Learning(**settings)
        if not isinstance(asked.activation, str):
            raise OutOfRange("activation", asked.activation, "the name of an activation")
        if not isinstance(asked.parameters, dict):
            raise OutOfRange("parameters", asked.parameters, "a table of names and values")
        check_parameters(asked.activation, asked.parameters, FOR_THE_POTENTIAL)
        check_integer("dim", asked.dim, 1)
        check_integer("units", asked.units, 1)
        if asked.goal not in GOALS:
            raise UnknownName("goal", str(asked.goal), GOALS)
        LearnSettings(**given(LearnSettings, asked.of_learn(0)))
        # Seconds, nearly all of them compilation: once for all settings that make no difference.
        crowded = asked.positions == "orthonormal" and asked.units > asked.dim
        few = asked.units if crowded else min(asked.units, 2)
        full = dataclasses.asdict(asked)
        alike = {name: full[name] for name in SEEN_BY_A_LOSS} | {"units": few}
        _check_objective(json.dumps(alike, sort_keys=True))
        return full

    def work(self, settings: Settings) -> float:
        return float(settings["units"]) ** 2 * settings["dim"]

    def advance(self, settings: Settings, block: int, state: bytes | None, seconds: float) -> Piece:
        from earnshaw.learning.learn import learn

        asked, seed = Learning(**settings), block
        latest: list[Any] = [0.0, ""]
        until = math.inf
        cut = False

        def report(progress: Any) -> None:
            nonlocal until, cut
            if progress.compiling:
                return
            latest[:] = [progress.done / progress.total if progress.total else 0.0, progress.note]
            now = time.monotonic()
            cut = now > until
            if cut:
                raise KeyboardInterrupt  # which ends a run of `learn` as Ctrl-C does, in good order
            # From the first report on: what comes before is compilation, which is no progress.
            until = min(until, now + seconds)

        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "run.npz"
            if state is not None:
                kept.write_bytes(state)
            run = learn(
                asked.teacher(seed),
                **asked.of_learn(seed),
                save=kept,
                resume=None if state is None else kept,
                report=report,
            )
            if str(run.stop) == "interrupted":
                if not cut:
                    raise KeyboardInterrupt  # a real one
                return Piece(latest[0], latest[1], state=kept.read_bytes())
        note = f"relative loss {run.relative_loss:.3g}"
        return Piece(1.0, note, results=(_result(seed, run, asked.goal),))


@functools.lru_cache(maxsize=10_000)
def _check_objective(text: str) -> None:
    """Whether there is such a teacher and such a loss, on which the method can run."""
    from earnshaw.descent.methods import check_method
    from earnshaw.learning.learn import objective_of

    asked = Learning(**json.loads(text))
    settings = LearnSettings(**given(LearnSettings, asked.of_learn(0)))
    check_method(asked.method, objective_of(asked.teacher(0), settings))


def _result(seed: int, run: Any, goal: str) -> Result:
    import numpy as np

    found = len(run.matching.recovered(NEAR))
    whole = run.matching.is_permutation and found == run.teacher.units
    nearest, farthest = (float(f(run.matching.distance)) for f in (np.min, np.max))
    numbers = {
        "success": bool(whole if goal == "network" else nearest <= NEAR),
        "found": found / run.teacher.units,
        "relative_loss": run.relative_loss,
        "farthest": farthest if math.isfinite(farthest) else None,
        "student_units": run.student.units,
        "iterations": run.iterations,
        "stop": str(run.stop),
        "kind": str(run.certificate.kind),
    }
    way = {"iterations": run.history.iterations, "losses": run.history.losses}
    return Result(seed, numbers, {name: np.asarray(a) for name, a in way.items()})
