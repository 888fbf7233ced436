"""What a learner may ask of a hidden network f, and how well it is answered.

A loss c.K c - 2 c.F + E[f^2] has the hidden network only in

    F(x) = E[f(X) sigma(X, x)] = sum_j b_j Phi(x, w_j),    its derivatives,    and E[f^2]:

the correlation of f with one unit, a statistical query. An oracle answers these three questions and
no other. How it answers decides what can be learned: far from all charges F is 1e-36 in d = 15 and
1e-953 in d = 201 (mathematics.md, "What the log ascent may ask"), so that two methods are compared
only where both have the same oracle.

- ``exact``       the sign of F, log|F| and its gradient: exact, with any exponent;
- ``float64``     F and its gradient as float64 computes them: 0 below 1e-308;
- ``noisy:TAU``   F and each derivative, each wrong by a random number of [-TAU, TAU];
- ``rounded:TAU`` the same, rounded to multiples of 2 TAU: the answers of an adversary, for whom all
                  that is smaller than TAU is 0.

An answer is a function of the question: who asks again hears the same again, so that nothing can be
averaged away, and runs can be repeated. Second derivatives along v are wrong by TAU |v|. The fourth
kind of oracle, ``samples:N``, is a table of N inputs with the answers of f: `empirical.py`.
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Teacher
from earnshaw.energy._field import Field, LogPotential, logarithm
from earnshaw.energy._tiles import Units, units
from earnshaw.energy.kinds import Between
from earnshaw.energy.population import PopulationLoss
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_oracle

SALT = {"answers": 0x9E3779B9, "curvature": 0x85EBCA6B}  # two kinds of questions, two noises


class Oracle(eqx.Module):
    """Answers about one hidden network; `error` is the largest error of an answer, tau."""

    error: eqx.AbstractVar[Array]

    @abc.abstractmethod
    def power(self) -> Array:
        """E[f^2], shape ()."""

    @abc.abstractmethod
    def ask(self, points: Array) -> tuple[Array, Array]:
        """F at points (n, d), shape (n,), and its Euclidean gradient (n, d)."""

    def ask_beside(
        self, field: Field, charged: Units, others: tuple[Units, ...]
    ) -> tuple[tuple[Array, Array], ...]:
        """F at the charged units, and what `field` sums there of their own and of others' charges.

        `field` is that of the learner. Each with its gradient: (n,) and (n, d).
        """
        return self.ask(charged.positions), *field.within_and_of(charged, others)

    def ask_log(self, points: Array) -> LogPotential:
        """The sign of F, log|F| and the gradient of log|F|: here from F itself."""
        return logarithm(*self.ask(points))


class Float64(Oracle):
    """F as a sum over the hidden units in float64."""

    teacher: Teacher
    field: Field | Between
    energy: Array
    error: Array

    def power(self) -> Array:
        return self.energy

    def ask(self, points: Array) -> tuple[Array, Array]:
        return self.field.at(units(points), self._protons(len(points)))

    def ask_beside(
        self, field: Field, charged: Units, others: tuple[Units, ...]
    ) -> tuple[tuple[Array, Array], ...]:
        """In one pass, where both are charges of one kind."""
        if isinstance(self.field, Between):
            return super().ask_beside(field, charged, others)
        named = len(charged.names) + sum(len(part.names) for part in others)
        inner, asked, *rest = field.within_and_of(charged, (self._protons(named), *others))
        return asked, inner, *rest

    def _protons(self, first: int) -> Units:
        return units(self.teacher.positions, self.teacher.weights, first)


class Exact(Float64):
    """The same, and log|F| summed in the log domain."""

    def ask_log(self, points: Array) -> LogPotential:
        return self.field.log_at(units(points), self._protons(len(points)))


class Noisy(Oracle):
    """The answers of another oracle, each wrong by at most `error`.

    `rounded` if they are rounded to multiples of 2 `error`; else they have noise of the `seed`,
    two words.
    """

    answers: Oracle
    error: Array
    seed: Array
    rounded: bool = eqx.field(static=True)

    def power(self) -> Array:
        return self.answers.power()

    def ask(self, points: Array) -> tuple[Array, Array]:
        return _ask(self, points)

    def wrong(self, answers: Array, question: Array, kind: str) -> Array:
        """Answers (n, m) to questions (n, q), made wrong."""
        if self.rounded:
            return 2 * self.error * jnp.round(answers / (2 * self.error))
        noise = jax.vmap(lambda one: self._noise(one, answers.shape[1], kind))(question)
        return answers + self.error * noise

    def _noise(self, question: Array, count: int, kind: str) -> Array:
        """`count` numbers of [-1, 1], a function of the bits of the question (q,) and the seed."""
        words = jax.lax.bitcast_convert_type(question, jnp.uint32).ravel()

        def mixed(state: Array, word: Array) -> tuple[Array, None]:
            # Two lanes of multiply, add and shift (as in MurmurHash): every bit counts.
            state = (state ^ word) * jnp.asarray([0xCC9E2D51, 0x1B873593], jnp.uint32)
            return (state ^ (state >> 15)) + jnp.asarray([0xE6546B64, 0x561CCD1B], jnp.uint32), None

        start = self.seed ^ jnp.asarray([0, SALT[kind]], jnp.uint32)
        state, _ = jax.lax.scan(mixed, start, words)
        key = jax.random.wrap_key_data(state, impl="threefry2x32")
        return jax.random.uniform(key, (count,), minval=-1.0, maxval=1.0)


@eqx.filter_custom_jvp
def _ask(oracle: Noisy, points: Array) -> tuple[Array, Array]:
    value, gradient = oracle.answers.ask(points)
    told = oracle.wrong(jnp.concatenate([value[:, None], gradient], axis=1), points, "answers")
    return told[:, 0], told[:, 1:]


@_ask.def_jvp
def _ask_jvp(primals: tuple, tangents: tuple) -> tuple:
    """Along v: the derivative of F follows from its gradient, that of the gradient is asked for."""
    oracle, points = primals
    moved = tangents[1]
    told = _ask(oracle, points)
    _, (_, bent) = jax.jvp(oracle.answers.ask, (points,), (moved,))
    length = jnp.linalg.norm(moved, axis=1, keepdims=True)
    per_length = bent / jnp.where(length > 0, length, 1.0)
    question = jnp.concatenate([points, moved], axis=1)
    bent = length * oracle.wrong(per_length, question, "curvature")
    return told, (jnp.sum(told[1] * moved, axis=1), bent)


def oracle_of(name: str, loss: PopulationLoss, seed: int = 0) -> Oracle:
    """The oracle of a name that answers for the teacher of `loss`; `seed` is that of its noise."""
    kind, error = check_oracle(name)
    if kind == "samples":
        raise EarnshawError("samples:N is no field to be asked; allowed here: a loss of samples")
    make = Exact if kind == "exact" else Float64
    roomy = loss if loss.roomy is None else loss.roomy  # so that one more unit compiles nothing
    answers = make(
        teacher=roomy.teacher, field=loss.outer, energy=loss.empty_value(), error=jnp.zeros(())
    )
    if kind in ("exact", "float64"):
        return answers
    words = jnp.asarray([seed % 2**32, seed >> 32], jnp.uint32)
    return Noisy(answers=answers, error=jnp.asarray(error), seed=words, rounded=kind == "rounded")
