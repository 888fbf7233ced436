"""The `earnshaw` command. Nothing here or in the command files imports JAX until a command runs."""

from __future__ import annotations

import sys
from typing import Annotated

import click
import typer

from earnshaw import __version__
from earnshaw.cli import potential, realize
from earnshaw.errors import EarnshawError

app = typer.Typer(
    name="earnshaw",
    help="Two-layer networks as electric charges: activations, potentials, and what descent finds.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("potential")(potential.command)
app.command("realize")(realize.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"earnshaw {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; bad input is one line on standard error and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_page:
        typer.echo(help_page.format_message())
        code = 0
    except click.ClickException as error:
        code = _complain(error.format_message())
    except (EarnshawError, OSError) as error:
        code = _complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        print("earnshaw: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str) -> int:
    print(f"earnshaw: {' '.join(message.split())}", file=sys.stderr)
    return 2
