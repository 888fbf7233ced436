"""The `earnshaw` command. Nothing here or in the command files imports JAX until a command runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from earnshaw import __version__
from earnshaw.cli import (
    certify,
    fit,
    interrupts,
    landscape,
    learn,
    potential,
    predict,
    realize,
    reproduce,
    runs,
    simulate,
    sweep,
    terminal,
    verify,
)
from earnshaw.errors import EarnshawError
from earnshaw.text import shown

app = typer.Typer(
    name="earnshaw",
    help="Two-layer networks as electric charges: activations, potentials, and what descent finds.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("certify")(certify.command)
app.command("fit")(fit.command)
app.command("landscape")(landscape.command)
app.command("learn")(learn.command)
app.command("potential")(potential.command)
app.command("predict")(predict.command)
app.command("realize")(realize.command)
app.command("reproduce")(reproduce.command)
app.add_typer(runs.app, name="runs")
app.command("simulate")(simulate.command)
app.command("sweep")(sweep.command)
app.command("verify")(verify.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        terminal.say(f"earnshaw {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    pass


# Typer has begun to carry its own copy of Click; this is its ClickException whichever it uses.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Run a command; bad input is one line on standard error and exit code 2."""
    terminal.prepare()
    try:
        with interrupts.held_back():
            code = app(sys.argv[1:] or ["--help"], prog_name="earnshaw", standalone_mode=False)
            terminal.finish()
    except UsageProblem as error:
        code = _complain(error.format_message())  # type: ignore[attr-defined]
    except (BrokenPipeError, SystemExit):  # whoever read standard output has seen enough; so Rich
        terminal.abandon()
        code = 0
    except UnicodeEncodeError as error:
        code = _complain(f"cannot write '{shown(error.object)[:60]}'; allowed: Unicode text")
    except (EarnshawError, OSError) as error:
        code = _complain(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = interrupts.INTERRUPTED
    if code == interrupts.INTERRUPTED:  # which Typer makes of KeyboardInterrupt too
        terminal.note(interrupts.SAID)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str) -> int:
    terminal.note(f"earnshaw: {' '.join(message.split())}")
    return 2
