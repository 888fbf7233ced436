"""Searches for bad minima among cones: descents from random starts, and where they end."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.sign._cone_lemmas import read
from earnshaw.papers.claims.sign._cones import Cone, descend
from earnshaw.papers.claims.sign._endings import ending


def _draw_search(cone: Cone, dim: int, units: int, student: int, starts: int) -> Any:
    def draw(rng: np.random.Generator, index: int) -> Instance:
        """A random teacher, charges between 1/2 and 3/2; random starts."""
        b = rng.uniform(0.5, 1.5, units) * rng.choice([-1, 1], units)
        c = rng.standard_normal((starts, student))
        if cone.on == "space":
            c += (np.sum(b) - np.sum(c, axis=1, keepdims=True)) / student
        return {
            "protons": cone.random(rng, units, dim),
            "charges": b,
            "starts": cone.random(rng, starts, student, dim),
            "weights": c,
        }

    return draw


def _search(cone: Cone, steps: int = 8000) -> Any:
    """Where descents end, counted; it holds if no end is a bad minimum."""

    def test(instance: Instance) -> Finding:
        w, b, x, c = read(instance, "protons", "charges", "starts", "weights")
        neutral = cone.on == "space"
        c, x = descend(cone, c, x, b, w, steps=steps, neutral=neutral)
        ends = [ending(cone, *one, b, w, neutral) for one in zip(c, x, strict=True)]
        counts = Counter(str(end.kind) for end in ends)
        bad = [end for end in ends if end.kind in ("shared", "distinct")]
        kinds = ("teacher", "shared", "distinct", "unsettled")
        numbers = {f"share_{kind}": counts[kind] / len(ends) for kind in kinds}
        numbers["starts"] = len(ends)
        if bad:
            numbers["worst_loss"] = max(end.loss for end in bad)
            numbers["least_margin"] = min(end.margin for end in bad)
        if not bad and counts["teacher"] < len(ends):
            return Finding(None, numbers, "some descents have not settled")
        return Finding(not bad, numbers)

    return test


def searches(cone: Cone, sizes: tuple[tuple[int, int, int, bool], ...]) -> tuple[Statement, ...]:
    """One statement for each (dimension, units, student's units, whether quick runs it too)."""
    return tuple(
        Statement(
            f"search-d{dim}-k{units}" + (f"-n{student}" if student != units else ""),
            f"Descents of {student} units from random starts end at the teacher (d = {dim}, random "
            f"teachers of {units} units)",
            _draw_search(cone, dim, units, student, 30),
            _search(cone),
            role="beyond",
            quick=int(quick),
            thorough=6,
        )
        for dim, units, student, quick in sizes
    )
