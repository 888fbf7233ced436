"""The teacher that the options of a command describe: random, orthonormal, or from a file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.output import parse_parameters
from earnshaw.errors import EarnshawError

if TYPE_CHECKING:
    from earnshaw.charges.network import Teacher

# The options that describe a teacher, in every command that has one; None: not given.
OPTIONS: dict[str, Any] = {
    "activation": Annotated[
        str | None, typer.Option(help="almost-harmonic (the default), relu, hermite-3, sign, ...")
    ],
    "dim": Annotated[int | None, typer.Option(help="The dimension d.")],
    "units": Annotated[int | None, typer.Option(help="Units of the teacher: protons.")],
    "teacher": Annotated[
        str | None, typer.Option(help="random (the default), orthonormal, or a teacher's FILE.")
    ],
    "positions": Annotated[
        str | None, typer.Option(help="Law of positions: paper, sphere, orthonormal, gaussian.")
    ],
    "weights": Annotated[
        str | None, typer.Option(help="Law of weights: uniform, ones, signs, gaussian.")
    ],
    "on": Annotated[str | None, typer.Option(help="space or sphere.")],
    "radius": Annotated[float | None, typer.Option(help="almost-harmonic: the core; 0.1.")],
    "lam": Annotated[float | None, typer.Option(help="almost-harmonic: lambda; 1.")],
    "core": Annotated[str | None, typer.Option(help="almost-harmonic: ball or paper.")],
    "degree": Annotated[int | None, typer.Option(help="sphere-synthetic, hermite: degree.")],
    "width": Annotated[float | None, typer.Option(help="Standard deviation of the inputs; 1.")],
    "parameter": Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE. Repeatable.")
    ],
}


def with_teacher(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that describe a teacher, in place of its parameter `about`.

    There it finds what was given, by name, as `build_teacher` takes it.
    """
    own = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in own.parameters.values():
        named = OPTIONS if parameter.name == "about" else {}
        shared = [
            parameter.replace(name=name, annotation=kind, default=None)
            for name, kind in named.items()
        ]
        parameters += shared or [parameter]

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        about = {name: given.pop(name) for name in OPTIONS}
        command(about=about | {"parameters": about.pop("parameter")}, **given)

    wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return wrapped


DRAWN = (None, "random", "orthonormal")  # what --teacher may be beside a file
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
    if teacher not in DRAWN:
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


def with_ones(about: dict[str, Any]) -> dict[str, Any]:
    """The same where charges are fixed: those of a random teacher are 1, unless said otherwise."""
    drawn = about["teacher"] in DRAWN and about["weights"] is None
    return about | {"weights": "ones"} if drawn else about


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
