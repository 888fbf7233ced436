"""Ctrl-C inside JAX waits for JAX; anywhere else it does not; a second one never does."""

import os
import signal
import subprocess
import sys

import jax
import pytest

from earnshaw.cli import interrupts


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def inside_jax():
    """A function that calls another and then goes on, in a module of JAX as far as Python knows."""
    there: dict = {"__name__": "jax.inner"}
    exec("def call(inner, log):\n    inner()\n    log.append('done')", there)
    return there["call"]


def interrupted(work, log):
    """What is in the log when KeyboardInterrupt has ended `work`."""

    def run():
        work()
        len(log)  # an interrupt that has waited comes here
        log.append("went on")

    with pytest.raises(KeyboardInterrupt), interrupts.held_back():
        run()
    return log


def test_at_once_in_code_that_can_be_cut_short():
    assert interrupted(ctrl_c, []) == []


def test_inside_jax_only_after_it_has_returned(inside_jax):
    log = []
    assert interrupted(lambda: inside_jax(ctrl_c, log), log) == ["done"]


def test_a_function_that_jax_traces_is_inside_jax():
    log = []

    def traced(x):
        ctrl_c()
        log.append("traced")
        return x

    assert interrupted(lambda: jax.make_jaxpr(traced)(1.0), log) == ["traced"]


def test_nothing_is_left_behind_when_jax_fails_meanwhile(inside_jax):
    def fail():
        ctrl_c()
        raise ValueError

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises((ValueError, KeyboardInterrupt)), interrupts.held_back():
        inside_jax(fail, [])
    assert sys.getprofile() is None
    assert signal.getsignal(signal.SIGINT) is before


def test_an_import_is_not_cut_short(tmp_path, monkeypatch):
    """The module is whole, and in its place, when the interrupt comes."""
    (tmp_path / "half_a_module.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nsum([1, 2])\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def load():
        import half_a_module  # noqa: F401

    assert interrupted(load, []) == []
    assert sys.modules.pop("half_a_module").whole


TWICE = """
import os, signal, sys
from earnshaw.cli import interrupts
import jax
there = {"__name__": "jax.inner"}
exec("def call(inner):\\n    inner()", there)
def twice():
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass
with interrupts.held_back():
    there["call"](twice)
"""


def test_the_second_quits_at_once():
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "earnshaw: interrupted\n")
