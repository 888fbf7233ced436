"""Plans from Python and from TOML: what cannot be run is said in one line, before anything is."""

import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds import learning
from earnshaw.experiments.sweeps.plan import plan
from earnshaw.experiments.sweeps.toml import load_plan

GOOD = """
kind = "train"
seeds = 2
[grid]
depth = [2, 3]
width = [4, 5, 6]
[fixed]
iterations = 10
"""


def test_a_file_is_the_grid_it_says(tmp_path):
    file = tmp_path / "depths.toml"
    file.write_text(GOOD)
    found = load_plan(file)
    same = plan(
        "train",
        {"depth": [2, 3], "width": [4, 5, 6]},
        fixed={"iterations": 10},
        seeds=[0, 1],
        name="depths",
    )
    assert found == same
    assert [(s["depth"], s["width"]) for s in found.settings] == [
        (d, w) for d in (2, 3) for w in (4, 5, 6)
    ]
    assert len(found.cells()) == 12
    assert all(s["iterations"] == 10 and s["batch"] == 1 for s in found.settings)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("colour = 1\nshape = 2\n" + GOOD, "unknown keys 'colour', 'shape'"),
        (GOOD + "colour = 1\n", "no setting 'colour'"),
        (GOOD.replace("depth = [2, 3]", "colour = [2, 3]"), "no setting 'colour'"),
        (GOOD.replace("depth = [2, 3]", "depth = [2, -3]"), "depth is -3"),
        (GOOD.replace("depth = [2, 3]", "depth = [2, 'three']"), "depth is 'three'"),
        (GOOD.replace("depth = [2, 3]", "depth = []"), "'depth' is []; allowed: a list of values"),
        (GOOD.replace("depth = [2, 3]", "depth = 2"), "'depth' is 2; allowed: a list of values"),
        (GOOD.replace("depth = [2, 3]", "depth = 'all'"), "'depth' is 'all'; allowed: a list"),
        (GOOD.replace("iterations", "depth"), "'depth' is both in the grid and fixed"),
        (GOOD.replace("iterations = 10", "iterations = 2020-01-01"), "iterations is datetime.date"),
        (GOOD.replace("iterations = 10", "gain = inf"), "gain is inf"),
        (GOOD.replace("iterations = 10", "gain = nan"), "gain is nan"),
        (GOOD.replace("seeds = 2", "seeds = 0"), "seeds is 0"),
        (GOOD.replace("seeds = 2", "seeds = []"), "number of seeds is 0"),
        (GOOD.replace("seeds = 2", "seeds = [1, -1]"), "seed is -1"),
        (GOOD.replace("seeds = 2", "seeds = 'two'"), "seeds is 'two'"),
        (GOOD.replace("seeds = 2", "seeds = 1000000000000"), "seeds is 1000000000000"),
        (GOOD.replace("seeds = 2", "seeds = 50000"), "number of cells is 300000"),
        (GOOD.replace("seeds = 2", "name = 5"), "name of a sweep is 5"),
        (GOOD.replace("seeds = 2", "name = '5'"), "name of a sweep is '5'"),
        (GOOD.replace("seeds = 2", "name = ''"), "name of a sweep is ''"),
        (GOOD.replace("seeds = 2", "name = 'a\\u000Ab'".replace("'", '"')), "name of a sweep is"),
        (GOOD.replace('"train"', '"trane"'), "unknown kind of experiment 'trane'"),
        (GOOD.replace('"train"', "3"), "unknown kind of experiment '3'"),
        (GOOD.replace('kind = "train"', ""), "it has no kind"),
        (GOOD.replace("[grid]", "[[grid]]"), "'grid' is no table"),
        ("kind = train", "not a TOML file"),
        ("\x00\x01", "not a TOML file"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, change, says):
    file = tmp_path / "sweep.toml"
    file.write_text(change)
    with pytest.raises(EarnshawError) as refused:
        load_plan(file)
    assert says in str(refused.value)
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(EarnshawError, match="there is no such file"):
        load_plan(tmp_path / "none.toml")
    with pytest.raises(EarnshawError, match="it is a folder"):
        load_plan(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(EarnshawError, match="not a TOML file"):
        load_plan(tmp_path / "latin.toml")


def test_seeds_and_places_count_once():
    found = plan("train", {"gain": [1, 1.0, 2]}, seeds=[3, 1, 3])
    assert found.seeds == (3, 1)
    assert [s["gain"] for s in found.settings] == [1.0, 2.0]
    assert len(found.cells()) == 4


def test_numbers_of_numpy_are_numbers():
    grid = {"width": list(np.arange(2, 4)), "gain": list(np.array([0.5]))}
    found = plan("train", grid, seeds=(s for s in range(2)))
    assert found == plan("train", {"width": [2, 3], "gain": [0.5]}, seeds=2)
    assert type(found.settings[0]["width"]) is int


def test_a_grid_that_fits_no_memory_is_refused_at_once():
    ten = list(range(1, 11))
    axes = ("depth", "width", "dim", "batch", "records", "test_samples", "iterations", "samples")
    with pytest.raises(EarnshawError, match="number of places is 100000000;"):
        plan("train", dict.fromkeys(axes, ten))


def test_learning_is_checked_once_for_what_is_alike(monkeypatch):
    """The check makes a teacher and its loss, which takes seconds: not for every place."""
    made = []
    monkeypatch.setattr(learning.Learning, "teacher", lambda self, seed: made.append(self.units))
    monkeypatch.setattr("earnshaw.learning.learn.objective_of", lambda teacher, settings: None)
    monkeypatch.setattr("earnshaw.descent.methods.check_method", lambda name, loss: name)
    learning._check_objective.cache_clear()
    grid = {"units": [1, 2, 3, 4], "iterations": [10, 20], "tolerance": [1e-3, 1e-4]}
    assert len(plan("learn", grid).settings) == 16
    assert made == [1, 2]
    plan("learn", grid, fixed={"dim": 2})
    assert made == [1, 2, 1, 2]
    plan("learn", grid, fixed={"dim": 2, "positions": "orthonormal"})  # of which 3 are too many
    assert made[4:] == [1, 2, 3, 4]
    learning._check_objective.cache_clear()
