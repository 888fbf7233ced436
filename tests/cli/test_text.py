"""What is the user's is shown as text: no markup, no formulas, nothing that a terminal obeys."""

import ast
import io
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

import earnshaw.cli
from earnshaw.cli import sweep_progress, terminal
from earnshaw.experiments.kinds.registry import KINDS
from earnshaw.experiments.sweeps.progress import BlockProgress, SweepProgress
from earnshaw.plots.sweep import draw_sweep
from earnshaw.text import shown
from experiments.sweeps.toy import Toy

HOSTILE = {  # and how it is to be shown
    "[/b]": "[/b]",
    "[bold red]x[/]": "[bold red]x[/]",
    ":smile:": ":smile:",
    "$x_1$ \\q ^{": "$x_1$ \\q ^{",
    "a\x1b[31mb": "a\\x1b[31mb",
    "a\rb\nc\td": "a\\rb\\nc\\td",
    "\udcff\udc80": "\\xff\\x80",
    "\ud800": "\\ud800",
    "a\u202eb": "a\\u202eb",
    "\x7f\x9b": "\\x7f\\x9b",
    "größe ☃ 😀": "größe ☃ 😀",
}


@pytest.mark.parametrize(("text", "looks"), HOSTILE.items())
def test_everything_that_is_printed_is_shown_as_it_is(capsys, text, looks):
    assert shown(text) == looks
    terminal.say(f"drawn: {text}")
    terminal.say(f": {text}", head=text, style="bold red")
    terminal.note(f"earnshaw: {text}")
    terminal.print_table(text, {text: "left"}, [[text], [(text, "red")]])
    out, error = capsys.readouterr()
    first, second, *table = out.splitlines()
    assert (first, second, error) == (
        f"drawn: {looks}",
        f"{looks}: {looks}",
        f"earnshaw: {looks}\n",
    )
    assert sum(looks in line for line in table) == 4  # title, heading, two cells


def test_no_command_prints_by_other_means():
    """Else somebody's file name is markup again."""
    for file in Path(earnshaw.cli.__file__).parent.glob("*.py"):
        used = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                used.add(ast.unparse(node.func).removeprefix("typer."))
            elif isinstance(node, ast.ImportFrom) and node.module:
                used.add(node.module.partition(".")[0])
        by_other_means = used & {"print", "echo", "secho", "sys.stdout.write", "Console"}
        if file.name == "terminal.py":
            assert by_other_means == {"print", "sys.stdout.write", "Console"}
        else:
            assert not by_other_means, file.name
            assert "rich" not in used or file.name == "sweep_progress.py", file.name


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("text", "looks"), HOSTILE.items())
def test_progress_is_text_too(monkeypatch, text, looks):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", there := Terminal())
    with terminal.progress_bar(text) as report:
        report((1, 2, text))
    with sweep_progress.sweep_progress(text) as watch:
        block = BlockProgress(text, 0.5, text)
        watch(SweepProgress(4, 1, 0, (block,), 0.5, 1.0, (f"finished {text}",)))
    written = there.getvalue()
    assert f"{looks}: {looks}" in written  # the bar
    assert f"finished {looks}\n" in written
    assert f"{looks}: 50%, {looks}" in written  # the block under way


