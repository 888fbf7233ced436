"""Ctrl-C inside JAX waits for JAX; anywhere else it does not; a second one never does."""

import os
import signal
import subprocess
import sys
import time

import jax
import pytest

from earnshaw.cli import interrupts


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def computing():
    """JAX has computed something; before, there is nothing to wait for."""
    jax.numpy.zeros(1)


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


def test_one_that_a_finaliser_swallows_comes_again():
    class Finalised:
        def __del__(self):
            ctrl_c()
            len("")  # here it is raised, and lost

    log = []
    assert interrupted(lambda: Finalised() and None, log) == []


def test_one_that_somebody_swallows_comes_at_the_end():
    """Later than it should, but a command that was interrupted never ends as if it had not been."""
    log = []

    def deaf():
        try:
            ctrl_c()
        except BaseException:
            log.append("deaf")

    assert interrupted(deaf, log) == ["deaf", "went on"]


def child(code, *signals, **how):
    """A process that says "ready", is then sent signals, and is seen to end."""
    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, **how)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    for signal_, seconds in signals:
        time.sleep(seconds)
        process.send_signal(signal_)
    _, error = process.communicate(timeout=60)
    return process.returncode, error


IN_C = """
import hashlib
from earnshaw.cli import interrupts
with interrupts.held_back():
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes of C code, which no handler can end
"""


def test_the_second_quits_even_where_python_cannot_hear_the_first():
    twice = ((signal.SIGINT, 0.2), (signal.SIGINT, 0.2))
    assert child(IN_C, *twice) == (130, "earnshaw: interrupted\n")


IN_JAX = """
import os, signal
from earnshaw.cli import interrupts
there = {"__name__": "jax.inner"}
exec("def call(inner):\\n    inner()", there)
def twice():
    import jax
    jax.numpy.zeros(1)
    os.kill(os.getpid(), signal.SIGINT)
    print("ready", flush=True)
    while True:
        pass
with interrupts.held_back():
    there["call"](twice)
"""


@pytest.mark.slow
def test_the_second_quits_at_once():
    assert child(IN_JAX, (signal.SIGINT, 0.0)) == (130, "earnshaw: interrupted\n")


LOADING = """
import sys
import earnshaw.__main__ as start
class Tell:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            print("ready", flush=True)
            import time
            for _ in range(600):  # a signal just before a sleep waits for its end: short ones
                time.sleep(0.1)
sys.meta_path.insert(0, Tell())
sys.argv = ["earnshaw", *{arguments!r}]
start.main()
"""


SLOWER = [
    ("typer", ["--help"]),
    ("rich", ["--help"]),
    ("earnshaw.charges", ["learn"]),
    ("jax._src.xla_bridge", ["potential", "tanh"]),
    ("equinox", ["landscape"]),
    ("numpy", ["verify", "dynamics"]),
]


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("earnshaw.cli.main", ["--help"]),
        ("jax", ["learn"]),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOWER),
    ],
)
def test_while_modules_load_the_first_quits_at_once(tmp_path, module, arguments):
    code = LOADING.format(module=module, arguments=arguments)
    ended = child(code, (signal.SIGINT, 0.0), cwd=tmp_path)
    assert ended == (130, "earnshaw: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_nothing_heavy_is_loaded_before_the_handler_is_there():
    """Else there would be a time in which Ctrl-C is a traceback, or lost."""
    code = "import sys; import earnshaw.__main__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"typing", "pathlib", "typer", "rich", "numpy", "jax", "json", "logging"}


COMMAND = """
import sys, earnshaw.__main__ as start
from earnshaw.cli import interrupts
begin = interrupts.from_now_on
def told():
    begin()
    print("ready", flush=True)
interrupts.from_now_on = told
sys.argv = ["earnshaw", *{arguments!r}]
start.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15, 0.3, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0])
def test_a_command_ends_with_130_whenever_it_is_interrupted(seconds):
    """From the moment our own code runs; what comes before is Python's own start."""
    arguments = "learn --dim 6 --units 12 --method gd --iterations 100000000 --tolerance 1e-300"
    code = COMMAND.format(arguments=arguments.split())
    assert child(code, (signal.SIGINT, seconds)) == (130, "earnshaw: interrupted\n")
