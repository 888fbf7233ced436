"""Options that several commands share, or that follow from a dataclass of settings.

A command names one parameter, such as `asked`, where its options are to stand; what was typed
arrives there as a dictionary. Typer sees the options themselves. The options that describe a
teacher, and the teacher that they describe, are here too: random, orthonormal, or from a file.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.completion import activation_names, method_names
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable
from earnshaw.results import PICTURES

if TYPE_CHECKING:
    from earnshaw.charges.network import Teacher
    from earnshaw.charges.species import Species

Command = Callable[..., None]


class Option(typing.NamedTuple):
    """An option: its annotation as Typer takes it, its default, and its key in the dictionary."""

    annotation: Any
    default: Any
    key: str


def with_options(placeholder: str, options: Mapping[str, Option]) -> Callable[[Command], Command]:
    """Give a command these options in place of its parameter `placeholder`."""

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for parameter in own.parameters.values():
            if parameter.name != placeholder:
                parameters.append(parameter)
                continue
            parameters += [
                parameter.replace(name=name, annotation=option.annotation, default=option.default)
                for name, option in options.items()
            ]

        @functools.wraps(command)
        def wrapped(**typed: Any) -> None:
            typed[placeholder] = {option.key: typed.pop(name) for name, option in options.items()}
            command(**typed)

        wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return wrapped

    return decorate


def with_settings(
    settings: type, *, only: tuple[str, ...] | None = None, defaults: bool = False
) -> Callable[[Command], Command]:
    """Give a command an option for every setting, in place of its parameter `asked`.

    Options that are not typed are None, so that a stored run can settle them; with `defaults` they
    have those of the settings, and --help shows them. `only` names the settings that are options.
    """
    hints = typing.get_type_hints(settings)
    options: dict[str, Option] = {}
    for field in dataclasses.fields(settings):
        if only is not None and field.name not in only:
            continue
        name = field.metadata["option"] or field.name
        kind = _typed(hints[field.name])
        flag = [f"--{name.replace('_', '-')}"] if kind is bool else []
        default = field.default if defaults or kind is bool else None
        kind = kind if default is not None else kind | None
        names = method_names if name == "method" else None
        note = typer.Option(*flag, help=field.metadata["help"], autocompletion=names)
        options[name] = Option(Annotated[kind, note], default, field.name)
    return with_options("asked", options)


def _typed(hint: Any) -> Any:
    """The type that is typed for a setting: of several, a text, which the command reads."""
    kinds = [kind for kind in typing.get_args(hint) or (hint,) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else str


def number_or_name(text: str | None) -> Any:
    """The number that a text is; the text itself if it is none."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def parse_parameters(pairs: list[str], taken: tuple[str, ...]) -> dict[str, Any]:
    """Turn ``alpha=0.3`` and ``coefficients=1,0,2`` into keywords; `taken` are other options'."""
    parameters: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip() or not text.strip():
            raise EarnshawError(f"parameter {pair!r} is not of the form NAME=VALUE")
        if key.strip() in taken:
            raise EarnshawError(f"{key.strip()!r} is no parameter: it has an option of its own")
        entries = [_number(entry) for entry in text.split(",")]
        parameters[key.strip()] = entries if "," in text else entries[0]
    return parameters


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


HTML = typer.Option("--html", help="Open it in the lab: one FILE.html, with a time slider.")


def check_html(path: Path | None) -> None:
    """The same of a page."""
    if path is not None:
        check_writable(path, (".html", ".htm"))


def write_html(path: Path | None, result: Any) -> None:
    """A result as a replay of the lab, in one file, if that was asked for."""
    if path is not None:
        from earnshaw.lab.page import write_lab
        from earnshaw.lab.replay import replay_of

        write_lab(path, replay=replay_of(result))


def check_picture(path: Path | None) -> None:
    """Refuse, before any work is done, a picture that could not be written."""
    if path is not None:
        check_writable(path, PICTURES)


