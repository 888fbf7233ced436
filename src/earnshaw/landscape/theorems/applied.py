"""All theorems of the papers that speak of a point, applied to one."""

from __future__ import annotations

from earnshaw.landscape.theorems import _harmonic as harmonic
from earnshaw.landscape.theorems import _learned as learned
from earnshaw.landscape.theorems import _sphere as sphere
from earnshaw.landscape.theorems import _subharmonic as subharmonic
from earnshaw.landscape.theorems.application import Application
from earnshaw.landscape.theorems.setting import Setting

THEOREMS = (
    harmonic.earnshaw,
    harmonic.lambda_harmonic,
    subharmonic.subharmonic,
    subharmonic.gaussian,
    learned.near_or_weak,
    learned.one_node,
    learned.network,
    sphere.sign_circle,
    sphere.sign_one_unit,
    sphere.polynomial,
    sphere.synthetic,
    sphere.sign_uniqueness,
)


def applied(setting: Setting) -> tuple[Application, ...]:
    """Those that speak of the teacher's potential, those that apply first."""
    found = [one for theorem in THEOREMS if (one := theorem(setting)) is not None]
    order = {True: 0, None: 1, False: 2}
    return tuple(sorted(found, key=lambda one: order[one.applies]))
