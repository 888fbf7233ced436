"""The fields of a committee: one of every kind of potential, the view chosen by evidence.

Shapes are found on some of the samples; charges sit on all that are given.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from earnshaw.learning.evidence._blending import logits_of
from earnshaw.learning.evidence._training import Data
from earnshaw.learning.evidence.committee import Charged
from earnshaw.learning.evidence.field import Field, charged
from earnshaw.learning.evidence.shapes import Shape, shaped

MANY, OF_MANY = 1500, 2  # samples beyond which so many fields, the best by evidence, are charged
FEW, STEPS = 500, 30  # samples and steps that shapes are found by
AGAIN = 8  # steps from the shape of all samples to that of a fold
WORK = 2.5e8  # entries of distances that a shape may take a step, which makes `FEW` fewer


def fit_fields(
    asked: Sequence[tuple[str, str]],
    known: Mapping[str, Shape],
    views: dict[str, np.ndarray],
    data: Data,
    own: np.ndarray,
    sources: np.ndarray,
    seed: int,
    deadline: float,
    pool: ThreadPoolExecutor,
) -> list[Charged]:
    """Fields of these potentials and views, with charges on the samples `own`.

    Of kinds that have a `known` shape the search goes on from that.
    """
    y = _centred(data)
    few = int(min(FEW, np.sqrt(WORK / (len(sources) + FEW))))
    places = tuple(sources.tolist())

    def shape_of(kind: str, view: str) -> tuple[str, Shape, float] | None:
        if time.monotonic() > deadline:
            return None
        given = (views[view][own], y[own], data.weight[own], places)
        steps = AGAIN if kind in known else STEPS
        return view, *shaped(kind, *given, few, steps, seed, known.get(kind))

    def charge(view: str, shape: Shape, evidence: float) -> Charged | None:
        try:
            found = charged(shape, views[view][own], y[own], data.weight[own], evidence)
        except (FloatingPointError, np.linalg.LinAlgError):
            return None
        return Charged(view, found, _logits(found, data.take(own)))

    shapes = [found for found in pool.map(lambda a: shape_of(*a), asked) if found is not None]
    shapes.sort(key=lambda one: -one[2])
    # Of every kind the view that the evidence asks for: those that follow are of a kind seen.
    kinds = [shape.kind for _, shape, _ in shapes]
    shapes = [one for i, one in enumerate(shapes) if kinds[i] not in kinds[:i]]
    if len(own) > MANY:
        shapes = shapes[:OF_MANY]
    return [found for found in pool.map(lambda a: charge(*a), shapes) if found is not None]


def _centred(data: Data) -> np.ndarray:
    """Answers of mean 0, as fields want them."""
    if data.loss == "squares":
        return data.y
    return data.y - data.weight @ data.y / data.total


def _logits(field: Field, data: Data) -> np.ndarray:
    """(1, 0) for numbers; what makes logits of a field's outputs for classes."""
    if data.loss == "squares":
        return np.append(1.0, np.zeros(data.y.shape[1]))
    return logits_of(field.unseen, data.y, data.weight, data.loss)
