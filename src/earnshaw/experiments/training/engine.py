"""Training, compiled: many seeds at once, samples drawn in pools, steps in one loop.

A *block* is LANES seeds that are trained together, each with its own teacher, start and samples. A
network of these sizes is far from filling a processor, and one step of several costs little more
than of one. A seed has its place in its block, and a block is always trained whole: so a result
depends on its settings and seed only, not on which other seeds were asked for. (Networks of depth 9
are chaotic: another order of additions is another result.)

Random numbers come from the seed, their role and the number of the pool: it makes no difference
either where a run is cut into pieces.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from earnshaw.experiments.training._deep_network import Layers, forward, random_layers, update
from earnshaw.experiments.training.settings import LANES, Training

POOL = 1000  # updates of one call, whose samples are drawn together; fewer if those would need
POOL_NUMBERS = 2_000_000  # more numbers than this, or
POOL_WORK = 1_000_000_000  # more weights to update, which is seconds: a run is cut between calls

# Fixed here, not taken from XLA_FLAGS: results must be the same in every process. One thread each,
# because a sweep runs as many processes as there are cores.
OPTIONS = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
    "xla_cpu_use_fusion_emitters": True,
    "xla_cpu_enable_fast_math": False,
    "xla_cpu_prefer_vector_width": 256,
    "xla_cpu_multi_thread_eigen": False,
}
compiled = functools.partial(jax.jit, static_argnames=("how",), compiler_options=OPTIONS)

TEACHER, START, SAMPLES, TEST = range(4)  # roles of random numbers


class Pool(NamedTuple):
    """Samples of some updates: inputs (updates, lanes, n, d), the teachers' answers without d."""

    x: Any
    y: Any


@compiled
def answers(layers: Layers, x: Array, *, how: Training) -> Array:
    """f(x) of each lane's network for inputs (m, lanes, n, d); shape (m, lanes, n)."""

    def of_lane(net: Layers, inputs: Array) -> Array:
        return forward(net, inputs.reshape(-1, how.dim), how).reshape(inputs.shape[:-1])

    return jax.vmap(of_lane, in_axes=(0, 1), out_axes=1)(layers, x)


@compiled
def updated(
    student: Layers, pool: Pool, first: Any, last: Any, step: Any, *, how: Training
) -> Layers:
    """The students after the updates `first` to `last` (excluded), which take samples in turn."""

    def one(i: Array, layers: Layers) -> Layers:
        at = i % len(pool.x)
        return jax.vmap(lambda net, x, y: update(net, x, y, step, how))(
            layers, pool.x[at], pool.y[at]
        )

    return jax.lax.fori_loop(first, last, one, student)


def updates_of_call(settings: Training) -> int:
    """How many updates one call makes, of samples that are drawn together."""
    samples = LANES * settings.samples_a_step
    fitting = POOL_NUMBERS // (samples * settings.dim)
    lasting = POOL_WORK // (samples * settings.parameters())
    return max(1, min(POOL, fitting, lasting))


class Trainer:
    """A block in training.

    Attributes:
        seeds: of the block.
        teacher, student: their layers, with a leading axis of lanes.
        iteration: updates so far.
        marks: the iterations at which the test error is taken.
        errors: at the marks so far, each (lanes,).
        scale: E[f^2] over the test inputs, (lanes,).
    """

    def __init__(
        self, settings: Training, block: int, state: dict[str, np.ndarray] | None = None
    ) -> None:
        self.settings = settings
        # Compiled code depends on the settings but for these, which are arguments, or not in it.
        self.how = replace(
            settings, iterations=1, step=1.0, records=1, weight_scale=1.0, test_samples=1
        )
        self.seeds = range(block * LANES, (block + 1) * LANES)
        self.teacher, self.student = self._drawn(TEACHER), self._drawn(START)
        self.iteration = 0
        self.marks = settings.marks()
        self.errors: list[np.ndarray] = []
        self._step = np.asarray(settings.step, settings.precision)
        self._pool: tuple[int, Pool] | None = None
        self._test = self._samples(TEST, 0, 1, settings.test_samples)
        self.scale = _mean_square(self._test.y[0])
        if state is not None:
            self._restore(state)

    @property
    def done(self) -> bool:
        """Whether all updates are made and the last error is taken."""
        return len(self.errors) == len(self.marks)

    def advance(self) -> None:
        """Go on to the next mark or the end of the pool of samples, whichever comes first."""
        mark = self.marks[len(self.errors)]
        if self.iteration < mark:
            end, pool = self._at_hand()
            until = min(end, mark)
            first, last = np.asarray(self.iteration), np.asarray(until)
            # At most one call under way: who asks for the time must not be answered far ahead.
            jax.block_until_ready(self.student)
            self.student = updated(self.student, pool, first, last, self._step, how=self.how)
            self.iteration = until
        if self.iteration == mark:
            given = np.asarray(answers(self.student, self._test.x, how=self.how))
            self.errors.append(_mean_square(given[0], self._test.y[0]))

    def _at_hand(self) -> tuple[int, Pool]:
        """The samples for the next update, and up to which update they last."""
        updates, fixed = updates_of_call(self.settings), self.settings.data == "fixed"
        number = self.iteration // updates
        drawn = 0 if fixed else number
        if self._pool is None or self._pool[0] != drawn:
            n = self.settings.samples_a_step
            self._pool = drawn, self._samples(SAMPLES, drawn, 1 if fixed else updates, n)
        return (number + 1) * updates, self._pool[1]

    def _samples(self, role: int, number: int, updates: int, n: int) -> Pool:
        shape = (updates, n, self.settings.dim)
        drawn = [_random(seed, role, number).standard_normal(shape) for seed in self.seeds]
        x = np.stack(drawn, axis=1).astype(self.settings.precision)
        return Pool(x, np.asarray(answers(self.teacher, x, how=self.how)))

    def _drawn(self, role: int) -> Layers:
        nets = [
            random_layers(_random(seed, role), self.settings, student=role == START)
            for seed in self.seeds
        ]
        return jax.tree.map(lambda *lanes: np.stack(lanes), *nets)

    def state(self) -> dict[str, np.ndarray]:
        """All that is needed to go on, to the last bit."""
        weights = jax.tree.leaves(self.student)
        return {
            "iteration": np.asarray(self.iteration),
            "errors": np.array(self.errors).reshape(-1, LANES),
            **{f"student.{i}": np.asarray(array) for i, array in enumerate(weights)},
        }

    def _restore(self, state: dict[str, np.ndarray]) -> None:
        count, structure = len(jax.tree.leaves(self.student)), jax.tree.structure(self.student)
        stored = [state[f"student.{i}"] for i in range(count)]
        self.student = jax.tree.unflatten(structure, stored)
        self.iteration = int(state["iteration"])
        self.errors = list(state["errors"])


def _mean_square(f: np.ndarray, g: np.ndarray | float = 0.0) -> np.ndarray:
    """E[(f - g)^2] over samples (lanes, n); inf or nan, silently, where a run has diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.mean((f - g).astype(float) ** 2, axis=-1)


def _random(seed: int, role: int, number: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, role, number])
