"""What commands share: one JSON object on standard output, files written whole, a warm cache."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earnshaw.cli.terminal import console, print_table, say, write
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable
from earnshaw.text import shown

if TYPE_CHECKING:
    from earnshaw.descent.loop import Progress, Report


def print_json(payload: dict[str, Any]) -> None:
    """Print `payload` as one JSON object; numbers that JSON lacks (infinite, NaN) become null."""
    write(f"{json_text(payload)}\n")


def json_text(payload: Any) -> str:
    """As JSON text in ASCII, infinite numbers and NaN as null."""
    return json.dumps(_plain(payload), allow_nan=False)


def print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of the same columns as a table."""
    from earnshaw.experiments.tables import words

    if not rows:
        say(f"{title}: nothing")
        return
    columns = {
        name: "right" if any(isinstance(row[name], (int, float)) for row in rows) else "left"
        for name in rows[0]
    }
    print_table(title, columns, [[words(row.get(name)) for name in columns] for row in rows])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_picture(path: Path | None) -> None:
    """Refuse, before any work is done, a picture that could not be written."""
    if path is not None:
        check_writable(path, (".png", ".svg", ".pdf"))


# XLA's newer code generator takes twice as long to compile what our commands run for a second.
QUICK_TO_COMPILE = "--xla_cpu_use_fusion_emitters=false"


def load_drawing() -> threading.Thread:
    """Load the plotting library while something else is compiled; join before drawing.

    NumPy comes first, in this thread: two threads that load its compiled parts at once fail. The
    rest of the plotting library shares nothing with what is loaded meanwhile.
    """
    import numpy  # noqa: F401

    def load() -> None:
        import matplotlib.backends.backend_agg
        import matplotlib.figure  # noqa: F401

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    return thread


def use_compilation_cache() -> None:
    """Compile fast, and keep it in the user's cache folder, so that a second run starts faster.

    Through the environment, so that processes which this one starts do the same. Only commands do
    so, whose process is their own: ``import earnshaw`` leaves the environment alone.
    """
    if QUICK_TO_COMPILE not in (flags := os.environ.get("XLA_FLAGS", "")):
        os.environ["XLA_FLAGS"] = f"{QUICK_TO_COMPILE} {flags}".strip()
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return  # the user has chosen
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(root).expanduser() / "earnshaw" / "jax"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a read-only home costs speed, not results
    wishes: dict[str, Any] = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    os.environ.update({name.upper(): str(value) for name, value in wishes.items()})
    if "jax" in sys.modules:
        for name, value in wishes.items():
            sys.modules["jax"].config.update(name, value)


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


@contextmanager
def progress_bar(what: str) -> Iterator[Report | None]:
    """A function that shows progress on standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(progress: Progress) -> None:
            done, total, note = progress
            bar.update(task, completed=done, total=total, description=shown(f"{what}: {note}"))

        yield report
