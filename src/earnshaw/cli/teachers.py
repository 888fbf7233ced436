"""The teacher that the options of a command describe: random, orthonormal, or from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.output import parse_parameters
from earnshaw.errors import EarnshawError

if TYPE_CHECKING:
    from earnshaw.charges.network import Teacher

# The options that describe a teacher, in every command that has one.
ActivationOption = Annotated[
    str | None, typer.Option(help="almost-harmonic (the default), relu, hermite-3, sign, ...")
]
DimOption = Annotated[int | None, typer.Option(help="The dimension d.")]
UnitsOption = Annotated[int | None, typer.Option(help="Units of the teacher: protons.")]
TeacherOption = Annotated[
    str | None, typer.Option(help="random (the default), orthonormal, or a teacher's FILE.")
]
PositionsOption = Annotated[
    str | None, typer.Option(help="Law of positions: paper, sphere, orthonormal, gaussian.")
]
WeightsOption = Annotated[
    str | None, typer.Option(help="Law of weights: uniform, ones, signs, gaussian.")
]
OnOption = Annotated[str | None, typer.Option(help="space or sphere.")]
RadiusOption = Annotated[float | None, typer.Option(help="almost-harmonic: the core; 0.1.")]
LamOption = Annotated[float | None, typer.Option(help="almost-harmonic: lambda; 1.")]
CoreOption = Annotated[str | None, typer.Option(help="almost-harmonic: ball or paper.")]
DegreeOption = Annotated[int | None, typer.Option(help="sphere-synthetic, hermite: degree.")]
WidthOption = Annotated[float | None, typer.Option(help="Standard deviation of the inputs; 1.")]
ParameterOption = Annotated[
    list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE. Repeatable.")
]

SETTLED = ("activation", "dim", "units", "seed", "positions", "weights", "on", "width", "potential")


def build_teacher(
    *,
    teacher: str | None,
    activation: str | None,
    dim: int | None,
    units: int | None,
    seed: int | None,
    positions: str | None,
    weights: str | None,
    on: str | None,
    radius: float | None,
    lam: float | None,
    core: str | None,
    degree: int | None,
    width: float | None,
    parameters: list[str] | None,
) -> Teacher:
    """The teacher of ``--teacher random|orthonormal|FILE`` and its options; None: not given."""
    import earnshaw as ew

    named = {"radius": radius, "lam": lam, "core": core, "degree": degree}
    given = {key: value for key, value in named.items() if value is not None}
    if teacher not in (None, "random", "orthonormal"):
        described = {
            "activation": activation,
            "dim": dim,
            "units": units,
            "positions": positions,
            "weights": weights,
            "on": on,
            "width": width,
            "parameter": parameters or None,
            **given,
        }
        for option, value in described.items():
            if value is not None:
                raise EarnshawError(
                    f"--{option} describes a random teacher, and --teacher {teacher} is a file; "
                    "allowed: one of the two"
                )
        return ew.load_teacher(Path(teacher))
    if teacher == "orthonormal":
        if positions not in (None, "orthonormal"):
            raise EarnshawError(f"--teacher orthonormal has no positions {positions}")
        positions = "orthonormal"
    extra: dict[str, Any] = given | parse_parameters(parameters or [], taken=SETTLED)
    return ew.random_teacher(
        "almost-harmonic" if activation is None else activation,
        7 if dim is None else dim,
        16 if units is None else units,
        0 if seed is None else seed,
        positions=positions,
        weights=weights,
        on=on,
        width=width,
        **extra,
    )


def describe_teacher(teacher: Teacher) -> dict[str, Any]:
    """What a teacher is, in plain values: for JSON, and for the settings of a run."""
    species = teacher.species
    kind = {"formula": "potential"}.get(species.origin, "activation")
    return {
        kind: species.name,
        "parameters": {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in species.parameters
        },
        "dim": teacher.dim,
        "units": teacher.units,
        "on": teacher.manifold.name,
        "width": float(species.inputs.width),
    }
