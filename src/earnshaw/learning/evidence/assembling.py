"""How a committee comes about: members trained side by side, blended by unseen samples.


Members are networks with a linear part and 0, 2, 4, ... units, trained by evidence from several
starts (`_training.py`), and fields, networks of infinitely many units (`field.py`), of standardised
inputs or of their quantiles, whichever the evidence asks for. Of the networks the best half by
evidence counts equally; the linear network, these, and each field are then blended by what they say
of samples that they have not seen (`_blending.py`). All sizes follow from the number of samples,
inputs and outputs, never from the clock, so the same data give the same committee.

Cost: a network of p parameters takes n m p^2 multiplications a step, a field few^2 (few + d) a step
and n^3 once. `WORK` bounds them: less than a minute of one core for any n.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.learning.evidence._blending import blend
from earnshaw.learning.evidence._fields import fit_fields
from earnshaw.learning.evidence._training import Data, Member, Start, start_of, train
from earnshaw.learning.evidence._unseen import spread, unseen, unseen_error
from earnshaw.learning.evidence.committee import Charged, Committee, diagonal, pooled_variance
from earnshaw.learning.evidence.coordinates import Coordinates, coordinates_of
from earnshaw.learning.evidence.growth import grown, line
from earnshaw.learning.evidence.shapes import POTENTIALS
from earnshaw.numerics.fixed_order import one_blas_thread

SIZES = (0, 2, 4, 8, 16, 32)
STARTS = 2  # networks of every size, and of the best two sizes as many more
WORK = 1.2e10  # multiplications that one network may take
STEPS = 60  # of one network, at most
LINE_STEPS = 40  # of the linear one
ROWS = 6000  # samples that networks see
CENTRES = 3500  # samples that carry charges
SPLIT_FROM, SPLIT_TO, FOLDS = 50, 1500, 5  # samples between which members are blended by folds
NETWORKS_IN_FOLDS = 3
THREADS = min(4, os.cpu_count() or 1)


@one_blas_thread()
def fit_committee(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    activation: DotProduct,
    loss: str,
    *,
    sources: np.ndarray | None = None,
    bend: np.ndarray | None = None,
    rising: tuple[int, ...] = (),
    known: Committee | None = None,
    sizes: Sequence[int] = SIZES,
    networks: int | None = None,
    fields: bool = True,
    seed: int = 0,
    max_time: float = np.inf,
    on_step: Callable[[str, Member], None] | None = None,
) -> Committee:
    """A committee for inputs (n, d), answers (n, m) and weights (n,).

    `sources` (d,) numbers the columns that inputs belong to, `bend` (d,) says which inputs may be
    seen as quantiles, `rising` (d,) with which inputs outputs must rise (1) or fall (-1): then
    there are no fields; `known` is a committee of like data whose networks are trained on instead
    of new ones; `networks` is how many count, None for as many as half of those trained.
    """
    deadline = time.monotonic() + max_time
    d = x.shape[1]
    origin = np.arange(d) if sources is None else np.asarray(sources)
    bend = np.ones(d, dtype=bool) if bend is None else bend
    coordinates = coordinates_of(x, weight, bend) if known is None else known.coordinates
    m = y.shape[1]
    shift, deviation = np.zeros(m), np.ones(m)
    if loss == "squares":
        share = weight / np.sum(weight)
        shift = share @ y
        found = np.sqrt(share @ (y - shift) ** 2)
        deviation = np.where(found > 1e-12 * np.abs(shift), found, 1.0)
    if known is not None:
        shift, deviation = known.shift, known.deviation
    answers = (y - shift) / deviation
    rows = _some(len(x), ROWS, seed)
    data = Data(coordinates.straight(x[rows]), answers[rows], weight[rows], loss)
    # More parameters than samples: one precision for all inputs, or there is no telling them apart.
    number = tuple((origin if d * m < np.sum(weight) else 0 * origin).tolist())

    def told(what: str, member: Member) -> None:
        if on_step is not None:
            on_step(what, member)

    with ThreadPoolExecutor(THREADS) as pool:
        first = line(activation, number, m, data, rising)
        straight = _line(first, data, deadline)
        told("line", straight)
        if known is None:
            members = _networks(straight, data, sizes, networks, seed, deadline, pool, told)
        else:
            again = [start_of(one) for one in known.networks]
            members = [train(one, data, STEPS, deadline=deadline) for one in again]
        best = sorted(members, key=lambda one: -one.evidence)
        half = max(1, len(best) // 2) if known is None else len(best)
        kept = best[: networks if networks is not None else half]
        views = {
            view: getattr(coordinates, view)(x[rows])
            for view in _views(coordinates, fields and not rising)
        }
        own = _some(len(rows), CENTRES, seed + 1)
        asked = [(kind, view) for kind in POTENTIALS for view in views]
        fits = fit_fields(asked, {}, views, data, own, origin, seed, deadline, pool)
        late = time.monotonic() > deadline
        if SPLIT_FROM <= data.total <= SPLIT_TO and networks is None and not late:
            said, inside = _said_in_folds(
                data, straight, kept, fits, views, origin, seed, deadline, pool
            )
        else:
            said, inside = _said_unseen(straight, kept, fits, views, data, own)
    if networks is not None:
        weights = np.eye(len(said))[1 if kept else 0]
    else:
        weights = blend(said, data.y, data.weight, loss)
    mean = np.tensordot(weights, said, axes=1)
    left = (data.y - mean) ** 2
    pooled = pooled_variance(weights, said, inside)
    share = data.weight / np.sum(data.weight)
    noise = np.maximum(share @ (left - pooled), 0.05 * (share @ left)) + 1e-30
    errors = np.max(np.abs(data.y - mean) / np.sqrt(pooled + noise), axis=1)
    front = tuple(
        (one.layout.units, one.evidence, one.error, unseen_error(one, data))
        for one in [straight, *members]
    )
    return Committee(
        coordinates, loss, straight, tuple(kept), tuple(fits), weights, shift, deviation,
        noise, np.sort(errors), front,
    )  # fmt: skip


def _some(count: int, most: int, seed: int) -> np.ndarray:
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, 29]).permutation(count)[:most])


def _line(start: Start, data: Data, deadline: float) -> Member:
    """The linear network."""
    each = LINE_STEPS * start.layout.work
    if len(data.x) * each > WORK:  # many classes of many inputs: fewer samples
        data = data.take(_some(len(data.x), max(int(WORK / each), 500), 0))
    return train(start, data, LINE_STEPS, deadline=deadline)


def _one(units: int, straight: Member, data: Data, seed: int, deadline: float) -> Member | None:
    """A network of so many units; None where there is no time, or no minimum."""
    if time.monotonic() > deadline:
        return None
    if not units:
        return straight
    try:
        return train(grown(straight, data, units, seed), data, STEPS, deadline=deadline)
    except (FloatingPointError, np.linalg.LinAlgError):
        return None


def _networks(
    straight: Member,
    data: Data,
    sizes: Sequence[int],
    networks: int | None,
    seed: int,
    deadline: float,
    pool: ThreadPoolExecutor,
    told: Callable[[str, Member], None],
) -> list[Member]:
    """Networks of every size that `WORK` allows, and more of the best sizes."""

    def work(units: int) -> float:
        layout = dataclasses.replace(straight.layout, units=units)
        if layout.size > data.total:
            return np.inf
        return STEPS * (len(data.x) * layout.work + layout.size**3)

    allowed = [units for units in sizes if units == 0 or work(units) <= 6 * WORK]

    def one(units: int, start: int) -> Member | None:
        found = _one(units, straight, data, seed + 7919 * start, deadline)
        if found is not None:
            told("network", found)
        return found

    asked = [(units, start) for units in allowed if units for start in range(STARTS)]
    first = [found for found in pool.map(lambda a: one(*a), asked) if found is not None]
    if not first:
        return []
    means = {
        units: float(np.mean([f.evidence for f in first if f.layout.units == units] or [-np.inf]))
        for units in allowed
        if units
    }
    best = sorted(means, key=lambda units: -means[units])[:2]
    more = 2 * STARTS if networks is None else max(0, -(-networks // 2))
    # Of sizes that take long there are no more: that keeps the largest data below a minute.
    best = [units for units in best if work(units) <= 2 * WORK]
    asked = [(units, STARTS + start) for units in best for start in range(more)]
    return first + [found for found in pool.map(lambda a: one(*a), asked) if found is not None]


def _views(coordinates: Coordinates, fields: bool) -> list[str]:
    if not fields:
        return []
    return ["straight"] + (["quantiles"] if len(coordinates.again) else [])


def _said_unseen(
    straight: Member,
    kept: Sequence[Member],
    fits: Sequence[Charged],
    views: dict[str, np.ndarray],
    data: Data,
    own: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """What members say of samples without having seen them, and the variances: (K, n, m)."""
    pairs = [unseen(straight, data)]
    if kept:
        each = [unseen(one, data) for one in kept]
        said = np.array([g for g, _ in each])
        inside = np.mean([v for _, v in each], axis=0) + np.var(said, axis=0)
        pairs.append((np.mean(said, axis=0), inside))
    others = np.setdiff1d(np.arange(len(data.y)), own)
    for fit in fits:
        g, v = np.empty(data.y.shape), np.empty((len(data.y), 1))
        g[own], v[own, 0] = fit.field.unseen, fit.field.unsure
        if len(others):  # samples without charges are unseen anyway
            g[others] = fit.field.outputs(views[fit.view][others])
            v[others, 0] = fit.field.variance(views[fit.view][others])
        pairs.append((fit.line[0] * g + fit.line[1:], fit.line[0] ** 2 * v + 0 * g))
    return np.array([g for g, _ in pairs]), np.array([v for _, v in pairs])


def _said_in_folds(
    data: Data,
    straight: Member,
    kept: Sequence[Member],
    fits: Sequence[Charged],
    views: dict[str, np.ndarray],
    sources: np.ndarray,
    seed: int,
    deadline: float,
    pool: ThreadPoolExecutor,
) -> tuple[np.ndarray, np.ndarray]:
    """The same by folds, precisions and shapes fitted to each: these fit small data too well.

    Shapes begin from those of all samples: found anew, they end in other maxima of the evidence,
    and say nothing of the field that is blended (energy: R^2 0.998 instead of 0.999).
    """
    count = 1 + bool(kept) + len(fits)
    said, inside = np.zeros((2, count, *data.y.shape))
    fold = _folds(data, seed)
    shapes = {fit.field.shape.kind: fit.field.shape for fit in fits}
    # The linear network of all is where those of the folds begin; they end where they should.
    known = start_of(straight)

    def variance(member: Member, x: np.ndarray) -> np.ndarray:
        if data.loss != "squares":  # classes have none
            return np.zeros((len(x), data.y.shape[1]))
        return diagonal(spread(member, x))

    asked = [(fit.field.shape.kind, fit.view) for fit in fits]
    for number_of_fold in range(FOLDS):
        out = np.flatnonzero(fold == number_of_fold)
        own = np.flatnonzero(fold != number_of_fold)
        some = data.take(own)
        straight = _line(known, some, deadline)
        x = data.x[out]
        said[0, out], inside[0, out] = straight.outputs(x), variance(straight, x)
        if kept:
            units = [one.layout.units for one in kept[:NETWORKS_IN_FOLDS]]
            tasks = [(k, straight, some, seed + 7919 * i, deadline) for i, k in enumerate(units)]
            members = [m for m in pool.map(lambda a: _one(*a), tasks) if m is not None]
            members = members or [straight]
            each = np.array([one.outputs(x) for one in members])
            own_spread = np.mean([variance(one, x) for one in members], axis=0)
            said[1, out], inside[1, out] = np.mean(each, axis=0), own_spread + np.var(each, axis=0)
        anew = fit_fields(asked, shapes, views, data, own, sources, seed, np.inf, pool)
        said[count - len(fits) :, out] = said[0, out]  # of a field that no samples make
        places = {fit.field.shape.kind: count - len(fits) + i for i, fit in enumerate(fits)}
        for fit in anew:
            place, seen = places[fit.field.shape.kind], views[fit.view][out]
            said[place, out] = fit.line[0] * fit.field.outputs(seen) + fit.line[1:]
            inside[place, out] = fit.line[0] ** 2 * fit.field.variance(seen)[:, None]
    return said, inside


def _folds(data: Data, seed: int) -> np.ndarray:
    """The fold (n,) of every sample; of every class each has as many, to one."""
    order = np.random.default_rng([seed, 31]).permutation(len(data.y))
    if data.loss != "squares":
        order = order[np.argsort(data.y[order] @ np.arange(1, data.y.shape[1] + 1), kind="stable")]
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold
