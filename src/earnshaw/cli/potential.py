"""`earnshaw potential`: the potential of an activation, in numbers and as a picture."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.completion import potential_names
from earnshaw.cli.options import check_picture, parse_parameters
from earnshaw.cli.terminal import print_json, print_table, say
from earnshaw.errors import EarnshawError, OutOfRange

if TYPE_CHECKING:
    from earnshaw.duality.potential import Potential


def command(
    name: Annotated[
        str,
        typer.Argument(
            help="relu, hermite-3, almost-harmonic, ...; or a formula: 'x*tanh(x)'.",
            autocompletion=potential_names,
        ),
    ],
    dim: Annotated[int | None, typer.Option(help="The dimension d.")] = None,
    at: Annotated[
        list[float] | None, typer.Option(help="Where: rho on the sphere, r on R^d. Repeatable.")
    ] = None,
    on: Annotated[
        str | None, typer.Option(help="sphere, or space (weights of any length).")
    ] = None,
    norms: Annotated[
        str | None, typer.Option(help="With --on space: |theta|,|w| of a dot-product unit.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Do not normalise to 1 at rho = 1.")] = False,
    width: Annotated[float, typer.Option(help="Standard deviation of the inputs.")] = 1.0,
    radius: Annotated[float | None, typer.Option(help="almost-harmonic: the core.")] = None,
    lam: Annotated[float | None, typer.Option(help="almost-harmonic: lambda.")] = None,
    core: Annotated[str | None, typer.Option(help="almost-harmonic: ball or paper.")] = None,
    degree: Annotated[int | None, typer.Option(help="sphere-synthetic, hermite: degree.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE. Repeatable.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Show the potential that the units of an activation feel."""
    check_picture(plot)
    named = {"radius": radius, "lam": lam, "core": core, "degree": degree}
    parameters: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    parameters |= parse_parameters(parameter or [], taken=("dim", "width", "normalize"))

    import earnshaw as ew
    from earnshaw.duality.named import check_parameters

    check_parameters(name, parameters, ("max_norm",))
    phi: Any = ew.potential(name, dim, normalize=not raw, width=width, **parameters)
    lengths = _lengths(phi, on, norms)
    points = _points(phi, at)
    payload = phi.summary(points if lengths is None else ())
    if lengths is not None:
        payload["values"] = [_row(phi, point, lengths) for point in points]
        payload["norms"] = list(lengths)
        payload["error_bound"] = float(phi.moment_error(*(size**2 for size in lengths)))
    if plot is not None:
        _draw(plot, name, dim, width, parameters, phi)
        payload["plot"] = str(plot)
    if json:
        print_json(payload)
    else:
        _print_table(payload)


def _lengths(phi: Potential, on: str | None, norms: str | None) -> tuple[float, float] | None:
    """(|theta|, |w|) where the potential of a dot-product unit is asked for on R^d, else None."""
    if on not in (None, "sphere", "space"):
        raise OutOfRange("--on", on, "sphere or space")
    zonal = phi.kind == "zonal"
    if on == "sphere" and not zonal:
        raise EarnshawError(f"{phi.name} is a potential on R^d; allowed: --on space")
    if norms is not None and not (on == "space" and hasattr(phi, "moment")):
        raise EarnshawError("--norms needs --on space and a dot-product activation")
    if on != "space" or not zonal:
        return None
    if not hasattr(phi, "moment"):
        raise EarnshawError(f"{phi.name} is defined on the sphere only; allowed: --on sphere")
    try:
        first, second = (float(entry) for entry in (norms or "1,1").split(","))
    except ValueError:
        raise EarnshawError(f"--norms is {norms!r}; allowed: two numbers, as in 2,0.5") from None
    if not (first > 0 and second > 0 and math.isfinite(first * second)):
        raise EarnshawError(f"--norms is {norms!r}; allowed: two positive numbers")
    return first, second


def _points(phi: Potential, at: list[float] | None) -> tuple[float, ...]:
    from earnshaw.duality.potential import POINTS

    points = tuple(at) if at else POINTS[phi.variable]
    for point in points:
        if phi.variable == "rho" and not -1 <= point <= 1:
            raise OutOfRange("rho", point, "a number in [-1, 1]")
        if phi.variable == "r" and not (point >= 0 and math.isfinite(point)):
            raise OutOfRange("r", point, "a number >= 0")
    return points


def _row(phi: Any, point: float, lengths: tuple[float, float]) -> dict[str, float]:
    """Value and derivatives in rho at these norms |theta| and |w|."""
    import jax

    size = lengths[0] * lengths[1]

    def along(rho: Any) -> Any:
        return phi.moment(lengths[0] ** 2, lengths[1] ** 2, size * rho)

    slope = jax.grad(along)
    return {
        "at": point,
        "value": float(along(point)),
        "first": float(slope(point)),
        "second": float(jax.grad(slope)(point)),
    }


def _draw(
    path: Path, name: str, dim: int | None, width: float, parameters: dict[str, Any], phi: Potential
) -> None:
    import earnshaw as ew
    from earnshaw.duality.named import is_activation, takes_dim
    from earnshaw.plots.duality import draw_pair
    from earnshaw.plots.style import save

    if not is_activation(name):
        return save(draw_pair(None, phi), path)
    given = {"dim": dim, **parameters} if takes_dim(name) else parameters
    try:
        sigma, why = ew.activation(name, **given), ""
    except OutOfRange as error:  # a potential whose activation is not computed that far
        sigma, why = None, textwrap.fill(str(error), 48)
    return save(draw_pair(sigma, phi, missing=why), path)


def _print_table(payload: dict[str, Any]) -> None:
    variable, dim = payload["variable"], payload["dim"]
    where = "" if dim is None else f", d = {dim}"
    lengths = payload.get("norms")
    where += "" if lengths is None else f", |theta| = {lengths[0]:g}, |w| = {lengths[1]:g}"
    columns = {
        "at": variable,
        "value": "value",
        "first": "first derivative",
        "second": "second derivative",
    }
    if any(row["value"] == 0 and row.get("log_value", 0) < 0 for row in payload["values"]):
        columns["log_value"] = "log value"  # the value itself has underflowed
    rows = [[f"{row[key] + 0.0:.12g}" for key in columns] for row in payload["values"]]
    title = f"Potential of {payload['name']} ({payload['kind']}{where})"
    print_table(title, dict.fromkeys(columns.values(), "right"), rows)
    bound = payload["error_bound"]
    known = "relative only (unbounded potential)" if bound is None else f"{bound:.1e}"
    if bound is None and payload["kind"] == "zonal" and payload["error_estimate"] is not None:
        known = f"none, but an estimate: {payload['error_estimate']:.1e}"
    say(f"method: {payload['method']}; error bound: {known}")
    if payload["kinks"]:
        say(f"kinks of s(x): {', '.join(f'{kink:.6g}' for kink in payload['kinks'])}")
    for region in payload.get("regions", ()):
        what = region["character"]
        if what == "lambda-harmonic":
            what = f"lambda-harmonic, lambda = {region['eigenvalue']:g},"
        say(f"{what} for {region['low']:.6g} < {variable} < {region['high']:.6g}")
    if payload["source"]:
        say(f"source: {payload['source']}")
    if "plot" in payload:
        say(f"drawn: {payload['plot']}")
