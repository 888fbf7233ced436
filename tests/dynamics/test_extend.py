"""Interrupted paths, kept in files, go on as if nothing had happened."""

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.dynamics.path_file import load_path, save_path
from earnshaw.dynamics.simulate import extend
from earnshaw.errors import EarnshawError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def charges():
    """Two electrons that bind one after the other."""
    protons = ew.Teacher([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1.0, 1.0], "almost-harmonic")
    return protons, ew.Student([[0.1, 0.2, 0.0], [0.6, -0.4, 0.1]], [1.0, 1.0])


@pytest.fixture(scope="module")
def whole(charges):
    return ew.simulate(*charges, time=20.0)


def same(first, second):
    """Equal to the last bit, with the same story."""
    arrays = ("times", "positions", "weights", "energy", "bound", "group")
    equal = all(np.array_equal(getattr(first, name), getattr(second, name)) for name in arrays)
    return equal and first.events == second.events and first.stop == second.stop


@pytest.mark.parametrize("after", [1, 2, 3])
def test_interrupted_and_continued_from_a_file(after, charges, whole, tmp_path):
    calls = []

    def stop(part, note):
        calls.append(part)
        if len(calls) == after:
            raise KeyboardInterrupt

    part = ew.simulate(*charges, time=20.0, on_progress=stop)
    assert part.stop == "interrupted"
    assert len(part.times) < len(whole.times)
    save_path(tmp_path / "path.npz", part, {"note": "mine"})
    loaded, settings = load_path(tmp_path / "path.npz")
    assert settings == {"note": "mine"}
    assert same(loaded, part)
    assert same(extend(loaded), whole)


def test_checkpoints_can_be_continued(charges, whole):
    kept = []
    ew.simulate(*charges, time=20.0, checkpoint=lambda make: kept.append(make()))
    assert len(kept) > 2
    assert same(extend(kept[1]), whole)


def test_the_older_name_is_the_same_function():
    assert ew.go_on is ew.extend


def test_a_longer_time(charges):
    short = ew.simulate(*charges, time=0.05)
    assert short.stop == "time"
    longer = extend(short, 20.0)
    assert longer.stop == "bound"
    assert np.array_equal(longer.times[: len(short.times)], short.times)
    with pytest.raises(EarnshawError, match="passed already"):
        extend(longer, 0.01)


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_foreign_files(content, charges, tmp_path):
    file = tmp_path / "path.npz"
    if content is None:
        ew.save(file, charges[0])
    else:
        file.write_bytes(content)
    with pytest.raises(EarnshawError, match="cannot read"):
        load_path(file)
