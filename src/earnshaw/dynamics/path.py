"""What a simulation returns: where every unit was at every accepted step, and why it ended."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Literal, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from earnshaw.charges.network import Student, Teacher, UnitKind
from earnshaw.charges.network_file import student_values
from earnshaw.errors import OutOfRange
from earnshaw.files.atomic import as_path
from earnshaw.results import Result, looked_up, number

Stop = Literal["time", "equilibrium", "bound", "collision", "diverged", "step-limit", "interrupted"]
Kind = Literal["bind", "merge", "release", "split"]
ENTRIES = 200  # of the energy in JSON
AT_ONCE = 10.0  # pairs no more than so much farther apart than the nearest have met as well


class Encounter(NamedTuple):
    """Electron `unit` met or left `partner` at `time`.

    "bind" and "release" are of proton `partner`, "merge" and "split" of electron `partner`. `side`
    is -1 where the two are antipodes on the sphere, not the same point.
    """

    time: float
    kind: Kind
    unit: int
    partner: int
    side: int = 1


class Collision(NamedTuple):
    """Where a path ends because the force has no limit: electron `unit` met `what`.

    `partner` is the number of the proton or electron, -1 for the origin (a relu unit on R^d).
    """

    unit: int
    what: Literal["proton", "electron", "origin"]
    partner: int = -1


class Pause(NamedTuple):
    """What `extend` needs beside the path itself to continue to the last bit.

    `leader` and `side` say who shares a place (`_clusters.py`), `speeds` and `top_speeds` how fast
    units are and were, `next_step` what the integrator would try (NaN for its own choice); the rest
    is what was asked of `simulate`.
    """

    leader: np.ndarray
    side: np.ndarray
    speeds: np.ndarray
    top_speeds: np.ndarray
    next_step: float
    time: float
    wrt: str
    objective: str
    rtol: float
    atol: float
    solver: str = "explicit"


class Path(Result, eqx.Module):
    """The motion of k electrons in R^d, at n increasing times.

    `energy` is the objective (the loss L, not L/2) at each time. `bound` has the proton that each
    unit ended on (or on whose antipode), or -1; `group` the first of the units that share its
    place, itself where it is alone. `steps` counts the steps tried, rejected ones too. `kind` is of
    which activation the electrons are, if not of the protons'. `stop`:

    - "time"         the time asked for has passed;
    - "equilibrium"  all speeds are below what the tolerances can tell from 0;
    - "bound"        every electron is held by a proton, and nothing moves;
    - "collision"    the force has no limit: an electron met a charge under an unbounded potential,
                     or a relu unit on R^d came to the origin;
    - "diverged"     positions, weights or energy are no longer finite;
    - "step-limit"   `max_steps` were not enough;
    - "interrupted"  by Ctrl-C; the path is complete up to its last time.

    Attributes
    ----------
    times
        (n,), from 0 on.
    positions
        of the electrons, (n, k, d).
    weights
        of the electrons, (n, k).
    energy
        the objective at each time, (n,).
    bound
        the proton that each electron ended on, or -1, (k,).
    group
        the first of the electrons that share its place, (k,).
    teacher
        the protons.
    events
        who met whom, and when.
    stop
        why it ended.
    steps
        how many were tried.
    pause
        what `extend` needs to go on.

    Examples
    --------
    >>> import earnshaw as ew
    >>> proton = ew.Teacher([[0.0, 0.0]], [1.0], "almost-harmonic")
    >>> path = ew.simulate(proton, ew.Student([[1.0, 0.0]], [1.0]), time=20.0)
    >>> str(path.stop), path.bound.tolist(), len(path.events)
    ('bound', [0], 1)
    """

    times: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    energy: np.ndarray
    bound: np.ndarray
    group: np.ndarray
    teacher: Teacher
    events: tuple[Encounter, ...] = eqx.field(static=True)
    stop: Stop = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    pause: Pause | None = None
    kind: UnitKind | None = None

    _picture: ClassVar[str] = "earnshaw.plots.motion:draw_path"
    _panel: ClassVar[str] = "earnshaw.plots.motion:draw_ways"

    def animate(self, file: str | os.PathLike[str], **how: Any) -> None:
        """Write the film that the command line's --animate does: FILE.gif or .mp4.

        `how` as of `earnshaw.plots.animation.animate_path`: frames=, fps=, felt_by=, on_progress=.
        """
        looked_up("earnshaw.plots.animation:animate_path")(self, as_path(file, "write"), **how)

    @property
    def student(self) -> Student:
        """The student at the end."""
        student = Student(self.positions[-1], self.weights[-1]).of(self.unit_kind)
        return student.with_biases() if self.teacher.biased else student

    @property
    def unit_kind(self) -> UnitKind:
        """Of which kind the electrons are."""
        return self.teacher.unit_kind if self.kind is None else self.kind

    @property
    def of_one_activation(self) -> bool:
        """Whether all electrons feel one potential, which pictures can show behind them."""
        return not self.unit_kind.mixed

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: the energy at 200 times at most, and how it ended."""
        kept = np.unique(np.linspace(0, len(self.times) - 1, ENTRIES).round().astype(int))
        return {
            "energy": self.energy[kept].tolist(),
            "times": self.times[kept].tolist(),
            "stop": self.stop,
            "events": [event._asdict() for event in self.events],
            "collisions": [one._asdict() for one in self.collisions],
            "bound": self.bound.tolist(),
            "group": self.group.tolist(),
            "student": student_values(self.student),
            "steps": self.steps,
        }

    def _title(self) -> str:
        teacher, count = self.teacher, len(self.bound)
        words = f"{count} electron{'' if count == 1 else 's'}"
        words += "" if self.kind is None else f" of {self.kind.name}"
        words += f" among {teacher.units}"
        protons = f"{words} proton{'' if teacher.units == 1 else 's'}"
        return f"{teacher.species.name}, d = {teacher.input_dim}, {protons}"

    def _facts(self) -> dict[str, object]:
        return {
            "stop": self.stop,
            "time": number(float(self.times[-1])),
            "energy": f"{number(float(self.energy[0]))} -> {number(float(self.energy[-1]))}",
            "bound": f"{int((self.bound >= 0).sum())} of {len(self.bound)}",
            "events": len(self.events),
            "steps": self.steps,
        }

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """Who met what at the end, if that is why it ended; several where all meet at once."""
        if self.stop != "collision":
            return ()
        last, protons = self.positions[-1], np.asarray(self.teacher.positions)
        count = len(last)
        gaps = np.linalg.norm(last[:, None] - np.concatenate([last, protons]), axis=2)
        gaps[:, :count][np.tril_indices(count)] = np.inf  # each pair of electrons once
        nearest, partner = np.min(gaps, axis=1), np.argmin(gaps, axis=1)
        lengths = np.linalg.norm(last, axis=1)
        if np.min(lengths) < np.min(nearest):
            return tuple(
                Collision(int(unit), "origin")
                for unit in np.flatnonzero(lengths <= AT_ONCE * np.min(lengths))
            )
        return tuple(
            Collision(int(unit), "electron", int(partner[unit]))
            if partner[unit] < count
            else Collision(int(unit), "proton", int(partner[unit]) - count)
            for unit in np.flatnonzero(nearest <= AT_ONCE * np.min(nearest))
        )

    def at(self, times: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Positions (m, k, d) and weights (m, k) at `times` (m,), for pictures.

        Linear between accepted steps, and back on the sphere; constant after the end.
        """
        when = np.atleast_1d(np.asarray(times, dtype=float))
        if when.ndim != 1 or not np.all((when >= 0) & np.isfinite(when)):
            raise OutOfRange("times", times, "a list of finite times >= 0")
        last = len(self.times) - 1
        before = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, max(last - 1, 0))
        after = np.minimum(before + 1, last)
        length = self.times[after] - self.times[before]
        part = np.where(
            length > 0, (when - self.times[before]) / np.where(length > 0, length, 1), 0
        )
        part = np.clip(part, 0.0, 1.0)

        def between(values: np.ndarray) -> np.ndarray:
            share = part.reshape(-1, *[1] * (values.ndim - 1))
            return (1 - share) * values[before] + share * values[after]

        positions = self.teacher.manifold.project(jnp.asarray(between(self.positions)))
        return np.asarray(positions), between(self.weights)
