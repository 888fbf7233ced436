"""A setting is declared once: signature, command line, sweeps and estimators agree with it."""

import dataclasses
import inspect
import subprocess
import sys

import pytest
import typer

import earnshaw as ew
from earnshaw.cli import fit as fit_command
from earnshaw.cli import landscape as landscape_command
from earnshaw.cli import learn as learn_command
from earnshaw.cli import simulate as simulate_command
from earnshaw.dynamics.settings import Settings as SimulateSettings
from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.registry import KINDS
from earnshaw.landscape.hunting.settings import Settings as HuntSettings
from earnshaw.learning.fitting.settings import Settings as FitSettings
from earnshaw.learning.settings import Procedure
from earnshaw.learning.settings import Settings as LearnSettings
from earnshaw.settings import check_settings, given, setting

HOW = {  # arguments that are no settings
    *("save", "resume", "report", "teacher", "student"),
    *("on_progress", "checkpoint"),
}
FITTED = {"units": "n_units", "iterations": "max_iter", "tolerance": "tol"}
FITTED |= {"intercept": "fit_intercept", "seed": "random_state", "networks": "n_networks"}


def options_of(command) -> dict:
    """The options of a command as Typer sees them, by name: (help, default)."""
    app = typer.Typer()
    app.command()(command)
    found = typer.main.get_command(app)
    return {option.name: (getattr(option, "help", None), option.default) for option in found.params}


@pytest.mark.parametrize(
    ("function", "settings"), [(ew.learn, LearnSettings), (ew.hunt, HuntSettings)]
)
def test_signatures(function, settings):
    """Every setting is a keyword that may be left out, and there is nothing else."""
    parameters = inspect.signature(function).parameters
    names = {field.name for field in dataclasses.fields(settings)}
    assert set(parameters) - HOW == names
    assert all(parameters[name].default is None for name in names)
    for name in names:
        assert f"\n    {name}\n" in function.__doc__


def test_the_signature_of_simulate():
    """It takes its defaults from nowhere else: no file settles what is left out."""
    parameters = inspect.signature(ew.simulate).parameters
    fields = {field.name: field.default for field in dataclasses.fields(SimulateSettings)}
    assert set(parameters) - HOW == set(fields)
    assert {name: parameters[name].default for name in fields} == fields


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (learn_command.command, LearnSettings),
        (landscape_command.command, HuntSettings),
        (simulate_command.command, SimulateSettings),
    ],
)
def test_commands(command, settings):
    options = options_of(command)
    for field in dataclasses.fields(settings):
        words, default = options[field.metadata["option"] or field.name]
        assert words == field.metadata["help"] != ""
        assert default is (False if field.type == "bool" else None)


def test_the_command_fit_shows_defaults():
    options = options_of(fit_command.command)
    fields = {field.name: field for field in dataclasses.fields(FitSettings)}
    for name in fit_command.OPTIONS:
        assert options[name] == (fields[name].metadata["help"], fields[name].default)


def test_sweeps():
    known = KINDS["learn"].check({"activation": "gaussian", "dim": 2, "units": 1})
    for field in dataclasses.fields(Procedure):
        assert known[field.name] == field.default


def test_estimators():
    """Scikit-learn wants them written out; their defaults are those of the settings."""
    from earnshaw.sklearn import NodewiseRegressor

    parameters = inspect.signature(NodewiseRegressor).parameters
    for field in dataclasses.fields(FitSettings):
        if field.name not in ("loss", "alpha"):  # which follow from the estimator
            assert parameters[FITTED.get(field.name, field.name)].default == field.default


@dataclasses.dataclass(frozen=True)
class Few:
    """Some settings."""

    count: int | None = setting(None, low=1, high=9)
    size: float = setting(0.5, above=0.0, below=1.0, said="the size")
    name: str = setting("red", allowed=("red", "green", "blue"))
    other: str = setting("sine", allowed=("sine", "cosine"), suggest=True)


def test_checks():
    check_settings(Few())
    check_settings(Few(9, 0.9, "blue", "cosine"))
    for few, words in (
        (Few(count=0), "count is 0; allowed: an integer from 1 to 9"),
        (Few(count=True), "count is True"),
        (Few(size=1.0), "the size is 1.0; allowed: a number in (0, 1)"),
        (Few(size=None), "the size is None"),
        (Few(name="pink"), "name is 'pink'; allowed: red, green or blue"),
        (Few(other="sin"), "unknown other 'sin'; did you mean sine"),
    ):
        with pytest.raises(EarnshawError) as error:
            check_settings(few)
        assert str(error.value).startswith(words)
    assert given(Few, {"count": 3, "size": None, "foreign": 1}) == {"count": 3}


def test_the_options_load_no_jax():
    code = "import sys, earnshaw.cli.main; print({'jax', 'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