KINDS: dict[str, Any] = {
    "activation": Annotated[
        str | None,
        typer.Option(
            help="almost-harmonic (the default), relu, hermite-3, 'x*tanh(x)', ...",
            autocompletion=activation_names,
        ),
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
    "biases": Annotated[
        str | None, typer.Option(help="Units with biases, and their law: gaussian, uniform, ...")
    ],
    "on": Annotated[str | None, typer.Option(help="space or sphere.")],
    "radius": Annotated[float | None, typer.Option(help="almost-harmonic: the core; 0.1.")],
    "lam": Annotated[float | None, typer.Option(help="almost-harmonic: lambda; 1.")],
    "core": Annotated[str | None, typer.Option(help="almost-harmonic: ball or paper.")],
    "degree": Annotated[int | None, typer.Option(help="sphere-synthetic, hermite: degree.")],
    "width": Annotated[float | None, typer.Option(help="Standard deviation of the inputs; 1.")],
    "inputs": Annotated[
        Path | None, typer.Option(help="FILE of Gaussian inputs, or a mixture (docs/files.md).")
    ],
    "parameter": Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE. Repeatable.")
    ],
}
# The options that describe a teacher, in every command that has one; None: not given. A command
# finds them in its parameter `about`, by name, as `build_teacher` takes them.
OPTIONS = {
    name: Option(kind, None, {"parameter": "parameters"}.get(name, name))
    for name, kind in KINDS.items()
}
with_teacher = with_options("about", OPTIONS)

DRAWN = (None, "random", "orthonormal")  # what --teacher may be beside a file
SETTLED = (
    "activation", "dim", "units", "seed", "positions", "weights", "biases", "on", "width", "inputs",
    "potential",
)  # fmt: skip


def build_teacher(
    *,
    teacher: str | None,
    activation: str | None,
    dim: int | None,
    units: int | None,
    seed: int | None,
    positions: str | None,
    weights: str | None,
    biases: str | None,
    on: str | None,
    radius: float | None,
    lam: float | None,
    core: str | None,
    degree: int | None,
    width: float | None,
    inputs: Path | None,
    parameters: list[str] | None,
) -> Teacher:
    """The teacher of ``--teacher random|orthonormal|FILE`` and its options; None: not given."""
    from earnshaw.charges.network_file import load_teacher
    from earnshaw.charges.random import random_teacher
    from earnshaw.charges.species import FOR_THE_POTENTIAL
    from earnshaw.duality.named import check_parameters
    from earnshaw.inputs import load_inputs

    seen = None if inputs is None else load_inputs(inputs)
    named = {"radius": radius, "lam": lam, "core": core, "degree": degree}
    given: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    if teacher not in DRAWN:
        drawn = {"dim": dim, "units": units, "positions": positions, "weights": weights}
        drawn["biases"] = biases
        for option, value in drawn.items():
            if value is not None:
                raise EarnshawError(
                    f"--{option} describes a random teacher, and --teacher {teacher} is a file; "
                    "allowed: one of the two"
                )
        # A file may leave it to the options what its units are.
        given |= parse_parameters(parameters or [], taken=SETTLED)
        return load_teacher(Path(teacher), activation, on=on, width=width, inputs=seen, **given)
    if teacher == "orthonormal":
        if positions not in (None, "orthonormal"):
            raise EarnshawError(f"--teacher orthonormal has no positions {positions}")
        positions = "orthonormal"
    extra: dict[str, Any] = given | parse_parameters(parameters or [], taken=SETTLED)
    activation = "almost-harmonic" if activation is None else activation
    check_parameters(activation, extra, FOR_THE_POTENTIAL)
    return random_teacher(
        activation,
        7 if dim is None else dim,
        16 if units is None else units,
        0 if seed is None else seed,
        positions=positions,
        weights=weights,
        biases=biases,
        on=on,
        width=width,
        inputs=seen,
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
        "dim": teacher.input_dim,
        "units": teacher.units,
        "on": teacher.manifold.name,
        **described_inputs(species),
    }


def described_inputs(species: Species) -> dict[str, Any]:
    """The inputs of a network in plain values, and whether its units have biases."""
    from earnshaw.inputs import Gaussian, inputs_to_dict

    inputs = species.seen_inputs
    plain = isinstance(inputs, Gaussian) and inputs.dim is None
    seen = {"width": species.width} if plain else {"inputs": inputs_to_dict(inputs)}
    return seen | ({"biases": True} if species.biased else {})
