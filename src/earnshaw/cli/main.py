"""The `earnshaw` command. Nothing here or in the command files imports JAX until a command runs."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from earnshaw import __version__
from earnshaw.cli import (
    barrier,
    catalogues,
    certify,
    compare,
    demo,
    fit,
    interrupts,
    lab,
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
from earnshaw.cli.words import as_options
from earnshaw.errors import EarnshawError
from earnshaw.text import shown

app = typer.Typer(
    name="earnshaw",
    help="Two-layer networks as electric charges: activations, potentials, and what descent finds.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("activations")(catalogues.activations)
app.command("barrier")(barrier.command)
app.command("compare")(compare.command)
app.command("certify")(certify.command)
app.command("demo")(demo.command)
app.command("fit")(fit.command)
app.command("lab")(lab.command)
app.command("landscape")(landscape.command)
app.command("learn")(learn.command)
app.command("methods")(catalogues.methods)
app.command("potential")(potential.command)
app.command("potentials")(catalogues.potentials)
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
    _compile_fast()


# XLA's newer code generator takes twice as long to compile what our commands run for a second.
QUICK_TO_COMPILE = "--xla_cpu_use_fusion_emitters=false"


def _compile_fast() -> None:
    """Through the environment, so that processes which this one starts do the same.

    Only commands do so, whose process is their own: ``import earnshaw`` leaves the environment
    alone. What is compiled is kept on disk either way (`disk_cache.py`).
    """
    if QUICK_TO_COMPILE not in (flags := os.environ.get("XLA_FLAGS", "")):
        os.environ["XLA_FLAGS"] = f"{QUICK_TO_COMPILE} {flags}".strip()


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
        code = _complain(as_options(str(error), _options()))
    except (KeyboardInterrupt, typer.Abort):
        code = interrupts.INTERRUPTED
    if code == interrupts.INTERRUPTED:  # which Typer makes of KeyboardInterrupt too
        terminal.note(interrupts.SAID)
    sys.exit(code if isinstance(code, int) else 0)


def _options() -> set[str]:
    """The options of the command that was called, as they are typed."""
    commands = getattr(typer.main.get_command(app), "commands", {})
    called: Any = next((commands[word] for word in sys.argv[1:] if word in commands), None)
    return {text for option in getattr(called, "params", ()) for text in option.opts}


def _complain(message: str) -> int:
    terminal.note(f"earnshaw: {' '.join(message.split())}")
    return 2
