"""`earnshaw realize`: the activation that has a given potential, or why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from earnshaw.cli.options import check_picture, parse_parameters
from earnshaw.cli.terminal import print_json, say
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.files.atomic import check_writable

ANSWERS = {True: "realizable", False: "not realizable", None: "inconclusive"}


def command(
    potential: Annotated[
        str | None,
        typer.Option(help="A formula in rho (sphere), r or x1, x2, ... (space): 'exp(rho-1)'."),
    ] = None,
    on: Annotated[str, typer.Option(help="sphere or space.")] = "sphere",
    dim: Annotated[int | None, typer.Option(help="The dimension d.")] = None,
    width: Annotated[float, typer.Option(help="Standard deviation of the inputs.")] = 1.0,
    seconds: Annotated[
        float, typer.Option(help="Processor time before it is inconclusive.")
    ] = 20.0,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the activation as FILE.py, which needs NumPy only.")
    ] = None,
    activation: Annotated[
        str | None, typer.Option(help="With --export, instead of a potential: relu, gelu, ...")
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="Of the activation: NAME=VALUE.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Find an activation with a given potential, or a checkable obstruction."""
    check_picture(plot)
    if export is not None:
        check_writable(export, (".py",))
    if (potential is None) == (activation is None):
        raise EarnshawError("realize needs --potential FORMULA, or --activation NAME with --export")
    if activation is not None:
        if export is None or plot is not None:
            raise EarnshawError("--activation is for --export FILE.py, and draws nothing")
        parameters = parse_parameters(parameter or [], taken=("dim", "width"))
        return _export_named(activation, dim, width, parameters, export, json)
    if parameter:
        raise EarnshawError("--parameter needs --activation")
    if on not in ("sphere", "space"):
        raise OutOfRange("--on", on, "sphere or space")
    import earnshaw as ew

    result = ew.realize(
        str(potential),
        on=on,  # type: ignore[arg-type]
        dim=dim,
        width=width,
        seconds=seconds,
    )
    found = result.found
    payload = result.summary() | {"potential": str(potential), "on": on, "dim": dim}
    if export is not None:
        payload["export"] = None
        if result.activation is not None:
            from earnshaw.learning.exports import export as take_away

            payload["export"] = str(take_away(result, export))
    if plot is not None:
        from earnshaw.numerics.budget import Budget

        with Budget(seconds):  # for its derivatives
            result.plot(plot)
        payload["plot"] = str(plot)
    if json:
        print_json(payload)
    else:
        _print_answer(payload, None if found is None else found.sentence())
    return None


def _export_named(
    name: str, dim: int | None, width: float, parameters: dict[str, Any], path: Path, json: bool
) -> None:
    """Write an activation of the library to a file."""
    import earnshaw as ew
    from earnshaw.learning.exports import export

    given = {"dim": dim, "width": None if width == 1 else width}
    parameters |= {key: value for key, value in given.items() if value is not None}
    sigma = ew.activation(name, **parameters)
    export(sigma, path)
    if json:
        print_json({"activation": sigma.name, "kind": sigma.kind, "export": str(path)})
    else:
        say(f"exported: {path}")


def _print_answer(payload: dict[str, Any], activation: str | None) -> None:
    colour = {True: "green", False: "red", None: "yellow"}[payload["realizable"]]
    reason = _without_witness(payload["reason"])
    say(f": {reason}", head=ANSWERS[payload["realizable"]], style=f"bold {colour}")
    if activation is not None:
        say(f"activation: {activation}")
    if payload["check_error"] is not None:
        size = f"at most {payload['check_error']:.1e}"
        if not payload["check_is_bound"]:
            size = f"about {payload['check_error']:.1e} at most, an estimate"
        say(f"check: the activation's own potential differs by {size}")
    if payload["warning"]:
        say(f": {payload['warning']}", head="warning", style="bold yellow")
    if payload["positive_semidefinite_reason"]:
        reason = _without_witness(payload["positive_semidefinite_reason"])
        say(f"as a kernel: {reason}")
    obstruction = payload["obstruction"] or payload["positive_semidefinite_obstruction"]
    if obstruction and obstruction["points"] is not None:
        count, where = len(obstruction["points"]), f"R^{obstruction['dim']}"
        say(
            f"witness: {count} point{'s' if count > 1 else ''} x_i in {where} and weights v_i with "
            f"sum v_i v_j Phi(x_i, x_j) / |v|^2 = {obstruction['quadratic_form']:.4g} < 0; "
            "--json prints them"
        )
    if "plot" in payload:
        say(f"drawn: {payload['plot']}")
    if "export" in payload:
        written = payload["export"]
        done = "not exported: there is no activation" if written is None else f"exported: {written}"
        say(done)


def _without_witness(reason: str) -> str:
    """The reason without what the line above it or below it says anyway."""
    return reason.removeprefix("inconclusive: ").partition("; witness:")[0]
