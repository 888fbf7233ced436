"""`earnshaw runs`: what a store of results holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.run_sweep import STORE, StoreOption
from earnshaw.cli.terminal import print_json, print_rows, say
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable, write_text, write_whole
from earnshaw.results import json_text
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.experiments.store.store import Cell, StoredRun

app = typer.Typer(help="List, show and export what a store of results holds.")

RunArgument = Annotated[str, typer.Argument(help="The number of a run, or its name (the newest).")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")]
ENDINGS = (".csv", ".json", ".parquet")
ROWS = 1000  # of the table that is shown: 10^5 would take a minute


@app.command("list")
def list_command(store: StoreOption = STORE, json: JsonOption = False) -> None:
    """All runs, the oldest first."""
    from earnshaw.experiments.store.store import reading

    with reading(store) as opened:
        runs = [run.summary() for run in opened.runs()]
    if json:
        print_json({"runs": runs})
    else:
        for run in runs:
            run["version"] = run["version"].split()[0]  # --json has the libraries', too
            run["started"] = run["started"][:16].replace("T", " ")
        print_rows(f"runs in {store}", runs)


@app.command("show")
def show_command(run: RunArgument, store: StoreOption = STORE, json: JsonOption = False) -> None:
    """The cells of a run: settings that differ, seeds and numbers."""
    found, rows = _rows(store, run)
    if json:
        print_json({"runs": [found.summary() | {"rows": rows}]})
    else:
        print_rows(f"{found.name} ({found.version})", _differing(rows)[:ROWS])
        if len(rows) > ROWS:
            say(f"... and {len(rows) - ROWS} more; --json and `earnshaw runs export` have all")


@app.command("export")
def export_command(
    run: RunArgument,
    to: Annotated[Path, typer.Option(help="FILE.csv, .json or .parquet.")],
    arrays: Annotated[
        bool, typer.Option("--arrays", help="With the arrays of every cell, such as errors; JSON.")
    ] = False,
    store: StoreOption = STORE,
    json: JsonOption = False,
) -> None:
    """Write a run as a table: one row a cell, all settings and numbers."""
    ending = to.suffix.lower()
    check_writable(to, (".json",) if arrays else ENDINGS)
    found, rows = _rows(store, run, arrays)
    if ending == ".csv":
        from earnshaw.experiments.tables import write_csv

        write_csv(to, rows)
    elif ending == ".json":
        write_text(to, json_text({"runs": [found.summary() | {"rows": rows}]}) + "\n")
    else:
        _write_parquet(to, rows)
    if json:
        print_json({"runs": [found.summary()], "rows": len(rows), "file": str(to)})
    else:
        say(f"{plural(len(rows), 'row')} written to {to}")


def _rows(store: Path, run: str, arrays: bool = False) -> tuple[StoredRun, list[dict[str, Any]]]:
    """A run, and its cells as rows of the same columns."""
    from earnshaw.experiments.store.store import reading

    with reading(store) as opened:
        found = opened.run(run)
        cells = opened.cells(found.id)
    names = list(dict.fromkeys(name for cell in cells for name in cell.numbers or {}))
    rows = [_row(cell, names) for cell in cells]
    if arrays:
        for row, cell in zip(rows, cells, strict=True):
            row["arrays"] = {name: array.tolist() for name, array in cell.arrays.items()}
    return found, rows


def _row(cell: Cell, names: list[str]) -> dict[str, Any]:
    numbers = {name: (cell.numbers or {}).get(name) for name in names}
    end = {"failure": cell.error, "seconds": cell.seconds, "finished": cell.finished}
    settings = {name: _flat(value) for name, value in cell.settings.items()}
    # A number may have the name of a setting: iterations allowed, iterations made.
    settings = {f"set_{name}" if name in numbers else name: v for name, v in settings.items()}
    return settings | {"seed": cell.seed} | numbers | end


def _flat(value: Any) -> Any:
    return json_text(value) if isinstance(value, (dict, list)) else value


def _differing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the columns that are the same in all of several rows."""
    if len(rows) < 2:
        return rows
    kept = [
        name for name in rows[0] if name == "seed" or any(r[name] != rows[0][name] for r in rows)
    ]
    return [{name: row[name] for name in kept} for row in rows]


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise EarnshawError(
            "Parquet needs pandas and pyarrow, which are not installed; allowed: .csv, .json"
        ) from None
    write_whole(path, lambda name: pandas.DataFrame(rows).to_parquet(name, index=False))
