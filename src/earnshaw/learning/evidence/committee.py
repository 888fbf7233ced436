"""A committee: members of different kinds that predict as one, with error bars.

Members are networks with a linear part, trained by evidence, and fields, networks of infinitely
many units, of standardised inputs or of their quantiles. How they come about: `assembling.py`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from earnshaw.learning.evidence._likelihoods import LIKELIHOODS
from earnshaw.learning.evidence._training import Member
from earnshaw.learning.evidence._unseen import spread
from earnshaw.learning.evidence.coordinates import Coordinates
from earnshaw.learning.evidence.field import Field

BLOCK = 8192  # rows that are worked on at once
SURE, ALIKE = 2.0, 0.95  # standard errors, and a correlation: which units are identifiable


class Charged(NamedTuple):
    """A field, its view of the inputs, and what makes logits of its outputs, (1 + m,)."""

    view: str
    field: Field
    line: np.ndarray


@dataclasses.dataclass(frozen=True)
class Committee:
    """Members of one committee, with what they see of the inputs.

    Attributes:
        coordinates: of the inputs.
        loss: "squares", "logistic" or "softmax".
        networks: those that count, the best by evidence first; the linear one is `linear`.
        fields: with the view of each, "straight" or "quantiles", and the factor and shifts (1 + m,)
            that turn what they say into logits.
        weights: of the linear network, of the others together, and of every field.
        shift, deviation: (m,), of the answers; 0 and 1 for classes.
        noise: (m,), the variance of what is left, in deviations.
        errors: (n,), of unseen samples in standard deviations, sorted: how far intervals reach.
        front: of every network that was trained its units, its log evidence, its error, and its
            error on samples that it has not seen, to first order.
    """

    coordinates: Coordinates
    loss: str
    linear: Member
    networks: tuple[Member, ...]
    fields: tuple[Charged, ...]
    weights: np.ndarray
    shift: np.ndarray
    deviation: np.ndarray
    noise: np.ndarray
    errors: np.ndarray
    front: tuple[tuple[int, float, float, float], ...]

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: who counts how much."""
        fields = [f"field {fit.field.shape.kind} {fit.view}" for fit in self.fields]
        names = ["linear", *(["networks"] if self.networks else []), *fields]
        return {
            "weights": dict(zip(names, self.weights.tolist(), strict=True)),
            "networks": [one.layout.units for one in self.networks],
            "front": [list(one) for one in self.front],
        }

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """g(x) (n, m): answers, or logits of classes."""
        blocks = [np.tensordot(self.weights, self._said(x[r]), axes=1) for r in _blocks(len(x))]
        return self.deviation * np.concatenate(blocks) + self.shift

    def error(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
        """The mean loss of samples: squares of deviations, or -2 log likelihood."""
        share, g = weight / np.sum(weight), self.outputs(x)
        if self.loss == "squares":
            return float(np.sum(share @ ((g - y) / self.deviation) ** 2))
        return float(-2 * share @ LIKELIHOODS[self.loss](g, y, np.ones(1)).value)

    def left(self) -> float:
        """The part of the variance that the best network takes for noise."""
        return float(np.max(1 / self.networks[0].noise))

    def in_data_coordinates(self, member: Member) -> dict[str, np.ndarray]:
        """The arrays of a member's network for inputs and answers as they are."""
        w, b, v, linear, c = member.layout.parts(member.theta)
        shift, scale = self.coordinates.shift, self.coordinates.scale
        positions, slopes = w / scale, linear / scale[:, None] * self.deviation
        return {
            "positions": positions,
            "biases": b - positions @ shift,
            "weights": v * self.deviation,
            "linear": slopes,
            "intercept": c * self.deviation + self.shift - shift @ slopes,
        }

    def covariance(self, member: Member) -> np.ndarray:
        """(size, size), of a member's parameters for inputs and answers as they are (Laplace).

        In the order of `Layout`: units, biases, weights, linear part, intercept. Going over to the
        data as they are is a linear map of these, and a shift.
        """
        layout = member.layout
        k, d, m = layout.units, layout.dim, layout.outputs
        scale, tilt = self.coordinates.scale, -self.coordinates.shift / self.coordinates.scale

        def moved(rows: np.ndarray) -> np.ndarray:
            count = len(rows)
            w, b, v, linear, c = np.split(rows, np.cumsum([k * d, k, k * m, d * m]), axis=1)
            w, linear = w.reshape(count, k, d), linear.reshape(count, d, m)
            slopes = self.deviation * linear / scale[:, None]
            heights = self.deviation * v.reshape(count, k, m)
            bases = self.deviation * (c + np.einsum("rdm,d->rm", linear, tilt))
            parts = (w / scale, b + w @ tilt, heights, slopes, bases)
            return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)

        return moved(moved(member.covariance).T)

    def deviations(self, member: Member) -> dict[str, np.ndarray]:
        """The standard errors of the arrays of `in_data_coordinates`."""
        variance = np.diagonal(self.covariance(member))
        parts = member.layout.parts(np.sqrt(np.maximum(variance, 0.0)))
        return dict(zip(parts._fields, parts, strict=True))

    def identifiable(self, member: Member) -> np.ndarray:
        """Which units (k,) the data tell apart from none and from the others.

        A unit's weight is then more than `SURE` standard errors from 0, and its error is not that
        of another unit's weight with a correlation beyond `ALIKE`: such units share what they do.
        """
        layout = member.layout
        k, m = layout.units, layout.outputs
        place = k * (layout.dim + 1) + np.arange(k * m)
        covariance = member.covariance[np.ix_(place, place)]
        error = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
        together = np.abs(covariance / error / error[:, None]).reshape(k, m, k, m)
        far = np.abs(member.theta[place]) / error
        same = np.eye(k, dtype=bool)[:, None, :, None]
        alike = np.max(np.where(same, 0.0, together), axis=(2, 3), initial=0.0)
        return np.any((far.reshape(k, m) > SURE) & (alike < ALIKE), axis=1)

    def _said(self, x: np.ndarray) -> np.ndarray:
        """What the members say, (K, n, m), those of networks together."""
        seen = self.coordinates.straight(x)
        said = [self.linear.outputs(seen)]
        if self.networks:
            said.append(np.mean([one.outputs(seen) for one in self.networks], axis=0))
        for fit in self.fields:
            f = fit.field.outputs(getattr(self.coordinates, fit.view)(x))
            said.append(fit.line[0] * f + fit.line[1:])
        return np.array(said)

    def spread(self, x: np.ndarray) -> np.ndarray:
        """The standard deviation (n, m) of new answers: of members, between them, and of noise."""
        variance = np.concatenate([self._variance(x[rows]) for rows in _blocks(len(x))])
        return self.deviation * np.sqrt(variance + self.noise)

    def _variance(self, x: np.ndarray) -> np.ndarray:
        """Of members and between them, (n, m), in deviations."""
        seen = self.coordinates.straight(x)
        said = self._said(x)
        inside = [diagonal(spread(self.linear, seen))]
        if self.networks:
            each = np.array([one.outputs(seen) for one in self.networks])
            own = np.mean([diagonal(spread(one, seen)) for one in self.networks], axis=0)
            inside.append(own + np.var(each, axis=0))
        for fit in self.fields:
            own = fit.field.variance(getattr(self.coordinates, fit.view)(x))[:, None]
            inside.append(np.broadcast_to(fit.line[0] ** 2 * own, said[0].shape))
        return pooled_variance(self.weights, said, np.array(inside))

    def reach(self, level: float) -> float:
        """How many standard deviations an interval reaches that holds `level` of new answers."""
        return float(np.quantile(self.errors, level))


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, max(count, 1), BLOCK)]


def diagonal(matrices: np.ndarray) -> np.ndarray:
    """Of matrices (n, m, m), (n, m)."""
    return np.einsum("nii->ni", matrices)


def pooled_variance(weights: np.ndarray, said: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The variance of a blend: the mean of the members' own, and their spread around it."""
    mean = np.tensordot(weights, said, axes=1)
    return np.tensordot(weights, inside + (said - mean) ** 2, axes=1)
