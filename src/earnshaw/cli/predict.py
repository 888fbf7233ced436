"""`earnshaw predict`: what a model that `earnshaw fit` saved says of a table."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.fit_report import score_words
from earnshaw.cli.terminal import note, print_json, say, write
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable, write_text, write_whole
from earnshaw.text import plural

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.learning.fitting.model import Model

LEVEL = 0.9  # of intervals
NAMED = 8  # rows in one line
ENDINGS = (".csv", ".npz", ".parquet")


def command(
    model: Annotated[Path, typer.Argument(help="What `earnshaw fit` saved: FILE.npz or .json.")],
    data: Annotated[Path, typer.Argument(help="A table: FILE.csv (.tsv, .txt), .parquet or .npz.")],
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.csv, .npz or .parquet; CSV on standard output otherwise."),
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="Of a text file: one character, or tab; found by itself.")
    ] = None,
    decimal: Annotated[str, typer.Option(help="Of numbers in a text file: . or ,")] = ".",
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Predict the target of a table's rows; score it too, if the table has it."""
    if out is not None:
        check_writable(out, ENDINGS)
        if out.resolve() in (model.resolve(), data.resolve()):
            raise EarnshawError(f"--out {out} would overwrite what is read; allowed: another file")
    from earnshaw.learning.fitting.tables import arrow, read_table

    if out is not None and out.suffix.lower() == ".parquet":
        arrow()
    table = read_table(data, separator, decimal)
    import numpy as np

    from earnshaw.learning.fitting.model_file import load_model

    used = load_model(model)
    outputs = used.outputs(table)
    scores, why = used.score(table, outputs)
    columns = _columns(used, outputs) | _ends(used, table)
    far = np.flatnonzero(used.outside(table))
    if out is not None:
        _write(out, columns)
    if json:
        outside = [int(table.places[row]) for row in far]
        print_json(_payload(used, columns, scores, why, out) | {"outside": outside})
        return
    if len(far):
        which = ", ".join(str(table.places[row]) for row in far[:NAMED])
        more = f" and {len(far) - NAMED} more" if len(far) > NAMED else ""
        note(
            f"far outside the data of the fit, so predictions are guesses: {table.place} {which}"
            f"{more}"
        )
    rows = plural(table.count, "row")
    there = f"{rows}: {score_words(scores)}"
    if not scores:
        there = rows + ("" if "no column" in why else f"; no score: {why}")
    if out is None:
        write(_csv(columns))
        note(there)
    else:
        say(there)
        say(f"written: {out}")


def _columns(model: Model, outputs: np.ndarray) -> dict[str, np.ndarray]:
    """What is predicted, by name: a column a target, and one a class for its probability."""
    import numpy as np

    from earnshaw.learning.fitting.scores import log_probabilities

    if not model.classes:
        return {
            f"predicted_{name}": column
            for name, column in zip(model.targets, outputs.T, strict=True)
        }
    chances = np.exp(log_probabilities(outputs))
    return {f"predicted_{model.targets[0]}": model.labels(outputs)} | {
        f"probability_{name}": column for name, column in zip(model.classes, chances.T, strict=True)
    }


def _ends(model: Model, table: Any) -> dict[str, np.ndarray]:
    """The ends of 90 % intervals, a column each, where they are known."""
    found = model.interval(table, LEVEL)
    if found is None:
        return {}
    return {
        f"{end}_{name}": column
        for end, values in zip(("low", "high"), found, strict=True)
        for name, column in zip(model.targets, values.T, strict=True)
    }


def _csv(columns: dict[str, np.ndarray]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()


def _write(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Whole or not at all."""
    import numpy as np

    from earnshaw.learning.fitting.tables import arrow

    ending = path.suffix.lower()
    if ending == ".csv":
        write_text(path, _csv(columns))
    elif ending == ".npz":

        def write(name: str) -> None:
            with open(name, "wb") as file:
                np.savez(file, **columns)  # type: ignore[arg-type]

        write_whole(path, write)
    else:
        pa = arrow()
        write_whole(path, lambda name: pa.parquet.write_table(pa.table(columns), name))


def _payload(
    model: Model,
    columns: dict[str, np.ndarray],
    scores: dict[str, float],
    why: str,
    out: Path | None,
) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "units": model.network.units,
        "score": next(iter(scores.values()), None),
        "scores": scores,
        "kind": model.kind,
        "rows": len(next(iter(columns.values()))),
        "columns": list(columns),
    }
    if not scores:
        payload["no_score"] = why
    if out is not None:
        return payload | {"out": str(out)}
    return payload | {"predictions": {name: column.tolist() for name, column in columns.items()}}
