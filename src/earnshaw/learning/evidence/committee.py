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
        front: of every network that was trained its units, its log evidence and its error.
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
    front: tuple[tuple[int, float, float], ...]

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

    def deviations(self, member: Member) -> dict[str, np.ndarray]:
        """The standard errors of the same arrays, by Laplace's method."""
        layout, covariance = member.layout, member.covariance
        shift, scale = self.coordinates.shift, self.coordinates.scale
        k, d, m = layout.units, layout.dim, layout.outputs
        root = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        w, _, v, linear, _ = layout.parts(root)
        tilt = -shift / scale  # a bias of the data is b + tilt.w, an intercept c + tilt.linear
        first = k * (d + 1 + m)
        biases, intercept = np.empty(k), np.empty(m)
        for j in range(k):
            at = np.append(np.arange(j * d, (j + 1) * d), k * d + j)
            along = np.append(tilt, 1.0)
            biases[j] = along @ covariance[np.ix_(at, at)] @ along
        for o in range(m):
            at = np.append(first + np.arange(d) * m + o, first + d * m + o)
            along = np.append(tilt, 1.0)
            intercept[o] = along @ covariance[np.ix_(at, at)] @ along
        return {
            "positions": w / scale,
            "biases": np.sqrt(np.maximum(biases, 0.0)),
            "weights": v * self.deviation,
            "linear": linear / scale[:, None] * self.deviation,
            "intercept": np.sqrt(np.maximum(intercept, 0.0)) * self.deviation,
        }

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
