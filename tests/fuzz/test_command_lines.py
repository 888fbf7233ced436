"""Command lines that nobody should type: one line and exit code 2, in bounded time and memory."""

import pytest

from fuzz.commands import Commands
from fuzz.lines import lines, prepare
from fuzz.run import outcomes

HUGE = "9" * 20
SIZE = " to 2147483647"
MEMORY = "of memory; allowed: 4 GiB (EARNSHAW_MEMORY, a number of GiB, sets another limit)"
RELU = "--activation relu --dim 2 --units 2"

# What an earlier version answered with a traceback, gigabytes, or not at all.
FOUND = [
    (f"potential tanh --dim {HUGE}", SIZE),
    (f"learn --iterations {HUGE}", SIZE),
    (f"simulate --student-units {HUGE}", SIZE),
    ("learn --samples 2147483648", SIZE),
    ("learn --samples 2147483647", "2147483647 samples x 7 dimensions need"),
    ("landscape --student-units 2147483648", SIZE),
    ("landscape --student-units 2147483647", "600 starts x 2147483647 units x 7 dimensions need"),
    (f"landscape {RELU} --init-scale 1e300", "init scale is 1e+300"),
    ("simulate --dim 2147483648", SIZE),
    ("simulate --dim 2147483647", MEMORY),
    ("learn --units 10000000 --dim 1", "pairs of units"),
    (f"landscape --iterations {HUGE}", SIZE),
    ("sweep iterations.toml", SIZE),
    ("sweep inputs.toml", MEMORY),
    ("sweep depth.toml", "depth is 1000000; allowed: an integer from 1 to 100"),
    ("sweep sweep.toml --workers 100000", "workers is 100000"),
    ("potential elu -p alpha=1e308", "alpha"),
    ("potential relu -p name=foo", "relu has no parameter 'name'"),
    ("potential relu -p activation=foo", "relu has no parameter 'activation'"),
    ("potential relu -p self=1", "relu has no parameter 'self'"),
    ("learn -p name=foo", "almost-harmonic has no parameter 'name'"),
    ("learn -p activation=foo", "'activation' is no parameter"),
    ("learn -p self=1", "almost-harmonic has no parameter 'self'"),
    ("learn -p core=3", "unknown core 3; known: ball, paper"),
    ("simulate -p self=1", "almost-harmonic has no parameter 'self'"),
    ("fit table.csv --target y --drop colour -p name=foo", "tanh has no parameter 'name'"),
    ("sweep units.toml", "relu has no parameter 'units'"),
    ("sweep seed.toml", "relu has no parameter 'seed'"),
    ("certify --teacher teacher.json --student student.json", "a coordinate of size 1e+300"),
]
SWEEPS = {
    "iterations": 'kind = "train"\n[fixed]\niterations = 1000000000000',
    "inputs": 'kind = "train"\n[fixed]\ndim = 2147483647',
    "depth": 'kind = "train"\n[fixed]\ndepth = 1000000',
    "units": 'kind = "learn"\n[fixed]\nactivation = "relu"\nparameters = {units = 3}',
    "seed": 'kind = "learn"\n[fixed]\nactivation = "relu"\nparameters = {seed = 3}',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("fuzz")
    prepare(where)
    for name, text in SWEEPS.items():
        (where / f"{name}.toml").write_text(text)
    return where


@pytest.fixture(scope="module")
def commands():
    with Commands() as ready:
        yield ready


@pytest.mark.slow
@pytest.mark.parametrize(("line", "words"), FOUND)
def test_what_was_found_is_one_line(commands, folder, line, words):
    outcome = commands.run(line.split(), folder)
    assert outcome.complaint is None
    assert outcome.code == 2
    assert words in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.slow
def test_random_command_lines_end_as_they_may(folder):
    wrong = [
        (argv, outcome.complaint)
        for argv, outcome in outcomes(lines(seed=0, count=60), folder)
        if outcome.complaint is not None
    ]
    assert wrong == []
