"""A committee as plain values: what model files keep.

`packed` gives a plan (names, counts and shapes) and one vector of all numbers, `unpacked` the
committee again, which says the same of every input to the last bit. Factors of fields are not kept,
but computed again.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

from earnshaw.duality.activation import DotProduct
from earnshaw.errors import EarnshawError
from earnshaw.learning.evidence._parameters import Layout
from earnshaw.learning.evidence._training import Member
from earnshaw.learning.evidence.committee import Charged, Committee
from earnshaw.learning.evidence.coordinates import Coordinates
from earnshaw.learning.evidence.field import REMEMBERED, Field
from earnshaw.learning.evidence.shapes import POTENTIALS, Shape

WHOLE = ("weights", "shift", "deviation", "noise", "errors")
OF_COORDINATES = ("shift", "scale", "again", "knots", "heights")
OF_MEMBER = ("theta", "precisions", "noise", "covariance", "determined")
OF_FIELD = ("centres", "charges", "extra")
SCALARS = ("evidence", "error", "units", "steps", "settled")


def packed(committee: Committee) -> tuple[dict[str, Any], np.ndarray]:
    """The plan, and all numbers (N,)."""
    arrays: list[np.ndarray] = []

    def put(thing: Any, names: tuple[str, ...]) -> list[list[int]]:
        found = [np.asarray(getattr(thing, name), dtype=float) for name in names]
        arrays.extend(np.where(np.isinf(one), 0.0, one).ravel() for one in found)
        return [list(one.shape) for one in found]

    def member(one: Member) -> dict[str, Any]:
        scalars = {name: float(getattr(one, name)) for name in SCALARS}
        return {"units": one.layout.units, "shapes": put(one, OF_MEMBER), "scalars": scalars}

    plan: dict[str, Any] = {
        "loss": committee.loss,
        "sources": list(committee.linear.layout.sources),
        "outputs": committee.linear.layout.outputs,
        "shapes": put(committee, WHOLE),
        "coordinates": put(committee.coordinates, OF_COORDINATES),
        "linear": member(committee.linear),
        "networks": [member(one) for one in committee.networks],
        "front": [list(one) for one in committee.front],
        "fields": [],
    }
    for fit in committee.fields:
        shape = fit.field.shape
        about: dict[str, Any] = {
            "kind": shape.kind,
            "amplitude": shape.amplitude.tolist(),
            "slope": shape.slope,
            "noise": shape.noise,
        }
        plan["fields"].append(
            {
                "view": fit.view,
                "shape": about,
                "evidence": fit.field.evidence,
                "line": put(fit, ("line",)),
                "scales": put(shape, ("scales",)),
                "shapes": put(fit.field, OF_FIELD),
                "unsure": float(np.mean(fit.field.unsure)),
            }
        )
    return plan, np.concatenate(arrays)


def unpacked(plan: dict[str, Any], numbers: np.ndarray, activation: DotProduct) -> Committee:
    """The committee of a plan and its numbers."""
    place = 0

    def take(names: tuple[str, ...], shapes: list[list[int]]) -> dict[str, np.ndarray]:
        nonlocal place
        found = {}
        for name, shape in zip(names, shapes, strict=True):
            size = math.prod(shape)
            if place + size > len(numbers):
                raise EarnshawError("its committee has too few numbers")
            found[name] = numbers[place : place + size].reshape(shape)
            place += size
        return found

    sources, outputs = tuple(plan["sources"]), plan["outputs"]

    def member(about: dict[str, Any]) -> Member:
        layout = Layout(activation, about["units"], sources, outputs)
        scalars = dict(about["scalars"])
        scalars |= {"steps": int(scalars["steps"]), "settled": bool(scalars["settled"])}
        arrays: dict[str, Any] = take(OF_MEMBER, about["shapes"])
        return Member(layout=layout, **arrays, **scalars)

    whole = take(WHOLE, plan["shapes"])
    view = take(OF_COORDINATES, plan["coordinates"])
    view["scale"] = np.where(view["scale"] == 0, np.inf, view["scale"])
    view["again"] = view["again"].astype(int)
    linear = member(plan["linear"])
    networks = tuple(member(about) for about in plan["networks"])
    fields = tuple(_field(about, take) for about in plan["fields"])
    return Committee(
        coordinates=Coordinates(**view),
        loss=plan["loss"],
        linear=linear,
        networks=networks,
        fields=fields,
        # files of before the last entry have none: then it is that of the samples seen
        front=tuple(
            (int(one[0]), float(one[1]), float(one[2]), float(one[-1])) for one in plan["front"]
        ),
        **whole,
    )


def _field(about: dict[str, Any], take: Any) -> Charged:
    if about["shape"]["kind"] not in POTENTIALS or about["view"] not in ("straight", "quantiles"):
        raise EarnshawError("its committee has a field of a kind that is not known")
    line = take(("line",), about["line"])["line"]
    scales = take(("scales",), about["scales"])["scales"]
    arrays = take(OF_FIELD, about["shapes"])
    count, dim = arrays["centres"].shape
    amplitude = np.atleast_1d(about["shape"]["amplitude"])
    shape = Shape(**about["shape"] | {"amplitude": amplitude, "scales": scales.reshape(-1, dim)})
    field = Field(
        shape=shape,
        evidence=about["evidence"],
        unseen=np.zeros((0, arrays["charges"].shape[1])),
        unsure=np.array([about["unsure"]]),
        factor=None,
        **arrays,
    )
    if count <= REMEMBERED:
        matrix = shape.between(field.centres, field.centres)
        matrix[np.diag_indices_from(matrix)] += field.extra
        factor, failed = dpotrf(matrix, lower=1)
        if failed:
            raise EarnshawError("its committee has a field that no samples make")
        field = dataclasses.replace(field, factor=np.tril(factor))
    return Charged(about["view"], field, line)
