"""Every block of README, tutorials and how-tos is run by something; commands are run here.

Python blocks are run by `test_code_blocks.py`, cells when the site is built, the README's test
command by `.ci/run`. A placeholder of a block (HOST, FILE.toml) is filled in.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOWTO = ROOT / "docs" / "howto"
BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```", re.S | re.M)
PAGES = [ROOT / "README.md", *sorted(HOWTO.glob("*.md"))]
SHELL = {"", "sh"}
SWEEP = """
kind = "train"
seeds = 1
[fixed]
width = 2
iterations = 50
test_samples = 10
records = 1
"""


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, text) of every block, without its indentation."""
    found = BLOCK.findall(page.read_text())
    return [(lang.strip(), re.sub(f"^{gap}", "", text, flags=re.M)) for gap, lang, text in found]


def commands(page: Path) -> list[str]:
    return [text.strip() for lang, text in blocks(page) if lang in SHELL]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess:
    """With the programs of this very Python first, and a cache of the tests' own."""
    return subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment(), capture_output=True, text=True
    )


def environment() -> dict[str, str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return os.environ | {"PATH": path, "MPLBACKEND": "agg", "NO_COLOR": "1"}


def test_no_block_is_left_out():
    """A new kind of block, or a command on another page, must be run by something."""
    kinds = {lang for page in PAGES for lang, _ in blocks(page)}
    ran = SHELL | {"python", "{code-cell} ipython3"}
    assert kinds - ran <= {"{toctree}", "{include} ../../CONTRIBUTING.md"}
    with_python = {page.name for page in PAGES if "python" in dict(blocks(page))}
    # those of test_code_blocks.py
    assert with_python == {"README.md", "biases_and_inputs.md", "pytorch.md"}
    with_commands = {page.name: len(commands(page)) for page in PAGES if commands(page)}
    assert with_commands == {"README.md": 2, "more_machines.md": 2, "speed_and_memory.md": 1}


@pytest.mark.slow
def test_main_command_of_the_readme(tmp_path):
    """What follows the installation, which people without the package do first."""
    (line,) = (one for one in commands(ROOT / "README.md") if "pytest" not in one)
    made, installed, command = line.split(" && ")
    assert made == "python3 -m venv .venv"
    assert installed.startswith(".venv/bin/pip install -q -c constraints.txt .")
    found = shell(command.removeprefix(".venv/bin/"), tmp_path)
    assert found.returncode == 0, found.stderr
    assert "recovered" in found.stdout
    assert (tmp_path / "learned.png").stat().st_size > 10_000


@pytest.mark.slow
def test_settings_of_speed_and_memory(tmp_path):
    """Each line by itself, in a process that has no cache of the tests' own."""
    (block,) = commands(HOWTO / "speed_and_memory.md")
    another, none = block.replace("/scratch", str(tmp_path)).splitlines()
    asked = "python -c 'import earnshaw, jax; print(jax.config.jax_compilation_cache_dir)'"
    for line, folder in ((another, f"{tmp_path}/compiled"), (none, "None")):
        found = shell(f"unset JAX_COMPILATION_CACHE_DIR\n{line}\n{asked}", tmp_path)
        assert found.stdout.strip() == folder, found.stderr


@contextmanager
def started(command: str, folder: Path) -> Iterator[subprocess.Popen]:
    """A process of `dask`, which is taken from this very Python."""
    name, *rest = command.split()
    line = [sys.executable, "-m", name, *rest]
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(line, cwd=folder, env=environment(), stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.slow
def test_more_machines(tmp_path):
    """A scheduler, a worker and a sweep, as the page starts them, on this machine."""
    pytest.importorskip("distributed")
    first, sweep = commands(HOWTO / "more_machines.md")
    scheduler, worker = first.splitlines()
    address = tmp_path / "scheduler.json"
    (tmp_path / "FILE.toml").write_text(SWEEP)
    here = f"{scheduler} --host 127.0.0.1 --port 0 --no-dashboard --scheduler-file {address}"
    with started(here, tmp_path) as process:
        end = time.monotonic() + 60
        while not address.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
        (place,) = re.findall(r"tcp://[\d.]+:\d+", address.read_text())
        fill = lambda line: line.replace("tcp://HOST:8786", place)  # noqa: E731
        with started(f"{fill(worker)} --no-dashboard --local-directory {tmp_path}", tmp_path):
            found = shell(f"{fill(sweep)} --json", tmp_path)
    assert found.returncode == 0, found.stderr + (tmp_path / "log").read_text()
    assert '"done": 1' in found.stdout