@pytest.mark.slow
def test_files_of_any_name(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a[").mkdir()
    one, other = "a[/b] :smile: $x_1$.png", "\x1b[31m\n\udcff.png"
    done = invoke("potential", "relu", "--at", "0.5", "--plot", one)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f"drawn: {one}"
    done = invoke("potential", "relu", "--at", "0.5", "--plot", other, "--json")
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["plot"] == other
    for name in (one, other):
        assert Path(name).stat().st_size > 1000
        refused = invoke("potential", "relu", "--plot", name + ".no")
        assert (refused.code, refused.stdout) == (2, "")
        assert refused.stderr.strip().isprintable()


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(KINDS, "toy", Toy())


SWEEP = """
kind = "toy"
seeds = 2
{name}
[grid]
flag = ["$x_1$", '$\\frac$', "[/b]", ":smile:", '\\u001b[31m']
rate = [4.0, 3.9]
"""


@pytest.mark.slow
def test_sweeps_of_any_name(invoke, tmp_path, toy):
    names = ["[/b]", ":smile:", "$x_1$", "$\\q$ [red]"]
    store = str(tmp_path / "s.sqlite")
    for name in names:
        file = tmp_path / "a.toml"
        file.write_text(SWEEP.format(name=f"name = {json.dumps(name)}"))
        plot = str(tmp_path / "a.png")
        done = invoke("sweep", str(file), "--store", store, "--plot", plot, "--workers", "1")
        assert done.code == 0, done
        assert done.stdout.startswith(f"{name}: value, 20 of 20 cells done")
    listed = invoke("runs", "list", "--store", store)
    assert listed.code == 0
    assert all(f"│ {name} " in listed.stdout for name in names)
    for name in names:
        assert invoke("runs", "show", name, "--store", store).stdout.startswith(f"{name} (")


def test_names_that_no_sweep_would_give(invoke, tmp_path, toy, monkeypatch):
    """A store that somebody else has written to."""
    file, store = tmp_path / "a.toml", tmp_path / "s.sqlite"
    file.write_text(SWEEP.format(name=""))
    assert invoke("sweep", str(file), "--store", str(store), "--workers", "1").code == 0
    with sqlite3.connect(store) as db:
        db.execute("UPDATE runs SET name = ?", ("[/b]\x1b[31m\n",))
    db.close()
    monkeypatch.setenv("COLUMNS", "200")
    listed = invoke("runs", "list", "--store", str(store))
    assert listed.code == 0
    assert "│ [/b]\\x1b[31m\\n │" in listed.stdout
    (run,) = json.loads(invoke("runs", "list", "--store", str(store), "--json").stdout)["runs"]
    assert run["name"] == "[/b]\x1b[31m\n"


def test_file_names_that_are_not_utf_8(invoke, tmp_path, toy):
    at = os.fsencode(tmp_path)
    file, store, csv = (os.fsdecode(at + b"/s\xff" + end) for end in (b".toml", b".db", b".csv"))
    Path(file).write_text(SWEEP.format(name=""))
    done = invoke("sweep", file, "--store", store, "--csv", csv, "--workers", "1")
    assert done.code == 0, done
    assert done.stdout.startswith("s\\xff: value")
    (run,) = json.loads(invoke("runs", "list", "--store", store, "--json").stdout)["runs"]
    assert run["name"] == "s\\xff"
    title = invoke("runs", "list", "--store", store).stdout.partition("┏")[0]
    assert "".join(title.split()) == f"runsin{tmp_path}/s\\xff.db"  # however it is wrapped
    wrote = invoke("runs", "export", "1", "--store", store, "--to", csv)
    assert wrote.stdout == f"20 rows written to {tmp_path}/s\\xff.csv\n"
    assert set(os.listdir(at)) >= {b"s\xff.toml", b"s\xff.db", b"s\xff.csv"}


def test_a_dollar_in_a_picture_is_a_dollar(tmp_path, toy):
    """In SVG with letters as letters, a formula would be cut into pieces."""
    from earnshaw.experiments.sweeps.plan import plan
    from earnshaw.experiments.sweeps.sweep import sweep

    values = ["$x_1$", "$\\frac$", "\\$y$", "a\x1b[31mb"]
    name, rate = "$n_1$ and $\\sqrt", [4.0]
    for grid in ({"flag": values}, {"rate": rate, "flag": values}, {"flag": values, "rate": rate}):
        done = sweep(plan("toy", grid, seeds=2, name=name), store=tmp_path / "s.sqlite")
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            draw_sweep(done).savefig(tmp_path / "a.svg")
        text = (tmp_path / "a.svg").read_text()
        for word in (name, *values[:3], "a\\x1b[31mb"):
            assert f"{word}</text>" in text or f"{word}  ·  " in text, word


# --- streams --------------------------------------------------------------------------------------


def shell(command, **environment):
    """What a shell sees of a command line, in which $E is earnshaw."""
    wanted = {"E": f"{sys.executable} -m earnshaw", "PYTHONUNBUFFERED": ""} | environment
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=os.environ | wanted, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_standard_output_that_nobody_reads():
    for command in ("--version", "--help"):
        done = shell(f"(sleep 0.3; $E {command}) | true; echo ${{PIPESTATUS[0]}}")
        assert done == (0, b"0\n", b"")


@pytest.mark.slow
def test_standard_output_without_room():
    line = b"earnshaw: standard output cannot be written: No space left on device\n"
    assert shell("$E --version > /dev/full") == (2, b"", line)
    code, out, error = shell("$E --help > /dev/full")
    assert (code, out, error.count(b"\n")) == (2, b"", 1)
    assert shell("$E --nonsense 2> /dev/full") == (2, b"", b"")


@pytest.mark.slow
def test_closed_streams(tmp_path):
    assert shell("$E --version >&-") == (0, b"", b"")
    assert shell("$E --nonsense 2>&-") == (2, b"", b"")
    missing = f"$E runs list --store {tmp_path}/none.sqlite"
    assert shell(f"{missing} <&- >&- 2>&-") == (2, b"", b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""},
    ],
)
def test_letters_that_the_encoding_lacks(tmp_path, environment):
    code, out, error = shell(f"$E runs list --store '{tmp_path}/größe☃.sqlite'", **environment)
    assert (code, out, error.count(b"\n")) == (2, b"", 1)
    assert error.isascii()
    code, out, error = shell("$E --help", **environment)
    assert (code, error) == (0, b"")
    assert out.isascii()
