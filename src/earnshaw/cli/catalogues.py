"""`earnshaw activations`, `potentials` and `methods`: tables of what there is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from earnshaw.cli.terminal import print_json, print_table, say

SHORT = {"closed form": "closed", "Hermite series": "series", "quadrature over sectors": "sectors"}
Json = Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")]


def activations(
    bounds: Annotated[
        bool,
        typer.Option("--bounds", help="Compute the three error bounds that take seconds, too."),
    ] = False,
    json: Json = False,
) -> None:
    """List the activations: formula, where they live, symmetries, potential and its error bound."""
    from earnshaw.duality.catalogue import activations as list_activations

    rows = list_activations(bounds)
    if json:
        return print_json({"activations": rows})
    columns = ["name", "s(x)", "symmetries", "potential"]
    table = [
        [
            "hermite-N" if row["name"] == "hermite" else row["name"],
            _where(row["on"]) + row["formula"],
            row["symmetries"].replace(" but for a ", " + ").replace("homogeneous, ", ""),
            SHORT[row["method"]] + _bound(row["error_bound"]),
        ]
        for row in rows
    ]
    print_table(
        "Activations",
        dict.fromkeys(columns, "left"),
        table,
        unbroken=("name", "potential"),
        widest={"symmetries": 14},
    )
    say("units live on R^d and on the sphere, unless said; p is the density of inputs")
    say("even + line: s(x) - s(-x) is linear; degree n: s(t x) = t^n s(x) for t > 0")
    say("potential: by closed form, Hermite series or sectors, and its error bound")
    if not bounds:
        say("(--bounds computes those of elu, hard-tanh and softsign too: seconds each)")
    say("also: formulas in x, as 'x*tanh(x)'; other names, as swish and sigmoid")
    return None


def potentials(json: Json = False) -> None:
    """List the potentials: formula, where they live, whether an activation has them."""
    from earnshaw.duality.catalogue import potentials as list_potentials

    rows = list_potentials()
    if json:
        return print_json({"potentials": rows})
    columns = ["name", "formula", "on", "activation"]
    table = [
        [row["name"], row["formula"], row["on"], "yes" if row["activation"] else "no"]
        for row in rows
    ]
    print_table("Potentials", dict.fromkeys(columns, "left"), table, unbroken=("name",))
    say("also: that of every activation, and formulas (earnshaw realize)")
    return None


def methods(json: Json = False) -> None:
    """List the methods of `earnshaw learn`."""
    from earnshaw.descent.catalogue import methods as list_methods

    rows = list_methods()
    if json:
        return print_json({"methods": rows})
    table = [[row["name"], row["moves"], row["does"]] for row in rows]
    columns = dict.fromkeys(["name", "moves", "what it does"], "left")
    print_table("Methods", columns, table, unbroken=("name", "moves"))
    return None


def _where(on: list[str]) -> str:
    return "" if len(on) > 1 else {"space": "on R^d: ", "sphere": "on the sphere: "}[on[0]]


def _bound(bound: Any) -> str:
    return "" if bound is None else f" {bound:.0e}"
