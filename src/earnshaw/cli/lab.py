"""`earnshaw lab`: charges to drag, in the browser or in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.terminal import finish, note, print_json, say
from earnshaw.files.atomic import check_writable
from earnshaw.limits import check_integer

PORT = 8899


def command(
    write: Annotated[
        Path | None, typer.Option(help="Write the lab to FILE.html, which needs no server.")
    ] = None,
    port: Annotated[int, typer.Option(help="Where to listen; the next if it is in use.")] = PORT,
    host: Annotated[
        str, typer.Option(help="Who may connect: 127.0.0.1 is this machine alone.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it there.")] = True,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Open the lab: drag charges, watch them move, and see what kind of point they end in."""
    if write is not None:
        from earnshaw.lab.page import ENDINGS, write_lab

        check_writable(write, ENDINGS)
        write_lab(write)
        if json:
            print_json({"url": write.resolve().as_uri(), "written": str(write)})
        else:
            say(f"written: {write}")
        return
    check_integer("port", port, 0, 65535)
    from earnshaw.lab.server import Serving

    serving = Serving(host, port)
    if port and serving.port != port:
        note(f"port {port} is in use: listening at {serving.port}")
    if json:
        print_json({"url": serving.url})
    else:
        say(f"the lab is at {serving.url}")
        say("Ctrl-C ends it")
    finish()
    if browser:
        import webbrowser

        webbrowser.open(serving.url)
    serving.run()
