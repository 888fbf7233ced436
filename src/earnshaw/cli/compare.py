"""`earnshaw compare`: how far two networks are apart, and which units they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.options import check_picture
from earnshaw.cli.terminal import print_json, say
from earnshaw.errors import EarnshawError

if TYPE_CHECKING:
    from earnshaw.inputs import Inputs
    from earnshaw.landscape.compare import Comparison

DATA = (".csv", ".tsv", ".txt", ".parquet")  # what is a table of data, not a file of inputs
WORDS = {
    "minimum": "a minimum of the distance",
    "saddle": "a saddle of the distance",
    "flat": "a critical point of the distance, flat in some direction",
    "slope": "no critical point of the distance: there is a way down",
}


def command(
    first: Annotated[Path, typer.Argument(help="The FILE of a network with its activation.")],
    second: Annotated[Path, typer.Argument(help="The FILE of another, of the same inputs.")],
    inputs: Annotated[
        Path | None,
        typer.Option(help="FILE of inputs, or a table of data to fit a mixture to; N(0, I)."),
    ] = None,
    components: Annotated[int, typer.Option(help="Gaussians that are fitted to data.")] = 3,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Two networks: their exact distance, the units they share, what kind of point one is."""
    check_picture(plot)
    import earnshaw as ew

    ours, theirs = ew.load_teacher(first), ew.load_teacher(second)
    found = ew.compare(ours, theirs, _inputs(inputs, components))
    if plot is not None:
        found.plot(plot)
    if json:
        print_json(found.summary() | ({} if plot is None else {"plot": str(plot)}))
        return
    for line in _lines(found):
        say(line)
    if plot is not None:
        say(f"drawn: {plot}")


def _inputs(path: Path | None, components: int) -> Inputs | None:
    """N(0, I), a file of inputs, or a mixture that is fitted to a table of numbers."""
    from earnshaw.inputs import GaussianMixture, load_inputs

    if path is None:
        return None
    if path.suffix.lower() not in DATA:
        return load_inputs(path)
    import numpy as np

    from earnshaw.learning.fitting.tables import read_table

    table = read_table(path)
    texts = [name for name, column in table.columns.items() if column.dtype.kind not in "iuf"]
    if texts:
        raise EarnshawError(f"{path} has the column {texts[0]!r} of text; allowed: numbers")
    return GaussianMixture.fit(np.column_stack(list(table.columns.values())), components)


def _lines(found: Comparison) -> list[str]:
    pairs = ", ".join(
        f"{i}-{j} ({correlation:+.3f})"
        for (i, j), correlation in zip(found.pairs, found.correlations, strict=True)
    )
    return [
        found._title(),
        f"distance E|f - g|^2: {found.distance:.6g}, {found.relative:.3g} of the variance of the "
        f"first ({found.variances[0]:.6g}; of the second {found.variances[1]:.6g})",
        f"the same units, correlated by 0.99 or more: {found.shared} of {len(found.pairs)}",
        f"pairs, first-second (correlation): {pairs}",
        f"the second is {WORDS[found.kind]}: relative gradient {found.gradient_norm:.2g}, smallest "
        f"eigenvalue {found.eigenvalue:.3g}",
    ]
