"""`earnshaw simulate`: the motion of a network that learns, as numbers, a picture or a film."""

from __future__ import annotations

import time as clock
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.interrupts import INTERRUPTED
from earnshaw.cli.options import (
    DRAWN,
    HTML,
    build_teacher,
    check_html,
    check_picture,
    describe_teacher,
    with_settings,
    with_teacher,
    write_html,
)
from earnshaw.cli.terminal import print_json, print_table, progress_bar, say
from earnshaw.dynamics.settings import Settings
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable
from earnshaw.limits import check_integer
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.charges.network import Student, Teacher
    from earnshaw.dynamics.path import Collision
    from earnshaw.dynamics.path import Path as Motion
    from earnshaw.landscape.equilibria import Equilibrium

DIM, UNITS, TIME = 2, 5, 50.0
MAY_CHANGE = ("time", "max_steps")  # where a stored path goes on
ROWS = 24  # of the table
FILES = (("drawn", "plot"), ("filmed", "animation"), ("in the lab", "html"), ("saved", "saved"))
COORDINATES = 3  # of a position in the table


@with_teacher
@with_settings(Settings)
def command(
    about: dict[str, Any],
    asked: dict[str, Any],
    student_units: Annotated[
        int | None, typer.Option(help="Units of the student: electrons; as many as protons.")
    ] = None,
    student: Annotated[Path | None, typer.Option(help="Begin with the student in FILE.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of teacher and student; 0.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    html: Annotated[Path | None, HTML] = None,
    animate: Annotated[Path | None, typer.Option(help="Film it: FILE.gif or .mp4.")] = None,
    felt_by: Annotated[
        int, typer.Option(help="The electron whose potential is drawn: all charges but its own.")
    ] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the path in FILE.npz.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the path in FILE.npz.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Let a student's units move among its teacher's (5 in d = 2), as charges do."""
    check_picture(plot)
    check_html(html)
    if animate is not None:
        check_writable(animate, (".gif", ".mp4"))
    if save is not None:
        check_writable(save, (".npz",))
    if student is not None and student_units is not None:
        raise EarnshawError("--student-units and --student FILE are given; allowed: one of the two")
    began = clock.perf_counter()
    from earnshaw.charges.network_file import load_student
    from earnshaw.dynamics.path_file import load_path, path_checkpoints
    from earnshaw.dynamics.simulate import extend, simulate

    about |= {"seed": seed}
    typed = {name: value for name, value in asked.items() if value is not None}
    if resume is not None:
        begun, settings = load_path(resume)
        others = {"student": student, "student_units": student_units} | about
        _nothing_else(others | {name: asked[name] for name in asked if name not in MAY_CHANGE})
        settings |= typed
    else:
        protons = _protons(about)
        if student is not None:
            electrons = load_student(student)
        else:
            electrons = _random_student(protons, student_units, seed, about["weights"])
        settings = {
            **describe_teacher(protons),
            "student_units": electrons.units,
            "seed": 0 if seed is None else seed,
            **asdict(Settings(**{"time": TIME} | typed)),
        }
    electron_count = len(begun.bound) if resume is not None else electrons.units
    check_integer("felt_by", felt_by, 0, max(electron_count - 1, 0))
    save = save or resume
    keep = None if save is None else path_checkpoints(save, settings).keep
    with progress_bar("simulating") as report:
        follow: dict[str, Any] = {"on_progress": _reporter(report), "checkpoint": keep}
        if resume is not None:
            motion = extend(begun, **typed, **follow)
        else:
            motion = simulate(protons, electrons, **{"time": TIME} | typed, **follow)
    files = _write(motion, settings, plot, animate, save, felt_by)
    if html is not None:
        write_html(html, motion)
        files["html"] = str(html)
    rest = _rest(motion)
    equilibrium = {"equilibrium": None if rest is None else rest.summary()}
    payload = motion.summary() | equilibrium | {"settings": settings} | files
    if json:
        print_json(payload | {"seconds": clock.perf_counter() - began})
    else:
        _print(motion, rest, files, clock.perf_counter() - began)
    if motion.stop == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _protons(about: dict[str, Any]) -> Teacher:
    """The teacher that the options describe; by default one whose electrons soon meet it."""
    if about["teacher"] not in DRAWN:
        return build_teacher(**about)
    usual = {"dim": DIM, "units": UNITS, "weights": "ones"}
    about = about | {key: value for key, value in usual.items() if about[key] is None}
    protons = build_teacher(**about)
    if about["teacher"] == "orthonormal" or about["positions"] or _of_unit_length(protons):
        return protons
    return build_teacher(**about | {"positions": "gaussian"})


def _nothing_else(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value is not None:
            raise EarnshawError(
                f"--{name.replace('_', '-')} does not go with --resume, whose file settles it; "
                "allowed: --time and --max-steps, to go on for longer"
            )


def _of_unit_length(teacher: Teacher) -> bool:
    """Whether units live on the sphere, or their length is the steepness of an activation."""
    from earnshaw.duality.potential import Zonal

    return teacher.manifold.name == "sphere" or isinstance(teacher.potential, Zonal)


def _random_student(
    teacher: Teacher, units: int | None, seed: int | None, weights: str | None
) -> Student:
    """Electrons spread as widely as the protons, of weight 1 unless asked otherwise."""
    import numpy as np

    from earnshaw.charges.random import random_student

    law: dict[str, Any] = {}
    if not _of_unit_length(teacher):
        size = float(np.sqrt(np.mean(np.sum(np.square(teacher.positions), axis=1))))
        law = {"positions": "gaussian", "scale": size or 1.0}
    return random_student(teacher, units, seed or 0, weights=weights or "ones", **law)


def _reporter(report: Any) -> Any:
    """Parts of a whole as the progress bar wants them."""
    if report is None:
        return None
    return lambda part, note: report((round(1000 * part), 1000, note))


def _write(
    motion: Motion,
    settings: dict[str, Any],
    plot: Path | None,
    animate: Path | None,
    save: Path | None,
    felt_by: int,
) -> dict[str, str]:
    """The files that were asked for; their names by what they are."""
    files: dict[str, str] = {}
    if save is not None:
        from earnshaw.dynamics.path_file import save_path

        save_path(save, motion, settings)
        files["saved"] = str(save)
    if plot is not None:
        from earnshaw.plots.motion import draw_path
        from earnshaw.plots.style import save as save_picture

        save_picture(draw_path(motion, felt_by), plot)
        files["plot"] = str(plot)
    if animate is not None:
        from earnshaw.plots.animation import animate_path

        with progress_bar("filming") as report:
            animate_path(motion, animate, felt_by=felt_by, on_progress=_reporter(report))
        files["animation"] = str(animate)
    return files


def _rest(motion: Motion) -> Equilibrium | None:
    """What kind of equilibrium it came to, if it did."""
    if motion.stop != "equilibrium":
        return None
    from earnshaw.landscape.equilibria import rest_of

    return rest_of(motion)


def _print(motion: Motion, rest: Equilibrium | None, files: dict[str, str], seconds: float) -> None:
    from earnshaw.plots.formatting import ENDINGS

    teacher, count = motion.teacher, len(motion.bound)
    title = f"{teacher.species.name}, d = {teacher.input_dim}: "
    title += f"{plural(count, 'electron')} among {plural(teacher.units, 'proton')}"
    headings = ("unit", "start", "end", "bound to", "weight")
    rows = [
        (
            str(unit),
            _place(motion.positions[0, unit]),
            _place(motion.positions[-1, unit]),
            _holder(motion, unit),
            f"{motion.weights[-1, unit]:+.4f}",
        )
        for unit in range(min(count, ROWS))
    ]
    print_table(title, dict.fromkeys(headings, "right"), rows)
    bound = int((motion.bound >= 0).sum())
    lines = [f"... and {count - ROWS} more"] if count > ROWS else []
    met = [_meeting(one) for one in motion.collisions]
    lines += [
        "; ".join([f"bound: {bound} of {count}", *met, f"events: {len(motion.events)}"]),
        f"energy: {motion.energy[0]:.6g} -> {motion.energy[-1]:.6g}",
        f"stopped at time {motion.times[-1]:.6g}: {motion.stop} ({ENDINGS[motion.stop]}), "
        f"{plural(motion.steps, 'step')}, {seconds:.1f} s",
    ]
    if rest is not None:
        lines.append(f"at rest: {rest.words} ({rest.kind}, {_eigenvalue(rest)})")
    for what, where in FILES:
        if where in files:
            lines.append(f"{what}: {files[where]}")
    for line in lines:
        say(line)


def _meeting(one: Collision) -> str:
    if one.what == "origin":
        return f"electron {one.unit} came to the origin"
    return f"electron {one.unit} met {one.what} {one.partner}"


def _eigenvalue(rest: Equilibrium) -> str:
    return f"smallest eigenvalue {rest.smallest_eigenvalue:.3g}"


def _place(position: Any) -> str:
    numbers = " ".join(f"{value:+.3f}" for value in position[:COORDINATES])
    return numbers + (" ..." if len(position) > COORDINATES else "")


def _holder(motion: Motion, unit: int) -> str:
    for one in motion.collisions:
        if one.unit == unit and one.what == "proton":
            return f"met proton {one.partner}"
    if motion.bound[unit] >= 0:
        return f"proton {motion.bound[unit]}"
    return "-" if motion.group[unit] == unit else f"electron {motion.group[unit]}"
